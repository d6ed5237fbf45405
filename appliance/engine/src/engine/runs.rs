//! Runs that have not ended: listed, opened, canceled.
//!
//! What waits is at the queue, what is executed in the workers' hands; together they are all runs
//! of a deployed pipeline that have not ended, and those of an undeployed one that still end.
//!
//! **Invariants**: a look never holds a worker up for longer than one lock of what it has in hand.

use super::Engine;
use crate::queue::Look;
use crate::queued::RunId;
use crate::report::{OpenRun, OpenState};
use millrace_model::Timestamp;
use std::time::Duration;

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
    /// it is at, or within its script. It ends as canceled, with this sentence. In which state it
    /// was; `None` if there is no such run that has not ended.
    pub fn cancel(&self, id: RunId, message: &str) -> Option<OpenState> {
        let stop = || {
            self.core.held.iter().any(|held| {
                let held = held.lock();
                let run = held.queued().find(|run| run.id() == id);
                run.inspect(|run| run.stop("canceled", message)).is_some()
            })
        };
        let state = self.core.queue.cancel(id, message, stop, self.time());
        self.core.clockwork.ring();
        state
    }

    fn time(&self) -> (Timestamp, Duration) {
        let clock = &self.core.stage.clock;
        (clock.now(), clock.monotonic())
    }
}

#[cfg(test)]
mod tests;
