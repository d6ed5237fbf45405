//! The pipeline document: what an engineer designs, as versioned JSON.
//!
//! A pipeline is a graph of *steps* joined by *wires* from an output port to an input port.
//! Logic and layout are apart, and steps and wires have a stable order, so that a change in git
//! shows what changed and nothing else.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of the document's format.
pub const FORMAT: u32 = 1;

/// A pipeline as it is stored and deployed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The format, [`FORMAT`].
    pub millrace: u32,
    /// Its name: lower-case letters, digits and hyphens; unique in the workspace.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How it runs.
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    pub settings: Settings,
    /// Its steps by id. The id is the name in `$step["id"]`.
    pub steps: BTreeMap<String, Step>,
    /// Its wires, sorted.
    #[serde(default)]
    pub wires: Vec<Wire>,
    /// Test cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<crate::case::Case>,
    /// Where the designer draws each step: x and y in pixels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub layout: BTreeMap<String, [i32; 2]>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its kind: `uns.subscribe`, `map`, `javascript`, ...
    pub kind: String,
    /// What the designer shows; the id where it is empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The kind's own fields. Text may hold `{{ expressions }}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    /// Longest time that one execution may take, waiting included; the kind's default if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether a failed execution is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// What happens when it fails for good.
    #[serde(default, skip_serializing_if = "OnError::is_stop")]
    pub on_error: OnError,
    /// Switched off: passes its input on unchanged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
}

/// How often and how fast a failed execution is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// Further attempts, 1 to 20.
    pub times: u32,
    /// Wait before the first of them.
    pub first_ms: u64,
    /// Each further wait is so many times longer (1.0 to 10.0), up to `most_ms`.
    #[serde(default = "two")]
    pub factor: f64,
    /// Longest wait.
    #[serde(default = "one_minute")]
    pub most_ms: u64,
}

fn two() -> f64 {
    2.0
}
fn one_minute() -> u64 {
    60_000
}

/// What a step's failure does to the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The run fails.
    #[default]
    Stop,
    /// The run goes on behind the step; its output is `{ "error": ... }`.
    Continue,
    /// The run goes on at this step, with `{ "error": ... }` as its input.
    GoTo(String),
}

impl OnError {
    fn is_stop(&self) -> bool {
        *self == Self::Stop
    }
}

/// A wire: what leaves `from` at `port` enters `to`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wire {
    /// The step that gives.
    pub from: String,
    /// Its output port; `out` for most.
    #[serde(default = "out")]
    pub port: String,
    /// The step that takes.
    pub to: String,
}

fn out() -> String {
    "out".to_owned()
}

/// How a pipeline runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Which lane its runs wait in.
    pub priority: Priority,
    /// In which order its runs run.
    pub order: Order,
    /// What a run does that finds an earlier one of the same pipeline running.
    pub overlap: Overlap,
    /// How much of each run is kept.
    pub history: HistoryDetail,
    /// Whether branches of one run run one after the other or side by side.
    pub branches: Branches,
    /// Limits of its scripts; the box's where none.
    pub limits: ScriptLimits,
}

impl Settings {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The lane of a pipeline's runs.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// First.
    High,
    /// The default.
    #[default]
    Normal,
    /// When nothing else waits, and now and then.
    Low,
}

/// The order of a pipeline's runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Side by side.
    #[default]
    Parallel,
    /// One at a time in the order of arrival, per topic of the trigger.
    InOrder,
    /// One at a time in the order of arrival, all of the pipeline.
    InOrderAll,
    /// One at a time in the order of arrival, per value of this expression.
    InOrderBy(String),
}

/// What a run does that finds an earlier one of its pipeline (and key) not finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// Waits or runs beside it, as the order says.
    #[default]
    Queue,
    /// Does not run; counted.
    Skip,
    /// The earlier one is stopped; counted.
    Restart,
}

/// How much of a run is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryDetail {
    /// That it ran, how long, how it ended.
    Minimal,
    /// Also each step's status and time.
    #[default]
    Standard,
    /// Also each step's input and output, bounded.
    Full,
}

/// Whether the branches of one run wait for one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Branches {
    /// One step at a time.
    #[default]
    Sequential,
    /// A branch that waits does not hold the others up.
    Parallel,
}

/// Limits of one run's scripts; `None` = the box's setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptLimits {
    /// CPU time of all scripts of a run, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<u64>,
    /// Memory of a pipeline's script runtime, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}
