//! The pipeline engine: deployments, triggers, lanes, runs and steps.
//!
//! A deployed pipeline is compiled to a plan; the journal's follower asks per stored value which
//! triggers want its tag; a run is `(pipeline, seq)` and waits in one of three lanes; workers
//! execute it; what it publishes goes back through admission, in one commit with its end.
//!
//! # How it is wired
//!
//! The service fills [`Parts`]: a [`Registry`] (`steps::register`, then the actions), a
//! [`script::ScriptHost`], [`services::Services`], [`Names`] (over the namespace and access),
//! [`Outboxes`] (an [`Outbox`] per worker over an admission session per workspace), [`Records`]
//! (over [`millrace_journal::Journal::append`]: all records in one append, `Full` without waiting),
//! a [`StateStore`], a [`RunSink`], issues, clock, and a function that reads the calling thread's
//! CPU time.
//!
//! At a start, in this order:
//! 1. [`Engine::new`] with the position of the journal's cursor `engine`; it loads lasting state.
//! 2. [`Engine::deploy`] for everything that was deployed ([`Deployed::since`]: seq of the record
//!    that deployed it).
//! 3. For each commit behind the cursor: [`Engine::committed`], then [`Batch::sample`] and
//!    [`Batch::run`] for its records in order, then [`Batch::done`] with the last seq.
//! 4. [`Engine::start`] queues what had not ended; [`Engine::run_threads`] starts the workers.
//! 5. The journal's follower goes on as in 3, after it has applied definitions and told the
//!    historian; a value that the historian calls redelivered is not given to [`Batch::sample`].
//!
//! Now and then the cursor is moved to [`Engine::cursor_wanted`]. At the end [`Threads::stop`],
//! before the journal is closed.
//!
//! A [`Batch`] holds the engine's books: on the thread that has one open, only [`Engine::deploy`],
//! [`Engine::undeploy`] and [`Engine::ask`] may be called.
//!
//! While it runs: [`Engine::deploy`], [`Engine::undeploy`], [`Engine::forget`] (removed),
//! [`Engine::check`]; [`Engine::ask`] for manual runs, webhooks ([`Engine::hook`]) and triggers
//! that are driven from outside ([`Engine::outside_triggers`]); [`Engine::variables`],
//! [`Engine::set_variable`]; [`Engine::stats`], [`Engine::pipeline_stats`], [`Engine::top_cpu`];
//! [`Engine::health`]; [`Engine::open_runs`], [`Engine::open_run`], [`Engine::cancel`];
//! [`Engine::rehearse`], [`Engine::run_case`], [`Engine::try_step`], [`Engine::upstream_input`].
#![deny(missing_docs)]

pub mod accessor;
mod agenda;
mod alarms;
mod answers;
mod cases;
mod clockwork;
mod codec;
pub mod compile;
mod config;
mod deployment;
mod engine;
mod hand;
pub mod json;
mod names;
mod outbox;
mod outside;
mod plan;
mod queue;
mod queued;
mod record;
mod refusals;
mod rehearse;
pub mod report;
mod run;
pub mod script;
mod secrets;
pub mod services;
pub mod state;
mod stats;
pub mod step;
pub mod steps;
#[cfg(test)]
mod testing;
mod trigger;
mod watch;

pub use answers::{RunEnd, Ticket};
pub use cases::{CASE_START, CaseReport};
pub use clockwork::Threads;
pub use compile::{Compile, CompileFault, Compiler, Registry};
pub use config::Config;
pub use engine::{
    AskFault, Asking, Canceled, Deployed, DeploymentInfo, Engine, Health, Hook, OpenError,
    OutsideTrigger, ParkedShare, Parts, Records, RecordsFault, Usage,
};
pub use hand::Hand;
pub use names::{Names, Place};
pub use outbox::{Mark, Outbox, Outboxes, Sent, Source};
pub use plan::STEPS_MAX;
pub use queued::{RunId, quality_data};
pub use rehearse::{
    Difference, Fed, Keep, Output, OutputForm, Rehearsal, RehearsedRun, StepTrial, differences,
};
pub use report::{
    LogLine, OpenRun, OpenState, OpenWait, RunFault, RunReport, RunSink, StepReport, StepStatus,
    WaitFor,
};
pub use secrets::{SECRET_BYTES_MIN, Secrets};
pub use state::{STATE_TOTAL_BYTES_MAX, StateEntry, StateStore};
pub use stats::{EngineStats, LaneStats, PipelineStats, TIME_BUCKETS_MS, TallyStats};
pub use watch::Batch;
