//! The watchdog: finds threads that a script does not give back, and gives them up.
//!
//! Most scripts end at their budget, since QuickJS asks and the guards ask. Some operators cannot be
//! guarded (arithmetic on integers of half a million bits, comparing texts of megabytes), and count
//! as one step each. A thread cannot be ended from outside, so the watchdog gives it up: its pipeline
//! is quarantined, the thread gets the lowest priority where the system can, and the engine starts
//! another one. When [`GIVEN_UP_MAX`] threads are lost at once, scripts are refused: the box goes on.
//! A thread that comes back all the same ends, and counts no more.
//!
//! **Invariants**
//! - A thread is given up only if it used CPU time: one that a busy box does not let run is not.
//! - The watchdog itself takes no lock that a worker holds while a script runs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use millrace_engine::script::Overrun;
use millrace_supervisor::{Clock, Issue, Severity, SystemClock};
use parking_lot::{Condvar, Mutex};

use crate::host::Shared;
use crate::thread_time;

/// So many threads may be lost to scripts at once; then scripts are refused.
pub(crate) const GIVEN_UP_MAX: usize = 3;
/// The watchdog looks so often.
const TICK: Duration = Duration::from_millis(100);
/// CPU time past the budget at which a thread is given up.
const OVERDRAFT_MAX: Duration = Duration::from_millis(300);
/// The same where the system does not tell a thread's CPU time: time on the wall, in silence.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// What a worker shows of itself.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) number: u64,
    thread: Option<i32>,
    /// Odd while a call runs.
    calls: AtomicU64,
    pipeline: AtomicU32,
    cpu_max_nanos: AtomicU64,
    /// When the call began or last asked whether it is over, nanoseconds on the wall.
    pub(crate) heard: Arc<AtomicU64>,
    is_given_up: AtomicBool,
}

impl Slot {
    /// A slot for the calling thread.
    pub(crate) fn new(number: u64) -> Arc<Self> {
        Arc::new(Self {
            number,
            thread: thread_time::thread_number(),
            calls: AtomicU64::new(0),
            pipeline: AtomicU32::new(0),
            cpu_max_nanos: AtomicU64::new(0),
            heard: Arc::new(AtomicU64::new(0)),
            is_given_up: AtomicBool::new(false),
        })
    }

    pub(crate) fn begin(&self, pipeline: u32, cpu_max: Duration, now: Duration) {
        self.pipeline.store(pipeline, Ordering::Relaxed);
        self.cpu_max_nanos.store(nanos(cpu_max), Ordering::Relaxed);
        self.heard.store(nanos(now), Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn end(&self) {
        self.calls.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Acquire)
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Ends the watchdog when the host goes.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    is_stopped: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    pub(crate) fn stop(&self) {
        *self.is_stopped.lock() = true;
        self.changed.notify_all();
    }

    /// Waits for the next look; `false` when it was the last.
    fn wait(&self) -> bool {
        let mut is_stopped = self.is_stopped.lock();
        if !*is_stopped {
            self.changed.wait_for(&mut is_stopped, TICK);
        }
        !*is_stopped
    }
}

/// A call that the watchdog has seen before.
struct Seen {
    call: u64,
    /// It has not asked since.
    heard: u64,
    at: Duration,
    cpu: Option<Duration>,
}

/// The watchdog's loop.
pub(crate) fn run(shared: &Weak<Shared>, stop: &Stop) {
    let clock = SystemClock::new();
    let mut seen = HashMap::new();
    while stop.wait() {
        let Some(shared) = shared.upgrade() else { return };
        for slot in shared.slots() {
            if is_lost(&slot, clock.monotonic(), &mut seen) {
                give_up(&shared, &slot);
            }
        }
        seen.retain(|number, _| shared.slots().iter().any(|slot| slot.number == *number));
    }
}

/// Whether a thread has worked on one call far beyond its budget without asking.
fn is_lost(slot: &Slot, now: Duration, seen: &mut HashMap<u64, Seen>) -> bool {
    let call = slot.calls.load(Ordering::Acquire);
    if call.is_multiple_of(2) || slot.is_given_up() {
        return false;
    }
    let heard = slot.heard.load(Ordering::Relaxed);
    let cpu = slot.thread.and_then(thread_time::of_thread);
    let known = seen.get(&slot.number).is_some_and(|seen| seen.call == call && seen.heard == heard);
    if !known {
        seen.insert(slot.number, Seen { call, heard, at: now, cpu });
        return false;
    }
    let Some(first) = seen.get(&slot.number) else { return false };
    let cpu_max = Duration::from_nanos(slot.cpu_max_nanos.load(Ordering::Relaxed));
    match (first.cpu, cpu) {
        (Some(first), Some(now)) => now.saturating_sub(first) >= cpu_max + OVERDRAFT_MAX,
        _ => now.saturating_sub(first.at) >= cpu_max + SILENCE_MAX,
    }
}

fn give_up(shared: &Shared, slot: &Slot) {
    let pipeline = slot.pipeline.load(Ordering::Relaxed);
    slot.is_given_up.store(true, Ordering::Release);
    let is_idle =
        shared.settings.lowers_lost_threads && slot.thread.is_some_and(thread_time::make_idle);
    let lost = shared.lose(Overrun { worker: slot.number, pipeline });
    tracing::warn!(pipeline, worker = slot.number, is_idle, lost, "Gave up a thread to a script.");
    let name = shared.name_of(pipeline);
    shared.raise(Issue {
        key: overrun_key(pipeline),
        severity: Severity::Warning,
        what: format!("A script of the pipeline `{name}` did not end at its CPU limit."),
        effect: format!(
            "The pipeline's scripts are not run any more; {lost} of {GIVEN_UP_MAX} threads are lost."
        ),
        remedy: "Look for arithmetic on very long BigInts or work on very long texts in the \
                 pipeline's scripts, change it, and deploy it again, or undeploy the pipeline."
            .to_owned(),
    });
    if lost >= GIVEN_UP_MAX {
        shared.raise(Issue {
            key: REFUSED_KEY.to_owned(),
            severity: Severity::Critical,
            what: format!("{lost} threads are lost to scripts that do not end."),
            effect: "No pipeline's scripts are run; pipelines without scripts run on.".to_owned(),
            remedy: "Change or undeploy the quarantined pipelines, then restart Millrace."
                .to_owned(),
        });
    }
}

/// Key of the issue that no scripts are run.
pub(crate) const REFUSED_KEY: &str = "scripts-refused";

/// Key of the issue that a pipeline's script does not end.
pub(crate) fn overrun_key(pipeline: u32) -> String {
    format!("script-overrun:{pipeline}")
}
