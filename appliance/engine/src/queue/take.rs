//! Workers take runs and bring them back.
//!
//! The highest lane with work goes first; a lane that was passed over too often gets one run, and so
//! does what of it one worker alone may run. A batch is of one pipeline and as large as about two
//! milliseconds of its work, so that nobody waits long behind it.
//!
//! **Invariants**: no lane has more runs out than it has slots.

use super::park::Parked;
use super::{Inner, Queue};
use crate::plan::Plan;
use crate::queued::{Queued, RunId};
use crate::run::{Event, Run};
use crate::stats::PipelineCounters;
use millrace_model::Timestamp;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Most runs of a batch.
const BATCH_MAX: usize = 64;
/// About how much work a batch is.
const BATCH_NS: u64 = 2_000_000;

/// A run in a worker's hands.
pub(crate) enum Taken {
    /// It begins; the number is that of the attempt.
    New(Arc<Queued>, u32),
    /// It goes on.
    Resumed(Box<Run>),
    /// Its key is to be evaluated, then it is to be given to [`Queue::keyed`].
    Unkeyed(Arc<Queued>),
}

/// What became of a batch.
pub(crate) struct Finished {
    pub(crate) pipeline: u32,
    /// Runs that have ended (or are not this worker's any more), with their keys.
    pub(crate) ended: Vec<(RunId, u64)>,
    /// How many runs the batch had.
    pub(crate) count: usize,
    pub(crate) cpu: Duration,
}

impl Queue {
    /// Takes a batch of one pipeline; the number of the pipeline, if there is work. Without work
    /// the worker counts as idle and will be rung for. What is taken is given to `hold` under the
    /// queue's lock: a run is always found here or with a worker.
    pub(crate) fn take(
        &self,
        worker: usize,
        at: Duration,
        taken: &mut Vec<Taken>,
        hold: impl FnOnce(&[Taken], &Plan, &PipelineCounters),
    ) -> Option<u32> {
        // What is left may be enough for another worker.
        self.change(|inner| {
            let found = inner.take(worker, at, taken);
            if let Some(pipe) = found.and_then(|pipeline| inner.pipes.get(&pipeline)) {
                hold(taken, &pipe.plan, &pipe.counters);
            }
            if let Some(idle) = inner.idle.get_mut(worker) {
                *idle = false;
            }
            found
        })
        .or_else(|| self.rest(worker))
    }

    /// Nothing was found: the worker is idle from now on, unless something has just come.
    fn rest(&self, worker: usize) -> Option<u32> {
        let mut inner = self.inner.lock();
        let slots = inner.config.slots_per_lane;
        let has_work = inner.lanes.iter().any(|lane| lane.can(worker, slots));
        if let Some(idle) = inner.idle.get_mut(worker) {
            *idle = !has_work;
        }
        drop(inner);
        if has_work {
            self.bells.get(worker).into_iter().for_each(super::Bell::ring);
        }
        None
    }

    /// Gives back what a worker took and did not begin, in its order.
    pub(crate) fn give_back(&self, pipeline: u32, taken: Vec<Taken>) {
        self.change(|inner| inner.give_back(pipeline, taken));
    }

    /// Brings a batch back.
    pub(crate) fn finish(&self, finished: &Finished) {
        self.change(|inner| inner.finish(finished));
    }

    /// Gives back a run that was interrupted, as it is taken next, and what was taken behind it.
    /// `let_go` takes it from its worker; `false` if that has it no more.
    pub(crate) fn again(
        &self,
        (run, next): (&Arc<Queued>, Taken),
        rest: Vec<Taken>,
        let_go: impl FnOnce() -> bool,
    ) {
        self.change(|inner| {
            let id = run.id();
            if !let_go() {
                return inner.give_back(id.pipeline, rest);
            }
            if let Taken::New(queued, _) | Taken::Unkeyed(queued) = &next {
                if let Some(stop) = run.stopped() {
                    queued.stop(stop.code, &stop.message);
                }
                // What came for it while it was executed: its end still counts.
                for event in inner.parked.remove(&id).into_iter().flat_map(Parked::into_events) {
                    if let Event::Cancel(code, message) = event {
                        queued.stop(code, &message);
                    }
                }
            }
            inner.give_back(id.pipeline, std::iter::once(next).chain(rest).collect());
        });
    }

    /// Lines up a run whose key is known now. `let_go` takes it from its worker; `false` if that
    /// has it no more: then nothing is done.
    pub(crate) fn keyed(
        &self,
        run: Arc<Queued>,
        key: u64,
        now: Timestamp,
        let_go: impl FnOnce() -> bool,
    ) -> bool {
        self.change(|inner| {
            if !let_go() {
                return false;
            }
            let number = run.plan.number;
            inner.push_keyed(number, run, key, now);
            inner.list(number);
            true
        })
    }

    /// Takes again what a worker does not give back: the attempt that it holds counts no more.
    /// `is_late`: because it took too long.
    pub(crate) fn take_again(&self, run: &Arc<Queued>, is_late: bool, now: Timestamp) {
        self.change(|inner| {
            run.attempt.fetch_add(1, Ordering::AcqRel);
            let number = run.plan.number;
            inner.forget_parked(run.id());
            let Some(pipe) = inner.pipes.get_mut(&number) else { return };
            if is_late {
                pipe.counters.late.add(1, now);
                inner.totals.late.fetch_add(1, Ordering::Relaxed);
            }
            pipe.ready.push_front(Arc::clone(run));
            pipe.waiting += 1;
            if let Some(lane) = inner.lanes.get_mut(pipe.lane) {
                lane.waiting += 1;
            }
            inner.bytes += run.bytes;
            inner.list(number);
        });
    }
}

