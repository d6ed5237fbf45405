//! Runs that have not ended: listed, opened, canceled.
//!
//! What waits is at the queue, what is executed in the workers' hands; together they are all runs
//! of a deployed pipeline that have not ended, and those of an undeployed one that still end.
//!
//! **Invariants**: a look never holds a worker up for longer than one lock of what it has in hand.

use super::{Engine, RecordsFault};
use crate::answers::Ticket;
use crate::queue::Look;
use crate::queued::{Queued, RunId};
use crate::record;
use crate::report::{OpenRun, OpenState};
use millrace_model::{Record, RunEvent, RunRecord, Timestamp};
use std::time::Duration;

/// A run that was canceled.
#[derive(Clone, Debug)]
pub struct Canceled {
    /// In which state it was.
    pub was: OpenState,
    /// Tells when its end is durable; none if too many runs are waited for.
    pub ended: Option<Ticket>,
}

impl Engine {
    /// Runs of a pipeline in one of these states, newest first, without their steps: at most
    /// `limit`, with a seq below `before`.
    #[must_use]
    pub fn open_runs(
        &self,
        pipeline: u32,
        states: &[OpenState],
        before: Option<u64>,
        limit: usize,
    ) -> Vec<OpenRun> {
        let (now, at) = self.time();
        let before = before.unwrap_or(u64::MAX);
        let look = Look { pipeline, states, before, limit };
        let mut found = self.core.queue.look(&look, now, at);
        if states.contains(&OpenState::Running) {
            for held in &self.core.held {
                let held = held.lock();
                let wanted =
                    held.queued().filter(|run| run.plan.number == pipeline && run.seq < before);
                found.extend(wanted.map(|run| OpenRun::in_hand(run, now, held.for_so_long(at))));
            }
        }
        // One that was taken in between is found twice.
        found.sort_by_key(|run| std::cmp::Reverse(run.report.id.seq));
        found.dedup_by_key(|run| run.report.id.seq);
        found.truncate(limit);
        found
    }

    /// One run that has not ended, with what its steps did so far; while a worker executes it, what
    /// they do is not known.
    #[must_use]
    pub fn open_run(&self, id: RunId) -> Option<OpenRun> {
        let (now, at) = self.time();
        self.core.queue.open_run(id, now, at).or_else(|| {
            self.core.held.iter().find_map(|held| {
                let held = held.lock();
                let run = held.queued().find(|run| run.id() == id)?;
                Some(OpenRun::in_hand(run, now, held.for_so_long(at)))
            })
        })
    }

    /// Cancels a run: one that waits ends at once, one that is being executed behind the step that
    /// it is at, or within its script. It ends as canceled, with this sentence, also if the box is
    /// switched off before it has: the journal has taken a record that says so, and whoever answers
    /// for the cancel waits until it is durable. `None` if there is no such run that has not ended.
    ///
    /// # Errors
    /// The journal does not take the record; then nothing was canceled.
    pub fn cancel(&self, id: RunId, message: &str) -> Result<Option<Canceled>, RecordsFault> {
        let core = &self.core;
        if !(core.queue.has(id) || self.in_hand(id, |_| ())) {
            return Ok(None);
        }
        let ended = core.answers.follow(id);
        let mut body = Vec::new();
        record::canceled(message, &mut body);
        let record = RunRecord {
            event: RunEvent::Progress,
            pipeline: id.pipeline,
            run: id.seq,
            body: &body,
        };
        core.parts.records.append(&[Record::Run(record)])?;
        let stop = || self.in_hand(id, |run| run.stop("canceled", message));
        // If it has ended meanwhile, the record says nothing: it comes too late there as well.
        let was = core.queue.cancel(id, message, stop, self.time());
        core.clockwork.ring();
        Ok(was.map(|was| Canceled { was, ended }))
    }

    /// Whether a worker has a run in hand; shows it.
    fn in_hand(&self, id: RunId, show: impl Fn(&Queued)) -> bool {
        self.core.held.iter().any(|held| {
            let held = held.lock();
            held.queued().find(|run| run.id() == id).inspect(|run| show(run)).is_some()
        })
    }

    fn time(&self) -> (Timestamp, Duration) {
        let clock = &self.core.stage.clock;
        (clock.now(), clock.monotonic())
    }
}

#[cfg(test)]
mod tests;
