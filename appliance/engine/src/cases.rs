//! Test cases of a pipeline: what was known, what comes in, what must have happened.
//!
//! A case has its own clock, which begins at the same time always, and nothing of the box.
//!
//! **Invariants**: a case's result depends on the document and the case alone.

use crate::compile::CompileFault;
use crate::deployment::Deployed;
use crate::engine::Engine;
use crate::rehearse::{Fed, Keep, Output, OutputForm, Rehearsal};
use crate::services::Last;
use millrace_flow::Data;
use millrace_flow::case::{Case, Expected, When};
use millrace_model::{Quality, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;

/// When every case begins: 2026-01-01T00:00:00Z.
pub const CASE_START: Timestamp = Timestamp(1_767_225_600_000_000_000);

/// What a case came to.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseReport {
    /// Its name.
    pub name: String,
    /// What was not as expected; empty if it passed.
    pub complaints: Vec<String>,
    /// What the pipeline did.
    pub outputs: Vec<Output>,
}

impl CaseReport {
    /// Whether everything was as expected.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.complaints.is_empty()
    }
}

impl Engine {
    /// Runs one case of a draft.
    ///
    /// # Errors
    /// What is wrong with the draft.
    pub fn run_case(&self, draft: &Deployed, case: &Case) -> Result<CaseReport, Vec<CompileFault>> {
        let mut rehearsal = self.rehearse(draft, CASE_START, false, Keep::All)?;
        let mut complaints = Vec::new();
        for (path, value) in &case.given.last {
            rehearsal.know_last(path, given_last(value));
        }
        for (name, value) in &case.given.variables {
            if let Err(message) = rehearsal.know_variable(name, Data::from(value)) {
                complaints.push(format!("given.variables.{name}: {message}"));
            }
        }
        for (step, value) in &case.given.answers {
            rehearsal.answer(step, Data::from(value));
        }
        for (step, reason) in &case.given.faults {
            rehearsal.fail(step, reason);
        }
        for (number, when) in case.when.iter().enumerate() {
            if let Err(message) = feed(&mut rehearsal, when) {
                complaints.push(format!("when[{number}]: {message}"));
            }
        }
        rehearsal.finish();
        let (outputs, left_out) = rehearsal.take_outputs();
        if left_out > 0 {
            complaints.push(format!("{left_out} outputs found no room"));
        }
        complaints.extend(check(&rehearsal, &outputs, &case.then));
        Ok(CaseReport { name: case.name.clone(), complaints, outputs })
    }
}

/// A last value: bare, or `{ value, time?, received?, quality? }`.
fn given_last(given: &Value) -> Last {
    let object = given.as_object().filter(|object| object.contains_key("value"));
    let field = |name: &str| object.and_then(|object| object.get(name));
    let time = field("time").and_then(time_of).unwrap_or(CASE_START);
    Last {
        value: Data::from(field("value").unwrap_or(given)),
        time,
        received: field("received").and_then(time_of).unwrap_or(time),
        quality: field("quality").and_then(quality_of).unwrap_or_default(),
    }
}

fn time_of(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => Timestamp::from_rfc3339(text),
        value => value.as_i64().and_then(Timestamp::from_epoch_number),
    }
}

fn quality_of(value: &Value) -> Option<Quality> {
    match value {
        Value::String(text) => Quality::from_text(text),
        value => value.as_u64().and_then(|code| u32::try_from(code).ok()).map(Quality),
    }
}

fn feed(rehearsal: &mut Rehearsal, when: &When) -> Result<(), String> {
    let after = i64::try_from(when.at_ms).unwrap_or(i64::MAX).saturating_mul(1_000_000);
    let at = CASE_START.plus_nanos(after);
    rehearsal.advance_to(at);
    let no_trigger = || format!("there is no trigger `{}`", when.trigger);
    let path = when.with.get("path").and_then(Value::as_str);
    let value = when.with.get("value");
    if let (Some(path), Some(value)) = (path, value) {
        let fed = Fed {
            value: Data::from(value).to_value().ok_or("the value cannot be a sample's")?,
            time: when.with.get("time").and_then(time_of).unwrap_or(at),
            received: at,
            quality: when.with.get("quality").and_then(quality_of).unwrap_or_default(),
        };
        if rehearsal.feed_to(&when.trigger, path, &fed).is_some() {
            return Ok(());
        }
        return Err(no_trigger());
    }
    rehearsal.trigger(&when.trigger, Data::from(&when.with)).ok_or_else(no_trigger)
}

