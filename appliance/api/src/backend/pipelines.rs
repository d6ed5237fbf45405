//! What the API needs of pipelines, secrets, variables and webhooks.
//!
//! A trait of its own beside [`crate::Backend`], which gives it out. Every method answers
//! [`Fault::NotSupported`] until it is implemented. The words *in memory*, *blocking* and
//! *future* mean what they mean there.
//!
//! What exists only to be shown has no second form in the model, so these methods speak the
//! contract's types; times are RFC 3339 ([`millrace_model::Timestamp::to_rfc3339`]).
//!
//! **Invariants**: the API has checked the caller's role, that the workspace exists, and that a
//! document is one by `flow`'s rules; the implementation writes the audit entry of every change. A
//! secret's value goes in and never comes out.

use super::{Actor, BoxFuture, Fault, PageOf};
use bytes::Bytes;
use millrace_contract::v1;
use millrace_flow::Document;
use millrace_model::{Timestamp, WorkspaceNumber};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// A workspace by number and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InWorkspace {
    /// Its number.
    pub number: WorkspaceNumber,
    /// Its name.
    pub name: String,
}

/// A pipeline by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelinePlace {
    /// Its workspace.
    pub workspace: InWorkspace,
    /// Its name.
    pub name: String,
}

/// Which of a pipeline's documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The last one stored.
    Latest,
    /// The one that runs.
    Deployed,
    /// This revision.
    Revision(u32),
}

/// A revision with its document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentText {
    /// The revision.
    pub revision: v1::Revision,
    /// The document as it was stored, JSON.
    pub text: Arc<str>,
}

/// A document to store.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// The document, valid by `flow`'s rules.
    pub document: Arc<Document>,
    /// Its text to be stored.
    pub text: Arc<str>,
    /// What is new in it.
    pub note: String,
    /// The last revision that the author has seen; 0 = none.
    pub expected: Option<u32>,
}

/// A run's id: `<pipeline number>-<seq>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId {
    /// The pipeline's number.
    pub pipeline: u32,
    /// Seq of the record that triggered it.
    pub seq: u64,
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.pipeline, self.seq)
    }
}

impl FromStr for RunId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (pipeline, seq) = text.split_once('-').ok_or(())?;
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_plain(pipeline) || !is_plain(seq) {
            return Err(());
        }
        Ok(Self { pipeline: pipeline.parse().map_err(|_| ())?, seq: seq.parse().map_err(|_| ())? })
    }
}

/// Which runs to list, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunQuery {
    /// Of which pipeline.
    pub place: PipelinePlace,
    /// With one of these statuses; any when empty.
    pub statuses: Vec<v1::RunStatus>,
    /// Begun at this time or later.
    pub from: Option<Timestamp>,
    /// Begun before this time.
    pub to: Option<Timestamp>,
    /// Behind the place where the page before ended: the number that it gave; what it means is the
    /// implementation's own.
    pub before: Option<u64>,
    /// At most so many.
    pub limit: usize,
}

/// A page of runs.
#[derive(Clone, Debug)]
pub struct RunPage {
    /// Newest first.
    pub runs: Vec<v1::Run>,
    /// What to give as `before` for the next page; none at the end.
    pub next: Option<u64>,
}

/// A run to start by hand.
#[derive(Clone, Debug, PartialEq)]
pub struct ManualRun {
    /// The trigger step; the only `manual` one when absent.
    pub trigger: Option<String>,
    /// The input, an object.
    pub input: Option<Value>,
    /// How long to wait for its end.
    pub wait: Option<Duration>,
}

/// Cases to run.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The pipeline, which need not be stored.
    pub place: PipelinePlace,
    /// The document, with the cases to run in it.
    pub document: Arc<Document>,
}

/// History to feed through a document.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    /// The pipeline.
    pub place: PipelinePlace,
    /// The document.
    pub document: Arc<Document>,
    /// From, included.
    pub from: Timestamp,
    /// To, not included.
    pub to: Timestamp,
    /// Effects and differences that the report shows at most, each.
    pub shown_max: usize,
}

/// A step to execute once.
#[derive(Clone, Debug)]
pub struct StepTrial {
    /// The pipeline.
    pub place: PipelinePlace,
    /// The document.
    pub document: Arc<Document>,
    /// The step; it is in the document.
    pub step: String,
    /// Where its input comes from.
    pub input: StepInput,
    /// What other steps gave.
    pub pinned: Vec<(String, Value)>,
}

/// Where a step's input comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum StepInput {
    /// This.
    Given(Value),
    /// The last known value of this tag, as a value trigger gives it.
    Live(String),
    /// What the steps before it give, from this trigger step with this datum on.
    Upstream {
        /// The trigger step.
        trigger: String,
        /// Its datum.
        datum: Value,
    },
}

