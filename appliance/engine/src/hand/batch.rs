//! A worker's batch: taken, executed run by run, brought back.
//!
//! **Invariants**: a run that has ended or parked is no longer among those that are taken again if
//! the worker is given up, and one that is taken again has left no effect.

use super::{Hand, begin};
use crate::outbox::{Mark, Source};
use crate::queue::{Finished, Taken};
use crate::queued::RunId;
use crate::run::{Bench, Drive, Run};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Hand {
    /// Takes one batch and executes it; gives how many runs it had.
    pub(super) fn batch(&mut self) -> usize {
        let core = Arc::clone(&self.core);
        let at = core.stage.clock.monotonic();
        core.pulse.worked(self.number, at);
        let mut taken = std::mem::take(&mut self.taken);
        let Some(pipeline) = core.queue.take(self.number, at, &mut taken) else {
            self.taken = taken;
            return 0;
        };
        self.hold(pipeline, &taken, at);
        self.note_begin(pipeline, &taken);
        self.mark = (core.parts.thread_cpu)();
        if self.collected == 0 {
            self.since = at;
        }
        let mut rest = taken.drain(..);
        while let Some(taken) = rest.next() {
            let is_killed = self.one(taken);
            if self.given_up.load(Ordering::Acquire) || self.scripts.is_given_up() {
                // Somebody else has the rest of it by now, but not what was done before.
                self.given_up.store(true, Ordering::Release);
                self.finish(pipeline, Duration::ZERO);
                self.submit();
                return 0;
            }
            if is_killed && rest.len() > 0 {
                // The pipeline pauses; what was taken along waits with the others.
                core.queue.give_back(pipeline, rest.by_ref().collect());
            }
        }
        drop(rest);
        self.taken = taken;
        let cpu = (core.parts.thread_cpu)();
        let used = cpu.saturating_sub(self.cpu);
        self.cpu = cpu;
        if let Some(held) = core.held.get(self.number) {
            let mut held = held.lock();
            // Once it is given up, what is held there is another worker's.
            if !self.given_up.load(Ordering::Acquire) {
                held.since = None;
                held.runs.clear();
                held.unkeyed.clear();
            }
        }
        self.finish(pipeline, used)
    }

    /// Brings back what is done with of a batch; gives how many runs that are.
    pub(super) fn finish(&mut self, pipeline: u32, cpu: Duration) -> usize {
        let count = std::mem::take(&mut self.done);
        let mut finished =
            Finished { pipeline, ended: std::mem::take(&mut self.ended), count, cpu };
        if count > 0 {
            self.core.queue.finish(&finished);
        }
        // Its memory serves the next batch.
        finished.ended.clear();
        self.ended = finished.ended;
        count
    }

    fn hold(&self, pipeline: u32, taken: &[Taken], at: Duration) {
        let Some(held) = self.core.held.get(self.number) else { return };
        let mut held = held.lock();
        held.since = Some(at);
        held.pipeline = pipeline;
        held.runs.clear();
        held.unkeyed.clear();
        for taken in taken {
            match taken {
                Taken::New(run, attempt) => held.runs.push_back((Arc::clone(run), *attempt)),
                Taken::Resumed(run) => held.runs.push_back((Arc::clone(&run.queued), run.attempt)),
                Taken::Unkeyed(run) => held.unkeyed.push(Arc::clone(run)),
            }
        }
    }

    /// Notes when the pipeline's last run began.
    fn note_begin(&self, pipeline: u32, taken: &[Taken]) {
        if taken.iter().any(|taken| matches!(taken, Taken::New(..)))
            && let Some(deployment) = self.core.deployments.get(pipeline)
        {
            let now = self.core.stage.clock.now();
            deployment.counters.last_begun.store(now.0, Ordering::Relaxed);
        }
    }

    /// Drives one run; whether a script of it was killed.
    fn one(&mut self, taken: Taken) -> bool {
        let core = Arc::clone(&self.core);
        let run = match taken {
            Taken::Unkeyed(queued) => {
                self.current = Some(queued.id());
                self.done += usize::from(self.evaluate_key(queued));
                self.current = None;
                return false;
            }
            Taken::Resumed(run) => run,
            Taken::New(queued, attempt) => {
                if queued.attempt.load(Ordering::Acquire) != attempt {
                    self.done += usize::from(self.claim(queued.id()));
                    self.claimed = None;
                    return false;
                }
                self.current = Some(queued.id());
                Box::new(begin(&core, queued, attempt))
            }
        };
        self.current = Some(run.queued.id());
        let is_killed = self.drive(run);
        self.current = None;
        is_killed
    }

    /// Takes a run out of what is taken again if this worker is given up; `false` if it was given
    /// up before: then the run is another's.
    fn claim(&mut self, id: RunId) -> bool {
        let Some(held) = self.core.held.get(self.number) else { return false };
        let mut held = held.lock();
        if self.given_up.load(Ordering::Acquire) {
            return false;
        }
        // In their order, so it is the first of those that are left.
        let place = held.runs.iter().position(|(run, _)| run.id() == id);
        self.claimed = place.and_then(|place| held.runs.remove(place)).map(|(run, _)| run);
        true
    }

    /// Drives a run until it ends or parks; whether a script was killed.
    fn drive(&mut self, mut run: Box<Run>) -> bool {
        let core = Arc::clone(&self.core);
        let plan = Arc::clone(run.plan());
        let (id, key) = (run.queued.id(), run.queued.key.load(Ordering::Relaxed));
        let hops = run.queued.hops.saturating_add(1);
        self.outbox.begin(Source { workspace: plan.workspace, pipeline: plan.number, hops });
        self.outbox.mark(Mark::Run);
        let mut bench = Bench {
            stage: &core.stage,
            outbox: &mut *self.outbox,
            scripts: &mut *self.scripts,
            stubs: None,
            text: &mut self.text,
        };
        let drive = run.drive(&mut bench);
        let cpu = (core.parts.thread_cpu)();
        run.notes.cpu += cpu.saturating_sub(std::mem::replace(&mut self.mark, cpu));
        let is_killed = run.notes.is_killed;
        if !run.is_current() || self.scripts.is_given_up() || !self.claim(id) {
            self.outbox.undo(Mark::Run);
            return is_killed;
        }
        let has_ended = match drive {
            Drive::Ended => {
                self.end(&run);
                true
            }
            Drive::Parked => self.park(run),
        };
        self.claimed = None;
        self.done += 1;
        if has_ended {
            self.ended.push((id, key));
        }
        is_killed
    }
}
