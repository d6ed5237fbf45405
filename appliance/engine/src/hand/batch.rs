//! A worker's batch: taken, executed run by run, brought back.
//!
//! **Invariants**: a run that has ended or parked is no longer among those that are taken again if
//! the worker is given up, and one that is taken again has left no effect.

use super::{Hand, begin};
use crate::outbox::{Mark, Source};
use crate::plan::Plan;
use crate::queue::{Finished, Taken};
use crate::queued::{Queued, RunId};
use crate::run::{Bench, Drive, Run};
use crate::stats::PipelineCounters;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What the turn of a run in a batch came to.
pub(super) enum Turn {
    /// The next one has its turn.
    Goes,
    /// A script of it was killed.
    Killed,
    /// It was interrupted and is run again, the rest of the batch behind it: the run as it was
    /// taken, and as it is taken next.
    Again(Arc<Queued>, Taken),
    /// It was interrupted because the box stops: it stays as it is.
    Stops,
}

impl Hand {
    /// Takes one batch and executes it; gives how many runs it was at work on.
    pub(super) fn batch(&mut self) -> usize {
        let core = Arc::clone(&self.core);
        let at = core.stage.clock.monotonic();
        core.pulse.worked(self.number, at);
        let mut taken = std::mem::take(&mut self.taken);
        let hold = |taken: &[Taken], plan: &Plan, counters: &PipelineCounters| {
            self.hold(plan.number, taken, at);
            if taken.iter().any(|taken| matches!(taken, Taken::New(..))) {
                counters.last_begun.store(core.stage.clock.now().0, Ordering::Relaxed);
            }
        };
        let Some(pipeline) = core.queue.take(self.number, at, &mut taken, hold) else {
            self.taken = taken;
            return 0;
        };
        if self.collected == 0 {
            self.since = at;
        }
        let mut again = 0;
        let mut rest = taken.drain(..);
        while let Some(taken) = rest.next() {
            let turn = self.one(taken);
            if self.given_up.load(Ordering::Acquire) || self.scripts.is_given_up() {
                // Somebody else has the rest of it by now, but not what was done before.
                self.given_up.store(true, Ordering::Release);
                self.finish(pipeline, Duration::ZERO);
                self.submit();
                return 0;
            }
            match turn {
                Turn::Goes => {}
                // The pipeline pauses; what was taken along waits with the others.
                Turn::Killed if rest.len() > 0 => {
                    core.queue.give_back(pipeline, rest.by_ref().collect());
                }
                Turn::Killed => {}
                Turn::Again(run, next) => {
                    let rest = rest.by_ref().collect();
                    core.queue.again((&run, next), rest, || self.let_go(&run));
                    again += 1;
                }
                Turn::Stops => break,
            }
        }
        drop(rest);
        self.taken = taken;
        let used = self.mark.saturating_sub(self.cpu);
        self.cpu = self.mark;
        if let Some(held) = core.held.get(self.number) {
            let mut held = held.lock();
            // Once it is given up, what is held there is another worker's.
            if !self.given_up.load(Ordering::Acquire) {
                held.since = None;
                held.runs.clear();
                held.unkeyed.clear();
            }
        }
        again + self.finish(pipeline, used)
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

    /// Drives one run.
    fn one(&mut self, taken: Taken) -> Turn {
        let core = Arc::clone(&self.core);
        let run = match taken {
            Taken::Unkeyed(queued) => {
                self.current = Some(queued.id());
                let turn = self.evaluate_key(queued);
                self.mark = (core.parts.thread_cpu)();
                self.current = None;
                return turn;
            }
            Taken::Resumed(run) => run,
            Taken::New(queued, attempt) => {
                if queued.attempt.load(Ordering::Acquire) != attempt {
                    self.done += usize::from(self.claim(queued.id(), false));
                    self.claimed = None;
                    return Turn::Goes;
                }
                self.current = Some(queued.id());
                Box::new(begin(&core, queued, attempt))
            }
        };
        self.current = Some(run.queued.id());
        let turn = self.drive(run);
        self.current = None;
        turn
    }

    /// Takes a run out of what is taken again if this worker is given up; `false` if it was given
    /// up before: then the run is another's. One that is to be parked can still be told to end.
    fn claim(&mut self, id: RunId, is_to_park: bool) -> bool {
        let Some(held) = self.core.held.get(self.number) else { return false };
        let mut held = held.lock();
        if self.given_up.load(Ordering::Acquire) {
            return false;
        }
        // In their order, so it is the first of those that are left.
        let place = held.runs.iter().position(|(run, _)| run.id() == id);
        self.claimed = place.and_then(|place| held.runs.remove(place)).map(|(run, _)| run);
        if is_to_park {
            held.parking = self.claimed.as_ref().map(Arc::clone);
        }
        true
    }

    /// Takes a run out of what this worker holds, under the queue's lock, so that it is always to be
    /// found in one of the two; `false` if the worker was given up: then the run is another's.
    pub(super) fn let_go(&self, run: &Arc<Queued>) -> bool {
        let Some(held) = self.core.held.get(self.number) else { return false };
        let mut held = held.lock();
        if self.given_up.load(Ordering::Acquire) || self.scripts.is_given_up() {
            return false;
        }
        held.runs.retain(|(known, _)| !Arc::ptr_eq(known, run));
        held.unkeyed.retain(|known| !Arc::ptr_eq(known, run));
        true
    }

    /// Drives a run until it ends, parks, or is interrupted.
    fn drive(&mut self, mut run: Box<Run>) -> Turn {
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
            undo: &mut self.undo,
        };
        let drive = run.drive(&mut bench);
        let cpu = (core.parts.thread_cpu)();
        run.notes.cpu += cpu.saturating_sub(std::mem::replace(&mut self.mark, cpu));
        let turn = if run.notes.is_killed { Turn::Killed } else { Turn::Goes };
        if !run.is_current() || self.scripts.is_given_up() {
            self.undo_run(false);
            return turn;
        }
        if drive == Drive::Left {
            self.undo_run(true);
            run.notes.settled();
            if core.stage.is_stopping.load(Ordering::Acquire) {
                return Turn::Stops;
            }
            let again = self.again(Arc::clone(&run.queued), |run| {
                let attempt = run.attempt.load(Ordering::Acquire);
                Taken::New(run, attempt)
            });
            if let Some(again) = again {
                return again;
            }
            run.end_gone(self.core.deployments.get(id.pipeline).is_some());
        }
        let is_to_park = drive == Drive::Parked;
        if !self.claim(id, is_to_park) {
            self.undo_run(false);
            return turn;
        }
        let has_ended = if is_to_park {
            let has_ended = self.park(run);
            if let Some(held) = core.held.get(self.number) {
                held.lock().parking = None;
            }
            has_ended
        } else {
            // Who canceled it while it was in hand was told that it ends so.
            run.heed_stop();
            self.end(&run);
            true
        };
        self.claimed = None;
        self.done += 1;
        if has_ended {
            self.ended.push((id, key));
        }
        turn
    }

    /// Takes back what the attempt in hand has done. `is_alone`: nobody else has run it meanwhile.
    fn undo_run(&mut self, is_alone: bool) {
        self.outbox.undo(Mark::Run);
        self.undo.back(&self.core.stage.states, is_alone);
    }

    /// A run that was interrupted, as the next attempt under the revision that is in force; `None`
    /// if there is none, or none that has its trigger.
    pub(super) fn again(
        &self,
        run: Arc<Queued>,
        taken: impl FnOnce(Arc<Queued>) -> Taken,
    ) -> Option<Turn> {
        run.plan.fate.give_up();
        let deployment = self.core.deployments.get(run.plan.number)?;
        let next = run.under(&deployment.plan)?;
        next.attempt.fetch_add(1, Ordering::AcqRel);
        Some(Turn::Again(run, taken(Arc::new(next))))
    }
}
