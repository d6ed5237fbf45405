//! Where runs wait: three lanes over the pipelines, and the runs that are parked.
//!
//! Each pipeline has its own line of runs; a lane is the order of the pipelines that have work,
//! those that used the least CPU first. Workers take batches of one pipeline at a time. A run that
//! waits outside is parked here without a slot and comes back to its pipeline's line with the
//! event it waited for.
//!
//! **Invariants**: bytes of waiting runs and number and bytes of parked runs are bounded; every
//! run that is dropped is counted and told to the journal; a request that was told to be durable
//! is never refused (the queue may be over its limit by those that came at the same moment); in a
//! pipeline that keeps order at most one run of a key is out at a time, and the runs of a key begin
//! in the order of their seqs.

mod lane;
mod open;
mod park;
mod pipe;
mod shed;
mod take;

pub(crate) use open::Look;
pub(crate) use park::Parking;
pub(crate) use pipe::{hash, lane_of};
pub(crate) use shed::{Dropped, Why};
pub(crate) use take::{Finished, Taken};

use crate::config::Config;
use crate::plan::Plan;
use crate::queued::{Queued, RunId};
use crate::stats::{LaneStats, PipelineCounters, PipelineStats, Totals};
use lane::Lane;
use millrace_model::Timestamp;
use park::Parked;
use parking_lot::{Condvar, Mutex};
use pipe::Pipe;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// A pipeline at the queue.
pub(crate) struct Joining {
    pub(crate) plan: Arc<Plan>,
    pub(crate) counters: Arc<PipelineCounters>,
}

/// The queue.
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    bells: Vec<Bell>,
}

/// What one worker sleeps on.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    is_rung: Mutex<bool>,
    condition: Condvar,
}

impl Bell {
    /// Wakes who sleeps on it, now or at its next sleep.
    pub(crate) fn ring(&self) {
        *self.is_rung.lock() = true;
        self.condition.notify_one();
    }

    /// Sleeps until it is rung, or for so long; whether it was rung.
    pub(crate) fn sleep(&self, longest: Duration) -> bool {
        let mut is_rung = self.is_rung.lock();
        if !*is_rung {
            let _is_over = self.condition.wait_for(&mut is_rung, longest).timed_out();
        }
        std::mem::take(&mut *is_rung)
    }
}

pub(super) struct Inner {
    config: Config,
    totals: Arc<Totals>,
    pipes: HashMap<u32, Pipe>,
    lanes: [Lane; 3],
    /// Of runs that have not begun.
    bytes: usize,
    parked: HashMap<RunId, Parked>,
    parked_count: usize,
    parked_bytes: usize,
    walls: BinaryHeap<Reverse<(Timestamp, RunId)>>,
    monos: BinaryHeap<Reverse<(Duration, RunId)>>,
    dropped: Vec<Dropped>,
    /// Of those, the ones that the history of runs is to be told of.
    untold: Vec<(Arc<Queued>, Why)>,
    idle: Vec<bool>,
    /// How many pipelines each worker alone runs.
    homes: Vec<usize>,
}

impl Queue {
    pub(crate) fn new(config: &Config, totals: Arc<Totals>) -> Self {
        let workers = config.threads();
        Self {
            inner: Mutex::new(Inner {
                config: config.clone(),
                totals,
                pipes: HashMap::new(),
                lanes: std::array::from_fn(|_| Lane::new(workers)),
                bytes: 0,
                parked: HashMap::new(),
                parked_count: 0,
                parked_bytes: 0,
                walls: BinaryHeap::new(),
                monos: BinaryHeap::new(),
                dropped: Vec::new(),
                untold: Vec::new(),
                idle: vec![false; workers],
                homes: vec![0; workers],
            }),
            bells: (0..workers).map(|_| Bell::default()).collect(),
        }
    }

    pub(crate) fn bell(&self, worker: usize) -> Option<&Bell> {
        self.bells.get(worker)
    }

    pub(crate) fn ring_all(&self) {
        self.bells.iter().for_each(Bell::ring);
    }

    /// A pipeline was deployed, or deployed anew: its line stays.
    pub(crate) fn join(&self, joining: &Joining) {
        self.change(|inner| inner.join(joining));
    }

    /// A pipeline is undeployed: what has not begun is dropped, what is parked is canceled.
    pub(crate) fn leave(&self, pipeline: u32, now: Timestamp) {
        self.change(|inner| inner.leave(pipeline, now));
    }

