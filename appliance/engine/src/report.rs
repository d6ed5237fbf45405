//! What the engine tells about a run that has ended, for the history of runs.
//!
//! A report is built only when it is wanted: at most one successful run of a pipeline per second,
//! and every run that failed or that somebody asked for.
//!
//! **Invariants**: inputs and outputs of steps are there only when the pipeline asks for full
//! detail; a secret is in none of them.

use crate::queued::RunId;
use crate::script::Level;
use millrace_flow::Data;
use millrace_flow::document::HistoryDetail;
use millrace_model::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// Which.
    pub id: RunId,
    /// The workspace's number.
    pub workspace: u16,
    /// The pipeline's name.
    pub pipeline: Arc<str>,
    /// The revision that ran.
    pub revision: u32,
    /// The trigger step.
    pub trigger: Arc<str>,
    /// Its kind.
    pub trigger_kind: Arc<str>,
    /// Whether somebody asked for it by name.
    pub is_manual: bool,
    /// Which attempt this was; 1 if nothing went wrong.
    pub attempt: u32,
    /// When it was queued.
    pub asked: Timestamp,
    /// When it began.
    pub begun: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// CPU time of its scripts.
    pub script_cpu: Duration,
    /// Why it failed, if it did.
    pub fault: Option<RunFault>,
    /// How much of it is to be kept.
    pub detail: HistoryDetail,
    /// What `$trigger` held, for running it again.
    pub input: Data,
    /// What it gave, if anything.
    pub result: Data,
    /// Its steps in the order of execution; empty at minimal detail.
    pub steps: Vec<StepReport>,
    /// How many executions of steps are not in `steps`.
    pub steps_left_out: u32,
    /// What it logged.
    pub log: Vec<LogLine>,
    /// How many lines are not in `log`.
    pub log_left_out: u32,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFault {
    /// The step.
    pub step: Arc<str>,
    /// A stable word.
    pub code: &'static str,
    /// For people.
    pub message: String,
    /// The line of a script.
    pub line: Option<u32>,
}

/// One execution of a step.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The step.
    pub step: Arc<str>,
    /// When it began, after the run began.
    pub after: Duration,
    /// How long it took, waiting included.
    pub took: Duration,
    /// How it ended.
    pub status: StepStatus,
    /// Its input, at full detail.
    pub input: Option<Data>,
    /// Its output, at full detail: that of its last port.
    pub output: Option<Data>,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepStatus {
    /// It gave something or nothing, as it should.
    Done,
    /// It waits for something outside, a time or its branches; another report follows.
    Waited,
    /// It failed and was tried again.
    Retried(String),
    /// It failed.
    Failed(String),
}

/// A line of a run's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The step.
    pub step: Arc<str>,
    /// When, after the run began.
    pub after: Duration,
    /// Its level.
    pub level: Level,
    /// The text.
    pub text: String,
}

/// Takes reports. Never waits: what is too much is left out and counted by the sink.
pub trait RunSink: Send + Sync {
    /// A run has ended.
    fn ended(&self, report: RunReport);
}
