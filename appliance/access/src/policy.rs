//! The policy: which principal may do what. One table, nothing hidden elsewhere.
//!
//! **Invariants**: an API client may do nothing but read below its subscribe filters (and publish,
//! which admission decides); an ended grant may do nothing; a role includes the smaller ones.

use crate::grant::Principal;
use millrace_model::{Role, WorkspaceNumber};

/// What somebody wants to do over the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read tags, values and history; for an API client [`may_read`] decides on each path too.
    Read,
    /// Read metrics and the details of health.
    ReadMetrics,
    /// Read clients, the ledger of all, and issues.
    ReadBox,
    /// Take note of an issue.
    AcknowledgeIssues,
    /// Change units, descriptions, retention, schemas.
    ChangeTags,
    /// Create and revoke API clients.
    ChangeClients,
    /// Read who the people are.
    ReadPeople,
    /// Create, disable and change people.
    ChangePeople,
    /// Change settings of the box.
    ChangeSettings,
    /// Read the audit trail.
    ReadAudit,
}

impl Action {
    fn smallest_role(self) -> Role {
        match self {
            Self::Read | Self::ReadMetrics | Self::ReadBox => Role::Viewer,
            Self::AcknowledgeIssues | Self::ChangeTags | Self::ChangeClients => Role::Engineer,
            Self::ReadPeople | Self::ChangePeople | Self::ChangeSettings | Self::ReadAudit => {
                Role::Admin
            }
        }
    }
}

/// Whether the principal may do this at all.
#[must_use]
pub fn may(principal: &Principal, action: Action) -> bool {
    match principal {
        Principal::Local => true,
        Principal::Person { role, .. } => *role >= action.smallest_role(),
        Principal::Client(grant) if grant.is_ended() => false,
        Principal::Client(grant) => match action {
            Action::Read => !grant.subscribe.is_empty(),
            // A scraper signs in as an API client that may read its whole workspace.
            Action::ReadMetrics => grant.subscribe.iter().any(|filter| filter.as_str() == "#"),
            _ => false,
        },
    }
}

/// Whether the principal may read this tag.
#[must_use]
pub fn may_read(principal: &Principal, workspace: WorkspaceNumber, path: &str) -> bool {
    match principal {
        Principal::Local | Principal::Person { .. } => true,
        Principal::Client(grant) => {
            !grant.is_ended()
                && grant.workspace == workspace
                && grant.subscribe.iter().any(|filter| filter.matches(path))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grant::ClientGrant;
    use millrace_model::{ApiClient, ClientNumber, Filter, Timestamp};
    use std::sync::Arc;

    fn person(role: Role) -> Principal {
        Principal::Person { name: "anna".into(), role }
    }

    fn client(subscribe: &[&str]) -> Arc<ClientGrant> {
        Arc::new(ClientGrant::new(&ApiClient {
            number: ClientNumber(1),
            id: "c".into(),
            name: "c".into(),
            workspace: WorkspaceNumber(1),
            secret_hash: String::new(),
            publish: Vec::new(),
            subscribe: subscribe.iter().map(|text| Filter::new(text).unwrap()).collect(),
            may_create: false,
            retention: None,
            rate_per_s: None,
            created: Timestamp(0),
            revoked: None,
        }))
    }

    #[test]
    fn each_role_may_what_the_table_says() {
        let check = |action, viewer, engineer| {
            assert_eq!(may(&person(Role::Viewer), action), viewer, "viewer {action:?}");
            assert_eq!(may(&person(Role::Engineer), action), engineer, "engineer {action:?}");
            assert!(may(&person(Role::Admin), action), "admin {action:?}");
            assert!(may(&Principal::Local, action), "local {action:?}");
        };
        check(Action::Read, true, true);
        check(Action::ReadMetrics, true, true);
        check(Action::ReadBox, true, true);
        check(Action::AcknowledgeIssues, false, true);
        check(Action::ChangeTags, false, true);
        check(Action::ChangeClients, false, true);
        check(Action::ReadPeople, false, false);
        check(Action::ChangePeople, false, false);
        check(Action::ChangeSettings, false, false);
        check(Action::ReadAudit, false, false);
    }

    #[test]
    fn a_client_reads_only_below_its_filters_until_it_ends() {
        let grant = client(&["press-4/#"]);
        let principal = Principal::Client(Arc::clone(&grant));
        assert!(may_read(&principal, WorkspaceNumber(1), "press-4/t"));
        assert!(!may_read(&principal, WorkspaceNumber(2), "press-4/t"));
        assert!(!may_read(&principal, WorkspaceNumber(1), "press-5/t"));
        assert!(may(&principal, Action::Read));
        assert!(!may(&principal, Action::ReadMetrics));
        assert!(!may(&principal, Action::ChangeTags));
        assert!(!may(&Principal::Client(client(&[])), Action::Read));
        assert!(may(&Principal::Client(client(&["#"])), Action::ReadMetrics));
        grant.end();
        assert!(!may_read(&principal, WorkspaceNumber(1), "press-4/t"));
        assert!(!may(&principal, Action::Read));
    }
}
