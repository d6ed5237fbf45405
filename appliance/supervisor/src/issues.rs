//! Issues: what is wrong now, since when, what it affects, and what to do.
//!
//! A part raises an issue under a stable key and clears it when the cause is gone; raising again
//! updates the text and the time last seen, not the time since. Issues live in memory: after a
//! start the causes that last raise them again.
//!
//! **Invariants**: at most [`ISSUES_MAX`] at once (the rest are counted in one issue of their
//! own); an acknowledged issue stays listed until its cause is gone.

use crate::clock::Clock;
use millrace_model::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Most issues held at once; more would be noise, and keys may hold a client's name.
pub const ISSUES_MAX: usize = 500;
const OVERFLOW_KEY: &str = "issues-overflow";

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Notice,
    /// Something is degraded.
    Warning,
    /// Somebody must act now.
    Critical,
}

/// What a part says of a trouble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Stable key: `journal-degraded`, `part-damaged:1d/2026…`.
    pub key: String,
    /// How bad.
    pub severity: Severity,
    /// What is wrong, in a sentence with the facts.
    pub what: String,
    /// What it affects.
    pub effect: String,
    /// What to do.
    pub remedy: String,
}

/// An issue with its times, as listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueState {
    /// Stable key.
    pub key: String,
    /// How bad.
    pub severity: Severity,
    /// What is wrong.
    pub what: String,
    /// What it affects.
    pub effect: String,
    /// What to do.
    pub remedy: String,
    /// When it was first raised.
    pub since: Timestamp,
    /// When it was last raised.
    pub last_seen: Timestamp,
    /// How often it was raised.
    pub count: u64,
    /// Who has taken note of it.
    pub acknowledged_by: Option<String>,
}

/// The list of what is wrong now.
pub struct Issues {
    clock: Arc<dyn Clock>,
    open: Mutex<BTreeMap<String, IssueState>>,
}

impl fmt::Debug for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issues").field("open", &self.open.lock().len()).finish_non_exhaustive()
    }
}

impl Issues {
    /// An empty list.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, open: Mutex::new(BTreeMap::new()) }
    }

    /// Raises an issue, or updates the one with the same key. Logged when it is new.
    pub fn raise(&self, issue: Issue) {
        let now = self.clock.now();
        let mut open = self.open.lock();
        if let Some(state) = open.get_mut(&issue.key) {
            state.severity = issue.severity;
            state.what = issue.what;
            state.effect = issue.effect;
            state.remedy = issue.remedy;
            state.last_seen = now;
            state.count += 1;
            return;
        }
        let issue = if open.len() >= ISSUES_MAX { overflow() } else { issue };
        match issue.severity {
            Severity::Notice => tracing::info!(key = issue.key, "{}", issue.what),
            Severity::Warning => tracing::warn!(key = issue.key, "{}", issue.what),
            Severity::Critical => tracing::error!(key = issue.key, "{}", issue.what),
        }
        let state = IssueState {
            key: issue.key.clone(),
            severity: issue.severity,
            what: issue.what,
            effect: issue.effect,
            remedy: issue.remedy,
            since: now,
            last_seen: now,
            count: 1,
            acknowledged_by: None,
        };
        open.entry(issue.key).and_modify(|old| old.count += 1).or_insert(state);
    }

    /// Brings an issue back that was open when the box ended, as it was then.
    pub fn restore(&self, state: IssueState) {
        let mut open = self.open.lock();
        if open.len() < ISSUES_MAX {
            open.entry(state.key.clone()).or_insert(state);
        }
    }

    /// Clears an issue; `true` if it was there.
    pub fn clear(&self, key: &str) -> bool {
        let mut open = self.open.lock();
        let gone = open.remove(key).is_some();
        if gone {
            tracing::info!(key, "Issue cleared.");
            if open.len() < ISSUES_MAX && key != OVERFLOW_KEY {
                open.remove(OVERFLOW_KEY);
            }
        }
        gone
    }

    /// Marks an issue as known to a person; `false` if there is none with that key.
    pub fn acknowledge(&self, key: &str, who: &str) -> bool {
        match self.open.lock().get_mut(key) {
            Some(state) => {
                state.acknowledged_by = Some(who.to_owned());
                true
            }
            None => false,
        }
    }

    /// All open issues, worst first, then by key.
    #[must_use]
    pub fn list(&self) -> Vec<IssueState> {
        let mut list: Vec<_> = self.open.lock().values().cloned().collect();
        list.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.key.cmp(&b.key)));
        list
    }

    /// Whether an issue with this key is open.
    #[must_use]
    pub fn is_open(&self, key: &str) -> bool {
        self.open.lock().contains_key(key)
    }
}

fn overflow() -> Issue {
    Issue {
        key: OVERFLOW_KEY.to_owned(),
        severity: Severity::Warning,
        what: format!("More than {ISSUES_MAX} issues are open; newer ones are not listed."),
        effect: "Some causes of trouble cannot be seen here.".to_owned(),
        remedy: "Solve the listed issues first; the log has all of them.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TestClock;
    use std::time::Duration;

    fn issue(key: &str, severity: Severity) -> Issue {
        let text = || "text".to_owned();
        Issue { key: key.to_owned(), severity, what: text(), effect: text(), remedy: text() }
    }

    #[test]
    fn raising_again_keeps_the_time_since() {
        let clock = Arc::new(TestClock::new(Timestamp(10)));
        let issues = Issues::new(clock.clone());
        issues.raise(issue("a", Severity::Warning));
        clock.advance(Duration::from_nanos(5));
        issues.raise(issue("a", Severity::Critical));
        let list = issues.list();
        assert_eq!(list.len(), 1);
        assert_eq!((list[0].since, list[0].last_seen), (Timestamp(10), Timestamp(15)));
        assert_eq!((list[0].count, list[0].severity), (2, Severity::Critical));
        assert!(issues.clear("a"));
        assert!(!issues.clear("a"));
    }

    #[test]
    fn is_bounded_and_says_so() {
        let issues = Issues::new(Arc::new(TestClock::new(Timestamp(0))));
        for number in 0..ISSUES_MAX + 20 {
            issues.raise(issue(&format!("k{number}"), Severity::Notice));
        }
        assert_eq!(issues.list().len(), ISSUES_MAX + 1);
        assert!(issues.is_open(OVERFLOW_KEY));
    }

    #[test]
    fn lists_the_worst_first() {
        let issues = Issues::new(Arc::new(TestClock::new(Timestamp(0))));
        issues.raise(issue("a", Severity::Notice));
        issues.raise(issue("b", Severity::Critical));
        assert!(issues.acknowledge("a", "user:anna"));
        let keys: Vec<_> = issues.list().into_iter().map(|state| state.key).collect();
        assert_eq!(keys, ["b", "a"]);
    }
}
