//! A worker: takes batches of runs, executes them, and gives their effects to the journal.
//!
//! Effects of many runs are collected and submitted in one append: when nothing more is ready,
//! when much has been collected, or after a moment. While the journal takes nothing the worker
//! takes nothing either, so that the queue fills and its limits hold.
//!
//! **Invariants**: between the first effect of a run and its record nothing is submitted; a run's
//! end counts only if its worker was not given up before, and then nobody takes the run again.

mod batch;
pub(crate) mod ending;
mod key;

use crate::engine::{Core, Engine};
use crate::outbox::{Mark, Outbox, Sent};
use crate::queue::{Parking, Taken};
use crate::queued::{Queued, RunId};
use crate::record;
use crate::report::RunFault;
use crate::run::{End, Event, Run};
use crate::script::Worker;
use crate::state::undo::Undo;
use millrace_model::{Record, RunEvent, RunRecord};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

/// Collected bytes that are submitted at once.
const SUBMIT_BYTES: usize = 64 * 1024;
/// Runs whose effects are submitted at once.
const SUBMIT_RUNS: usize = 256;
/// Longest time for which effects are collected.
const SUBMIT_AFTER: Duration = Duration::from_millis(1);
/// How long a worker sleeps when there is nothing to do, before it tidies up.
const IDLE: Duration = Duration::from_secs(5);
/// How long it waits before it asks a full journal again, if nobody wakes it.
const FULL: Duration = Duration::from_millis(100);

/// What a worker has in hand, for those who watch it.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(crate) since: Option<Duration>,
    pub(crate) pipeline: u32,
    /// Runs that it has not brought to an end or a wait.
    pub(crate) runs: VecDeque<(Arc<Queued>, u32)>,
    /// Runs whose keys it is to evaluate.
    pub(crate) unkeyed: Vec<Arc<Queued>>,
    /// The run that it is about to park.
    pub(crate) parking: Option<Arc<Queued>>,
    /// The number of its script worker.
    pub(crate) scripts: u64,
    /// Set when it was given up; a new worker has taken its place.
    pub(crate) given_up: Arc<AtomicBool>,
    /// Pipelines that were undeployed, for its script worker to forget.
    pub(crate) forget: Vec<u32>,
}

impl Held {
    /// All runs that it has.
    pub(crate) fn queued(&self) -> impl Iterator<Item = &Arc<Queued>> {
        self.runs.iter().map(|(run, _)| run).chain(&self.unkeyed).chain(&self.parking)
    }

    /// For how long it has had them.
    pub(crate) fn for_so_long(&self, at: Duration) -> Duration {
        self.since.map_or(Duration::ZERO, |since| at.saturating_sub(since))
    }
}

/// A worker, on the thread that drives it.
pub struct Hand {
    core: Arc<Core>,
    number: usize,
    outbox: Box<dyn Outbox>,
    scripts: Box<dyn Worker>,
    given_up: Arc<AtomicBool>,
    text: String,
    body: Vec<u8>,
    undo: Undo,
    taken: Vec<Taken>,
    waker: Waker,
    /// Up to where its CPU time is accounted to pipelines.
    cpu: Duration,
    /// Up to where it is accounted to runs: what is done between two runs is the later one's.
    mark: Duration,
    /// Runs whose effects are collected, and since when.
    collected: usize,
    since: Duration,
    is_full: bool,
    is_closed: bool,
    /// The run that is executed.
    current: Option<RunId>,
    /// The same, from its last step until its record is collected.
    claimed: Option<Arc<Queued>>,
    /// Of the batch: how many runs are done with, and those that ended, with their keys.
    done: usize,
    ended: Vec<(RunId, u64)>,
}

/// Rings a worker's bell.
struct Ring(Arc<Core>, usize);

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        if let Some(bell) = self.0.queue.bell(self.1) {
            bell.ring();
        }
    }
}

impl Engine {
    /// The worker of this number on the calling thread: for tests, and for threads of one's own.
    #[must_use]
    pub fn hand(&self, number: usize) -> Hand {
        Hand::new(Arc::clone(&self.core), number)
    }
}

