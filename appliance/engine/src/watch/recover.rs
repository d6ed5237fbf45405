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
        let known = self.open.insert(place(run.id()), Arc::clone(&run));
        // One that is told again, as it was carried forward, is still canceled.
        if let Some(stop) = known.as_ref().and_then(|known| known.stopped()) {
            run.stop(stop.code, &stop.message);
        }
    }

    /// A run ends as canceled as soon as it goes on.
    pub(super) fn cancel(&self, id: RunId, message: &str) {
        if let Some(run) = self.open.get(&place(id)) {
            run.stop("canceled", message);
        }
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
