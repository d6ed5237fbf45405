//! Time as a parameter: the system's clock in the appliance, a settable one in tests.
//!
//! **Invariants**: wall time may jump, monotonic time never goes back. Nothing else in the
//! appliance reads the operating system's clocks.

use millrace_model::Timestamp;
use parking_lot::Mutex;
use std::fmt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where time comes from.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Wall time, UTC.
    fn now(&self) -> Timestamp;
    /// Time since some fixed moment of this process.
    fn monotonic(&self) -> Duration;
}

/// The operating system's clocks.
#[derive(Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// Starts the monotonic time at zero.
    #[must_use]
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clocks")]
    fn now(&self) -> Timestamp {
        let nanos = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
            // A clock before 1970 is possible on a box with an empty battery.
            Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |n| -n),
        };
        Timestamp(nanos)
    }

    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }
}

/// A clock that stands still until it is told to move.
#[derive(Debug)]
pub struct TestClock {
    times: Mutex<(Timestamp, Duration)>,
}

impl TestClock {
    /// A clock that shows `now`, with monotonic time at zero.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self { times: Mutex::new((now, Duration::ZERO)) }
    }

    /// Lets both times pass.
    pub fn advance(&self, by: Duration) {
        let mut times = self.times.lock();
        times.0 = times.0.plus_nanos(i64::try_from(by.as_nanos()).unwrap_or(i64::MAX));
        times.1 += by;
    }

    /// Sets wall time alone, as a person or a time server does.
    pub fn jump_to(&self, now: Timestamp) {
        self.times.lock().0 = now;
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        self.times.lock().0
    }

    fn monotonic(&self) -> Duration {
        self.times.lock().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_moves_wall_time_alone() {
        let clock = TestClock::new(Timestamp(100));
        clock.advance(Duration::from_nanos(5));
        clock.jump_to(Timestamp(-7));
        assert_eq!((clock.now(), clock.monotonic()), (Timestamp(-7), Duration::from_nanos(5)));
    }

    #[test]
    fn the_system_clock_shows_this_century() {
        let year_2020 = Timestamp(1_577_836_800_000_000_000);
        assert!(SystemClock::new().now() > year_2020);
    }
}
