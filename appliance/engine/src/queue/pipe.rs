//! The line of one pipeline.
//!
//! **Invariants**: a run stands in one place: `ready`, the waiting line of its key, `unkeyed`,
//! `resumed`, parked, or with a worker.

use super::park::undeployed;
use super::take::Taken;
use super::{Inner, Joining, Why};
use crate::plan::Plan;
use crate::queued::{Queued, RunId, Start};
use crate::run::Run;
use crate::stats::PipelineCounters;
use millrace_flow::document::{Order, Overlap, Priority};
use millrace_model::Timestamp;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(super) struct Pipe {
    pub(super) plan: Arc<Plan>,
    pub(super) counters: Arc<PipelineCounters>,
    pub(super) lane: usize,
    /// The worker that alone runs it.
    pub(super) home: Option<usize>,
    /// Runs that go on.
    pub(super) resumed: VecDeque<Box<Run>>,
    /// Runs that may begin.
    pub(super) ready: VecDeque<Arc<Queued>>,
    /// Runs whose key is still to be evaluated.
    pub(super) unkeyed: VecDeque<Arc<Queued>>,
    pub(super) keys: HashMap<u64, Key>,
    /// Under which figure it stands in its lane.
    pub(super) listed: Option<u64>,
    /// CPU nanoseconds, for fairness.
    pub(super) used: u64,
    /// About what one run takes, nanoseconds of CPU.
    pub(super) cost: u64,
    pub(super) held_until: Option<Duration>,
    /// Its script reached a limit not long ago, or may compute for longer than the box lets others:
    /// it runs behind all others.
    pub(super) is_aside: bool,
    pub(super) waiting: usize,
    pub(super) running: usize,
    pub(super) parked: usize,
    pub(super) parked_bytes: usize,
    /// It is undeployed, and only its last runs are still here.
    pub(super) is_leaving: bool,
}

/// The runs of one key.
#[derive(Debug)]
pub(super) struct Key {
    /// The one that is out: ready, with a worker, or parked.
    pub(super) holder: RunId,
    /// The same, once a worker has had it in hand and a later run may stop it there.
    pub(super) stoppable: Option<Arc<Queued>>,
    pub(super) waiting: VecDeque<Arc<Queued>>,
}

impl Pipe {
    pub(super) fn new(joining: &Joining) -> Self {
        let plan = &joining.plan;
        Self {
            plan: Arc::clone(plan),
            counters: Arc::clone(&joining.counters),
            lane: lane_of(plan),
            home: None,
            resumed: VecDeque::new(),
            ready: VecDeque::new(),
            unkeyed: VecDeque::new(),
            keys: HashMap::new(),
            listed: None,
            used: 0,
            cost: 0,
            held_until: None,
            is_aside: false,
            waiting: 0,
            running: 0,
            parked: 0,
            parked_bytes: 0,
            is_leaving: false,
        }
    }

    pub(super) fn redeploy(&mut self, joining: &Joining) {
        self.plan = Arc::clone(&joining.plan);
        self.counters = Arc::clone(&joining.counters);
        self.lane = lane_of(&self.plan);
        self.held_until = None;
        self.is_leaving = false;
    }

    pub(super) fn has_work(&self) -> bool {
        !(self.resumed.is_empty() && self.ready.is_empty() && self.unkeyed.is_empty())
    }

    /// Whether runs of a key follow one another: because of the order, or because of the overlap.
    pub(super) fn is_keyed(&self) -> bool {
        self.plan.is_ordered() || self.plan.settings.overlap != Overlap::Queue
    }

    /// Notes what a worker takes, so that a later run of the same key can stop it there.
    pub(super) fn note_stoppable(&mut self, taken: &[Taken]) {
        if self.plan.settings.overlap != Overlap::Restart {
            return;
        }
        for taken in taken {
            let run = match taken {
                Taken::New(run, _) => run,
                Taken::Resumed(run) => &run.queued,
                Taken::Unkeyed(_) => continue,
            };
            let line = self.keys.get_mut(&run.key.load(Ordering::Relaxed));
            if let Some(line) = line.filter(|line| line.holder == run.id()) {
                line.stoppable = Some(Arc::clone(run));
            }
        }
    }

    /// The key of a run, as far as it can be told without evaluating anything.
    pub(super) fn key_of(&self, run: &Queued) -> Option<u64> {
        match &self.plan.settings.order {
            Order::Parallel | Order::InOrderAll => Some(0),
            Order::InOrder => Some(match &run.start {
                Start::Value(start) => hash(&*start.place.path),
                Start::Data(_) => u64::from(run.trigger),
            }),
            Order::InOrderBy(_) => None,
        }
    }
}

/// A hash that is the same for equal things within this process.
pub(crate) fn hash(of: &(impl std::hash::Hash + ?Sized)) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(of)
}

/// The lane of a pipeline's runs, high first.
pub(crate) fn lane_of(plan: &Plan) -> usize {
    match plan.settings.priority {
        Priority::High => 0,
        Priority::Normal => 1,
        Priority::Low => 2,
    }
}

impl Inner {
    pub(super) fn push(&mut self, run: Arc<Queued>, now: Timestamp) {
        let number = run.plan.number;
        let Some(pipe) = self.pipes.get_mut(&number).filter(|pipe| !pipe.is_leaving) else {
            return self.drop_run(&run, Why::Undeployed, now);
        };
        // Who asked for a run was told that it is durable, after a look at the queue.
        let is_asked = matches!(run.start, Start::Data(_));
        let is_full = self.bytes + run.bytes > self.config.queue_bytes_max;
        if self.config.discard_new_on_full && is_full && !is_asked {
            return self.drop_run(&run, Why::Full, now);
        }
        self.bytes += run.bytes;
        pipe.waiting += 1;
        if let Some(lane) = self.lanes.get_mut(pipe.lane) {
            lane.waiting += 1;
        }
        if !pipe.is_keyed() {
            pipe.ready.push_back(run);
        } else if let Some(key) = pipe.key_of(&run) {
            self.push_keyed(number, run, key, now);
        } else {
            pipe.unkeyed.push_back(run);
        }
        self.list(number);
    }

