//! The gate: what all sessions share.
//!
//! **Invariants**: sessions of one client share its bucket and its counters.

use crate::append::Append;
use crate::bucket::Bucket;
use crate::client::Client;
use crate::ledger::{Ledger, THE_BOX};
use crate::namespace::Namespace;
use crate::refused::{LastRefusals, Refused};
use crate::session::Session;
use crate::undefined::Undefined;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use millrace_model::{Retention, WorkspaceNumber};
use millrace_supervisor::Clock;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// Settings of the gate.
#[derive(Clone, Debug)]
pub struct Config {
    /// The root of the product's topics, `mr/v1` by default.
    pub root: String,
    /// Values per second of a client that has no rate of its own; 0 = no limit.
    pub client_rate_per_s: u32,
    /// Values per second of a workspace; 0 = no limit.
    pub workspace_rate_per_s: u32,
    /// Retention of tags whose creator has none of its own.
    pub retention: Retention,
    /// Most bytes that one submit may have; must be below what the journal takes at once.
    pub submit_bytes_max: usize,
}

/// The gate.
pub struct Gate {
    pub(crate) config: Config,
    pub(crate) journal: Box<dyn Append>,
    pub(crate) namespace: Arc<dyn Namespace>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) undefined: Undefined,
    pub(crate) refusals: LastRefusals,
    clients: Mutex<HashMap<u32, Arc<Bucket>, RandomState>>,
    workspaces: Mutex<HashMap<u16, Arc<Bucket>, RandomState>>,
}

impl Gate {
    /// A gate in front of this journal.
    #[must_use]
    pub fn new(
        config: Config,
        journal: impl Append + 'static,
        namespace: Arc<dyn Namespace>,
        ledger: Arc<Ledger>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            config,
            journal: Box::new(journal),
            namespace,
            ledger,
            clock,
            undefined: Undefined::default(),
            refusals: LastRefusals::default(),
            clients: Mutex::default(),
            workspaces: Mutex::default(),
        }
    }

    /// Opens the gate for a connection of this client, who has signed in. A client whose rights
    /// have changed is given to [`Session::set_client`].
    #[must_use]
    pub fn open(self: &Arc<Self>, client: Arc<Client>) -> Session {
        Session::new(Arc::clone(self), client)
    }

    /// Sets the rate of one workspace, for all its sessions at once; 0 = no limit.
    pub fn set_workspace_rate(&self, workspace: WorkspaceNumber, per_s: u32) {
        self.workspace_bucket(workspace).set_rate(per_s);
    }

    /// The last values that were refused on this path since the start, the newest first.
    #[must_use]
    pub fn last_refusals(&self, workspace: WorkspaceNumber, path: &str) -> Vec<Refused> {
        self.refusals.of(workspace, path)
    }

    pub(crate) fn client_bucket(&self, client: &Client) -> Arc<Bucket> {
        let bucket = Arc::clone(self.clients.lock().entry(client.number.0).or_default());
        bucket.set_rate(client.rate_per_s.unwrap_or(self.config.client_rate_per_s));
        bucket
    }

    /// The bucket that this client's values are taken from beside its own. The box's own values
    /// (what pipelines derive) are in nobody's rate: each was caused by one that was.
    pub(crate) fn workspace_bucket_of(&self, client: &Client) -> Arc<Bucket> {
        if client.number == THE_BOX {
            return Arc::new(Bucket::default());
        }
        self.workspace_bucket(client.workspace)
    }

    fn workspace_bucket(&self, workspace: WorkspaceNumber) -> Arc<Bucket> {
        let mut workspaces = self.workspaces.lock();
        let bucket = workspaces.entry(workspace.0).or_insert_with(|| {
            let bucket = Arc::new(Bucket::default());
            bucket.set_rate(self.config.workspace_rate_per_s);
            bucket
        });
        Arc::clone(bucket)
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("config", &self.config).finish_non_exhaustive()
    }
}
