//! Issues: what is wrong now, since when, what it affects, and what to do.
//!
//! A part raises an issue under a stable key and clears it when the cause is gone; raising again
//! updates the text and the time last seen, not the time since. Issues live in memory: after a
//! start the causes that last raise them again. The last changes of the list are kept with a
//! number each, so that who looks now and then misses none that came and went in between.
//!
//! **Invariants**: at most [`ISSUES_MAX`] at once (the rest are counted in one issue of their
//! own); an acknowledged issue stays listed until its cause is gone; at most
//! [`ISSUE_CHANGES_MAX`] changes are kept, and who was too slow is told how many are missing.

use crate::clock::Clock;
use millrace_model::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::collections::btree_map::{BTreeMap, Entry};
use std::fmt;
use std::sync::Arc;

/// Most issues held at once; more would be noise, and keys may hold a client's name.
pub const ISSUES_MAX: usize = 500;
/// Most changes of the list that are kept.
pub const ISSUE_CHANGES_MAX: usize = 1_000;
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

/// An issue that was raised, was cleared, or became better or worse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueChange {
    /// How bad it was before; none if it was not open.
    pub before: Option<Severity>,
    /// How bad it is after; none if it is cleared.
    pub after: Option<Severity>,
    /// The issue as it was then.
    pub state: IssueState,
}

/// Changes of the list since somebody last looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssueChanges {
    /// In their order.
    pub list: Vec<IssueChange>,
    /// Ask from here on the next time.
    pub through: u64,
    /// How many are not kept any more.
    pub missed: u64,
}

/// The list of what is wrong now.
pub struct Issues {
    clock: Arc<dyn Clock>,
    open: Mutex<BTreeMap<String, IssueState>>,
    /// Locked only while `open` is, so that changes are in the order in which they were made.
    changes: Mutex<Changes>,
}

#[derive(Debug, Default)]
struct Changes {
    kept: VecDeque<IssueChange>,
    /// How many there have been.
    count: u64,
}

impl Changes {
    fn add(&mut self, before: Option<Severity>, after: Option<Severity>, state: IssueState) {
        if self.kept.len() >= ISSUE_CHANGES_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back(IssueChange { before, after, state });
        self.count += 1;
    }
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
        Self { clock, open: Mutex::default(), changes: Mutex::default() }
    }

    /// Raises an issue, or updates the one with the same key. Logged when it is new.
    pub fn raise(&self, issue: Issue) {
        let now = self.clock.now();
        let mut open = self.open.lock();
        if let Some(state) = open.get_mut(&issue.key) {
            let before = std::mem::replace(&mut state.severity, issue.severity);
            state.what = issue.what;
            state.effect = issue.effect;
            state.remedy = issue.remedy;
            state.last_seen = now;
            state.count += 1;
            if before != state.severity {
                let changes = &mut self.changes.lock();
                changes.add(Some(before), Some(state.severity), state.clone());
            }
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
        match open.entry(issue.key) {
            Entry::Occupied(mut known) => known.get_mut().count += 1,
            Entry::Vacant(place) => {
                self.changes.lock().add(None, Some(state.severity), state.clone());
                place.insert(state);
            }
        }
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
        let Some(gone) = open.remove(key) else { return false };
        tracing::info!(key, "Issue cleared.");
        let mut changes = self.changes.lock();
        changes.add(Some(gone.severity), None, gone);
        if open.len() < ISSUES_MAX
            && key != OVERFLOW_KEY
            && let Some(gone) = open.remove(OVERFLOW_KEY)
        {
            changes.add(Some(gone.severity), None, gone);
        }
        true
    }

    /// Clears all issues whose keys begin so: who raised them does not any more. How many there
    /// were.
    pub fn clear_all(&self, front: &str) -> usize {
        let keys: Vec<String> = {
            let open = self.open.lock();
            let behind = open.range(front.to_owned()..).map(|(key, _)| key);
            behind.take_while(|key| key.starts_with(front)).cloned().collect()
        };
        keys.iter().filter(|key| self.clear(key)).count()
    }

    /// What changed since a number that this gave before; 0 for all that is kept. An issue that is
    /// raised again with other words is no change.
    #[must_use]
    pub fn changes_since(&self, after: u64) -> IssueChanges {
        let changes = self.changes.lock();
        let wanted = changes.count.saturating_sub(after);
        let kept = changes.kept.len() as u64;
        let skipped = usize::try_from(kept.saturating_sub(wanted)).unwrap_or(usize::MAX);
        IssueChanges {
            list: changes.kept.iter().skip(skipped).cloned().collect(),
            through: changes.count,
            missed: wanted.saturating_sub(kept),
        }
    }

    /// The number of the last change.
    #[must_use]
    pub fn changes_through(&self) -> u64 {
        self.changes.lock().count
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
    fn what_came_and_went_between_two_looks_is_told() {
        let issues = Issues::new(Arc::new(TestClock::new(Timestamp(0))));
        issues.raise(issue("before", Severity::Notice));
        let looked = issues.changes_through();
        issues.raise(issue("a", Severity::Warning));
        issues.raise(issue("a", Severity::Warning));
        issues.raise(issue("a", Severity::Critical));
        issues.clear("a");
        let changes = issues.changes_since(looked);
        let (warning, critical) = (Some(Severity::Warning), Some(Severity::Critical));
        let seen: Vec<_> =
            changes.list.iter().map(|change| (change.before, change.after)).collect();
        assert_eq!(seen, [(None, warning), (warning, critical), (critical, None)]);
        assert!(changes.list.iter().all(|change| change.state.key == "a"));
        assert_eq!(issues.changes_since(changes.through), IssueChanges { list: vec![], ..changes });
    }

    #[test]
    fn who_looks_too_seldom_is_told_how_much_is_missing() {
        let issues = Issues::new(Arc::new(TestClock::new(Timestamp(0))));
        for _ in 0..ISSUE_CHANGES_MAX {
            issues.raise(issue("a", Severity::Warning));
            issues.clear("a");
        }
        let changes = issues.changes_since(0);
        assert_eq!((changes.list.len(), changes.missed), (ISSUE_CHANGES_MAX, 1_000));
        assert_eq!(changes.list.last().map(|change| change.after), Some(None));
    }

    #[test]
    fn all_of_one_front_are_cleared_and_no_others() {
        let issues = Issues::new(Arc::new(TestClock::new(Timestamp(0))));
        for key in ["p:a:1", "p:a:2", "p:ab:1", "p:b:1"] {
            issues.raise(issue(key, Severity::Warning));
        }
        assert_eq!(issues.clear_all("p:a:"), 2);
        let keys: Vec<_> = issues.list().into_iter().map(|state| state.key).collect();
        assert_eq!(keys, ["p:ab:1", "p:b:1"]);
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