impl Hand {
    pub(crate) fn new(core: Arc<Core>, number: usize) -> Self {
        let cpu = (core.parts.thread_cpu)();
        let scripts = core.parts.scripts.worker();
        let given_up = Arc::default();
        if let Some(held) = core.held.get(number) {
            let mut held = held.lock();
            held.scripts = scripts.number();
            held.given_up = Arc::clone(&given_up);
        }
        Self {
            outbox: core.parts.outboxes.open(),
            waker: Waker::from(Arc::new(Ring(Arc::clone(&core), number))),
            cpu,
            mark: cpu,
            number,
            scripts,
            given_up,
            text: String::new(),
            body: Vec::new(),
            undo: Undo::default(),
            taken: Vec::new(),
            collected: 0,
            since: Duration::ZERO,
            is_full: false,
            is_closed: false,
            current: None,
            claimed: None,
            done: 0,
            ended: Vec::new(),
            core,
        }
    }

    /// Executes everything that is ready and submits what came of it; gives how many runs it
    /// drove. Ends early when the journal takes no more.
    pub fn run_ready(&mut self) -> usize {
        let mut driven = 0;
        while self.submit_rest() {
            match self.batch() {
                0 => break,
                count => driven += count,
            }
        }
        driven
    }

    /// Works until the engine stops.
    pub(crate) fn work(&mut self) {
        while !self.core.stage.is_stopping.load(Ordering::Acquire) && !self.is_over() {
            if self.is_full {
                self.core.pulse.worked(self.number, self.core.stage.clock.monotonic());
                self.sleep(FULL);
                self.submit();
                continue;
            }
            if self.batch() > 0 {
                let at = self.core.stage.clock.monotonic();
                let is_due = self.outbox.bytes() >= SUBMIT_BYTES
                    || self.collected >= SUBMIT_RUNS
                    || (self.collected > 0 && at.saturating_sub(self.since) >= SUBMIT_AFTER);
                if is_due {
                    self.submit();
                }
                continue;
            }
            if !self.submit_rest() {
                continue;
            }
            self.tidy();
            self.sleep(IDLE);
            // Nobody's: the clock is read once a run, and here.
            self.cpu = (self.core.parts.thread_cpu)();
            self.mark = self.cpu;
        }
        self.submit();
        // One that was given up has runs of before in its hands that nobody takes again.
        while self.is_full && self.is_over() && !self.core.stage.is_stopping.load(Ordering::Acquire)
        {
            self.sleep(FULL);
            self.submit();
        }
    }

    /// The run that was executed when the worker fell, if it is this worker's.
    pub(crate) fn fallen(&self) -> Option<Arc<Queued>> {
        if self.is_over() {
            return None;
        }
        let held = self.core.held.get(self.number)?.lock();
        let found = held.queued().find(|run| Some(run.id()) == self.current);
        self.claimed.as_ref().or(found).map(Arc::clone)
    }

    /// Clears up behind a panic: what the run that was executed had given is taken back, what
    /// others gave goes its way.
    pub(crate) fn leave(&mut self) {
        self.outbox.undo(Mark::Run);
        self.undo.back(&self.core.stage.states, !self.is_over());
        if let Some(run) = self.claimed.take() {
            self.done += 1;
            self.core.queue.take_again(&run, false, self.core.stage.clock.now());
        }
        let pipeline = self.core.held.get(self.number).map_or(0, |held| held.lock().pipeline);
        self.finish(pipeline, Duration::ZERO);
        self.work();
    }

