//! What a signed-in principal holds: a client's grant, a person's role, or the box itself.
//!
//! **Invariants**: a grant never changes; when its client is revoked or changed the grant is
//! marked as ended, and whoever holds it must let go.

use millrace_model::{ApiClient, ClientNumber, Filter, Retention, Role, WorkspaceNumber};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What an API client may do.
#[derive(Debug)]
pub struct ClientGrant {
    /// Its number in records and the ledger.
    pub number: ClientNumber,
    /// The id that it signs in with.
    pub id: String,
    /// The workspace that it works in.
    pub workspace: WorkspaceNumber,
    /// Tag paths that it may publish on.
    pub publish: Vec<Filter>,
    /// Tag paths that it may subscribe to and query.
    pub subscribe: Vec<Filter>,
    /// Whether its first value on a new path creates the tag.
    pub may_create: bool,
    /// Retention class of the tags that it creates; `None` = the box's default.
    pub retention: Option<Retention>,
    /// Values per second; `None` = the box's setting, 0 = no limit.
    pub rate_per_s: Option<u32>,
    ended: AtomicBool,
}

impl ClientGrant {
    pub(crate) fn new(client: &ApiClient) -> Self {
        Self {
            number: client.number,
            id: client.id.clone(),
            workspace: client.workspace,
            publish: client.publish.clone(),
            subscribe: client.subscribe.clone(),
            may_create: client.may_create,
            retention: client.retention,
            rate_per_s: client.rate_per_s,
            ended: AtomicBool::new(client.revoked.is_some()),
        }
    }

    /// Whether the client was revoked or changed since this grant was given.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }
}

/// Who acts.
#[derive(Clone, Debug)]
pub enum Principal {
    /// A device or program.
    Client(Arc<ClientGrant>),
    /// A signed-in person.
    Person {
        /// The name.
        name: String,
        /// What the person may do.
        role: Role,
    },
    /// The command line on the box itself.
    Local,
}

impl Principal {
    /// The form in the audit trail: `user:anna`, `client:c1`, `local`.
    #[must_use]
    pub fn who(&self) -> String {
        match self {
            Self::Client(grant) => format!("client:{}", grant.id),
            Self::Person { name, .. } => format!("user:{name}"),
            Self::Local => "local".to_owned(),
        }
    }
}
