//! Pipelines: the engine with all that it stands on, opened, run and stopped.
//!
//! **Invariants**: the engine sees the journal's records behind its cursor before the first new
//! one; its cursor moves only when its lasting state is on the disk.

mod files;
mod measures;
mod missing;
mod not_started;
mod outbox;
mod records;
mod secret_key;
mod services;
mod since;
pub(in crate::wiring) mod sink;
mod sources;
mod store;

pub(super) use measures::measures;
pub(super) use missing::{
    faults as missing_secrets, look as look_for_secrets, unreadable as unreadable_secrets,
};
pub(super) use not_started::changed as deployment_changed;
pub(super) use secret_key::load_or_make;
pub(super) use services::search;
pub(super) use since::Deployments;
pub(super) use sources::Sources;
pub(super) use store::Keeper;

use crate::config::Config;
use crate::config::validate::parse_address;
use anyhow::Context as _;
use millrace_access::Access;
use millrace_actions as actions;
use millrace_admission::Gate;
use millrace_catalog::{Namespace, Pipelines, SecretKey, Secrets};
use millrace_engine::{Deployed, Engine, Parts, Registry};
use millrace_engine_quickjs::{QuickJs, Settings};
use millrace_flow::Document;
use millrace_historian::Historian;
use millrace_journal::{Journal, Seq};
use millrace_model::PipelineRevision;
use millrace_runs as runs;
use millrace_supervisor::{Clock, Issues};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// What the engine stands on.
pub(super) struct Ground<'a> {
    pub(super) config: &'a Config,
    pub(super) data: &'a Path,
    pub(super) journal: &'a Journal,
    pub(super) gate: &'a Arc<Gate>,
    pub(super) namespace: &'a Arc<Namespace>,
    pub(super) access: &'a Arc<Access>,
    pub(super) historian: &'a Arc<Historian>,
    pub(super) pipelines: &'a Arc<Pipelines>,
    pub(super) secrets: &'a Arc<Secrets>,
    pub(super) key: &'a Arc<SecretKey>,
    pub(super) issues: &'a Arc<Issues>,
    pub(super) clock: &'a Arc<dyn Clock>,
    /// Whether the box has run before: there were records in its journal.
    pub(super) has_run: bool,
}

/// The engine and what has to be closed after it.
pub(super) struct Works {
    pub(super) engine: Engine,
    pub(super) history: Arc<runs::History>,
    pub(super) keeper: Arc<Keeper>,
    pub(super) pool: Arc<actions::Pool>,
}

/// Opens the engine; nothing is deployed and nothing runs yet. `through` is where its cursor is.
pub(super) fn open(ground: &Ground<'_>, through: Seq) -> anyhow::Result<Works> {
    let config = ground.config;
    let history = Arc::new(
        runs::History::open(
            runs::HistoryConfig {
                retention: Duration::from_secs(config.runs.keep_h * 3_600),
                bytes_max: config.runs.bytes_max_mib << 20,
                ..runs::HistoryConfig::new(ground.data)
            },
            Arc::new(files::OwnerFiles),
            Arc::clone(ground.issues),
            Arc::clone(ground.clock),
        )
        .context("open the history of runs")?,
    );
    let names = {
        let pipelines = Arc::clone(ground.pipelines);
        Arc::new(move |number| Some(pipelines.get(number)?.name().to_owned()))
    };
    let state = runs::StateStore::new(
        runs::StateConfig {
            // The file is made at the first start.
            is_expected: ground.has_run,
            ..runs::StateConfig::new(ground.data, names)
        },
        Arc::new(files::OwnerFiles),
        Arc::clone(ground.issues),
        Arc::clone(ground.clock),
    );
    let keeper = Arc::new(Keeper::start(state).context("start the keeper of state")?);
    let (registry, pool) = registry(ground);
    let scripts = QuickJs::new(script_settings(config), Some(Arc::clone(ground.issues)))
        .context("start the host of scripts")?;
    let parts = Parts {
        registry,
        scripts: Arc::new(scripts),
        services: Arc::new(services::TheBox {
            namespace: Arc::clone(ground.namespace),
            historian: Arc::clone(ground.historian),
            secrets: Arc::clone(ground.secrets),
            key: Arc::clone(ground.key),
            runtime: Handle::current(),
        }),
        names: Arc::new(services::Numbers {
            namespace: Arc::clone(ground.namespace),
            access: Arc::clone(ground.access),
            root: config.broker.root.clone(),
        }),
        outboxes: Arc::new(outbox::Doors {
            gate: Arc::clone(ground.gate),
            namespace: Arc::clone(ground.namespace),
        }),
        records: Arc::new(records::Lines(ground.journal.clone())),
        store: Arc::clone(&keeper) as _,
        sink: Arc::new(sink::Sink(Arc::clone(&history))),
        issues: Arc::clone(ground.issues),
        clock: Arc::clone(ground.clock),
        thread_cpu,
        step_back: millrace_engine_quickjs::step_back,
    };
    let engine = Engine::new(engine_config(config), parts, through).context("open the engine")?;
    Ok(Works { engine, history, keeper, pool })
}

