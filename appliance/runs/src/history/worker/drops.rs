//! The issue that says how many runs the history had no room for.
//!
//! **Invariants**: raised with the first drop, told with every further one, cleared a minute after
//! the last.

use millrace_model::Timestamp;
use millrace_supervisor::{Clock, Issue, Issues, Severity};
use std::time::Duration;

pub(crate) const ISSUE_DROPPED: &str = "run-history-dropped";

/// Without a new drop for so long, the issue goes.
const DROPS_CLEAR_AFTER: Duration = Duration::from_mins(1);

/// What was dropped and told.
#[derive(Debug, Default)]
pub(crate) struct Drops {
    seen: (u64, u64),
    first: Option<Timestamp>,
    last: Duration,
    /// Drops before the first that the open issue tells.
    base: (u64, u64),
}

impl Drops {
    /// Looks at how many quiet and how many notable runs were dropped since the start.
    pub(crate) fn report(&mut self, count: (u64, u64), clock: &dyn Clock, issues: &Issues) {
        let now = clock.monotonic();
        if count != self.seen {
            if self.first.is_none() {
                self.first = Some(clock.now());
                self.base = self.seen;
            }
            self.seen = count;
            self.last = now;
            let since = self.first.unwrap_or_default().to_rfc3339();
            let (quiet, notable) = (count.0 - self.base.0, count.1 - self.base.1);
            issues.raise(Issue {
                key: ISSUE_DROPPED.to_owned(),
                severity: Severity::Warning,
                what: format!(
                    "{quiet} successful and {notable} failed or manual runs are missing in the \
                     run history since {since}: they came faster than the disk takes them."
                ),
                effect: "The runs happened; the history does not list them. Each pipeline's counts are right."
                    .to_owned(),
                remedy: "Look after the disk, or set pipelines that run often to Minimal."
                    .to_owned(),
            });
        } else if self.first.is_some() && now.saturating_sub(self.last) >= DROPS_CLEAR_AFTER {
            self.first = None;
            issues.clear(ISSUE_DROPPED);
        }
    }
}
