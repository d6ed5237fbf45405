//! The table of targets: per target how often it answered, how often not, and since when it cannot
//! be reached; it raises and clears the issue *target unreachable*.
//!
//! A target is a kind and an address (`http mes.plant:443`), never a path, a user or a secret.
//! Unreachable means: no connection, no answer in time, or a broken conversation. An answer that
//! reports an error (status 500, a constraint of a table) is counted as failed, but its target is
//! there. The issue is raised after [`FAILURES_IN_A_ROW`], or when [`FAILING_FOR`] has passed
//! since the first failure without a success; the first answer clears it.
//!
//! **Invariants**: bounded in targets and text; an issue that was raised here is cleared here.

use crate::limits::{
    ERROR_TEXT_BYTES_MAX, FAILING_FOR, FAILURES_IN_A_ROW, TARGET_FORGOTTEN_AFTER, TARGETS_MAX,
};
use millrace_model::Timestamp;
use millrace_supervisor::{Clock, Issue, Issues, Severity};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// One target, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetState {
    /// Kind and address.
    pub target: String,
    /// Calls that were answered.
    pub ok: u64,
    /// Calls that were not, or answered with an error.
    pub failed: u64,
    /// Why the last failed one failed.
    pub last_error: Option<String>,
    /// When that was.
    pub last_error_at: Option<Timestamp>,
    /// Since when it cannot be reached; `None` if it can, as far as is known.
    pub unreachable_since: Option<Timestamp>,
}

/// All targets.
pub struct Targets {
    clock: Arc<dyn Clock>,
    issues: Arc<Issues>,
    table: Mutex<BTreeMap<String, Entry>>,
}

#[derive(Debug, Default)]
struct Entry {
    ok: u64,
    failed: u64,
    last_error: Option<(Timestamp, String)>,
    used_at: Duration,
    row: Option<Row>,
}

/// Failures in a row.
#[derive(Debug)]
struct Row {
    count: u32,
    began: Duration,
    since: Timestamp,
    is_raised: bool,
}

impl std::fmt::Debug for Targets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Targets").field("count", &self.table.lock().len()).finish_non_exhaustive()
    }
}

impl Targets {
    /// An empty table.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, issues: Arc<Issues>) -> Self {
        Self { clock, issues, table: Mutex::default() }
    }

    /// The time of the table's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The target answered.
    pub fn succeeded(&self, target: &str) {
        self.change(target, |entry| entry.ok += 1, None);
    }

    /// The target answered, with an error.
    pub fn answered_badly(&self, target: &str, error: &str) {
        let now = self.clock.now();
        self.change(
            target,
            |entry| {
                entry.failed += 1;
                entry.last_error = Some((now, short(error)));
            },
            None,
        );
    }

    /// The target could not be reached or did not answer.
    pub fn failed(&self, target: &str, error: &str) {
        let now = self.clock.now();
        self.change(
            target,
            |entry| {
                entry.failed += 1;
                entry.last_error = Some((now, short(error)));
            },
            Some(now),
        );
    }

    /// All targets by name.
    #[must_use]
    pub fn list(&self) -> Vec<TargetState> {
        let table = self.table.lock();
        let states = table.iter().map(|(target, entry)| TargetState {
            target: target.clone(),
            ok: entry.ok,
            failed: entry.failed,
            last_error: entry.last_error.as_ref().map(|(_, text)| text.clone()),
            last_error_at: entry.last_error.as_ref().map(|(at, _)| *at),
            unreachable_since: entry.row.as_ref().filter(|row| row.is_raised).map(|row| row.since),
        });
        states.collect()
    }

    /// Raises what has failed for long without being tried again and forgets what nobody uses.
    /// Call it every few seconds.
    pub fn tick(&self) {
        let now = self.clock.monotonic();
        let mut table = self.table.lock();
        table.retain(|target, entry| {
            let is_kept = now.saturating_sub(entry.used_at) < TARGET_FORGOTTEN_AFTER;
            if is_kept {
                self.raise_if_due(target, entry, now);
            } else if entry.row.as_ref().is_some_and(|row| row.is_raised) {
                self.issues.clear(&key(target));
            }
            is_kept
        });
    }

    /// Changes a target's entry; `failed_at` is set if it could not be reached.
    fn change(&self, target: &str, change: impl FnOnce(&mut Entry), failed_at: Option<Timestamp>) {
        let now = self.clock.monotonic();
        let mut table = self.table.lock();
        if !table.contains_key(target) {
            if table.len() >= TARGETS_MAX {
                self.forget_quietest(&mut table);
            }
            table.insert(target.to_owned(), Entry::default());
        }
        let Some(entry) = table.get_mut(target) else { return };
        entry.used_at = now;
        change(entry);
        match failed_at {
            Some(since) => {
                let row =
                    entry.row.get_or_insert(Row { count: 0, began: now, since, is_raised: false });
                row.count = row.count.saturating_add(1);
                self.raise_if_due(target, entry, now);
            }
            None => {
                if entry.row.take().is_some_and(|row| row.is_raised) {
                    self.issues.clear(&key(target));
                }
            }
        }
    }

    fn raise_if_due(&self, target: &str, entry: &mut Entry, now: Duration) {
        let Some(row) = &mut entry.row else { return };
        let is_due = row.count >= FAILURES_IN_A_ROW || now.saturating_sub(row.began) >= FAILING_FOR;
        if !is_due {
            return;
        }
        row.is_raised = true;
        let error = entry.last_error.as_ref().map_or("unknown", |(_, text)| text.as_str());
        self.issues.raise(Issue {
            key: key(target),
            severity: Severity::Warning,
            what: format!(
                "The target {target} cannot be reached since {}: {error}.",
                row.since.to_rfc3339()
            ),
            effect: "Steps that need it wait until their timeout and fail; with a retry they are \
                     tried again."
                .to_owned(),
            remedy: "Check that it runs, that its address is right in the pipeline, and the \
                     network between. The issue goes at the first answer."
                .to_owned(),
        });
    }

    fn forget_quietest(&self, table: &mut BTreeMap<String, Entry>) {
        let quietest = table.iter().min_by_key(|(_, entry)| entry.used_at);
        let Some(target) = quietest.map(|(target, _)| target.clone()) else { return };
        if table.remove(&target).and_then(|entry| entry.row).is_some_and(|row| row.is_raised) {
            self.issues.clear(&key(&target));
        }
    }
}

fn key(target: &str) -> String {
    format!("target-unreachable:{target}")
}

fn short(text: &str) -> String {
    crate::text::cut(text, ERROR_TEXT_BYTES_MAX)
}

#[cfg(test)]
mod tests;
