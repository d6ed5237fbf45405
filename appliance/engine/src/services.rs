//! What the engine needs of the box, as traits; the service's wiring implements them.
//!
//! **Invariants**: methods here are called on workers' threads and return within microseconds,
//! unless they give a future.

use crate::step::{BoxFuture, StepFault};
use millrace_flow::Data;
use millrace_model::{Quality, TagId, Timestamp};
use millrace_supervisor::Severity;
use std::sync::Arc;

/// A value that a pipeline publishes.
#[derive(Clone, Debug, PartialEq)]
pub struct Publish {
    /// The tag's path below the workspace.
    pub path: String,
    /// The value.
    pub value: Data,
    /// When it was measured; the time of receipt if none.
    pub time: Option<Timestamp>,
    /// Its quality, good if none.
    pub quality: Option<Quality>,
}

/// What to do with an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IssueChange {
    /// It is there.
    Raise {
        /// How bad.
        severity: Severity,
        /// What is wrong.
        what: String,
        /// What it affects.
        effect: String,
        /// What to do.
        remedy: String,
    },
    /// It has gone.
    Clear,
}

/// The last known value of a tag.
#[derive(Clone, Debug, PartialEq)]
pub struct Last {
    /// Its value.
    pub value: Data,
    /// When it was measured.
    pub time: Timestamp,
    /// When it was taken in.
    pub received: Timestamp,
    /// Its quality.
    pub quality: Quality,
}

/// One tag as `uns.search` finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTag {
    /// Its number.
    pub tag: TagId,
    /// Its path below the workspace.
    pub path: String,
    /// Its unit, if it has one.
    pub unit: Option<String>,
}

/// What a history query asks.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryQuery {
    /// The tag's path.
    pub path: String,
    /// From, inclusive.
    pub from: Timestamp,
    /// To, exclusive.
    pub to: Timestamp,
    /// Most samples.
    pub limit: usize,
}

/// The box, for steps.
pub trait Services: Send + Sync {
    /// The last known value of a tag.
    fn last(&self, workspace: u16, path: &str) -> Option<Last>;
    /// Tags whose path matches an MQTT filter, in order, at most `limit`.
    fn search(&self, workspace: u16, filter: &str, limit: usize) -> Vec<FoundTag>;
    /// Samples of a tag, in the order of time: a list of `{ time, value, quality }`.
    fn history(&self, workspace: u16, query: HistoryQuery) -> BoxFuture<Result<Data, StepFault>>;
    /// A secret of the workspace by name; never written anywhere by its user.
    fn secret(&self, workspace: u16, name: &str) -> Option<Arc<str>>;
    /// Why [`Services::secret`] gives none, for people.
    fn no_secret(&self, _workspace: u16, name: &str) -> String {
        format!("there is no secret `{name}` in this workspace; set it")
    }
    /// Runs a future on the box's runtime.
    fn spawn(&self, name: &'static str, future: BoxFuture<()>);
}