/// A run that has not begun: under the revision that is in force if its own was given up for that,
/// and that has its trigger.
fn in_force(run: Arc<Queued>, plan: &Arc<Plan>) -> Arc<Queued> {
    if !run.plan.fate.is_given_up() {
        return run;
    }
    run.under(plan).map_or(run, Arc::new)
}

impl Inner {
    fn take(&mut self, worker: usize, at: Duration, taken: &mut Vec<Taken>) -> Option<u32> {
        let slots = self.config.slots_per_lane;
        let threshold = self.config.starvation_threshold;
        let starved = self.lanes.iter().enumerate().find_map(|(place, lane)| {
            let lane = Some(lane).filter(|lane| lane.has_room(slots))?;
            Some((place, lane.starved(worker, threshold)?))
        });
        let is_starved = starved.is_some();
        let (chosen, (used, number)) = starved.or_else(|| {
            let place = self.lanes.iter().position(|lane| lane.can(worker, slots))?;
            Some((place, self.lanes.get(place)?.first(worker)?))
        })?;
        let lane = self.lanes.get_mut(chosen)?;
        let room = slots - lane.computing;
        let pipe = self.pipes.get_mut(&number)?;
        // What a script will take is not known before it has run.
        let by_cost = match pipe.cost {
            0 if pipe.plan.unit.is_some() => 1,
            cost => usize::try_from(BATCH_NS / cost.max(1)).unwrap_or(BATCH_MAX),
        };
        let most = if is_starved { 1 } else { by_cost.clamp(1, BATCH_MAX).min(room) };
        lane.unlist(pipe.home, used, number);
        lane.advance(used);
        lane.has_turn(pipe.home);
        pipe.listed = None;
        let mut bytes = 0;
        let mut begun = 0;
        while taken.len() < most {
            if let Some(run) = pipe.resumed.pop_front() {
                taken.push(Taken::Resumed(run));
            } else if let Some(run) = pipe.unkeyed.pop_front() {
                taken.push(Taken::Unkeyed(in_force(run, &pipe.plan)));
            } else if let Some(run) = pipe.ready.pop_front() {
                let run = in_force(run, &pipe.plan);
                lane.waits.add(at.saturating_sub(run.at));
                bytes += run.bytes;
                begun += 1;
                let attempt = run.attempt.load(Ordering::Acquire);
                taken.push(Taken::New(run, attempt));
            } else {
                break;
            }
        }
        pipe.note_stoppable(taken);
        pipe.running += taken.len();
        pipe.waiting = pipe.waiting.saturating_sub(begun);
        pipe.counters.begun.fetch_add(begun as u64, Ordering::Relaxed);
        lane.waiting = lane.waiting.saturating_sub(begun);
        lane.computing += taken.len();
        lane.taken_starved += u64::from(is_starved);
        self.bytes = self.bytes.saturating_sub(bytes);
        self.note_passed_over(worker, chosen, taken.len());
        self.list(number);
        Some(number)
    }

    /// Other lanes with work that this worker could have taken were passed over once more.
    fn note_passed_over(&mut self, worker: usize, chosen: usize, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        for (place, lane) in self.lanes.iter_mut().enumerate() {
            if place != chosen {
                lane.pass_over(worker, count);
            }
        }
    }

    fn give_back(&mut self, number: u32, taken: Vec<Taken>) {
        let Some(pipe) = self.pipes.get_mut(&number) else { return };
        let Some(lane) = self.lanes.get_mut(pipe.lane) else { return };
        pipe.running = pipe.running.saturating_sub(taken.len());
        lane.computing = lane.computing.saturating_sub(taken.len());
        for taken in taken.into_iter().rev() {
            match taken {
                Taken::Resumed(run) => pipe.resumed.push_front(run),
                Taken::Unkeyed(run) => pipe.unkeyed.push_front(run),
                Taken::New(run, _) => {
                    self.bytes += run.bytes;
                    pipe.waiting += 1;
                    lane.waiting += 1;
                    pipe.counters.begun.fetch_sub(1, Ordering::Relaxed);
                    pipe.ready.push_front(run);
                }
            }
        }
        self.list(number);
    }

    fn finish(&mut self, finished: &Finished) {
        let number = finished.pipeline;
        for (id, key) in &finished.ended {
            self.forget_parked(*id);
            self.release_key(number, *key, *id);
        }
        let Some(pipe) = self.pipes.get_mut(&number) else { return };
        pipe.running = pipe.running.saturating_sub(finished.count);
        if let Some(lane) = self.lanes.get_mut(pipe.lane) {
            lane.computing = lane.computing.saturating_sub(finished.count);
        }
        let cpu = u64::try_from(finished.cpu.as_nanos()).unwrap_or(u64::MAX);
        pipe.counters.cpu_ns.fetch_add(cpu, Ordering::Relaxed);
        let each = cpu / (finished.count.max(1) as u64);
        pipe.cost = if pipe.cost == 0 { each } else { (pipe.cost * 7 + each) / 8 };
        // Already listed again by new work: it stands there under its old figure.
        let listed = pipe.listed;
        pipe.used = pipe.used.saturating_add(cpu);
        if listed.is_some() {
            let used = pipe.used;
            self.unlist(number);
            if let Some(pipe) = self.pipes.get_mut(&number) {
                pipe.used = used;
            }
        }
        self.find_home(number);
        self.list(number);
        self.forget_left(number);
    }
}
