//! People and their roles.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a person may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads everything but secrets and the audit trail.
    Viewer,
    /// Also changes tags and clients.
    Engineer,
    /// Also changes people and settings, and reads the audit trail.
    Admin,
}

/// A person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Person {
    /// The name that the person signs in with.
    pub name: String,
    /// What the person may do.
    pub role: Role,
    /// When the account was created.
    pub created: String,
    /// When it was disabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<String>,
}

/// Creates a person.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPerson {
    /// The name to sign in with.
    pub name: String,
    /// The first password, at least 10 characters.
    pub password: String,
    /// What the person may do.
    pub role: Role,
}

/// Changes a person; what is absent stays. The person's sessions end.
#[derive(Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonChange {
    /// Another role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// A new password, at least 10 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// True takes the account out of use, false brings it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
}
