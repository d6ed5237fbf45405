//! Whether the wall clock is to be believed when it says that runs are old.
//!
//! **Invariants**: a jump stops deletion by age for an hour, in which a person or a time server
//! can set the clock right again; after that it is believed.

use millrace_model::Timestamp;
use millrace_supervisor::Clock;
use std::time::Duration;

/// A wall clock that moves so much more than time passed is not believed ...
const JUMP: Duration = Duration::from_mins(5);
/// ... for so long: nothing is deleted for its age until then.
const JUMP_PATIENCE: Duration = Duration::from_hours(1);

/// Watches the wall clock for jumps.
#[derive(Debug)]
pub(crate) struct Wall {
    seen: (Timestamp, Duration),
    distrust_until: Duration,
}

impl Wall {
    pub(crate) fn new(clock: &dyn Clock) -> Self {
        Self { seen: (clock.now(), clock.monotonic()), distrust_until: Duration::ZERO }
    }

    /// Looks at both clocks; whether the wall clock is believed.
    pub(crate) fn look(&mut self, now: Timestamp, monotonic: Duration) -> bool {
        let passed = monotonic.saturating_sub(self.seen.1);
        let expected = self.seen.0.plus_nanos(i64::try_from(passed.as_nanos()).unwrap_or(i64::MAX));
        let off = Duration::from_nanos(now.0.abs_diff(expected.0));
        if off > JUMP {
            self.distrust_until = monotonic + JUMP_PATIENCE;
        }
        self.seen = (now, monotonic);
        monotonic >= self.distrust_until
    }
}
