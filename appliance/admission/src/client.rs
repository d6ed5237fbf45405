//! Who sends: what the gate must know of an API client.

use millrace_model::{ClientNumber, Filter, Retention, WorkspaceNumber};

/// An API client that may send values.
#[derive(Clone, Debug)]
pub struct Client {
    /// Its number in records and the ledger.
    pub number: ClientNumber,
    /// The id in its inbox.
    pub id: String,
    /// The workspace that it works in.
    pub workspace: WorkspaceNumber,
    /// The workspace's name in topics.
    pub workspace_name: String,
    /// Paths that it may write.
    pub publish: Vec<Filter>,
    /// Whether its first value on a new path creates the tag.
    pub may_create: bool,
    /// Retention of the tags that it creates; `None` = the box's default.
    pub retention: Option<Retention>,
    /// Values per second; `None` = the box's setting, 0 = no limit.
    pub rate_per_s: Option<u32>,
}

impl Client {
    pub(crate) fn may_publish(&self, path: &str) -> bool {
        self.publish.iter().any(|filter| filter.matches(path))
    }
}