/// Deploys all that was deployed when the box ended. What does not compile any more stays out,
/// with an issue.
pub(super) fn deploy_all(
    engine: &Engine,
    pipelines: &Pipelines,
    since: &Deployments,
    issues: &Issues,
) {
    for pipeline in pipelines.deployed() {
        let Some(revision) = pipeline.deployed() else { continue };
        let reason = match deployed(revision, since.since(pipeline.number())) {
            Ok(deployed) => match engine.deploy(&deployed) {
                Ok(()) => continue,
                Err(faults) => faults.first().map(ToString::to_string).unwrap_or_default(),
            },
            Err(reason) => reason,
        };
        not_started::raise(issues, pipeline.name(), &reason);
    }
}

/// A stored revision as the engine takes it.
pub(super) fn deployed(revision: &PipelineRevision, since: u64) -> Result<Deployed, String> {
    let document = Document::parse(&revision.document).map_err(|fault| fault.to_string())?;
    Ok(Deployed {
        number: revision.pipeline,
        workspace: revision.workspace.0,
        name: revision.name.clone(),
        revision: revision.revision,
        since,
        document: Arc::new(document),
    })
}

fn registry(ground: &Ground<'_>) -> (Registry, Arc<actions::Pool>) {
    let mut registry = Registry::default();
    millrace_engine::steps::register(&mut registry);
    let config = &ground.config.actions;
    let listeners = [
        &ground.config.broker.listen,
        &ground.config.broker.tls_listen,
        &ground.config.http.listen,
        &ground.config.http.tls_listen,
    ];
    let policy = actions::Policy {
        allowed_hosts: config.allow_hosts.clone(),
        own_listeners: listeners.iter().filter_map(|text| parse_address(text).ok()).collect(),
        folder: Some(config.folder.as_str()).filter(|path| !path.is_empty()).map(Into::into),
    };
    let pool = actions::Pool::new(policy, Arc::clone(ground.clock), Arc::clone(ground.issues));
    actions::register(&mut registry, &pool);
    (registry, pool)
}

/// CPU time of the calling thread.
pub(super) fn thread_cpu() -> Duration {
    cpu_time::ThreadTime::now().as_duration()
}

pub(crate) fn engine_config(config: &Config) -> millrace_engine::Config {
    let engine = &config.pipelines;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let workers = if engine.worker_threads == 0 { cores() } else { engine.worker_threads };
    let mib = |mib: u64| usize::try_from(mib << 20).unwrap_or(usize::MAX);
    let kib = |kib: u64| usize::try_from(kib << 10).unwrap_or(usize::MAX);
    millrace_engine::Config {
        slots_per_lane: engine.slots_per_lane as usize,
        starvation_threshold: engine.starvation_threshold,
        queue_bytes_max: mib(engine.queue_mib_max),
        queue_age_max: Duration::from_secs(engine.queue_age_max_s),
        discard_new_on_full: engine.discard_new_on_full,
        parked_runs_max: engine.parked_max as usize,
        parked_bytes_max: mib(engine.parked_mib_max),
        parked_share_percent: engine.parked_share_percent,
        run_redelivery: Duration::from_millis(engine.run_redelivery_ms),
        hops_max: engine.hops_max,
        script_cpu: Duration::from_millis(config.scripts.cpu_ms),
        script_memory_bytes: config.scripts.memory_mib << 20,
        script_output_bytes_max: kib(config.scripts.output_kib),
        script_console_bytes_max: kib(config.scripts.console_kib),
        ..millrace_engine::Config::new(workers)
    }
}

fn script_settings(config: &Config) -> Settings {
    Settings { warm_bytes_max: config.scripts.warm_mib_max << 20, ..Settings::default() }
}
