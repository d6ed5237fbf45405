//! The engine as the service sees it.
//!
//! Order at a start: [`Engine::new`], [`Engine::deploy`] for all that was deployed, the journal's
//! records behind the cursor through [`Engine::committed`], [`Engine::start`], then the journal's
//! follower calls [`Engine::committed`] for each commit.
//!
//! **Invariants**: a deployment that does not compile changes nothing; nothing here waits for a
//! disk, a socket or a run.

mod ask;
mod control;
mod figures;
mod pulse;
mod rest;
mod runs;
mod state;

pub use ask::{AskFault, Asking, Hook, OutsideTrigger, Records, RecordsFault};
pub use figures::{DeploymentInfo, ParkedShare, Usage};
pub use pulse::Health;
pub use runs::Canceled;

use crate::agenda::Agenda;
use crate::alarms::Alarms;
use crate::answers::Answers;
use crate::compile::{CompileFault, Registry};
use crate::config::Config;
use crate::deployment::Deployments;
use crate::hand::Held;
use crate::names::Names;
use crate::outbox::Outboxes;
use crate::queue::{Bell, Queue};
use crate::report::RunSink;
use crate::run::{IssueHops, Stage};
use crate::script::ScriptHost;
use crate::services::Services;
use crate::state::StateStore;
use crate::state::cells::States;
use crate::stats::Totals;
use crate::trigger::index::Index;
use crate::watch::{Batch, Watch};
use millrace_journal::Seq;
use millrace_supervisor::{Clock, Issues};
use parking_lot::Mutex;
use pulse::Pulse;
use state::Keeping;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What the engine stands on; all of it comes from the service's wiring.
#[derive(Clone)]
pub struct Parts {
    /// The kinds of steps.
    pub registry: Registry,
    /// Scripts.
    pub scripts: Arc<dyn ScriptHost>,
    /// The box, for steps.
    pub services: Arc<dyn Services>,
    /// Tags and clients by number.
    pub names: Arc<dyn Names>,
    /// The way of effects into the journal.
    pub outboxes: Arc<dyn Outboxes>,
    /// The way of single records into the journal.
    pub records: Arc<dyn Records>,
    /// Where lasting state is kept.
    pub store: Arc<dyn StateStore>,
    /// Takes reports of runs.
    pub sink: Arc<dyn RunSink>,
    /// Issues of the box.
    pub issues: Arc<Issues>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// CPU time of the calling thread.
    pub thread_cpu: fn() -> Duration,
    /// Puts the calling thread behind all others of the machine.
    pub step_back: fn(),
}

/// The engine. A clone is the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) core: Arc<Core>,
}

/// What all threads of the engine share.
pub(crate) struct Core {
    pub(crate) parts: Parts,
    pub(crate) stage: Stage,
    pub(crate) deployments: Arc<Deployments>,
    pub(crate) index: Mutex<Index>,
    /// Counts changes of the index.
    pub(crate) generation: AtomicU64,
    pub(crate) queue: Queue,
    pub(crate) watch: Mutex<Watch>,
    pub(crate) answers: Answers,
    pub(crate) agenda: Mutex<Agenda>,
    pub(crate) alarms: Mutex<Alarms>,
    pub(crate) keeping: Mutex<Keeping>,
    /// What each worker has in hand.
    pub(crate) held: Vec<Mutex<Held>>,
    /// Everything up to here is needed by no run.
    pub(crate) cursor: AtomicU64,
    pub(crate) full_waits: AtomicU64,
    pub(crate) totals: Arc<Totals>,
    pub(crate) pulse: Pulse,
    pub(crate) is_started: AtomicBool,
    /// What the clockwork sleeps on, and until when (monotonic nanoseconds).
    pub(crate) clockwork: Bell,
    pub(crate) alarm_at: AtomicU64,
    /// Whether triggers remember something that the store has not been given.
    pub(crate) is_memory_changed: AtomicBool,
}

/// Why the engine cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Lasting state cannot be read.
    #[error("lasting state cannot be read: {0}")]
    State(String),
}

impl Engine {
    /// Makes an engine that runs nothing yet, with the lasting state that is kept. `through` is the
    /// position of its cursor: the records behind it are to be given to [`Engine::committed`].
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn new(config: Config, parts: Parts, through: Seq) -> Result<Self, OpenError> {
        let states = Arc::new(States::default());
        states.load(&parts.store.load().map_err(OpenError::State)?);
        let deployments = Arc::new(Deployments::default());
        let stage = Stage {
            services: Arc::clone(&parts.services),
            states,
            directory: Arc::clone(&deployments) as _,
            clock: Arc::clone(&parts.clock),
            issues: Arc::clone(&parts.issues),
            issue_hops: IssueHops::default(),
            config: config.clone(),
            is_stopping: Arc::default(),
        };
        let totals = Arc::new(Totals::default());
        Ok(Self {
            core: Arc::new(Core {
                queue: Queue::new(&config, Arc::clone(&totals)),
                held: (0..config.threads()).map(|_| Mutex::default()).collect(),
                parts,
                stage,
                deployments,
                index: Mutex::default(),
                generation: AtomicU64::new(1),
                watch: Mutex::new(Watch::new(through)),
                answers: Answers::default(),
                agenda: Mutex::default(),
                alarms: Mutex::default(),
                keeping: Mutex::new(Keeping::new(through.0)),
                cursor: AtomicU64::new(through.0),
                full_waits: AtomicU64::new(0),
                totals,
                pulse: Pulse::new(config.workers),
                is_started: AtomicBool::new(false),
                clockwork: Bell::default(),
                alarm_at: AtomicU64::new(u64::MAX),
                is_memory_changed: AtomicBool::new(false),
            }),
        })
    }

    /// A commit of the journal is to be looked at: give it the records in order, then call
    /// [`Batch::done`]. Before [`Engine::start`] for what is read back.
    #[must_use]
    pub fn committed(&self) -> Batch<'_> {
        Watch::begin(&self.core.watch, &self.core)
    }

    /// Queues the runs that had not ended, and starts schedules and startup triggers. Threads are
    /// started by [`Engine::run_threads`]; tests drive [`Engine::hand`] instead.
    pub fn start(&self) {
        let core = &self.core;
        let runs = core.watch.lock().recovered();
        if !runs.is_empty() {
            tracing::info!(runs = runs.len(), "Runs that had not ended go on.");
        }
        let mut runs = runs;
        let now = core.stage.clock.now();
        core.queue.push(&mut runs, now);
        core.is_started.store(true, Ordering::Release);
        for deployment in core.deployments.all() {
            core.plan_ahead(&deployment, false);
        }
    }

    /// How far everything is needed by no run and by no state any more: where the journal's cursor
    /// `engine` may be.
    #[must_use]
    pub fn cursor_wanted(&self) -> Seq {
        let runs = self.core.cursor.load(Ordering::Acquire);
        Seq(runs.min(self.core.state_floor()))
    }

    /// Checks a document as [`Engine::deploy`] would, and changes nothing.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, deployed: &Deployed) -> Result<(), Vec<CompileFault>> {
        let plan = self.core.plan(deployed, &States::default())?;
        let conflicts = self.core.deployments.conflicts(&plan);
        if conflicts.is_empty() { Ok(()) } else { Err(conflicts) }
    }
}

pub use crate::deployment::Deployed;

#[cfg(test)]
mod tests;
