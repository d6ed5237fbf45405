//! A step, compiled: what the plan holds of it and what a run asks of it.
//!
//! Each kind is a file under `steps/`: it reads the document's fields once (`compile`) and runs
//! many times (`Run::execute`). What takes time outside (a timer, HTTP, SQL) is never waited for
//! on the worker's thread: the step answers [`Outcome::Wait`] or [`Outcome::Pause`] and the run
//! gives its slot back.
//!
//! **Invariants**: `execute` of an inline step ends in bounded time; it changes nothing outside
//! but through its [`Context`].

use crate::script::ScriptFault;
use crate::services::Publish;
use millrace_flow::Data;
use millrace_model::Timestamp;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// Number of an output port: its place in the kind's list of ports. 0 is `out` for most.
pub type Port = u8;

/// One step, compiled.
pub trait Step: Send + Sync {
    /// Executes the step on one input.
    ///
    /// # Errors
    /// [`StepFault`]: retried, passed on or fatal, as the step says.
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault>;

    /// What comes of a finished wait. Only for steps that answer [`Outcome::Wait`] or
    /// [`Outcome::Pause`].
    ///
    /// # Errors
    /// As [`Step::execute`].
    fn resume(&self, context: &mut dyn Context, done: Data) -> Result<Outcome, StepFault> {
        let _ = context;
        Ok(Outcome::Out(0, done))
    }

    /// Whether its pauses wait for what later runs bring (a window's end, quiet), and so hold no
    /// other branch of their own run.
    fn waits_for_runs(&self) -> bool {
        false
    }
}

/// What an execution gives.
pub enum Outcome {
    /// Passes data on at one port.
    Out(Port, Data),
    /// Passes data on at several ports, in this order.
    Many(Vec<(Port, Data)>),
    /// Passes nothing on: the branch ends here.
    Nothing,
    /// Work outside. The run holds no slot until it is done; then [`Step::resume`] is called with
    /// what it gave. Dropping it stops the work.
    Wait(BoxFuture<Result<Data, StepFault>>),
    /// Waits until a point of time (durable: survives a restart), then [`Step::resume`] is called
    /// with `carry`.
    Pause {
        /// Until when.
        until: Timestamp,
        /// What `resume` is given.
        carry: Data,
    },
    /// Sends each item out at port 0, one after the other or side by side as the pipeline says;
    /// when all their branches have ended, the list of what arrived at the port-1 side follows:
    /// port 1 gives the list of the branches' last outputs.
    Each(Vec<Data>),
    /// Port 0 is a guarded branch on this data: if a step in it fails, port 1 gives the error; when
    /// it ended well, port 2 gives its last output.
    Guard(Data),
    /// Runs another pipeline of the workspace inside this run; [`Step::resume`] is called with
    /// what it gave.
    Call {
        /// Its name.
        pipeline: String,
        /// Its `$trigger`.
        input: Data,
    },
    /// Ends the whole run well; `data` is the run's result (a webhook's answer, a call's value).
    Stop(Data),
    /// Waits until no more input can come (all branches that lead here have ended), then
    /// [`Step::resume`] is called once with the list of all inputs in the order of arrival.
    Gather,
}

/// A future on its own.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Why a step failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct StepFault {
    /// A stable word: `timeout`, `refused`, `bad_input`, `script`, `unreachable`, `limit`, ...
    pub code: &'static str,
    /// For people: what happened, and what to do.
    pub message: String,
    /// Whether trying again may help.
    pub is_transient: bool,
    /// The script's fault, if it was one.
    pub script: Option<ScriptFault>,
    /// More for the steps that deal with the fault: what was refused, element by element.
    pub details: Option<Data>,
}

impl StepFault {
    /// A fault that trying again does not mend.
    #[must_use]
    pub fn lasting(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), is_transient: false, script: None, details: None }
    }

    /// A fault that may pass.
    #[must_use]
    pub fn passing(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), is_transient: true, script: None, details: None }
    }
}