/// Takes the progress of a rehearsal; called often, from any thread, never waits.
pub type OnProgress = Arc<dyn Fn(RehearsalProgress) + Send + Sync>;

/// How far a rehearsal is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RehearsalProgress {
    /// Values fed in.
    pub values: u64,
    /// Up to which time.
    pub at: Timestamp,
}

/// A webhook that is in force.
#[derive(Clone)]
pub struct Hook {
    /// The pipeline's number.
    pub pipeline: u32,
    /// The trigger step.
    pub step: String,
    /// Methods that are answered.
    pub methods: Vec<String>,
    /// What a caller must know; `None` = its secret is not there, so nobody gets in.
    pub secret: Option<Arc<str>>,
    /// The header that carries it, in lower case.
    pub secret_header: String,
    /// How long to wait for the run's result; `None` = answer at once.
    pub wait: Option<Duration>,
    /// Largest body.
    pub body_bytes_max: usize,
}

/// A call of a webhook. Header names are in lower case; the secret's header is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    /// The method.
    pub method: String,
    /// The path below the workspace's hooks.
    pub path: String,
    /// Query parameters in order.
    pub query: Vec<(String, String)>,
    /// Headers in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

/// What a webhook's run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    /// It is durable and runs.
    Started(RunId),
    /// It ended well, with this result (JSON text) if it gave one.
    Result(RunId, Option<String>),
    /// It failed.
    Failed(RunId, String),
    /// It goes on, but nobody waits any longer.
    StillRunning(RunId),
}

fn not_built<T>() -> Result<T, Fault> {
    Err(Fault::NotSupported("This version of the appliance cannot do this yet.".to_owned()))
}

fn not_built_later<T: Send + 'static>() -> BoxFuture<Result<T, Fault>> {
    Box::pin(std::future::ready(not_built()))
}

/// Pipelines and what belongs to them.
#[expect(unused_variables, reason = "the parameters are for those who implement")]
pub trait PipelineBackend: Send + Sync {
    /// In memory: the pipelines of a workspace behind a name, in the order of names.
    fn pipelines(
        &self,
        workspace: &InWorkspace,
        after: Option<&str>,
        limit: usize,
    ) -> Result<PageOf<v1::Pipeline>, Fault> {
        not_built()
    }

    /// In memory: one pipeline; [`Fault::NotFound`].
    fn pipeline(&self, place: &PipelinePlace) -> Result<v1::Pipeline, Fault> {
        not_built()
    }

    /// Blocking: its revisions below a number, newest first.
    fn revisions(
        &self,
        place: &PipelinePlace,
        before: Option<u32>,
        limit: usize,
    ) -> Result<PageOf<v1::Revision>, Fault> {
        not_built()
    }

    /// Blocking: one of its documents; [`Fault::NotFound`] also when it is not kept any more.
    fn document(&self, place: &PipelinePlace, which: Which) -> Result<DocumentText, Fault> {
        not_built()
    }

    /// Blocking: what only the engine finds (a script that does not compile, a call of a pipeline
    /// that is not there), beyond the faults that `flow`'s rules have found: with such, as much as
    /// can be told without them. Within two seconds.
    fn check(
        &self,
        place: &PipelinePlace,
        document: &Document,
        known: &[millrace_flow::Fault],
    ) -> Result<Vec<v1::DocumentFault>, Fault> {
        Ok(Vec::new())
    }

    /// Future: stores the next revision; [`Fault::Conflict`] when `expected` is not the last.
    /// Gives the revision and whether it is unchanged.
    fn save(
        &self,
        place: PipelinePlace,
        new: NewDocument,
        by: Actor,
    ) -> BoxFuture<Result<(v1::Revision, bool), Fault>> {
        not_built_later()
    }

    /// Future: lets a revision run. What runs now is asked of the engine after the change is in
    /// force. [`Fault::Document`] when it cannot run; what ran goes on then.
    fn deploy(
        &self,
        place: PipelinePlace,
        which: Which,
        note: String,
        by: Actor,
    ) -> BoxFuture<Result<v1::Running, Fault>> {
        not_built_later()
    }

    /// Future: stops a pipeline; [`Fault::Conflict`] when it does not run.
    fn undeploy(
        &self,
        place: PipelinePlace,
        note: String,
        by: Actor,
    ) -> BoxFuture<Result<v1::Running, Fault>> {
        not_built_later()
    }

    /// Future: lets what ran before run again; [`Fault::Conflict`] when nothing did.
    fn roll_back(
        &self,
        place: PipelinePlace,
        note: String,
        by: Actor,
    ) -> BoxFuture<Result<v1::Running, Fault>> {
        not_built_later()
    }

    /// Future: removes a pipeline and all its revisions; [`Fault::Conflict`] while it runs.
    fn remove(&self, place: PipelinePlace, by: Actor) -> BoxFuture<Result<(), Fault>> {
        not_built_later()
    }

