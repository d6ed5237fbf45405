//! Lasting state on its way to the store, and runs on their way forward in the journal.
//!
//! **Invariants**: the cursor never passes a change that the store does not hold yet.

use super::Core;
use crate::queue::Dropped;
use crate::record;
use crate::report::RunReport;
use crate::run::Event;
use crate::state::StateEntry;
use millrace_journal::Seq;
use millrace_model::{Record, RunEvent, RunRecord, Timestamp};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Most runs that are carried forward at once.
const CARRY_MAX: usize = 1_000;
/// Most bytes of an append of carried runs.
const CARRY_BYTES_MAX: usize = 1024 * 1024;
/// Most dropped runs that one record tells of.
const DROPPED_MAX: usize = 10_000;

/// How far the state is kept.
#[derive(Debug)]
pub(crate) struct Keeping {
    /// Everything up to here is in the store.
    kept: u64,
    /// What the store has been given and has not on the disk yet.
    pending: Option<u64>,
    last: Duration,
}

impl Keeping {
    pub(crate) fn new(through: u64) -> Self {
        Self { kept: through, pending: None, last: Duration::ZERO }
    }
}

impl Core {
    /// Gives changed state to the store, now and then.
    pub(crate) fn keep_state(&self, at: Duration, is_forced: bool) {
        let mut keeping = self.keeping.lock();
        let is_due = at.saturating_sub(keeping.last) >= self.stage.config.state_interval;
        if let Some(pending) = keeping.pending
            && self.parts.store.stored_through() >= Seq(pending)
        {
            keeping.kept = pending;
            keeping.pending = None;
        }
        if keeping.pending.is_some() || !(is_due || is_forced) {
            return;
        }
        keeping.last = at;
        // Under the watch's lock no record can come between the state and the seq it counts to.
        let (through, dirty) = {
            let mut watch = self.watch.lock();
            watch.remember(self);
            self.is_memory_changed.store(false, Ordering::Release);
            let dirty = std::mem::take(&mut *self.stage.states.dirty.lock());
            (watch.books.seen_through(), dirty)
        };
        if dirty.is_empty() {
            keeping.kept = through;
            return;
        }
        let entries = dirty
            .iter()
            .map(|((owner, key), value)| StateEntry {
                owner: owner.text(),
                key: key.to_string(),
                value: value.clone(),
            })
            .collect();
        match self.parts.store.store(entries, Seq(through)) {
            Ok(()) => keeping.pending = Some(through),
            Err(error) => {
                tracing::warn!("Lasting state was not taken by its store: {error}.");
                let mut newer = self.stage.states.dirty.lock();
                for (place, value) in dirty {
                    newer.entry(place).or_insert(value);
                }
            }
        }
    }

    /// Up to where all state is kept.
    pub(crate) fn state_floor(&self) -> u64 {
        let keeping = self.keeping.lock();
        let is_clean = keeping.pending.is_none()
            && !self.is_memory_changed.load(Ordering::Acquire)
            && self.stage.states.dirty.lock().is_empty();
        if is_clean {
            // Nothing has changed since: there is nothing to be read again.
            return self.cursor.load(Ordering::Acquire).max(keeping.kept);
        }
        keeping.kept
    }

    /// Carries old runs forward, so that the journal behind them may go.
    pub(crate) fn carry(&self, now: Timestamp, at: Duration) {
        let age = i64::try_from(self.stage.config.carry_after.as_nanos()).unwrap_or(i64::MAX);
        let records = self.stage.config.carry_records_min;
        let old = self.watch.lock().books.older_than(now.plus_nanos(-age), records);
        let Some(through) = old else { return };
        let mut bodies: Vec<(crate::queued::RunId, Vec<u8>)> = Vec::new();
        let mut bytes = 0;
        for (run, saved) in self.queue.unfinished(through, CARRY_MAX, at) {
            if !self.watch.lock().books.is_before(run.id(), through) {
                continue;
            }
            let most = self.stage.config.saved_bytes_max;
            if saved.as_ref().is_some_and(|saved| saved.len() > most) {
                let message = format!("the run waits with more than {most} bytes of data");
                self.queue.tell(run.id(), Event::Cancel("limit", message), now, at);
                continue;
            }
            let mut body = Vec::new();
            record::carried(&run, saved.as_deref(), &mut body);
            bytes += body.len();
            bodies.push((run.id(), body));
            if bytes > CARRY_BYTES_MAX {
                break;
            }
        }
        let records: Vec<Record<'_>> = bodies
            .iter()
            .map(|(id, body)| {
                Record::Run(RunRecord {
                    event: RunEvent::Carried,
                    pipeline: id.pipeline,
                    run: id.seq,
                    body,
                })
            })
            .collect();
        if !records.is_empty()
            && let Err(error) = self.parts.records.append(&records)
        {
            tracing::debug!("Runs were not carried forward: {error}.");
        }
    }

    /// Tells the journal of runs that will not run.
    pub(crate) fn tell_dropped(&self) {
        if !self.queue.has_dropped() {
            return;
        }
        let now = self.stage.clock.now();
        for (run, why) in self.queue.take_untold() {
            self.parts.sink.ended(RunReport::not_begun(&run, why, now));
        }
        let mut dropped = self.queue.take_dropped();
        dropped.sort_unstable_by_key(|dropped| dropped.id);
        let mut rest = dropped.as_slice();
        while let Some(first) = rest.first() {
            let count = rest
                .iter()
                .take(DROPPED_MAX)
                .take_while(|dropped| dropped.id.pipeline == first.id.pipeline)
                .count();
            let (own, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            if self.tell_some(own).is_err() {
                // They are open until the journal takes this.
                self.queue.return_dropped(rest.to_vec());
                return;
            }
            rest = after;
        }
    }

    fn tell_some(&self, dropped: &[Dropped]) -> Result<(), super::RecordsFault> {
        let Some(first) = dropped.first() else { return Ok(()) };
        for run in dropped {
            self.answers.said(run.id, || crate::answers::RunEnd::NotRun(record::reason(run.why)));
        }
        let mut body = Vec::new();
        record::dropped(dropped, &mut body);
        let record =
            RunRecord { event: RunEvent::Ended, pipeline: first.id.pipeline, run: 0, body: &body };
        self.parts.records.append(&[Record::Run(record)]).map(drop)
    }
}
