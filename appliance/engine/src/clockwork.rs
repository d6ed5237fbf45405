//! The engine's threads: the workers, and the one that looks at the clock.
//!
//! The clockwork wakes runs whose time has come, asks for runs that are due, watches the workers,
//! gives state to its store, carries old runs forward and keeps the list of issues. It executes no
//! steps, so nothing that a pipeline does can hold it up.
//!
//! **Invariants**: a worker that does not come back is replaced, and what it held is taken again;
//! no panic ends a thread of the engine.

use crate::engine::{Core, Engine};
use crate::hand::Hand;
use crate::queue::{Bell, Finished, Taken};
use millrace_supervisor::spawn;
use parking_lot::Mutex;
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest sleep of the clockwork.
const LOOK: Duration = Duration::from_millis(250);
/// Shortest: timers are told at most so often.
const MOMENT: Duration = Duration::from_millis(1);
/// How often the slower things are looked at.
const SECOND: Duration = Duration::from_secs(1);
/// Longest wait for threads to end.
const STOP: Duration = Duration::from_secs(5);

/// The engine's threads.
pub struct Threads {
    engine: Engine,
    handles: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Engine {
    /// Starts the workers and the clockwork.
    ///
    /// # Errors
    /// The operating system has no thread to give.
    pub fn run_threads(&self) -> io::Result<Threads> {
        let handles = Arc::new(Mutex::new(Vec::new()));
        let at = self.core.stage.clock.monotonic();
        self.core.pulse.ticked(at);
        for number in 0..self.core.held.len() {
            self.core.pulse.worked(number, at);
            handles.lock().push(start_worker(&self.core, number)?);
        }
        let core = Arc::clone(&self.core);
        let workers = Arc::clone(&handles);
        handles.lock().push(spawn::thread("engine-time", move || keep_time(&core, &workers))?);
        Ok(Threads { engine: self.clone(), handles })
    }

    /// Looks at the clock once: for tests, and for a thread of one's own. Gives how long nothing
    /// will be due.
    pub fn tick(&self) -> Duration {
        let (next, given_up) = self.core.tick();
        for number in given_up {
            self.core.replace(number, true);
        }
        next
    }
}

impl Threads {
    /// Interrupts scripts, lets the workers end the batches that they have, submits what they
    /// collected, and ends the threads. Runs that have not ended go on at the next start.
    pub fn stop(self) {
        let core = &self.engine.core;
        core.stage.is_stopping.store(true, Ordering::Release);
        core.queue.ring_all();
        core.clockwork.ring();
        let clock = &core.stage.clock;
        let until = clock.monotonic() + STOP;
        let handles = std::mem::take(&mut *self.handles.lock());
        for handle in handles {
            while !handle.is_finished() && clock.monotonic() < until {
                // Nobody rings for this: it is the wait, with its limit.
                let _is_rung = Bell::default().sleep(Duration::from_millis(5));
            }
            if handle.is_finished() && handle.join().is_err() {
                tracing::error!("A thread of the engine ended with a panic.");
            }
        }
        core.keep_state(clock.monotonic(), true);
        core.answers.close();
    }
}

fn start_worker(core: &Arc<Core>, number: usize) -> io::Result<JoinHandle<()>> {
    let core = Arc::clone(core);
    if number < core.stage.config.workers {
        return spawn::thread(&format!("engine-{number}"), move || work(&core, number));
    }
    spawn::thread("engine-aside", move || {
        (core.parts.step_back)();
        work(&core, number);
    })
}

/// Works until the engine stops or the worker is given up. A panic costs the run in which it
/// happened an attempt, and nothing else.
fn work(core: &Arc<Core>, number: usize) {
    let mut hand: Option<Hand> = None;
    loop {
        let working = catch_unwind(AssertUnwindSafe(|| {
            hand.get_or_insert_with(|| Hand::new(Arc::clone(core), number)).work();
        }));
        let Err(panic) = working else { return };
        let message = panic_text(&*panic);
        let is_over = hand.as_ref().is_some_and(Hand::is_over);
        // What cannot be saved of it is run again after a restart.
        let rescued = catch_unwind(AssertUnwindSafe(|| {
            core.fall(number, hand.as_mut(), &message);
        }));
        hand = None;
        if is_over {
            // Another worker has taken its place before.
            return;
        }
        if rescued.is_err() {
            tracing::error!(worker = number, "A worker that panicked could not be cleared up.");
            let _is_rung = Bell::default().sleep(SECOND);
        }
        if core.stage.is_stopping.load(Ordering::Acquire) {
            return;
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no message".to_owned())
}

fn keep_time(core: &Arc<Core>, workers: &Mutex<Vec<JoinHandle<()>>>) {
    while !core.stage.is_stopping.load(Ordering::Acquire) {
        let turned = catch_unwind(AssertUnwindSafe(|| turn(core, workers)));
        let sleep = turned.unwrap_or_else(|panic| {
            core.note_panic(None, &panic_text(&*panic));
            SECOND
        });
        let until = core.stage.clock.monotonic() + sleep;
        core.alarm_at.store(nanos(until), Ordering::Release);
        // Rung or not, everything is looked at again.
        let _is_rung = core.clockwork.sleep(sleep);
    }
}

/// One turn of the clockwork; gives how long to sleep.
fn turn(core: &Arc<Core>, workers: &Mutex<Vec<JoinHandle<()>>>) -> Duration {
    let (next, given_up) = core.tick();
    for number in given_up {
        core.replace(number, true);
        match start_worker(core, number) {
            Ok(handle) => workers.lock().push(handle),
            Err(error) => tracing::error!("A worker cannot be replaced: {error}."),
        }
    }
    workers.lock().retain(|handle| !handle.is_finished());
    next.clamp(MOMENT, LOOK)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Core {
    /// Something is due at a monotonic time: the clockwork is woken if it would sleep past it.
    pub(crate) fn due_at(&self, time: Option<Duration>) {
        if let Some(time) = time
            && nanos(time) < self.alarm_at.load(Ordering::Acquire)
        {
            // Others that are due about then do not ring again.
            self.alarm_at.store(nanos(time), Ordering::Release);
            self.clockwork.ring();
        }
    }

    /// Does all that is due; gives how long nothing will be, and the workers that are given up.
    fn tick(&self) -> (Duration, Vec<usize>) {
        let (now, at) = (self.stage.clock.now(), self.stage.clock.monotonic());
        self.pulse.ticked(at);
        let mut next = self.queue.time(now, at);
        if self.is_started.load(Ordering::Acquire) {
            next = next.min(self.ask_due(now));
        }
        self.tell_dropped();
        let given_up = self.overdue(at);
        let is_second = {
            let mut alarms = self.alarms.lock();
            alarms.is_due(at, SECOND)
        };
        if is_second {
            self.look_at_issues(now);
            self.carry(now, at);
        }
        self.keep_state(at, false);
        (next, given_up)
    }

    /// Workers whose script does not come back, and those that have held a batch for too long.
    fn overdue(&self, at: Duration) -> Vec<usize> {
        let overruns = self.parts.scripts.overruns();
        let longest = self.stage.config.run_redelivery;
        let mut given_up = Vec::new();
        for (number, held) in self.held.iter().enumerate() {
            let held = held.lock();
            // Its script worker is given up even if the script has come back in the meantime.
            let is_overrun = overruns.iter().any(|overrun| overrun.worker == held.scripts);
            if is_overrun || held.since.is_some_and(|since| at.saturating_sub(since) >= longest) {
                given_up.push(number);
            }
        }
        given_up
    }

    /// A worker panicked: the run in which it did is taken again, or fails if it is not the first
    /// time; what it had collected of others goes its way.
    pub(crate) fn fall(&self, number: usize, hand: Option<&mut Hand>, message: &str) {
        let is_over = hand.as_ref().is_some_and(|hand| hand.is_over());
        let run = hand.as_ref().and_then(|hand| hand.fallen());
        if let Some(run) = &run {
            run.panicked(message);
        }
        self.note_panic(run.map(|run| run.plan.number), message);
        if !is_over {
            self.replace(number, false);
        }
        if let Some(hand) = hand {
            hand.leave();
        }
    }

    /// Gives a worker up: what it held is taken again, by whoever comes next.
    fn replace(&self, number: usize, is_late: bool) {
        let Some(held) = self.held.get(number) else { return };
        let mut held = held.lock();
        held.given_up.store(true, Ordering::Release);
        held.since = None;
        let runs = std::mem::take(&mut held.runs);
        let unkeyed = std::mem::take(&mut held.unkeyed);
        let pipeline = held.pipeline;
        drop(held);
        let unkeyed = unkeyed.into_iter().map(Taken::Unkeyed).collect();
        self.queue.give_back(pipeline, unkeyed);
        let now = self.stage.clock.now();
        for (run, attempt) in &runs {
            if run.attempt.load(Ordering::Acquire) == *attempt {
                self.queue.take_again(run, is_late, now);
            }
        }
        let count = runs.len();
        let finished = Finished { pipeline, ended: Vec::new(), count, cpu: Duration::ZERO };
        self.queue.finish(&finished);
        tracing::error!(worker = number, pipeline, runs = count, "A worker was given up.");
    }
}

#[cfg(test)]
mod tests;
