//! Pipelines: what is stored, what runs, how to change it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// A pipeline as it is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Pipeline {
    /// Its number in the box; the first part of its runs' ids.
    pub number: u32,
    /// Its workspace.
    pub workspace: String,
    /// Its name, unique in the workspace.
    pub name: String,
    /// What it is for, as the last revision says.
    pub description: String,
    /// What was stored last.
    pub latest: Revision,
    /// The last deployment or undeployment; absent = it was never deployed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<Deployment>,
    /// What it does; absent while it does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<Activity>,
}

/// A revision without its document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Revision {
    /// The first is 1.
    pub revision: u32,
    /// When it was stored.
    pub at: String,
    /// Who stored it.
    pub author: String,
    /// What is new in it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A revision with its document.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StoredRevision {
    /// The revision.
    pub revision: Revision,
    /// Its document: see the pipeline format.
    #[schema(value_type = Object)]
    pub document: Box<RawValue>,
}

/// What runs of a pipeline, and what ran before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Deployment {
    /// The revision that runs; absent = it does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// The revision that ran before, where a roll back goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<u32>,
    /// Since when.
    pub at: String,
    /// Who did it.
    pub by: String,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What a deployed pipeline does, counted since the box started, or since the pipeline was deployed
/// first after that; a new revision goes on counting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Activity {
    /// Since when what follows is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Runs that wait in the queue now.
    pub queued: u64,
    /// Runs that execute now.
    pub running: u64,
    /// Runs that wait for a time or an answer now.
    pub waiting: u64,
    /// Runs that ended.
    pub ended: u64,
    /// Of these, failed.
    pub failed: u64,
    /// Runs that did not run, as the overlap setting says.
    pub skipped: u64,
    /// Runs that were dropped because the queue was full or they were too old.
    pub shed: u64,
    /// When the first of them was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shed_first: Option<String>,
    /// When the last of them was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shed_last: Option<String>,
    /// Runs that were taken again because they took too long.
    pub late: u64,
    /// When the first of them was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_first: Option<String>,
    /// When the last of them was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_last: Option<String>,
    /// Scripts that were stopped at a limit.
    pub script_kills: u64,
    /// Its scripts are kept from running after too many kills.
    pub quarantined: bool,
    /// CPU time used, microseconds.
    pub cpu_us: u64,
    /// Most memory that its scripts took, bytes.
    pub memory_bytes_peak: u64,
    /// When its last run began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run: Option<String>,
}

/// Stores a document as the pipeline's next revision.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRevision {
    /// The document; its `name` is the pipeline's.
    #[schema(value_type = Object)]
    pub document: Box<RawValue>,
    /// What is new in it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The last revision that the author has seen, 0 = none yet: 409 when there is a newer one.
    /// Absent = whatever is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<u32>,
}

/// What came of storing a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SavedRevision {
    /// The pipeline.
    pub name: String,
    /// The revision that holds the document.
    pub revision: Revision,
    /// The document is that of the last revision, so no new one was made.
    pub unchanged: bool,
    /// What may be meant otherwise; nothing of it keeps the pipeline from running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<DocumentFault>,
}

/// Something in a document that is not right, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DocumentFault {
    /// The step at fault, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The field at fault: of the step where one is named, else of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The line of the document's text, the first is 1, where the text cannot be read as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// For programs: a stable word, such as `unknown_kind`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// What is wrong and what to do.
    pub message: String,
}

/// Lets a revision run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewDeployment {
    /// Which; the last one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// Why.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Why something is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Note {
    /// Why.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What runs now, asked of the engine after the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Running {
    /// The pipeline.
    pub name: String,
    /// Its deployment.
    pub deployment: Deployment,
    /// What starts it; none while it does not run.
    pub triggers: Vec<RunningTrigger>,
}

/// A trigger that is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunningTrigger {
    /// The trigger step's id.
    pub step: String,
    /// Its kind.
    pub kind: String,
    /// What it waits for, in words: a filter, a schedule, an address.
    pub detail: String,
    /// Tags that it matches now, where it waits for values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<u64>,
    /// When it fires next, where it goes by the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What is different between two documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PipelineDiff {
    /// The one before.
    pub from: u32,
    /// The one after.
    pub to: u32,
    /// What changed, a line for each change; none = nothing but the layout, or nothing at all.
    pub lines: Vec<String>,
    /// The edits that lead from the one to the other, layout included, as the format describes
    /// them.
    #[schema(value_type = Vec<Object>)]
    pub edits: Vec<Value>,
}