    /// Queues runs that were triggered. One lock and at most one wake per worker for all of them.
    pub(crate) fn push(&self, runs: &mut Vec<Arc<Queued>>, now: Timestamp) {
        if runs.is_empty() {
            return;
        }
        self.change(|inner| {
            for run in runs.drain(..) {
                inner.push(run, now);
            }
            inner.keep_to_size(now);
        });
    }

    /// Whether a run of so many bytes may still be asked for: a queue that refuses new runs when it
    /// is full says so before the request is durable.
    pub(crate) fn takes(&self, bytes: usize) -> bool {
        let inner = self.inner.lock();
        !inner.config.discard_new_on_full || inner.bytes + bytes <= inner.config.queue_bytes_max
    }

    /// Changes the queue and wakes the workers that have something to do afterwards.
    fn change<T>(&self, body: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = self.inner.lock();
        let result = body(&mut inner);
        // At most 64 workers are woken by name; more are never configured.
        let mut wake = 0u64;
        for worker in inner.take_idle() {
            wake |= 1 << (worker % 64);
        }
        drop(inner);
        if wake != 0 {
            for (worker, bell) in self.bells.iter().enumerate() {
                if wake >> (worker % 64) & 1 == 1 {
                    bell.ring();
                }
            }
        }
        result
    }

    /// What was dropped and is still to be told to the journal.
    pub(crate) fn take_dropped(&self) -> Vec<Dropped> {
        std::mem::take(&mut self.inner.lock().dropped)
    }

    /// Dropped runs that the history is to be told of.
    pub(crate) fn take_untold(&self) -> Vec<(Arc<Queued>, Why)> {
        std::mem::take(&mut self.inner.lock().untold)
    }

    /// The counters of a pipeline whose runs have not all gone.
    pub(crate) fn counters(&self, pipeline: u32) -> Option<Arc<PipelineCounters>> {
        self.inner.lock().pipes.get(&pipeline).map(|pipe| Arc::clone(&pipe.counters))
    }

    pub(crate) fn has_dropped(&self) -> bool {
        !self.inner.lock().dropped.is_empty()
    }

    /// Gives back what could not be told.
    pub(crate) fn return_dropped(&self, dropped: Vec<Dropped>) {
        let mut inner = self.inner.lock();
        let later = std::mem::replace(&mut inner.dropped, dropped);
        inner.dropped.extend(later);
    }

    /// Waiting, running and parked runs of a pipeline.
    pub(crate) fn fill(&self, pipeline: u32, stats: &mut PipelineStats) {
        let inner = self.inner.lock();
        if let Some(pipe) = inner.pipes.get(&pipeline) {
            stats.waiting = pipe.waiting;
            stats.running = pipe.running;
            stats.parked = pipe.parked;
        }
    }

    pub(crate) fn lanes(&self) -> Vec<LaneStats> {
        let inner = self.inner.lock();
        let names = ["high", "normal", "low"];
        let lanes = names.into_iter().zip(&inner.lanes);
        lanes.map(|(name, lane)| lane.read(name)).collect()
    }

    /// Bytes of waiting runs; number and bytes of parked ones.
    pub(crate) fn sizes(&self) -> (usize, usize, usize) {
        let inner = self.inner.lock();
        (inner.bytes, inner.parked_count, inner.parked_bytes)
    }

    /// Keeps a pipeline from running until then: its script reached a limit. It goes on behind all
    /// others, until it is called back or deployed anew.
    pub(crate) fn hold_back(&self, pipeline: u32, until: Duration) {
        let mut inner = self.inner.lock();
        inner.hold_back(pipeline, until);
    }

    /// Lets a pipeline run beside all others again, from its next run on.
    pub(crate) fn call_back(&self, pipeline: u32) {
        let mut inner = self.inner.lock();
        inner.settle_rank(pipeline);
    }
}

impl Inner {
    fn join(&mut self, joining: &Joining) {
        let number = joining.plan.number;
        match self.pipes.get_mut(&number) {
            Some(pipe) => {
                let (lane, home) = (pipe.lane, pipe.home);
                if let Some(lane) = self.lanes.get_mut(lane) {
                    if let Some(key) = pipe.listed.take() {
                        lane.unlist(home, key, number);
                    }
                    // Its runs wait and compute in the lane of its new priority from now on.
                    lane.waiting = lane.waiting.saturating_sub(pipe.waiting);
                    lane.computing = lane.computing.saturating_sub(pipe.running);
                }
                pipe.redeploy(joining);
                if let Some(lane) = self.lanes.get_mut(pipe.lane) {
                    lane.waiting += pipe.waiting;
                    lane.computing += pipe.running;
                }
            }
            None => {
                self.pipes.insert(number, Pipe::new(joining));
            }
        }
        self.settle_rank(number);
        self.find_home(number);
        self.list(number);
    }

