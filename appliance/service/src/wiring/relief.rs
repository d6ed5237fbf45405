//! What happens when the journal fills up: the readers that keep its oldest segments are hurried,
//! long before devices are slowed for them.
//!
//! Readers move in their own time: history after minutes, the catalog and the ledger after ten
//! seconds, snapshots after so many bytes. A small journal, or one value a commit, fills sooner.
//! Two of the readers move by appending a record, for which a full journal has no room: when it
//! is full because of them, the ledger's counts go to a file instead, and the latest snapshot is
//! given up until the next one is written at once.
//!
//! **Invariants**: nothing here waits; a reader that cannot move stays where it is and has its own
//! issue; nothing is let go that is not durable elsewhere.

use super::state::Shared;
use millrace_catalog::Snapshotter;
use millrace_journal::State;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Share of the journal in use above which readers are hurried, in percent.
const HURRY_PERCENT: u64 = 50;

pub(super) const HISTORIAN: &str = "historian";
pub(super) const CATALOG: &str = "catalog";
pub(super) const LEDGER: &str = "ledger";
pub(super) const SNAPSHOT: &str = "snapshot";

/// Hurries readers; one for the whole appliance.
pub(super) struct Relief {
    shared: Arc<Shared>,
    snapshotter: Arc<Snapshotter>,
    sealing: Option<JoinHandle<()>>,
}

impl Relief {
    pub(super) fn new(shared: Arc<Shared>, snapshotter: Arc<Snapshotter>) -> Self {
        Self { shared, snapshotter, sealing: None }
    }

    /// One look, every half second or so.
    pub(super) fn look(&mut self) {
        // When nothing can be committed each reader is asked at once, not one after the other.
        let last = last_reader(&self.shared);
        let is_full = full_by(&self.shared).is_some();
        if is_full || last == Some(HISTORIAN) {
            self.seal();
        }
        if is_full || last == Some(CATALOG) {
            // Waits for nothing, only makes its thread write now.
            let _is_settled = self.shared.catalog.settle(Duration::ZERO);
        }
        if full_by(&self.shared) == Some(SNAPSHOT)
            && let Err(error) = self.snapshotter.give_way(self.shared.catalog.checkpoint())
        {
            tracing::warn!("The journal is full and its snapshot stays: {error}.");
        }
    }

    fn seal(&mut self) {
        if self.sealing.as_ref().is_some_and(|sealing| !sealing.is_finished()) {
            return;
        }
        let historian = Arc::clone(&self.shared.historian);
        self.sealing = Some(tokio::task::spawn_blocking(move || {
            if let Err(error) = historian.seal_now() {
                // The historian has raised its issue and tries again by itself.
                tracing::debug!("The journal fills up and history cannot be sealed: {error}.");
            }
        }));
    }
}

/// The reader that keeps the oldest segment, if the journal is filling up.
pub(super) fn last_reader(shared: &Shared) -> Option<&'static str> {
    let config = &shared.loaded.config.journal;
    let held_mib = shared.journal.stats().segments_live as u64 * config.segment_mib;
    if held_mib * 100 < config.bytes_max_mib * HURRY_PERCENT {
        return None;
    }
    let cursors = shared.journal.cursors();
    cursors.into_iter().min_by_key(|(_, position)| *position).map(|(name, _)| name)
}

/// The reader because of which nothing can be committed.
pub(super) fn full_by(shared: &Shared) -> Option<&'static str> {
    match shared.journal.status().state {
        State::FullByReader { cursor, .. } => cursor,
        State::Normal | State::Degraded { .. } | State::Broken { .. } => None,
    }
}
