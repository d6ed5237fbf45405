//! Issues: what is wrong with the box now, what it does, and what to do about it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Issue {
    /// Its stable key.
    pub key: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub what: String,
    /// What that does.
    pub effect: String,
    /// What to do about it.
    pub remedy: String,
    /// When it was first raised.
    pub since: String,
    /// When it was last raised.
    pub last_seen: String,
    /// How often it was raised.
    pub count: u64,
    /// Who has taken note of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_by: Option<String>,
}

/// How bad an issue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Notice,
    /// Something is degraded.
    Warning,
    /// Somebody must act now.
    Critical,
}