    /// Whether it has come to its end: it was given up, or the appliance stops.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closed || self.given_up.load(Ordering::Acquire)
    }

    fn sleep(&self, longest: Duration) {
        if let Some(bell) = self.core.queue.bell(self.number) {
            // Rung or not, the worker looks for itself what there is to do.
            let _is_rung = bell.sleep(longest);
        }
    }

    /// Submits what is collected; whether the journal took it.
    fn submit_rest(&mut self) -> bool {
        if self.collected > 0 || self.is_full {
            self.submit();
        }
        !(self.is_full || self.is_closed)
    }

    fn submit(&mut self) {
        let was_full = self.is_full;
        // A worker does not wait for its commits, so nobody has to wake it for them.
        let sent = match self.outbox.submit(Waker::noop()) {
            Sent::Full => self.outbox.submit(&self.waker),
            sent => sent,
        };
        match sent {
            Sent::Queued(_) | Sent::Empty => {
                self.is_full = false;
                self.collected = 0;
            }
            Sent::Full => {
                self.is_full = true;
                if !was_full {
                    self.core.full_waits.fetch_add(1, Ordering::Relaxed);
                }
            }
            Sent::Closed => self.is_closed = true,
        }
    }

    fn tidy(&mut self) {
        self.scripts.tidy(self.core.stage.clock.monotonic());
        if let Some(held) = self.core.held.get(self.number) {
            let forget = std::mem::take(&mut held.lock().forget);
            for pipeline in forget {
                self.scripts.forget(pipeline);
            }
        }
    }

    /// Parks a run, with a record if it has done something that must not be done again; whether it
    /// ended instead.
    fn park(&mut self, mut run: Box<Run>) -> bool {
        let core = Arc::clone(&self.core);
        let (now, at) = (core.stage.clock.now(), core.stage.clock.monotonic());
        if run.notes.has_effects() || run.has_long_pause(now, core.stage.config.durable_pause) {
            self.body.clear();
            let from = record::progress(&run, at, &mut self.body);
            let most = core.stage.config.saved_bytes_max;
            if self.body.len() - from > most {
                let message = format!("the run waits with more than {most} bytes of data");
                run.tell(Event::Cancel("limit", message), now, at);
                self.end(&run);
                return true;
            }
            let saved: Arc<[u8]> = self.body.get(from..).unwrap_or_default().into();
            *run.queued.saved.lock() = Some(saved);
            self.push(RunEvent::Progress, run.queued.id());
            run.notes.settled();
        }
        let id = run.queued.id();
        let outside = run.begin_outside(|number, work, leash| {
            let core = Arc::clone(&core);
            leash.hold(work, move |result| {
                let (now, at) = (core.stage.clock.now(), core.stage.clock.monotonic());
                core.queue.tell(id, Event::Done(number, Box::new(result)), now, at);
            })
        });
        let (wall, mono) = run.next_times();
        match core.queue.park(run, now, at) {
            Parking::Parked => {
                let wall = wall.map(|time| {
                    at + Duration::from_nanos(u64::try_from(time.nanos_since(now)).unwrap_or(0))
                });
                core.due_at([wall, mono].into_iter().flatten().min());
            }
            Parking::GoesOn => {}
            Parking::Refused(mut run, message) => {
                // The work was not begun and is dropped.
                run.tell(Event::Cancel("limit", message), now, at);
                self.end(&run);
                return true;
            }
        }
        for work in outside {
            core.stage.services.spawn("pipeline-step", work);
        }
        false
    }

    /// Adds the record in `body` to what is collected.
    fn push(&mut self, event: RunEvent, id: RunId) {
        self.outbox.push(&Record::Run(RunRecord {
            event,
            pipeline: id.pipeline,
            run: id.seq,
            body: &self.body,
        }));
        self.collected += 1;
    }
}

fn begin(core: &Core, queued: Arc<Queued>, attempt: u32) -> Run {
    let (now, at) = (core.stage.clock.now(), core.stage.clock.monotonic());
    let saved = queued.saved.lock().clone();
    let directory = &*core.stage.directory;
    let restored =
        saved.and_then(|saved| Run::restore(&queued, attempt, &saved, directory, (now, at)));
    if let Some(run) = &restored {
        run.hide_again(&*core.stage.services);
    }
    let mut run = restored.unwrap_or_else(|| Run::begin(queued, attempt, now, at));
    // What it waited for may have come to pass while the box was off.
    run.tell(Event::Time, now, at);
    if let Some(defect) = run.queued.defect() {
        run.tell(Event::Cancel("defect", defect), now, at);
    }
    run.heed_stop();
    run
}

/// The fault of an end.
fn fault_of(end: Option<&End>) -> Option<&RunFault> {
    match end {
        Some(End::Failed(fault)) => Some(fault),
        _ => None,
    }
}
