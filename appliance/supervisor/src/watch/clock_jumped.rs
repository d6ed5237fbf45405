//! *Clock jumped*: the wall clock moved against the time that passed.
//!
//! **Invariants**: slewing, as time servers do it, is no jump: it stays far below the limit
//! between two ticks.

use super::Watch;
use crate::clock::Clock;
use crate::issues::{Issue, Issues, Severity};
use millrace_model::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// Key of the issue.
const ISSUE: &str = "clock-jumped";
/// Smaller steps between two ticks are no jump.
const STEP_MAX: Duration = Duration::from_secs(2);
/// Steady for so long, the issue goes.
const CLEAR_AFTER: Duration = Duration::from_mins(15);

/// Watches wall time against monotonic time.
#[derive(Debug)]
pub struct ClockJumped {
    clock: Arc<dyn Clock>,
    issues: Arc<Issues>,
    seen: (Timestamp, Duration),
    jumped_at: Option<Duration>,
}

impl ClockJumped {
    /// From now on.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, issues: Arc<Issues>) -> Self {
        let seen = (clock.now(), clock.monotonic());
        Self { clock, issues, seen, jumped_at: None }
    }

    fn raise(&self, expected: Timestamp, now: Timestamp) {
        let step = Duration::from_nanos(now.0.abs_diff(expected.0));
        let way = if now > expected { "forward" } else { "back" };
        self.issues.raise(Issue {
            key: ISSUE.to_owned(),
            severity: Severity::Warning,
            what: format!(
                "The clock of the box was set {way} by {:.1} s, from {} to {}.",
                step.as_secs_f64(),
                expected.to_rfc3339(),
                now.to_rfc3339(),
            ),
            effect: "Values that devices send without a time of their own have the box's: their \
                     history overlaps or has a gap here. Schedules may run early, late or twice."
                .to_owned(),
            remedy: "Let the box take its time from a time server of the plant, which moves the \
                     clock slowly instead of setting it."
                .to_owned(),
        });
    }
}

impl Watch for ClockJumped {
    fn tick(&mut self) {
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        let passed = monotonic.saturating_sub(self.seen.1);
        let passed = i64::try_from(passed.as_nanos()).unwrap_or(i64::MAX);
        let expected = Timestamp(self.seen.0.0.saturating_add(passed));
        self.seen = (now, monotonic);
        if Duration::from_nanos(now.0.abs_diff(expected.0)) > STEP_MAX {
            self.jumped_at = Some(monotonic);
            self.raise(expected, now);
        } else if self.jumped_at.is_some_and(|at| monotonic.saturating_sub(at) >= CLEAR_AFTER) {
            self.jumped_at = None;
            self.issues.clear(ISSUE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TestClock;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn a_jump_either_way_raises_and_a_steady_quarter_hour_clears() {
        let clock = Arc::new(TestClock::new(Timestamp(1_800_000_000 * SECOND)));
        let issues = Arc::new(Issues::new(clock.clone()));
        let mut watch = ClockJumped::new(clock.clone(), issues.clone());
        let mut step = |seconds: i64, passed: Duration| {
            clock.advance(passed);
            clock.jump_to(clock.now().plus_nanos(seconds * SECOND));
            watch.tick();
            issues.list().first().map(|issue| issue.what.clone())
        };
        let tick = Duration::from_secs(1);
        assert_eq!(step(0, tick), None);
        assert_eq!(step(2, tick), None, "a time server's small step");
        let text = step(-3_600, tick).expect("raised");
        assert!(text.contains("set back by 3600.0 s"), "{text}");
        let text = step(90, tick).expect("still");
        assert!(text.contains("set forward by 90.0 s"), "{text}");
        assert!(step(0, Duration::from_secs(899)).is_some(), "too early");
        assert_eq!(step(0, tick), None);
    }
}