    /// Future: starts a run by hand, done when its request is durable, or when it has ended or the
    /// wait is over. [`Fault::Conflict`] when it is not deployed; [`Fault::Invalid`] on `trigger`
    /// when that is no manual trigger, or it is not clear which.
    fn trigger(
        &self,
        place: PipelinePlace,
        run: ManualRun,
        by: Actor,
    ) -> BoxFuture<Result<v1::StartedRun, Fault>> {
        not_built_later()
    }

    /// Blocking: runs, newest first; those that have not ended come first.
    fn runs(&self, query: &RunQuery) -> Result<RunPage, Fault> {
        not_built()
    }

    /// Blocking: one run with all that is kept of it; of one that has not ended, its steps so far.
    fn run(&self, place: &PipelinePlace, id: RunId) -> Result<v1::RunDetail, Fault> {
        not_built()
    }

    /// Future: starts a run with the same input; [`Fault::Conflict`] when the input is not kept.
    fn run_again(
        &self,
        place: PipelinePlace,
        id: RunId,
        by: Actor,
    ) -> BoxFuture<Result<v1::StartedRun, Fault>> {
        not_built_later()
    }

    /// Future: cancels a run that has not ended; [`Fault::NotFound`], [`Fault::Conflict`] when it
    /// has ended.
    fn cancel_run(
        &self,
        place: PipelinePlace,
        id: RunId,
        by: Actor,
    ) -> BoxFuture<Result<v1::CanceledRun, Fault>> {
        not_built_later()
    }

    /// Future: runs the document's cases with everything outside recorded.
    fn test(&self, trial: Trial) -> BoxFuture<Result<Vec<v1::CaseReport>, Fault>> {
        not_built_later()
    }

    /// Future: feeds history through the document and through what is deployed. Dropping the
    /// future ends the rehearsal.
    fn rehearse(
        &self,
        rehearsal: Rehearsal,
        progress: OnProgress,
    ) -> BoxFuture<Result<v1::RehearsalReport, Fault>> {
        not_built_later()
    }

    /// Future: executes one step.
    fn test_step(&self, trial: StepTrial) -> BoxFuture<Result<v1::StepTestReport, Fault>> {
        not_built_later()
    }

    /// In memory: the secrets of a workspace behind a name, by name.
    fn secrets(
        &self,
        workspace: &InWorkspace,
        after: Option<&str>,
        limit: usize,
    ) -> Result<PageOf<v1::Secret>, Fault> {
        not_built()
    }

    /// Future: sets a secret.
    fn set_secret(
        &self,
        workspace: InWorkspace,
        name: String,
        value: String,
        by: Actor,
    ) -> BoxFuture<Result<v1::Secret, Fault>> {
        not_built_later()
    }

    /// Future: removes a secret; [`Fault::NotFound`].
    fn remove_secret(
        &self,
        workspace: InWorkspace,
        name: String,
        by: Actor,
    ) -> BoxFuture<Result<(), Fault>> {
        not_built_later()
    }

    /// In memory: the variables of a workspace behind a name, by name.
    fn variables(
        &self,
        workspace: &InWorkspace,
        after: Option<&str>,
        limit: usize,
    ) -> Result<PageOf<v1::Variable>, Fault> {
        not_built()
    }

    /// In memory: one variable; [`Fault::NotFound`].
    fn variable(&self, workspace: &InWorkspace, name: &str) -> Result<v1::Variable, Fault> {
        not_built()
    }

    /// Future: sets a variable, or removes it (`None`).
    fn set_variable(
        &self,
        workspace: InWorkspace,
        name: String,
        value: Option<Value>,
        by: Actor,
    ) -> BoxFuture<Result<(), Fault>> {
        not_built_later()
    }

    /// In memory: the webhook in force on a path below `/hooks/<workspace>/`.
    fn hook(&self, workspace: WorkspaceNumber, path: &str) -> Result<Option<Hook>, Fault> {
        Ok(None)
    }

    /// Future: starts a webhook's run, done when it is durable, or with [`Hook::wait`] when it has
    /// ended or the wait is over. The caller has shown the secret.
    fn call_hook(&self, hook: Hook, call: HookCall) -> BoxFuture<Result<HookAnswer, Fault>> {
        not_built_later()
    }
}

/// An appliance without pipelines.
#[derive(Clone, Copy, Debug)]
pub struct NoPipelines;

impl PipelineBackend for NoPipelines {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runs_id_is_two_plain_numbers() {
        let id = RunId { pipeline: 7, seq: u64::MAX };
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in ["", "7", "7-", "-7", "7-1-2", "+7-1", "7--1", "7-1 ", "ü-1", "4294967296-1"] {
            assert_eq!(bad.parse::<RunId>(), Err(()), "{bad}");
        }
    }
}