/// A field of a step, compiled: a literal, a plain path, or a function of the pipeline's unit.
/// Made by the compiler, evaluated through [`Context::evaluate`].
#[derive(Clone, Debug)]
pub enum Field {
    /// Fixed.
    Literal(Data),
    /// A plain path like `$trigger.value`, followed without any script.
    Path(crate::accessor::Accessor),
    /// Text with expressions in it, joined as JavaScript's template literals are.
    Template(Vec<Field>),
    /// A map or list with expressions somewhere inside.
    Map(Vec<(std::sync::Arc<str>, Field)>),
    /// The same for a list.
    List(Vec<Field>),
    /// An expression: number of a function in the pipeline's unit.
    Script(usize),
}

/// The run, as a step sees it.
pub trait Context {
    /// Evaluates a field, with `$item` = this execution's input.
    ///
    /// # Errors
    /// The expression threw or reached a limit.
    fn evaluate(&mut self, field: &Field) -> Result<Data, StepFault>;
    /// Runs a function of the pipeline's unit (the body of a `javascript` step).
    ///
    /// # Errors
    /// It threw or reached a limit.
    fn script(&mut self, function: usize) -> Result<Data, StepFault>;
    /// The run's time (fixed when the run began executing).
    fn now(&self) -> Timestamp;
    /// The run's trigger.
    fn trigger(&self) -> &Data;
    /// The run's id: `<pipeline number>-<seq>`.
    fn run_id(&self) -> &str;
    /// The workspace's number.
    fn workspace(&self) -> u16;
    /// Number of this execution within the run, for keys of idempotency.
    fn execution(&self) -> u32;
    /// This step's lasting state under a key; survives restarts, changes with the run's other
    /// effects in one commit.
    fn state(&self, key: &str) -> Data;
    /// Sets it; [`Data::Missing`] removes it.
    ///
    /// # Errors
    /// A limit of the state.
    fn set_state(&mut self, key: &str, data: Data) -> Result<(), StepFault>;
    /// A variable of the workspace.
    fn variable(&self, name: &str) -> Data;
    /// Sets it; lasting.
    ///
    /// # Errors
    /// A limit of the variables.
    fn set_variable(&mut self, name: &str, data: Data) -> Result<(), StepFault>;
    /// Publishes values into the workspace, all in one commit, when the run's inline part ends.
    /// When one is refused, none of them is published.
    ///
    /// # Errors
    /// The refusals: of several values each with its place and path, in the text and as
    /// [`StepFault::details`].
    fn publish(&mut self, values: Vec<Publish>) -> Result<(), StepFault>;
    /// The last known value of a tag: `{ path, value, time, received, quality }`, or missing.
    fn last(&mut self, path: &str) -> Data;
    /// A line for the run's history and the log.
    fn log(&mut self, level: crate::script::Level, line: &str);
    /// Raises or clears an issue of this pipeline.
    fn issue(&mut self, key: &str, change: crate::services::IssueChange);
    /// Through how many pipelines what this run does has come, this one included.
    fn hops(&self) -> u8 {
        1
    }
    /// Everything else of the box, for steps that go outside.
    fn services(&self) -> &std::sync::Arc<dyn crate::services::Services>;
    /// The value of a secret of the workspace. From here on nothing that is kept or shown of the
    /// run holds it.
    fn secret(&self, name: &str) -> Option<std::sync::Arc<str>> {
        self.services().secret(self.workspace(), name)
    }
    /// Hides another form of a secret too: a header that is made of it.
    fn hide(&self, name: &str, form: &std::sync::Arc<str>) {
        let _ = (name, form);
    }
    /// Whether effects outside are stubbed (rehearsal, test case). A stubbed outside step records
    /// its evaluated fields by [`Context::stub`] and answers what that gives.
    fn is_stubbed(&self) -> bool;
    /// Records what an outside step would have done; gives the stubbed answer.
    ///
    /// # Errors
    /// The case says that the target is not reached.
    fn stub(&mut self, fields: Data) -> Result<Data, StepFault>;
    /// How much longer this execution may take.
    fn time_left(&self) -> Duration;
}
