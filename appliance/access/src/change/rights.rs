//! Other rights for a client that keeps its secret.
//!
//! **Invariants**: the id, the secret and the workspace stay; connections are cut when it is
//! applied, so that nothing goes on under the rights of before.

use super::{Actor, ChangeError, FILTERS_MAX, reserve, unknown};
use crate::access::Access;
use millrace_model::{ApiClient, Definition, Filter, Retention};

/// All that a client may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRights {
    /// Tag paths that it may publish on.
    pub publish: Vec<Filter>,
    /// Tag paths that it may subscribe to and query.
    pub subscribe: Vec<Filter>,
    /// Whether its first value on a new path creates the tag.
    pub may_create: bool,
    /// Retention class of the tags that it creates.
    pub retention: Option<Retention>,
    /// Values per second; `None` = the box's setting, 0 = no limit.
    pub rate_per_s: Option<u32>,
}

impl Access {
    /// Prepares other rights in the place of those of now. Nothing to make durable when they are
    /// the same.
    ///
    /// # Errors
    /// When there is no such client, it is revoked, or another change is not in force yet.
    pub fn change_rights(
        &self,
        id: &str,
        rights: ClientRights,
        actor: &Actor,
    ) -> Result<(ApiClient, Vec<Definition>), ChangeError> {
        if rights.publish.len() > FILTERS_MAX || rights.subscribe.len() > FILTERS_MAX {
            return Err(ChangeError::TooMany { what: "filters", limit: FILTERS_MAX });
        }
        let mut state = self.state.write();
        let known = state.by_id.get(id).cloned().ok_or_else(|| unknown(id))?;
        if known.client.revoked.is_some() {
            return Err(ChangeError::AlreadyRevoked { id: id.to_owned() });
        }
        let ClientRights { publish, subscribe, may_create, retention, rate_per_s } = rights;
        let before = known.client.clone();
        let client =
            ApiClient { publish, subscribe, may_create, retention, rate_per_s, ..before.clone() };
        if client == before {
            return Ok((client, Vec::new()));
        }
        // A definition carries the whole client: a second change must not undo the first.
        if !reserve(&mut state, id.to_owned())? {
            return Err(ChangeError::Busy);
        }
        drop(state);
        let audit = self.audit(actor, "client.rights", id);
        Ok((client.clone(), vec![Definition::Client(client), audit]))
    }
}
