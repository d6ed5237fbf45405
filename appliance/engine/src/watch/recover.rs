//! The runs that had not ended, while the journal is read back.
//!
//! **Invariants**: what is kept is what has been triggered or carried and has not ended.

use crate::queued::{Queued, RunId};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct Recovering {
    open: BTreeMap<(u64, u32), Arc<Queued>>,
}

impl Recovering {
    pub(super) fn put(&mut self, run: Arc<Queued>) {
        self.open.insert(place(run.id()), run);
    }

    pub(super) fn has(&self, id: RunId) -> bool {
        self.open.contains_key(&place(id))
    }

    pub(super) fn end(&mut self, id: RunId) {
        self.open.remove(&place(id));
    }

    pub(super) fn progress(&self, id: RunId, saved: &[u8]) {
        if let Some(run) = self.open.get(&place(id)) {
            *run.saved.lock() = Some(saved.into());
        }
    }

    /// All of them, oldest first.
    pub(super) fn into_runs(self) -> Vec<Arc<Queued>> {
        self.open.into_values().collect()
    }
}

fn place(id: RunId) -> (u64, u32) {
    (id.seq, id.pipeline)
}