fn check(rehearsal: &Rehearsal, outputs: &[Output], expected: &[Expected]) -> Vec<String> {
    let mut complaints = Vec::new();
    let effects: Vec<&Output> = outputs
        .iter()
        .filter(|output| matches!(output.form, OutputForm::Publish(_) | OutputForm::Call { .. }))
        .collect();
    let mut is_met = vec![false; effects.len()];
    let mut from = 0;
    let mut failing: BTreeMap<usize, &str> = BTreeMap::new();
    for (number, expected) in expected.iter().enumerate() {
        let found = match expected {
            Expected::Publish { .. } | Expected::Call { .. } => {
                let rest = effects.iter().enumerate().skip(from);
                let found = rest.into_iter().find(|(_, output)| is_as(expected, output));
                if let Some((place, _)) = found {
                    from = place + 1;
                    if let Some(met) = is_met.get_mut(place) {
                        *met = true;
                    }
                }
                found.is_some()
            }
            Expected::Variable { name, value } => is_same(&rehearsal.variable(name), value),
            Expected::Issue { key, raised } => outputs.iter().any(|output| {
                matches!(&output.form, OutputForm::Issue { key: found, is_raised }
                    if found == key && is_raised == raised)
            }),
            Expected::Fails { run, reason } => {
                failing.insert(*run, reason);
                continue;
            }
            Expected::NothingElse => {
                for (output, _) in effects.iter().zip(&is_met).filter(|(_, met)| !**met) {
                    complaints.push(format!("then[{number}]: also {}", told(output)));
                }
                continue;
            }
        };
        if !found {
            complaints.push(format!("then[{number}]: {}", missing(expected, rehearsal, &effects)));
        }
    }
    complaints.extend(check_faults(rehearsal, &failing));
    complaints
}

fn check_faults(rehearsal: &Rehearsal, failing: &BTreeMap<usize, &str>) -> Vec<String> {
    let mut complaints = Vec::new();
    for run in &rehearsal.runs {
        match (&run.fault, failing.get(&run.run)) {
            (Some(fault), None) => complaints.push(format!(
                "run {} failed at step `{}`: {}",
                run.run, fault.step, fault.message
            )),
            (Some(fault), Some(reason)) if !fault.message.contains(reason) => {
                complaints.push(format!(
                    "run {} failed with `{}` instead of `{reason}`",
                    run.run, fault.message
                ));
            }
            _ => {}
        }
    }
    for (run, reason) in failing {
        let has_failed =
            rehearsal.runs.iter().any(|known| known.run == *run && known.fault.is_some());
        if !has_failed {
            complaints.push(format!("run {run} did not fail with `{reason}`"));
        }
    }
    complaints
}

fn is_as(expected: &Expected, found: &Output) -> bool {
    match (expected, &found.form) {
        (Expected::Publish { path, value }, OutputForm::Publish(found)) => {
            *path == found.path && is_same(&found.value, value)
        }
        (Expected::Call { step, with }, OutputForm::Call { fields }) => {
            *step == *found.step
                && with.iter().all(|(name, value)| is_same(fields.get(name), value))
        }
        _ => false,
    }
}

fn is_same(found: &Data, expected: &Value) -> bool {
    let expected = Data::from(expected);
    found.is_same(&expected) || (*found == Data::Missing && expected == Data::Null)
}

fn told(output: &Output) -> String {
    match &output.form {
        OutputForm::Publish(publish) => {
            format!("publish `{}` = {}", publish.path, publish.value.to_json_text())
        }
        OutputForm::Call { fields } => {
            format!("call of `{}` with {}", output.step, fields.to_json_text())
        }
        OutputForm::Variable { name, value } => {
            format!("variable `{name}` = {}", value.to_json_text())
        }
        OutputForm::Issue { key, is_raised } => format!("issue `{key}`, raised: {is_raised}"),
        OutputForm::Log { line, .. } => format!("log `{line}`"),
    }
}

fn missing(expected: &Expected, rehearsal: &Rehearsal, effects: &[&Output]) -> String {
    let list: Vec<String> = effects.iter().take(20).map(|output| told(output)).collect();
    let list = if list.is_empty() { "nothing".to_owned() } else { list.join("; ") };
    match expected {
        Expected::Publish { path, value } => {
            format!("did not publish `{path}` = {value}; what happened: {list}")
        }
        Expected::Call { step, with } => {
            let with = serde_json::to_string(with).unwrap_or_default();
            format!("did not call `{step}` with {with}; what happened: {list}")
        }
        Expected::Variable { name, value } => {
            let found = rehearsal.variable(name).to_json_text();
            format!("the variable `{name}` is {found} instead of {value}")
        }
        Expected::Issue { key, raised } => {
            format!("the issue `{key}` was not {}", if *raised { "raised" } else { "cleared" })
        }
        Expected::Fails { .. } | Expected::NothingElse => String::new(),
    }
}
