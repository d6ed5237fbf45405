//! Definitions: workspaces, tags, clients, people, pipelines, secrets, audit entries.
//!
//! Each change of one is a journal record that carries the whole new state, so applying a record
//! twice changes nothing, and the catalog can be rebuilt from the journal's latest snapshot.

use crate::filter::Filter;
use crate::pipeline::{Deployment, PipelineRemoved, PipelineRevision, Secret};
use crate::tag::Tag;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A workspace's number; 1 is `main`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkspaceNumber(pub u16);

/// An API client's number in records and the ledger; 0 is the box itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientNumber(pub u32);

/// A workspace: a namespace with its own clients and limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// Its number.
    pub number: WorkspaceNumber,
    /// Its name, one topic level.
    pub name: String,
    /// When it was created.
    pub created: Timestamp,
}

/// An API client: a device or program that signs in with an id and a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiClient {
    /// Its number.
    pub number: ClientNumber,
    /// The id that it signs in with; one topic level.
    pub id: String,
    /// The name that a person gave it.
    pub name: String,
    /// The workspace that it works in.
    pub workspace: WorkspaceNumber,
    /// Keyed hash of its secret, hexadecimal.
    pub secret_hash: String,
    /// Tag paths that it may publish on (filters below the workspace).
    pub publish: Vec<Filter>,
    /// Tag paths that it may subscribe to and query.
    pub subscribe: Vec<Filter>,
    /// Whether its first value on a new path creates the tag.
    pub may_create: bool,
    /// Retention class of the tags that it creates; `None` = the box's default.
    #[serde(default)]
    pub retention: Option<crate::retention::Retention>,
    /// Values per second that it may write; `None` = the box's setting, 0 = no limit.
    #[serde(default)]
    pub rate_per_s: Option<u32>,
    /// When it was created.
    pub created: Timestamp,
    /// When it was revoked; a revoked client never comes back.
    pub revoked: Option<Timestamp>,
}

/// What a person may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads everything but secrets and audit.
    Viewer,
    /// Also changes tags, clients, pipelines and secrets.
    Engineer,
    /// Also changes people and settings, and reads the audit trail.
    Admin,
}

/// A person with a password.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The name that the person signs in with.
    pub name: String,
    /// Argon2id hash in PHC form.
    pub password_hash: String,
    /// What the person may do.
    pub role: Role,
    /// When the account was created.
    pub created: Timestamp,
    /// When it was disabled.
    pub disabled: Option<Timestamp>,
}

/// One line of the audit trail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// Who: `user:anna`, `client:c1`, `local` (the command line on the box itself).
    pub who: String,
    /// What was done, as a stable word: `client.create`, `client.revoke`, `login.failed`.
    pub action: String,
    /// To what.
    pub subject: String,
    /// From which address, if over a network.
    #[serde(default)]
    pub from: Option<String>,
}

/// The new state of one definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "define", rename_all = "snake_case")]
pub enum Definition {
    /// A workspace.
    Workspace(Workspace),
    /// A tag.
    Tag(Tag),
    /// An API client.
    Client(ApiClient),
    /// A person.
    Person(Person),
    /// A line of the audit trail (appended, never changed).
    Audit(AuditEntry),
    /// A named value of the box: keys of the secret hash, highest numbers given out.
    Setting {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// A revision of a pipeline.
    PipelineRevision(PipelineRevision),
    /// What runs of a pipeline.
    Deployment(Deployment),
    /// A pipeline is gone.
    PipelineRemoved(PipelineRemoved),
    /// A secret is set or gone.
    Secret(Secret),
}

impl Definition {
    /// The JSON body of the journal record.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("definitions have string keys and no failing serializers")
    }

    /// Reads a record's body.
    ///
    /// # Errors
    /// What is wrong with the JSON.
    pub fn decode(body: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn pipelines_and_secrets_come_back_as_they_went_in() {
        let (pipeline, workspace, at) = (7, WorkspaceNumber(1), Timestamp(i64::MIN));
        let (by, note) = ("user:anna".to_owned(), "fa\"ster\n".to_owned());
        let document: Arc<str> = "{\"millrace\":1,\"name\":\"ä\"}".into();
        let name = "oee-counter".to_owned();
        for definition in [
            Definition::PipelineRevision(PipelineRevision {
                pipeline,
                workspace,
                name: name.clone(),
                revision: u32::MAX,
                at,
                author: by.clone(),
                note: note.clone(),
                document,
            }),
            Definition::Deployment(Deployment {
                pipeline,
                workspace,
                revision: Some(3),
                previous: None,
                at,
                by: by.clone(),
                note,
            }),
            Definition::PipelineRemoved(PipelineRemoved {
                pipeline,
                workspace,
                name: name.clone(),
                at,
                by: by.clone(),
            }),
            Definition::Secret(Secret { workspace, name, sealed: None, at, by }),
        ] {
            assert_eq!(Definition::decode(&definition.encode()).unwrap(), definition);
        }
    }

    #[test]
    fn what_a_later_version_defines_is_an_error_and_no_panic() {
        assert!(Definition::decode(b"{\"define\":\"hologram\",\"number\":1}").is_err());
    }
}
