//! The counts of one client, counted by sessions and the journal's thread at once.
//!
//! **Invariants**: outcomes are added with release order and read before the receipts with acquire
//! order, so that a reader never sees an outcome without its receipt.

use millrace_model::{LedgerCounts, Reason};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a durable sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// New.
    Stored,
    /// It was there already: same tag, same source time, same value.
    Redelivered,
    /// New, and it took the place of another value with the same source time.
    Superseded,
}

/// The counts of one client. In this order: what each value touches lies on one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Counters {
    received: AtomicU64,
    received_total: Arc<AtomicU64>,
    stored: AtomicU64,
    redelivered: AtomicU64,
    superseded: AtomicU64,
    interrupted: AtomicU64,
    refused: [AtomicU64; Reason::COUNT],
}

impl Counters {
    pub(super) fn new(received_total: Arc<AtomicU64>) -> Self {
        Self {
            received: AtomicU64::new(0),
            stored: AtomicU64::new(0),
            redelivered: AtomicU64::new(0),
            superseded: AtomicU64::new(0),
            interrupted: AtomicU64::new(0),
            refused: [const { AtomicU64::new(0) }; Reason::COUNT],
            received_total,
        }
    }

    /// So many values came in. Before they are appended.
    pub fn receive(&self, count: u64) {
        self.received.fetch_add(count, Ordering::AcqRel);
        self.received_total.fetch_add(count, Ordering::AcqRel);
    }

    /// So many received values will never be appended, and whoever sent them was told nothing.
    pub fn interrupt(&self, count: u64) {
        self.interrupted.fetch_add(count, Ordering::AcqRel);
    }

    /// A sample is durable.
    pub fn decide(&self, outcome: Outcome) {
        match outcome {
            Outcome::Stored => {
                self.stored.fetch_add(1, Ordering::AcqRel);
            }
            Outcome::Redelivered => {
                self.redelivered.fetch_add(1, Ordering::AcqRel);
            }
            Outcome::Superseded => {
                self.stored.fetch_add(1, Ordering::AcqRel);
                self.superseded.fetch_add(1, Ordering::AcqRel);
            }
        }
    }

    /// A refusal is durable.
    pub fn refuse(&self, reason: Reason, count: u32) {
        if let Some(refused) = self.refused.get(usize::from(reason.code())) {
            refused.fetch_add(u64::from(count), Ordering::AcqRel);
        }
    }

    /// Moves stored values to redelivered; never more than there are.
    pub fn reclassify(&self, count: u64) {
        let mut moved = 0;
        // Taken away first: a reader in between sees them in flight, not twice.
        let _before = self.stored.fetch_update(Ordering::AcqRel, Ordering::Acquire, |stored| {
            moved = count.min(stored);
            Some(stored - moved)
        });
        self.redelivered.fetch_add(moved, Ordering::AcqRel);
    }

    /// So many stored values took the place of earlier ones.
    pub fn supersede(&self, count: u64) {
        self.superseded.fetch_add(count, Ordering::AcqRel);
    }

    /// The counts now.
    #[must_use]
    pub fn read(&self) -> LedgerCounts {
        let get = |count: &AtomicU64| count.load(Ordering::Acquire);
        // The order matters: superseded before stored, redelivered before stored (see
        // `reclassify`), received last.
        let superseded = get(&self.superseded);
        let redelivered = get(&self.redelivered);
        let stored = get(&self.stored);
        let interrupted = get(&self.interrupted);
        let mut refused = [0; Reason::COUNT];
        for (copy, count) in refused.iter_mut().zip(&self.refused) {
            *copy = get(count);
        }
        let received = get(&self.received);
        LedgerCounts { received, stored, redelivered, superseded, refused, interrupted }
    }

    pub(super) fn restore(&self, counts: &LedgerCounts) {
        self.receive(counts.received);
        let set = |count: &AtomicU64, value: u64| count.store(value, Ordering::Release);
        set(&self.stored, counts.stored);
        set(&self.redelivered, counts.redelivered);
        set(&self.superseded, counts.superseded);
        set(&self.interrupted, counts.interrupted);
        for (count, value) in self.refused.iter().zip(counts.refused) {
            set(count, value);
        }
    }

    /// After a crash: receipts that nothing was recorded of are added, receipts without an outcome
    /// become interrupted. Returns how many those were.
    pub(super) fn settle(&self) -> u64 {
        let counts = self.read();
        let (received, decided) = (counts.received, counts.decided());
        if decided > received {
            self.receive(decided - received);
            return 0;
        }
        self.interrupt(received - decided);
        received - decided
    }
}