    /// Who may compute for longer than others are allowed to does it behind them; nobody else is
    /// there without a killed script.
    fn settle_rank(&mut self, number: u32) {
        if let Some(pipe) = self.pipes.get_mut(&number) {
            let asks_for_more = pipe.plan.script_cpu > self.config.script_cpu;
            pipe.is_aside = asks_for_more && pipe.plan.unit.is_some();
        }
    }

    /// Gives a pipeline the worker that it is to have: none if any may run it; the one with the
    /// fewest if its runs have to stay on one thread; the last one, which works when the machine
    /// has nothing better to do, if it was put aside. It moves between two runs only.
    pub(super) fn find_home(&mut self, number: u32) {
        let Some(pipe) = self.pipes.get(&number) else { return };
        let aside = self.config.workers;
        let is_right = match pipe.home {
            None => !pipe.plan.is_pinned,
            Some(home) => pipe.plan.is_pinned && pipe.is_aside == (home == aside),
        };
        // What a worker has collected for a pipeline must be on its way before another goes on.
        let is_settled = pipe.running == 0 && pipe.held_until.is_none();
        let moves = pipe.home.is_some() && pipe.plan.is_pinned;
        if is_right || (moves && !is_settled) {
            return;
        }
        self.unlist(number);
        let Some(pipe) = self.pipes.get_mut(&number) else { return };
        if let Some(count) = pipe.home.and_then(|home| self.homes.get_mut(home)) {
            *count = count.saturating_sub(1);
        }
        pipe.home = match (pipe.plan.is_pinned, pipe.is_aside) {
            (false, _) => None,
            (true, true) => Some(aside),
            (true, false) => {
                let homes = self.homes.iter().take(aside).enumerate();
                homes.min_by_key(|(_, count)| **count).map(|(worker, _)| worker)
            }
        };
        if let Some(count) = pipe.home.and_then(|home| self.homes.get_mut(home)) {
            *count += 1;
        }
    }

    /// Puts a pipeline into its lane if it has work and is not there.
    pub(super) fn list(&mut self, number: u32) {
        let Some(pipe) = self.pipes.get_mut(&number) else { return };
        if pipe.listed.is_some() || pipe.held_until.is_some() || !pipe.has_work() {
            return;
        }
        if let Some(lane) = self.lanes.get_mut(pipe.lane) {
            pipe.used = pipe.used.max(lane.least_used());
            pipe.listed = Some(pipe.used);
            lane.list(pipe.home, pipe.used, number);
        }
    }

    fn unlist(&mut self, number: u32) {
        let Some(pipe) = self.pipes.get_mut(&number) else { return };
        if let (Some(key), Some(lane)) = (pipe.listed.take(), self.lanes.get_mut(pipe.lane)) {
            lane.unlist(pipe.home, key, number);
        }
    }

    fn hold_back(&mut self, number: u32, until: Duration) {
        self.unlist(number);
        if let Some(pipe) = self.pipes.get_mut(&number) {
            pipe.held_until = Some(until);
            pipe.is_aside = true;
        }
    }

    /// Idle workers that have something to do: each is woken once.
    fn take_idle(&mut self) -> Vec<usize> {
        if !self.idle.contains(&true) {
            return Vec::new();
        }
        let mut wake = Vec::new();
        let shared: usize = self.lanes.iter().map(|lane| lane.shared_count()).sum();
        // A single busy pipeline does not need every core for a handful of runs.
        let waiting: usize = self.lanes.iter().map(|lane| lane.waiting).sum();
        let mut wanted = shared.max(waiting / RUNS_PER_WORKER * SHARED_PER_WORKER);
        if shared == 0 {
            wanted = 0;
        }
        for (worker, idle) in self.idle.iter_mut().enumerate() {
            if !*idle {
                continue;
            }
            let has_own = self.lanes.iter().any(|lane| lane.has_own(worker));
            if has_own || (wanted > 0 && worker < self.config.workers) {
                *idle = false;
                wake.push(worker);
                wanted = wanted.saturating_sub(SHARED_PER_WORKER);
            }
        }
        wake
    }
}

/// So many waiting runs are left to one worker before a second one is woken.
const RUNS_PER_WORKER: usize = 128;
/// So many pipelines with work are left to one worker before a second one is woken.
const SHARED_PER_WORKER: usize = 8;

#[cfg(test)]
mod tests;
