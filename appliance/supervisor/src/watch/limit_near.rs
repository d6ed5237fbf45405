//! *Limit near*: something that has a limit has used four fifths of it.
//!
//! **Invariants**: one issue for each name, cleared below three quarters; a limit of 0 is no
//! limit.

use super::Watch;
use crate::issues::{Issue, Issues, Severity};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Key of the issues, with the name behind it.
const ISSUE: &str = "limit-near";

/// Share of a limit in hundredths from which on the issue is raised.
pub const NEAR_PERCENT: u8 = 80;

/// How much of something is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// What it is, as its setting is called: `mqtt_connections_max`.
    pub name: &'static str,
    /// For people: "MQTT connections".
    pub what: Cow<'static, str>,
    /// How much is used.
    pub used: u64,
    /// How much there may be.
    pub limit: u64,
    /// What happens at the limit.
    pub effect: Cow<'static, str>,
    /// What to do.
    pub remedy: Cow<'static, str>,
}

impl Usage {
    /// How much is used of what a setting limits, where what is more is refused or dropped.
    #[must_use]
    pub fn of_setting(
        name: &'static str,
        what: impl Into<Cow<'static, str>>,
        used: u64,
        limit: u64,
    ) -> Self {
        let effect = "At the limit, what is more is refused or dropped, and counted.";
        let remedy = format!("Use less of it, or raise `{name}` if the machine has room.");
        Self { name, what: what.into(), used, limit, effect: effect.into(), remedy: remedy.into() }
    }
}

type Usages = Box<dyn Fn() -> Vec<Usage> + Send>;

/// Watches usages.
pub struct LimitNear {
    issues: Arc<Issues>,
    usages: Usages,
    raised: BTreeSet<&'static str>,
}

impl fmt::Debug for LimitNear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitNear").field("raised", &self.raised).finish_non_exhaustive()
    }
}

impl LimitNear {
    /// `usages` gives all that has a limit.
    #[must_use]
    pub fn new(issues: Arc<Issues>, usages: Usages) -> Self {
        Self { issues, usages, raised: BTreeSet::new() }
    }
}

/// Whether so many hundredths of the limit are used.
fn is_over(usage: &Usage, percent: u128) -> bool {
    usage.limit > 0 && u128::from(usage.used) * 100 >= u128::from(usage.limit) * percent
}

impl Watch for LimitNear {
    fn tick(&mut self) {
        for usage in (self.usages)() {
            let key = || format!("{ISSUE}:{}", usage.name);
            if is_over(&usage, NEAR_PERCENT.into()) {
                self.raised.insert(usage.name);
                let is_reached = is_over(&usage, 100);
                self.issues.raise(Issue {
                    key: key(),
                    severity: if is_reached { Severity::Warning } else { Severity::Notice },
                    what: format!("{}: {} of {} in use.", usage.what, usage.used, usage.limit),
                    effect: usage.effect.into_owned(),
                    remedy: usage.remedy.into_owned(),
                });
            } else if !is_over(&usage, 75) && self.raised.remove(usage.name) {
                self.issues.clear(&key());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TestClock;
    use millrace_model::Timestamp;
    use parking_lot::Mutex;

    #[test]
    fn raises_at_four_fifths_and_clears_below_three_quarters() {
        let issues = Arc::new(Issues::new(Arc::new(TestClock::new(Timestamp(0)))));
        let used = Arc::new(Mutex::new(0));
        let given = used.clone();
        let usages = move || {
            let (name, what) = ("connections_max", "MQTT connections");
            let used = *given.lock();
            let unlimited = Usage::of_setting("other", "Other", 9, 0);
            vec![Usage::of_setting(name, what, used, 5_000), unlimited]
        };
        let mut watch = LimitNear::new(issues.clone(), Box::new(usages));
        let mut at = |count: u64| {
            *used.lock() = count;
            watch.tick();
            issues.list().first().map(|issue| (issue.severity, issue.what.clone()))
        };
        assert_eq!(at(3_999), None);
        let (severity, text) = at(4_000).expect("raised");
        assert_eq!(
            (severity, text.as_str()),
            (Severity::Notice, "MQTT connections: 4000 of 5000 in use.")
        );
        assert_eq!(at(5_000).expect("still").0, Severity::Warning);
        assert!(at(3_750).is_some(), "within the margin");
        assert_eq!(at(3_749), None);
    }
}
