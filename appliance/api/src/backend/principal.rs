//! Who acts.

use millrace_model::{ApiClient, Filter, Role, WorkspaceNumber};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Who a token stands for.
#[derive(Clone, Debug)]
pub struct Principal {
    /// As the audit trail names it: `user:anna`, `client:c1`, `local`.
    pub name: String,
    /// What kind.
    pub kind: PrincipalKind,
}

/// The kinds of principals.
#[derive(Clone, Debug)]
pub enum PrincipalKind {
    /// The command line on the box itself: may do everything.
    Local,
    /// A person with a role.
    Person(Role),
    /// An API client: reads what its filters cover, in its workspace.
    Client(Arc<ApiClient>),
}

impl Principal {
    /// The role that the principal acts with; a client has none.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        match &self.kind {
            PrincipalKind::Local => Some(Role::Admin),
            PrincipalKind::Person(role) => Some(*role),
            PrincipalKind::Client(_) => None,
        }
    }

    /// Whether the principal may see the workspace at all.
    #[must_use]
    pub fn sees_workspace(&self, workspace: WorkspaceNumber) -> bool {
        match &self.kind {
            PrincipalKind::Local | PrincipalKind::Person(_) => true,
            PrincipalKind::Client(client) => client.workspace == workspace,
        }
    }

    /// Whether the principal may read the tag's values.
    #[must_use]
    pub fn reads(&self, workspace: WorkspaceNumber, path: &str) -> bool {
        match &self.kind {
            PrincipalKind::Local | PrincipalKind::Person(_) => true,
            PrincipalKind::Client(client) => {
                client.workspace == workspace
                    && client.subscribe.iter().any(|filter| filter.matches(path))
            }
        }
    }

    /// Whether the principal may subscribe to the filter.
    #[must_use]
    pub fn subscribes(&self, workspace: WorkspaceNumber, filter: &Filter) -> bool {
        match &self.kind {
            PrincipalKind::Local | PrincipalKind::Person(_) => true,
            PrincipalKind::Client(client) => {
                client.workspace == workspace
                    && client.subscribe.iter().any(|allowed| allowed.covers(filter))
            }
        }
    }
}

/// Who makes a change, and from where: what the audit entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// [`Principal::name`].
    pub who: String,
    /// The peer's address.
    pub from: IpAddr,
}

/// An access token of a client.
#[derive(Clone)]
pub struct Token {
    /// The token; never logged.
    pub access_token: String,
    /// How long it is good.
    pub expires_in: Duration,
}

/// A person's session.
#[derive(Clone)]
pub struct Session {
    /// Its token.
    pub token: Token,
    /// The person's name.
    pub name: String,
    /// The person's role.
    pub role: Role,
}
