//! Scripts as the engine needs them; `engine-quickjs` is behind this, and behind nothing else.
//!
//! A pipeline's scripts and expressions are one [`Unit`]: compiled once at deployment, called by
//! number. Compiled units are shared between threads; a [`Worker`] stays on the thread that made
//! it and keeps warm runtimes in a bounded cache.
//!
//! **Invariants**: no call takes more CPU than its budget allows, whatever the script does; a call
//! never panics; integers pass exactly both ways.

use millrace_flow::Data;
use millrace_model::Timestamp;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// All scripts and expressions of one pipeline revision.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// The pipeline's number.
    pub pipeline: u32,
    /// Its name, for messages.
    pub name: String,
    /// The functions; their places are their numbers.
    pub functions: Vec<Function>,
    /// Most bytes that the runtime may have.
    pub memory_bytes_max: u64,
}

/// One function of a unit.
#[derive(Clone, Debug)]
pub struct Function {
    /// The step that it belongs to.
    pub step: String,
    /// The field that it stands in, for messages.
    pub field: String,
    /// What it is.
    pub form: Form,
    /// The source, as the engineer wrote it.
    pub source: String,
}

/// The form of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One expression; its value is the result.
    Expression,
    /// Statements of a `javascript` step: `return` gives the result; may be asynchronous.
    Body,
}

/// A unit, compiled. Opaque to the engine.
#[derive(Clone)]
pub struct Compiled(pub Arc<dyn Any + Send + Sync>);

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Compiled")
    }
}

/// A source that does not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SyntaxFault {
    /// Number of the function in its unit.
    pub function: usize,
    /// What is wrong.
    pub message: String,
    /// First line is 1, in the engineer's own source.
    pub line: u32,
    /// First column is 1.
    pub column: u32,
}

/// Compiles units and makes workers.
pub trait ScriptHost: Send + Sync {
    /// Compiles all functions of a unit.
    ///
    /// # Errors
    /// Every function that does not compile.
    fn compile(&self, unit: &Unit) -> Result<Compiled, Vec<SyntaxFault>>;

    /// A worker for the calling thread. Called once per thread, and again if the thread had to be
    /// given up.
    fn worker(&self) -> Box<dyn Worker>;

    /// The workers that were given up since the last call because a script does not give their
    /// thread back. The engine starts a new thread and worker for each and hands the pipelines of
    /// the old one over; the pipeline at fault is quarantined already.
    fn overruns(&self) -> Vec<Overrun> {
        Vec::new()
    }

    /// Lets a quarantined pipeline run scripts again: it was deployed anew, or undeployed.
    fn release(&self, pipeline: u32) {
        let _ = pipeline;
    }

    /// Whether a pipeline's scripts are kept from running because one of them did not end.
    fn is_quarantined(&self, pipeline: u32) -> bool {
        let _ = pipeline;
        false
    }
}

/// A worker that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// [`Worker::number`] of the worker.
    pub worker: u64,
    /// The pipeline whose script it is stuck in.
    pub pipeline: u32,
}

/// Runs functions on one thread.
pub trait Worker {
    /// Calls one function of a unit.
    fn call(
        &mut self,
        unit: &Compiled,
        function: usize,
        scope: &mut dyn Scope,
        budget: &Budget,
    ) -> Report;

    /// Drops the runtimes that were idle for long; called now and then.
    fn tidy(&mut self, now: Duration);

    /// Drops the runtime of a pipeline that was undeployed.
    fn forget(&mut self, pipeline: u32);

    /// Bytes of all warm runtimes, and how many there are.
    fn warm(&self) -> (u64, usize);

    /// Number of this worker, for [`Overrun`].
    fn number(&self) -> u64 {
        0
    }

    /// Whether this worker was given up. If a call comes back all the same, its report is to be
    /// dropped and the thread to be ended.
    fn is_given_up(&self) -> bool {
        false
    }
}

/// The roots of what a script can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root<'a> {
    /// `$trigger`.
    Trigger,
    /// `$item`: the step's input.
    Item,
    /// `$run`: `id`, `attempt`, `started`.
    Run,
    /// `$step["name"]`: that step's last output in this run.
    Step(&'a str),
    /// `$variable["name"]`, or `$variable.name`.
    Variable(&'a str),
}

/// The run, as a script sees it. Everything here may be called while the script runs.
pub trait Scope {
    /// What a root holds; [`Data::Missing`] if nothing.
    fn root(&mut self, root: Root<'_>) -> Data;
    /// `state.get(name)`: lasting state of this step.
    fn state(&mut self, name: &str) -> Data;
    /// `state.set(name, data)`.
    ///
    /// # Errors
    /// A limit of the state; the script sees it as an exception.
    fn set_state(&mut self, name: &str, data: Data) -> Result<(), String>;
    /// The run's time: what `new Date()` and `Date.now()` give. The same throughout a run.
    fn now(&self) -> Timestamp;
    /// A seed for `Math.random`, fixed per run.
    fn seed(&self) -> u64;
    /// Whether the call has to end before its budget is used up. Asked wherever the budget is
    /// looked at; what was answered with `true` once is to be answered so until the call has ended.
    fn is_stopped(&self) -> bool {
        false
    }
    /// One line of `console.*`. The worker has bounded what it hands over.
    fn console(&mut self, level: Level, line: &str);
}

/// Level of a console line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `console.debug`.
    Debug,
    /// `console.log`, `console.info`.
    Info,
    /// `console.warn`.
    Warn,
    /// `console.error`.
    Error,
}

/// What one call may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// CPU time of the thread.
    pub cpu: Duration,
    /// Time on the wall.
    pub wall: Duration,
    /// Bytes of the converted result.
    pub output_bytes_max: usize,
    /// Bytes of console output of the call.
    pub console_bytes_max: usize,
}

/// How a call ended and what it used.
#[derive(Clone, Debug)]
pub struct Report {
    /// The result, converted, or why there is none.
    pub result: Result<Data, ScriptFault>,
    /// CPU time used, conversions included.
    pub cpu: Duration,
    /// Peak of the runtime's memory, bytes.
    pub memory_bytes: u64,
}

/// Why a call gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptFault {
    /// Of which kind.
    pub kind: FaultKind,
    /// For people: what happened and at which limit.
    pub message: String,
    /// Where, in the engineer's own source, if known.
    pub line: Option<u32>,
}

/// The kind of a script's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// It threw.
    Thrown,
    /// Its CPU time was used up.
    Cpu,
    /// Its time was used up.
    Wall,
    /// Its memory was used up.
    Memory,
    /// It recursed too deeply.
    Stack,
    /// Its result or its console output was too large or too deep.
    Output,
    /// Its promise did not settle.
    Unsettled,
    /// Its result cannot be data: a function, a symbol, a proxy.
    Unusable,
    /// Its pipeline is kept from running scripts after too many kills.
    Quarantined,
    /// Its run was told to end ([`Scope::is_stopped`]).
    Stopped,
}

impl FaultKind {
    /// Whether a limit was reached, as opposed to a mistake of the script.
    #[must_use]
    pub fn is_limit(self) -> bool {
        !matches!(self, Self::Thrown | Self::Unusable | Self::Stopped)
    }
}
