//! Changes of definitions, checked in shape by the API.

use millrace_model::{ApiClient, Filter, Kind, Retention, Role, Schema, WorkspaceNumber};

/// Clients to create.
#[derive(Clone, Debug)]
pub struct NewClients {
    /// The name; with a count above 1 each gets `name-1`, `name-2`, ...
    pub name: String,
    /// How many, at least 1.
    pub count: u32,
    /// The workspace.
    pub workspace: WorkspaceNumber,
    /// Filters to publish on.
    pub publish: Vec<Filter>,
    /// Filters to subscribe to and query.
    pub subscribe: Vec<Filter>,
    /// Whether a first value creates the tag.
    pub may_create: bool,
    /// Retention class of created tags.
    pub retention: Option<Retention>,
    /// Values per second.
    pub rate_per_s: Option<u32>,
}

/// All that a client may do.
#[derive(Clone, Debug)]
pub struct ClientRights {
    /// Filters to publish on.
    pub publish: Vec<Filter>,
    /// Filters to subscribe to and query.
    pub subscribe: Vec<Filter>,
    /// Whether a first value creates the tag.
    pub may_create: bool,
    /// Retention class of created tags.
    pub retention: Option<Retention>,
    /// Values per second.
    pub rate_per_s: Option<u32>,
}

/// A client just created.
#[derive(Clone)]
pub struct CreatedClient {
    /// The client.
    pub client: ApiClient,
    /// Its secret; never logged, never kept.
    pub secret: String,
}

/// A person to create.
#[derive(Clone)]
pub struct NewPerson {
    /// The name.
    pub name: String,
    /// The password, in clear; to be hashed and dropped.
    pub password: String,
    /// The role.
    pub role: Role,
}

/// What changes of a person; `None` stays.
#[derive(Clone)]
pub struct PersonChange {
    /// Another role.
    pub role: Option<Role>,
    /// A new password, in clear; to be hashed and dropped.
    pub password: Option<String>,
    /// Whether the account is out of use.
    pub disabled: Option<bool>,
}

/// A tag to create.
#[derive(Clone, Debug)]
pub struct NewTag {
    /// The workspace.
    pub workspace: WorkspaceNumber,
    /// The path.
    pub path: String,
    /// The kind of its values.
    pub kind: Kind,
    /// Unit.
    pub unit: String,
    /// Description.
    pub description: String,
    /// Retention class; `None` = the box's default.
    pub retention: Option<Retention>,
    /// Schema.
    pub schema: Schema,
}

/// What changes of a tag; `None` stays.
#[derive(Clone, Debug, Default)]
pub struct TagChange {
    /// Unit.
    pub unit: Option<String>,
    /// Description.
    pub description: Option<String>,
    /// Retention class.
    pub retention: Option<Retention>,
    /// Schema, whole.
    pub schema: Option<Schema>,
}
