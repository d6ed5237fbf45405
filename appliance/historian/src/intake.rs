//! The way in: called by the journal's thread for each committed batch, and at the start for
//! each batch that is replayed.
//!
//! Lock once per batch, append each sample, say how far the batch reached:
//!
//! ```text
//! let mut guard = intake.lock();            // waits here while both memtables are full
//! for (seq, sample) in batch { outcome = guard.append(seq, &sample); .. }
//! guard.done(batch_last_seq);               // also for batches without samples
//! ```
//!
//! **Invariants**
//! - Values are visible to queries when the guard is gone.
//! - Waiting is bounded by the seal that is under way, or by [`crate::Historian::release`].
//! - The active memtable exceeds its size by one batch at most, except after `release`.

use crate::memory::Memory;
use crate::sample::Outcome;
use crate::shared::Shared;
use millrace_journal::Seq;
use millrace_model::SampleRecord;
use parking_lot::RwLockWriteGuard;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long the intake waits before it looks again by itself.
const WAIT: Duration = Duration::from_millis(100);

/// The one writer of the memtable.
pub struct Intake {
    shared: Arc<Shared>,
}

/// A batch under way.
pub struct IntakeGuard<'a> {
    memory: RwLockWriteGuard<'a, Memory>,
    counters: &'a crate::shared::Counters,
    redelivered: u64,
    superseded: u64,
}

impl Intake {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Begins a batch. Waits while the active memtable is full and the other one is being sealed:
    /// the journal then commits nothing more and devices are slowed down.
    pub fn lock(&mut self) -> IntakeGuard<'_> {
        loop {
            let mut memory = self.shared.memory.write();
            if memory.is_full() && memory.sealing.is_none() {
                memory.swap();
                self.shared.to_worker.notify_one();
            }
            if !memory.is_full() || self.wait_is_over() {
                self.shared.is_holding_back.store(false, Ordering::Relaxed);
                return IntakeGuard {
                    memory,
                    counters: &self.shared.counters,
                    redelivered: 0,
                    superseded: 0,
                };
            }
            drop(memory);
            Shared::count(&self.shared.counters.intake_waits, 1);
            self.shared.is_holding_back.store(true, Ordering::Relaxed);
            let mut control = self.shared.control.lock();
            if !control.is_released {
                self.shared.to_worker.notify_one();
                self.shared.to_others.wait_for(&mut control, WAIT);
            }
        }
    }

    /// One value by itself, for callers that have no batch.
    pub fn append(&mut self, seq: Seq, sample: &SampleRecord<'_>) -> Outcome {
        self.lock().append(seq, sample)
    }

    fn wait_is_over(&self) -> bool {
        self.shared.control.lock().is_released
    }
}

impl IntakeGuard<'_> {
    /// Takes a value in. Seqs must ascend.
    #[inline]
    pub fn append(&mut self, seq: Seq, sample: &SampleRecord<'_>) -> Outcome {
        let outcome = self.memory.append(seq.0, sample);
        match outcome {
            Outcome::Stored => {}
            Outcome::Redelivered => self.redelivered += 1,
            Outcome::Superseded => self.superseded += 1,
        }
        outcome
    }

    /// Ends the batch: all records up to `last` have been seen, samples or not.
    pub fn done(mut self, last: Seq) {
        self.memory.last_seq = self.memory.last_seq.max(last.0);
    }
}

impl Drop for IntakeGuard<'_> {
    fn drop(&mut self) {
        if self.redelivered > 0 {
            Shared::count(&self.counters.redelivered, self.redelivered);
        }
        if self.superseded > 0 {
            Shared::count(&self.counters.superseded, self.superseded);
        }
    }
}
