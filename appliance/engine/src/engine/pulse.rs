//! Whether the engine's threads are alive and moving.
//!
//! Each thread leaves the time of its last turn here; whoever asks compares.
//!
//! **Invariants**: a turn costs one store.

use super::Engine;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A worker that sleeps looks up every five seconds; one that has not for so long is held up.
const WORKER_STILL: Duration = Duration::from_secs(60);
/// The clockwork turns four times a second.
const CLOCK_STILL: Duration = Duration::from_secs(10);

/// When each thread last turned, monotonic nanoseconds; 0 before its first turn.
#[derive(Debug)]
pub(crate) struct Pulse {
    clock: AtomicU64,
    workers: Vec<AtomicU64>,
}

/// Whether the engine's threads are alive and moving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// How many workers there are to be.
    pub workers: usize,
    /// Workers that have turned lately.
    pub moving: usize,
    /// Whether the thread has that wakes runs, asks for due ones and watches the workers.
    pub is_clock_moving: bool,
}

impl Health {
    /// Whether pipelines run.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.is_clock_moving && self.moving > 0
    }
}

impl Pulse {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            clock: AtomicU64::new(0),
            workers: (0..workers).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(crate) fn ticked(&self, at: Duration) {
        self.clock.store(nanos(at), Ordering::Relaxed);
    }

    pub(crate) fn worked(&self, worker: usize, at: Duration) {
        if let Some(last) = self.workers.get(worker) {
            last.store(nanos(at), Ordering::Relaxed);
        }
    }

    fn health(&self, at: Duration) -> Health {
        let is_moving = |last: &AtomicU64, still: Duration| {
            let last = last.load(Ordering::Relaxed);
            last > 0 && nanos(at).saturating_sub(last) < nanos(still)
        };
        Health {
            workers: self.workers.len(),
            moving: self.workers.iter().filter(|last| is_moving(last, WORKER_STILL)).count(),
            is_clock_moving: is_moving(&self.clock, CLOCK_STILL),
        }
    }
}

fn nanos(time: Duration) -> u64 {
    // 0 says that there was no turn yet.
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1)
}

impl Engine {
    /// Whether the engine's threads are alive and moving.
    #[must_use]
    pub fn health(&self) -> Health {
        self.core.pulse.health(self.core.stage.clock.monotonic())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_does_not_turn_any_more_is_told() {
        let pulse = Pulse::new(2);
        let second = Duration::from_secs;
        assert!(!pulse.health(second(1)).is_alive(), "nothing has been started");
        pulse.ticked(Duration::ZERO);
        pulse.worked(0, Duration::ZERO);
        pulse.worked(1, second(59));
        let health = pulse.health(second(9));
        assert_eq!((health.workers, health.moving, health.is_clock_moving), (2, 2, true));
        let health = pulse.health(second(61));
        assert_eq!((health.moving, health.is_clock_moving), (1, false));
        assert!(!health.is_alive());
        pulse.ticked(second(60));
        assert!(pulse.health(second(61)).is_alive(), "one worker is enough to go on");
    }
}
