//! API clients: devices and programs that sign in with an id and a secret.

use crate::v1::tag::Retention;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An API client; its secret is never shown again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Client {
    /// The id that it signs in with, and the name of its inbox.
    pub id: String,
    /// The name that a person gave it.
    pub name: String,
    /// The workspace that it works in.
    pub workspace: String,
    /// Tag paths that it may publish on (filters below the workspace).
    pub publish: Vec<String>,
    /// Tag paths that it may subscribe to and query.
    pub subscribe: Vec<String>,
    /// Whether its first value on a new path creates the tag.
    pub may_create: bool,
    /// Retention class of the tags that it creates; absent = the box's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// Values per second that it may write; absent = the box's setting, 0 = no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<u32>,
    /// When it was created.
    pub created: String,
    /// When it was revoked; a revoked client never comes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<String>,
}

/// Creates one client, or several of the same kind.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewClients {
    /// The name; several clients get `name-1`, `name-2`, ...
    pub name: String,
    /// How many, 1 to 1,000.
    #[serde(default = "one")]
    pub count: u32,
    /// The workspace.
    #[serde(default = "main_workspace")]
    pub workspace: String,
    /// Tag paths that it may publish on (filters below the workspace).
    #[serde(default)]
    pub publish: Vec<String>,
    /// Tag paths that it may subscribe to and query.
    #[serde(default)]
    pub subscribe: Vec<String>,
    /// Whether its first value on a new path creates the tag.
    #[serde(default = "yes")]
    pub may_create: bool,
    /// Retention class of the tags that it creates; absent = the box's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// Values per second that it may write; absent = the box's setting, 0 = no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<u32>,
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

fn main_workspace() -> String {
    "main".to_owned()
}

/// The clients just created.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct ClientsCreated {
    /// In the order of their names.
    pub clients: Vec<CreatedClient>,
}

/// A client just created, with its secret, this once.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct CreatedClient {
    /// The client.
    pub client: Client,
    /// Its secret; the appliance keeps only a hash of it.
    pub secret: String,
}

/// All that a client may do, in the place of what it might before; its secret stays.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientRights {
    /// Tag paths that it may publish on (filters below the workspace).
    pub publish: Vec<String>,
    /// Tag paths that it may subscribe to and query.
    pub subscribe: Vec<String>,
    /// Whether its first value on a new path creates the tag.
    pub may_create: bool,
    /// Retention class of the tags that it creates; absent = the box's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// Values per second that it may write; absent = the box's setting, 0 = no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<u32>,
}
