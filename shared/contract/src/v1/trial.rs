//! Trying a pipeline without the plant: its cases, recorded history, a single step.

use crate::v1::error::ErrorDetail;
use crate::v1::run::{Item, RunFault, RunLine};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// Runs test cases.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TestRequest {
    /// A stored revision; the last one when neither this nor `document` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// A document that is not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub document: Option<Box<RawValue>>,
    /// Cases to run instead of the document's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cases: Option<Vec<Value>>,
    /// Only the cases with these names; all when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

/// How test cases went.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TestReport {
    /// Cases that passed.
    pub passed: u64,
    /// Cases that did not.
    pub failed: u64,
    /// Case by case, in the document's order.
    pub cases: Vec<CaseReport>,
}

/// How one test case went.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CaseReport {
    /// What the case shows.
    pub name: String,
    /// Whether everything happened as expected.
    pub passed: bool,
    /// What did not, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// What the pipeline did, in order.
    #[serde(default)]
    pub effects: Vec<Effect>,
    /// Runs that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<RunFault>,
}

/// What a pipeline did, or would have done.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Effect {
    /// Of which kind.
    pub kind: EffectKind,
    /// The step that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// To what: a tag's path, a step's id, a variable's name, an issue's key.
    pub target: String,
    /// With what: the value, the step's fields, raised or cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Item>,
    /// At which time of the case or of history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// The kinds of effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// A value was published.
    Publish,
    /// A step outside of the box was called (recorded, not really called).
    Call,
    /// A variable was set.
    Variable,
    /// An issue was raised or cleared.
    Issue,
}

/// Feeds recorded history through a document, with everything outside recorded instead of done.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RehearsalRequest {
    /// A stored revision; the last one when neither this nor `document` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// A document that is not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub document: Option<Box<RawValue>>,
    /// History from here, included: RFC 3339, a date, an epoch number, or back from now: `-1h`.
    pub from: String,
    /// To here, not included.
    #[serde(default = "now")]
    pub to: String,
}

fn now() -> String {
    "now".to_owned()
}

/// One line of a rehearsal's answer: an object with one field, which tells what it is.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RehearsalEvent {
    /// How far it is.
    Progress {
        /// Values of history that were fed in.
        values: u64,
        /// Up to which time.
        at: String,
        /// Which part of the time range is done, 0 to 1.
        done: f64,
    },
    /// It is over.
    Report(Box<RehearsalReport>),
    /// It could not be done, or not to its end.
    Failed(ErrorDetail),
}

/// What came of a rehearsal.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RehearsalReport {
    /// Start of the time range.
    pub from: String,
    /// End of it.
    pub to: String,
    /// Values of history that were fed in.
    pub values: u64,
    /// Runs that they started, or the clock.
    pub runs: u64,
    /// Of these, started by the clock: by schedules and startup triggers.
    #[serde(default)]
    pub by_clock: u64,
    /// Of these, failed.
    pub failed: u64,
    /// Why, the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<RunFault>,
    /// What the pipeline would have done, the first of it.
    pub effects: Vec<Effect>,
    /// All effects, shown or not.
    pub effects_total: u64,
    /// The deployed revision that the same history was fed through; absent when none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<u32>,
    /// Where the two differ, the first of it.
    #[serde(default)]
    pub differences: Vec<Difference>,
    /// All differences, shown or not.
    #[serde(default)]
    pub differences_total: u64,
    /// A part of history was damaged or missing, or there was more than a rehearsal takes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// Steps of triggers that nothing starts in a rehearsal: people, programs, other brokers and
    /// issues are not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triggers_left_out: Vec<String>,
    /// Topics that were asked for their last value and were not fed before: what the runs saw of
    /// them is today's, the first hundred of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub todays_values: Vec<String>,
}

/// Where what is rehearsed does something else than what is deployed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Difference {
    /// Of which kind of effect.
    pub kind: EffectKind,
    /// To what: a tag's path, a step's id, a variable's name, an issue's key.
    pub target: String,
    /// At which time of history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// What the deployed one does; absent = nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployed: Option<Item>,
    /// What the rehearsed one does; absent = nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearsed: Option<Item>,
}

/// Executes one step on a sample.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StepTestRequest {
    /// A stored revision; the last one when neither this nor `document` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// A document that is not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub document: Option<Box<RawValue>>,
    /// The step's input. With `upstream` this is the trigger's datum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Takes the last known value of this tag as the input instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<String>,
    /// Runs the steps before it too, from this trigger step on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
    /// What other steps gave, by id: `$step` sees it.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub pinned: std::collections::BTreeMap<String, Value>,
}

/// What a step gave.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StepTestReport {
    /// What it was given.
    pub input: Item,
    /// What left it, by port, in order.
    pub outputs: Vec<PortOutput>,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<RunFault>,
    /// What it would have done.
    #[serde(default)]
    pub effects: Vec<Effect>,
    /// What it logged.
    #[serde(default)]
    pub lines: Vec<RunLine>,
    /// Time that it took, microseconds.
    pub took_us: u64,
    /// CPU time used, microseconds.
    pub cpu_us: u64,
}

/// A datum that left a step.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PortOutput {
    /// At which port.
    pub port: String,
    /// What.
    pub value: Item,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data are passed on as text, which no tag inside of the object lets through.
    #[test]
    fn a_report_with_values_reads_back() {
        let effect = Effect {
            kind: EffectKind::Publish,
            step: Some("out".to_owned()),
            target: "a/b".to_owned(),
            value: Some(Item::new("18446744073709551615", 20)),
            time: None,
        };
        let report = RehearsalReport {
            from: "a".to_owned(),
            to: "b".to_owned(),
            values: 1,
            runs: 1,
            by_clock: 0,
            failed: 0,
            faults: Vec::new(),
            effects: vec![effect],
            effects_total: 1,
            compared_with: None,
            differences: Vec::new(),
            differences_total: 0,
            incomplete: false,
            triggers_left_out: Vec::new(),
            todays_values: Vec::new(),
        };
        let text = serde_json::to_string(&RehearsalEvent::Report(Box::new(report))).unwrap();
        assert!(text.starts_with(r#"{"report":{"from":"a""#), "{text}");
        let RehearsalEvent::Report(report) = serde_json::from_str(&text).unwrap() else {
            panic!("{text}");
        };
        let value = report.effects[0].value.as_ref().unwrap();
        assert_eq!(value.text(), ("18446744073709551615", true));
    }
}
