//! What watches the box beside its work: CPU starvation, the disk, the clock, silent connections,
//! limits that come near.
//!
//! **Invariants**: a look costs microseconds, once a second; what cannot be asked raises nothing.

mod usages;

use super::sizing::{Load, PlanWatch};
use super::state::Shared;
use anyhow::Context as _;
use millrace_admission::THE_BOX;
use millrace_supervisor::probe::{Consumers, Limits, Running, SystemSource};
use millrace_supervisor::watch::{
    ClockJumped, ConnectedButSilent, Connection, DiskLow, LimitNear, Usage, Watch,
};
use millrace_supervisor::{Probe, Shutdown, probe, spawn};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::task::JoinHandle;
use usages::Figures;

/// Time between two looks.
const LOOK: Duration = Duration::from_secs(1);

/// The running watchers.
pub(super) struct Watchers {
    pub(super) task: JoinHandle<()>,
    /// Ends with this.
    _probe: Arc<Running>,
}

/// Starts them.
pub(super) fn start(shared: &Arc<Shared>) -> anyhow::Result<Watchers> {
    let (clock, issues) = (&shared.clock, &shared.issues);
    let probe = Probe::new(
        Arc::clone(clock),
        Arc::clone(issues),
        Box::new(SystemSource::new()),
        Box::new(Users(Arc::downgrade(shared))),
        Limits::default(),
    );
    let probe = Arc::new(probe::start(probe).context("start the probe")?);
    let reading = Arc::clone(&probe);
    shared.metrics.add(move |out| reading.measures(out));
    let folder = shared.loaded.config.data_dir.clone();
    let connections = {
        let weak = Arc::downgrade(shared);
        move || weak.upgrade().map(|shared| connections(&shared)).unwrap_or_default()
    };
    let usages = {
        let weak = Arc::downgrade(shared);
        move || weak.upgrade().map(|shared| usages(&shared)).unwrap_or_default()
    };
    let load = {
        let weak = Arc::downgrade(shared);
        move || weak.upgrade().map(|shared| load(&shared))
    };
    let watches: Vec<Box<dyn Watch>> = vec![
        Box::new(DiskLow::new(Arc::clone(issues), Box::new(move || fs4::available_space(&folder)))),
        Box::new(ClockJumped::new(Arc::clone(clock), Arc::clone(issues))),
        Box::new(ConnectedButSilent::new(
            Arc::clone(clock),
            Arc::clone(issues),
            Box::new(connections),
        )),
        Box::new(LimitNear::new(Arc::clone(issues), Box::new(usages))),
        Box::new(PlanWatch::new(Arc::clone(&shared.sizing), Box::new(load))),
    ];
    let task = spawn::task("watchers", watch(watches, shared.shutdown.clone()));
    Ok(Watchers { task, _probe: probe })
}

async fn watch(mut watches: Vec<Box<dyn Watch>>, shutdown: Shutdown) {
    let mut ticks = tokio::time::interval(LOOK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => watches.iter_mut().for_each(|watch| watch.tick()),
            () = shutdown.begun() => return,
        }
    }
}

/// Values by API client: a device may have several connections.
fn connections(shared: &Shared) -> Vec<Connection> {
    let Some(broker) = shared.broker.get() else { return Vec::new() };
    let mut by_client: BTreeMap<String, u64> = BTreeMap::new();
    for connection in broker.connections() {
        let name = match connection.mqtt_id.is_empty() {
            true => connection.client_id,
            false => format!("{} ({})", connection.client_id, connection.mqtt_id),
        };
        *by_client.entry(name).or_default() += connection.publishes;
    }
    by_client.into_iter().map(|(name, values)| Connection { name, values }).collect()
}

/// Everything that has a limit that comes near.
pub(super) fn usages(shared: &Shared) -> Vec<Usage> {
    let config = &shared.loaded.config;
    let journal = shared.journal.stats();
    let engine = shared.engine.stats();
    let most = shared.engine.parked_most();
    let figures = Figures {
        clients: shared.broker.get().map_or(0, |broker| broker.stats().connected),
        tags: shared.namespace.tag_count().into(),
        journal_mib: journal.segments_live as u64 * config.journal.segment_mib,
        queue_bytes: engine.queue_bytes as u64,
        parked: engine.parked as u64,
        parked_bytes: engine.parked_bytes as u64,
        parked_most: most.map(|most| (most.pipeline.to_string(), most.percent)),
        state_bytes: engine.state_bytes as u64,
        history_bytes: shared.run_history.stats().file_bytes,
    };
    usages::usages(&figures, config)
}

/// What the sizing plan is compared with. What pipelines publish is the box's own, not the devices'.
fn load(shared: &Shared) -> Load {
    let received = shared.ledger.totals().received;
    let own = shared.ledger.client(THE_BOX).read().received;
    let ended = shared.engine.deployments().into_iter().filter_map(|pipeline| {
        let stats = shared.engine.pipeline_stats(pipeline.number)?;
        Some(stats.done + stats.failed)
    });
    Load {
        values: received.saturating_sub(own),
        runs: ended.sum(),
        devices: shared.broker.get().map_or(0, |broker| broker.stats().connected),
        topics: shared.namespace.tag_count().into(),
    }
}

/// CPU time by pipeline, for the issue that names who used the most.
struct Users(Weak<Shared>);

impl Consumers for Users {
    fn totals(&self) -> Vec<(u32, Duration)> {
        let Some(shared) = self.0.upgrade() else { return Vec::new() };
        let all = shared.engine.deployments().into_iter().filter_map(|pipeline| {
            let stats = shared.engine.pipeline_stats(pipeline.number)?;
            Some((pipeline.number, stats.cpu))
        });
        all.collect()
    }

    fn name(&self, number: u32) -> String {
        let shared = self.0.upgrade();
        let pipeline = shared.and_then(|shared| shared.pipelines.get(number));
        pipeline.map_or_else(|| number.to_string(), |pipeline| pipeline.name().to_owned())
    }
}
