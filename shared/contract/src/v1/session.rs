//! Signing in: tokens for programs (OAuth 2 client credentials) and for people.

use crate::v1::person::Role;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The answer of `/oauth/token` (RFC 6749, 5.1).
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct OAuthToken {
    /// Goes into `Authorization: Bearer ...`, or into the MQTT password.
    pub access_token: String,
    /// Always `Bearer`.
    pub token_type: String,
    /// Seconds until it expires.
    pub expires_in: u64,
}

/// A person signs in.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// The person's name.
    pub name: String,
    /// The password.
    pub password: String,
}

/// Creates the first admin with the claim code that the appliance shows at its first start.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The claim code, as shown.
    pub code: String,
    /// The name of the first admin.
    pub name: String,
    /// The password that the admin chooses.
    pub password: String,
}

/// Whether the box still waits for its first admin.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ClaimState {
    /// True while a claim code is valid.
    pub open: bool,
}

/// A person's session.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct Session {
    /// Goes into `Authorization: Bearer ...`.
    pub access_token: String,
    /// Always `Bearer`.
    pub token_type: String,
    /// Seconds until it expires.
    pub expires_in: u64,
    /// The person's name.
    pub name: String,
    /// What the person may do.
    pub role: Role,
}

/// Who a token stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Identity {
    /// `user:anna`, `client:c1`, `local`.
    pub name: String,
    /// What kind of principal.
    pub kind: IdentityKind,
    /// A person's role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

/// The kinds of principals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdentityKind {
    /// The command line on the box itself.
    Local,
    /// A person.
    Person,
    /// An API client.
    Client,
}

/// Changes the password of whoever is signed in.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnPassword {
    /// The password of now.
    pub old_password: String,
    /// The new one, at least 10 characters.
    pub new_password: String,
}
