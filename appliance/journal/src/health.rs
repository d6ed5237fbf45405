//! What goes wrong and what gets done, for `status` and `stats`.
//!
//! **Invariants**: a change of state is logged once, where it happens; a state that goes leaves
//! the last fault readable.

use crate::commit_times::CommitTimes;
use crate::seq::Seq;
use crate::status::{State, Status};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use tracing::{error, info, warn};

#[derive(Debug, Default)]
pub(crate) struct Health {
    status: Mutex<Status>,
    is_degraded: AtomicBool,
    pub(crate) commits: AtomicU64,
    pub(crate) records: AtomicU64,
    pub(crate) written_bytes: AtomicU64,
    pub(crate) syncs: AtomicU64,
    pub(crate) faults: AtomicU64,
    pub(crate) last_commit_micros: AtomicU64,
    pub(crate) commit_times: CommitTimes,
}

impl Health {
    pub(crate) fn status(&self) -> Status {
        self.status.lock().clone()
    }

    pub(crate) fn is_degraded(&self) -> bool {
        self.is_degraded.load(Ordering::Acquire)
    }

    /// Whether the writer waits for a reader.
    pub(crate) fn is_full_by_reader(&self) -> bool {
        matches!(self.status.lock().state, State::FullByReader { .. })
    }

    /// A write or sync failed; what follows decides about the state.
    pub(crate) fn fault(&self, text: String) {
        self.faults.fetch_add(1, Ordering::Relaxed);
        warn!(fault = %text, "A journal segment failed and is sealed.");
        self.status.lock().last_fault = Some(text);
    }

    pub(crate) fn degraded(&self) {
        let mut status = self.status.lock();
        let reason = status.last_fault.clone().unwrap_or_default();
        if let State::Degraded { reason: known, .. } = &mut status.state {
            *known = reason;
            return;
        }
        error!(%reason, "The journal is degraded: nothing is acknowledged until a commit succeeds.");
        status.state = State::Degraded { reason, since: Instant::now() };
        self.is_degraded.store(true, Ordering::Release);
    }

    pub(crate) fn full_by_reader(&self, lowest: Option<(&'static str, Seq)>) {
        let cursor = lowest.map(|(name, _)| name);
        let position = lowest.map_or(Seq::ZERO, |(_, position)| position);
        let mut status = self.status.lock();
        let since = match status.state {
            State::FullByReader { since, .. } => since,
            State::Normal | State::Degraded { .. } | State::Broken { .. } => {
                error!(?cursor, %position, "The journal is full: a reader keeps its oldest segment.");
                Instant::now()
            }
        };
        status.state = State::FullByReader { cursor, position, since };
        self.is_degraded.store(false, Ordering::Release);
    }

    /// The follower or the writer failed for good.
    pub(crate) fn broken(&self, reason: String) {
        error!(%reason, "The journal is closed.");
        self.status.lock().state = State::Broken { reason, since: Instant::now() };
        self.is_degraded.store(true, Ordering::Release);
    }

    /// A commit got through.
    pub(crate) fn normal(&self) {
        let mut status = self.status.lock();
        if matches!(status.state, State::Degraded { .. } | State::FullByReader { .. }) {
            info!("The journal commits again.");
            status.state = State::Normal;
            self.is_degraded.store(false, Ordering::Release);
        }
    }

    pub(crate) fn cursor_fault(&self, fault: Option<String>) {
        let mut status = self.status.lock();
        if let (Some(fault), None) = (&fault, &status.cursor_fault) {
            warn!(%fault, "Cursors cannot be saved: segments are kept.");
        }
        status.cursor_fault = fault;
    }

    pub(crate) fn segment_fault(&self, fault: Option<String>) {
        let mut status = self.status.lock();
        if let (Some(fault), None) = (&fault, &status.segment_fault) {
            warn!(%fault, "No segment can be prepared ahead.");
        }
        status.segment_fault = fault;
    }
}

/// An error with its causes in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
