//! Whether wall time can be believed when it says that history is old.
//!
//! Monotonic time says how much time has passed since the last look; wall time that is more than
//! [`CLOCK_JUMP_MAX`] ahead of that is not believed, until it agrees again or a person confirms
//! it. At a start there is no monotonic time to compare with: a clock more than
//! [`CLOCK_AHEAD_AT_START_MAX`] ahead of the last time noted before is not believed.
//!
//! **Invariants**: the believed time never goes back, and a clock that goes back is harmless: it
//! only makes history look younger.

use crate::config::{CLOCK_AHEAD_AT_START_MAX, CLOCK_JUMP_MAX};
use std::time::Duration;

/// The guard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockGuard {
    believed: i64,
    at: Duration,
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

impl ClockGuard {
    /// Begins with the last time noted before, `i64::MIN` if none was.
    pub(crate) fn new(wall: i64, monotonic: Duration, noted: i64) -> Self {
        let is_far_ahead = wall > noted.saturating_add(nanos(CLOCK_AHEAD_AT_START_MAX));
        let believed = if noted == i64::MIN {
            wall
        } else if is_far_ahead {
            noted
        } else {
            wall.max(noted)
        };
        Self { believed, at: monotonic }
    }

    /// The time that must have passed by now.
    pub(crate) fn believed(&self, monotonic: Duration) -> i64 {
        self.believed.saturating_add(nanos(monotonic.saturating_sub(self.at)))
    }

    /// Wall time if it can be believed.
    pub(crate) fn look(&mut self, wall: i64, monotonic: Duration) -> Option<i64> {
        let expected = self.believed(monotonic);
        if wall > expected.saturating_add(nanos(CLOCK_JUMP_MAX)) {
            return None;
        }
        *self = Self { believed: expected.max(wall), at: monotonic };
        Some(wall)
    }

    /// A person says that the clock is right.
    pub(crate) fn confirm(&mut self, wall: i64, monotonic: Duration) {
        *self = Self { believed: wall, at: monotonic };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600 * 1_000_000_000;
    const fn hours(count: u64) -> Duration {
        Duration::from_secs(count * 3_600)
    }

    #[test]
    fn believes_what_monotonic_time_confirms() {
        let mut guard = ClockGuard::new(0, hours(0), i64::MIN);
        assert_eq!(guard.look(30 * HOUR, hours(30)), Some(30 * HOUR));
        assert_eq!(guard.look(31 * HOUR, hours(30)), Some(31 * HOUR), "an hour is a correction");
        assert_eq!(guard.look(60 * 24 * HOUR, hours(30)), None, "60 days are a jump");
        assert_eq!(guard.look(32 * HOUR, hours(31)), Some(32 * HOUR), "agrees again");
        guard.confirm(60 * 24 * HOUR, hours(31));
        assert_eq!(guard.look(60 * 24 * HOUR, hours(31)), Some(60 * 24 * HOUR));
    }

    #[test]
    fn a_step_back_and_forth_is_not_a_jump() {
        let mut guard = ClockGuard::new(100 * HOUR, hours(0), i64::MIN);
        assert_eq!(guard.look(90 * HOUR, hours(0)), Some(90 * HOUR));
        assert_eq!(guard.look(101 * HOUR, hours(1)), Some(101 * HOUR));
    }

    #[test]
    fn a_start_far_ahead_of_what_was_noted_is_not_believed() {
        let mut guard = ClockGuard::new(60 * 24 * HOUR, hours(0), 0);
        assert_eq!(guard.look(60 * 24 * HOUR, hours(0)), None);
        let mut guard = ClockGuard::new(24 * HOUR, hours(0), 0);
        assert_eq!(guard.look(24 * HOUR, hours(0)), Some(24 * HOUR));
    }
}
