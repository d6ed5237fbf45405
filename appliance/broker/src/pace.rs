//! How often a network thread looks at its sockets, and the runtime that these threads are.
//!
//! With one value a message the dearest thing in a value's way is that the thread falls asleep
//! and is woken again: 20,000 messages a second come 50 microseconds apart. So a thread that has
//! woken less than [`Config::wake_interval`] ago does not wait for its sockets yet but pauses for
//! the rest of the interval; what came meanwhile is taken in one go, with warm caches. The pause
//! ends early when the journal has committed, so that acknowledgements do not wait. A message
//! after a longer silence is taken at once.
//!
//! The threads are a runtime of their own: whoever else uses the appliance's runtime is neither
//! paused by us nor can it keep us from reading.
//!
//! **Invariants**: a pause is never longer than the interval; a thread pauses only when it has
//! nothing to do; ending a pause too early or too late by one costs time, never a message.
//!
//! [`Config::wake_interval`]: crate::Config::wake_interval

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::runtime::{Builder, EnterGuard, Runtime};

use crate::config::Config;

thread_local! {
    static WOKE_AT: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The pauses of all network threads.
#[derive(Debug)]
pub(crate) struct Pace {
    interval: Duration,
    paused_count: AtomicUsize,
    paused: Mutex<Vec<Thread>>,
}

impl Pace {
    pub(crate) fn new(interval: Duration) -> Arc<Self> {
        let (paused_count, paused) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        Arc::new(Self { interval, paused_count, paused })
    }

    /// The calling thread has got something to do.
    fn woke(&self) {
        WOKE_AT.set(Some(Instant::now()));
    }

    /// The calling thread has nothing more to do: waits until its sockets may be looked at.
    fn pause(&self) {
        let rest = WOKE_AT.get().and_then(|at| self.interval.checked_sub(at.elapsed()));
        let Some(rest) = rest.filter(|rest| !rest.is_zero()) else { return };
        let this = thread::current();
        let id = this.id();
        {
            let mut paused = self.paused.lock();
            paused.push(this);
            self.paused_count.store(paused.len(), Ordering::Release);
        }
        // May return for no reason: then the pause is shorter.
        thread::park_timeout(rest);
        let mut paused = self.paused.lock();
        paused.retain(|thread| thread.id() != id);
        self.paused_count.store(paused.len(), Ordering::Release);
    }

    /// Ends all pauses: there are acknowledgements to send.
    pub(crate) fn end_pauses(&self) {
        if self.paused_count.load(Ordering::Acquire) == 0 {
            return;
        }
        for thread in &*self.paused.lock() {
            thread.unpark();
        }
    }
}

/// The threads on which connections live.
#[derive(Debug)]
pub(crate) struct Network {
    /// Taken when it is dropped.
    runtime: Option<Runtime>,
}

impl Network {
    pub(crate) fn start(config: &Config, pace: &Arc<Pace>) -> io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(thread_count(config)).thread_name("mqtt").enable_all();
        if !config.wake_interval.is_zero() {
            let (woken, pausing) = (Arc::clone(pace), Arc::clone(pace));
            builder.on_thread_unpark(move || woken.woke()).on_thread_park(move || pausing.pause());
        }
        Ok(Self { runtime: Some(builder.build()?) })
    }

    /// Until the guard is dropped, what the calling thread spawns lives on the network threads.
    pub(crate) fn enter(&self) -> Option<EnterGuard<'_>> {
        self.runtime.as_ref().map(Runtime::enter)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // Not waited for: the last handle may be dropped by a task of any runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn thread_count(config: &Config) -> usize {
    match config.threads {
        // The journal has a thread of its own; with two cores that leaves one for the network.
        0 => thread::available_parallelism().map_or(1, |cores| cores.get() - 1).max(1),
        fixed => fixed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_woke_just_now_pauses_until_a_commit_ends_it() {
        // Given a thread in a pause that would last a minute
        let pace = Pace::new(Duration::from_secs(60));
        let pausing = Arc::clone(&pace);
        let thread = thread::spawn(move || {
            pausing.woke();
            pausing.pause();
        });
        while pace.paused_count.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        // When the journal has committed
        pace.end_pauses();
        // Then it goes on, and is forgotten
        thread.join().unwrap();
        assert!(pace.paused.lock().is_empty());
    }

    #[test]
    fn a_thread_that_slept_longer_than_the_interval_does_not_pause() {
        let pace = Pace::new(Duration::from_secs(60));
        // Given a thread that never woke, and one that woke long ago
        pace.pause();
        WOKE_AT.set(Instant::now().checked_sub(Duration::from_secs(61)));
        pace.pause();
        // Then neither waited: nobody would have ended it
        assert_eq!(pace.paused_count.load(Ordering::Acquire), 0);
    }
}
