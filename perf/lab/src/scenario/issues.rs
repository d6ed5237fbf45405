//! Issues as the appliance tells them, and when one came and went.
//!
//! **Invariants**
//! - Times are seconds of the scenario's own clock, to the length of a look.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::http::Http;
use crate::measure::statistics::rounded;

/// All open issues.
pub(crate) fn open(http: &mut Http) -> Result<Vec<Value>> {
    let answer = http.get_json("/api/v1/issues").context("read the issues")?;
    let items = answer.get("items").and_then(Value::as_array).cloned();
    items.context("find the issues in the answer")
}

/// One issue and when it was there.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    /// What its key holds.
    part: String,
    raised_at: Option<f64>,
    cleared_at: Option<f64>,
    /// As it was seen last.
    last: Value,
}

impl Noted {
    /// Waits for an issue whose key holds `part`.
    pub(crate) fn new(part: impl Into<String>) -> Self {
        Self { part: part.into(), raised_at: None, cleared_at: None, last: Value::Null }
    }

    /// Looks for it among the open ones.
    pub(crate) fn look(&mut self, issues: &[Value], now: f64) {
        let key_of = |issue: &&Value| issue.get("key").and_then(Value::as_str).map(str::to_owned);
        let found =
            issues.iter().find(|issue| key_of(issue).is_some_and(|k| k.contains(&self.part)));
        match found {
            Some(issue) => {
                self.raised_at.get_or_insert(now);
                self.cleared_at = None;
                self.last = issue.clone();
            }
            None if self.raised_at.is_some() => {
                self.cleared_at.get_or_insert(now);
            }
            None => {}
        }
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.raised_at.is_some() && self.cleared_at.is_none()
    }

    pub(crate) fn is_cleared(&self) -> bool {
        self.cleared_at.is_some()
    }

    /// What it said when it was seen last.
    pub(crate) fn what(&self) -> &str {
        self.last.get("what").and_then(Value::as_str).unwrap_or_default()
    }

    /// When it came after `cause`, and went after `cure`.
    pub(crate) fn json(&self, cause: f64, cure: f64) -> Value {
        json!({
            "raised_after_s": self.raised_at.map(|at| rounded(at - cause, 2)),
            "cleared_after_s": self.cleared_at.map(|at| rounded(at - cure, 2)),
            "issue": self.last,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_when_an_issue_comes_and_goes_for_good() {
        let there = [json!({ "key": "disk-low" }), json!({ "key": "cpu-starved", "what": "w" })];
        let mut noted = Noted::new("cpu-starved");
        noted.look(&[], 1.0);
        assert!(!noted.is_raised() && !noted.is_cleared());
        for (issues, now) in
            [(&there[..], 2.0), (&[], 3.0), (&there[..], 4.0), (&[], 5.0), (&[], 6.0)]
        {
            noted.look(issues, now);
        }
        assert!(noted.is_cleared() && noted.what() == "w");
        let found = noted.json(0.5, 4.5);
        assert_eq!(found.get("raised_after_s"), Some(&json!(1.5)));
        assert_eq!(found.get("cleared_after_s"), Some(&json!(0.5)));
    }
}
