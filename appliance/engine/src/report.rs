//! What the engine tells about a run that has ended, for the history of runs.
//!
//! A report is built only when it is wanted: at most one successful run of a pipeline per second,
//! and every run that failed, was canceled, or that somebody asked for.
//!
//! **Invariants**: inputs and outputs of steps are there only when the pipeline asks for full
//! detail; a secret is in none of them.

use crate::queue::Why;
use crate::queued::{Queued, RunId};
use crate::record;
use crate::script::Level;
use millrace_flow::Data;
use millrace_flow::document::HistoryDetail;
use millrace_model::Timestamp;
use std::sync::Arc;
use std::sync::atomic::Ordering;
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
    /// CPU time that it took, its scripts included; what it took before a restart of the box is not
    /// in it.
    pub cpu: Duration,
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

impl RunReport {
    /// What is known of a run before it begins.
    pub(crate) fn of(run: &Queued, now: Timestamp) -> Self {
        let plan = &run.plan;
        let trigger = plan.triggers.get(usize::from(run.trigger));
        let step = trigger.and_then(|trigger| plan.step(trigger.step));
        let nothing: Arc<str> = "".into();
        Self {
            id: run.id(),
            workspace: plan.workspace,
            pipeline: Arc::clone(&plan.name),
            revision: plan.revision,
            trigger: trigger
                .map_or_else(|| Arc::clone(&nothing), |trigger| Arc::clone(&trigger.id)),
            trigger_kind: step.map_or(nothing, |step| Arc::clone(&step.kind)),
            is_manual: run.is_manual,
            attempt: run.attempt.load(Ordering::Acquire),
            asked: run.asked,
            begun: now,
            ended: now,
            cpu: Duration::ZERO,
            script_cpu: Duration::ZERO,
            fault: None,
            detail: plan.settings.history,
            input: run.start.data(),
            result: Data::Missing,
            steps: Vec::new(),
            steps_left_out: 0,
            log: Vec::new(),
            log_left_out: 0,
        }
    }

    /// A run that ends before it has begun.
    pub(crate) fn not_begun(run: &Queued, why: Why, now: Timestamp) -> Self {
        let report = Self::of(run, now);
        let message = why.sentence().to_owned();
        let fault = RunFault {
            step: Arc::clone(&report.trigger),
            code: record::reason(why),
            message,
            line: None,
        };
        Self { fault: Some(fault), ..report }
    }
}

/// Codes of faults that are no failure: a person, a later run of the same key, or an undeployment
/// canceled the run.
pub const CANCELED: [&str; 3] = ["canceled", "restarted", "undeployed"];
/// Code of a run that did not begin because an earlier one had not ended.
pub const SKIPPED: &str = "skipped";

/// Why a run failed, or did not run.
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

impl RunFault {
    /// Whether the run was canceled: nothing went wrong in it.
    #[must_use]
    pub fn is_cancel(&self) -> bool {
        CANCELED.contains(&self.code)
    }
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

/// A run that has not ended.
#[derive(Clone, Debug)]
pub struct OpenRun {
    /// What is known of it so far; its end is now.
    pub report: RunReport,
    /// How it stands.
    pub state: OpenState,
    /// What it waits for: that which holds it first, then the steps around that.
    pub waits: Vec<OpenWait>,
}

/// How a run that has not ended stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenState {
    /// It waits to begin.
    Queued,
    /// It is executed, or about to go on.
    Running,
    /// It waits for something outside or for a time.
    Waiting,
}

/// One thing that a run waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenWait {
    /// The step.
    pub step: Arc<str>,
    /// For what.
    pub what: WaitFor,
    /// Since when; after a restart of the box, since then.
    pub since: Timestamp,
    /// Until when at the latest, if that is known.
    pub until: Option<Timestamp>,
}

/// For what a step waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// Work outside: a server, a database, a broker.
    Answer,
    /// A time.
    Time,
    /// The time of its next try.
    Retry,
    /// The branches of a list's items.
    Items,
    /// A guarded branch.
    Branch,
    /// A pipeline that it calls.
    Call,
    /// All branches that lead to it.
    Inputs,
}

/// Takes reports. Never waits: what is too much is left out and counted by the sink.
pub trait RunSink: Send + Sync {
    /// A run has ended.
    fn ended(&self, report: RunReport);
}
