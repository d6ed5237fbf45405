//! The audit trail.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One line of the audit trail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    /// When.
    pub at: String,
    /// Who: `user:anna`, `client:c1`, `local`.
    pub who: String,
    /// What was done, as a stable word: `client.create`, `login.failed`.
    pub action: String,
    /// To what.
    pub subject: String,
    /// From which address, if over a network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}
