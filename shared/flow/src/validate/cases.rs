//! Stored test cases: whether they speak of what is there.
//!
//! **Invariants**: whether a case passes is not asked here.

use super::{Faults, LABEL_BYTES_MAX, is_step_id};
use crate::case::{Case, Expected};
use crate::document::Document;
use std::collections::BTreeSet;

/// Most cases of a document.
const CASES_MAX: usize = 500;
/// Most triggers and most expected effects of one case.
const EVENTS_MAX: usize = 1_000;

/// Checks all cases.
pub(super) fn check(document: &Document, faults: &mut Faults) {
    if document.cases.len() > CASES_MAX {
        let message = format!("{} cases, {CASES_MAX} at most", document.cases.len());
        return faults.error(Some("cases"), "bad_case", message);
    }
    let mut names = BTreeSet::new();
    for (place, case) in document.cases.iter().enumerate() {
        let at = format!("cases[{place}]");
        if !names.insert(case.name.as_str()) {
            faults.error(Some(&at), "bad_case", format!("another case is named `{}`", case.name));
        }
        one(document, &at, case, faults);
    }
}

fn one(document: &Document, at: &str, case: &Case, faults: &mut Faults) {
    let mut bad = |field: String, message: String| {
        faults.error(Some(&format!("{at}.{field}")), "bad_case", message);
    };
    if case.name.trim().is_empty() || case.name.len() > LABEL_BYTES_MAX {
        bad("name".into(), format!("takes 1 to {LABEL_BYTES_MAX} bytes"));
    }
    if case.when.is_empty() {
        bad("when".into(), "has no trigger: nothing would happen".into());
    }
    if case.when.len() > EVENTS_MAX || case.then.len() > EVENTS_MAX {
        bad("when".into(), format!("a case has {EVENTS_MAX} triggers and effects at most"));
    }
    for (place, when) in case.when.iter().enumerate() {
        match document.steps.get(&when.trigger) {
            None => bad(format!("when[{place}]"), format!("there is no step `{}`", when.trigger)),
            Some(step) if !step.is_trigger() => {
                bad(format!("when[{place}]"), format!("`{}` is no trigger", when.trigger));
            }
            Some(_) => {}
        }
    }
    for (place, expected) in case.then.iter().enumerate() {
        match expected {
            Expected::Call { step, .. } if !document.steps.contains_key(step) => {
                bad(format!("then[{place}]"), format!("there is no step `{step}`"));
            }
            Expected::Fails { run, .. } if *run >= case.when.len() => {
                let message = format!("there is no run {run}: the first is 0");
                bad(format!("then[{place}]"), message);
            }
            Expected::Publish { path, .. } => {
                if let Err(fault) = millrace_model::topic::check_path(path) {
                    bad(format!("then[{place}]"), format!("`{path}`: {fault}"));
                }
            }
            _ => {}
        }
    }
    let answers = case.given.answers.keys().map(|id| ("answers", id));
    for (map, id) in answers.chain(case.given.faults.keys().map(|id| ("faults", id))) {
        let is_outside =
            |step: &crate::document::Step| step.known_kind().is_some_and(|kind| kind.is_outside);
        if !is_step_id(id) || !document.steps.get(id).is_some_and(is_outside) {
            bad(format!("given.{map}.{id}"), "is no step that acts outside".into());
        }
    }
}