    /// Lines a run up behind the others of its key.
    pub(super) fn push_keyed(&mut self, number: u32, run: Arc<Queued>, key: u64, now: Timestamp) {
        let Some(pipe) = self.pipes.get_mut(&number) else { return };
        run.key.store(key, Ordering::Relaxed);
        let id = run.id();
        let Some(line) = pipe.keys.get_mut(&key) else {
            pipe.keys.insert(key, Key { holder: id, stoppable: None, waiting: VecDeque::new() });
            pipe.ready.push_back(run);
            return;
        };
        match pipe.plan.settings.overlap {
            Overlap::Queue => line.waiting.push_back(run),
            Overlap::Skip => {
                pipe.counters.skipped.add(1, now);
                self.forget_waiting(&run);
                self.drop_run(&run, Why::Skipped, now);
            }
            Overlap::Restart => {
                let (holder, stoppable) = (line.holder, line.stoppable.clone());
                let earlier: Vec<_> = line.waiting.drain(..).collect();
                line.waiting.push_back(run);
                for earlier in earlier {
                    self.restarted(number, &earlier, now);
                }
                self.stop_holder(number, (holder, stoppable), now);
            }
        }
    }

    fn restarted(&mut self, number: u32, run: &Arc<Queued>, now: Timestamp) {
        if let Some(pipe) = self.pipes.get(&number) {
            pipe.counters.restarted.add(1, now);
        }
        self.forget_waiting(run);
        self.drop_run(run, Why::Restarted, now);
    }

    /// Stops the run that holds a key: one that has not begun is dropped, one that is parked is
    /// told to end, one that is being executed ends within its script or behind its step.
    fn stop_holder(
        &mut self,
        number: u32,
        (holder, stoppable): (RunId, Option<Arc<Queued>>),
        now: Timestamp,
    ) {
        let Some(pipe) = self.pipes.get_mut(&number) else { return };
        let place = pipe.ready.iter().position(|run| run.id() == holder);
        if let Some(run) = place.and_then(|place| pipe.ready.remove(place)) {
            let key = run.key.load(Ordering::Relaxed);
            self.restarted(number, &run, now);
            return self.release_key(number, key, holder);
        }
        pipe.counters.restarted.add(1, now);
        if let Some(run) = stoppable {
            run.stop("restarted", Why::Restarted.sentence());
        }
        self.cancel(holder, "restarted", Why::Restarted.sentence(), (now, Duration::ZERO));
    }

    /// The run that held a key has gone: the next one may begin.
    pub(super) fn release_key(&mut self, number: u32, key: u64, holder: RunId) {
        let Some(pipe) = self.pipes.get_mut(&number) else { return };
        let Some(line) = pipe.keys.get_mut(&key) else { return };
        if line.holder != holder {
            return;
        }
        match line.waiting.pop_front() {
            Some(next) => {
                line.holder = next.id();
                line.stoppable = None;
                pipe.ready.push_back(next);
            }
            None => {
                pipe.keys.remove(&key);
            }
        }
    }

    /// A run that waited does so no longer.
    pub(super) fn forget_waiting(&mut self, run: &Queued) {
        self.bytes = self.bytes.saturating_sub(run.bytes);
        if let Some(pipe) = self.pipes.get_mut(&run.plan.number) {
            pipe.waiting = pipe.waiting.saturating_sub(1);
            if let Some(lane) = self.lanes.get_mut(pipe.lane) {
                lane.waiting = lane.waiting.saturating_sub(1);
            }
        }
    }

    pub(super) fn leave(&mut self, number: u32, now: Timestamp) {
        self.unlist(number);
        let parked: Vec<RunId> =
            self.parked.keys().filter(|id| id.pipeline == number).copied().collect();
        for id in parked {
            self.tell(id, undeployed(), now, Duration::ZERO);
        }
        let Some(pipe) = self.pipes.get_mut(&number) else { return };
        let mut waiting: Vec<Arc<Queued>> = pipe.ready.drain(..).collect();
        waiting.extend(pipe.unkeyed.drain(..));
        for line in pipe.keys.values_mut() {
            waiting.extend(line.waiting.drain(..));
        }
        for run in waiting {
            self.forget_waiting(&run);
            self.drop_run(&run, Why::Undeployed, now);
        }
        if let Some(pipe) = self.pipes.get_mut(&number) {
            pipe.held_until = None;
            pipe.is_leaving = true;
        }
        // Runs that were parked still have to be driven to their end.
        self.list(number);
        self.forget_left(number);
    }

    /// Forgets a pipeline that is undeployed when its last run has gone.
    pub(super) fn forget_left(&mut self, number: u32) {
        let is_left = self.pipes.get(&number).is_some_and(|pipe| {
            pipe.is_leaving && !pipe.has_work() && pipe.running == 0 && pipe.parked == 0
        });
        if is_left {
            self.unlist(number);
            let home = self.pipes.remove(&number).and_then(|pipe| pipe.home);
            if let Some(count) = home.and_then(|home| self.homes.get_mut(home)) {
                *count = count.saturating_sub(1);
            }
        }
    }
}
