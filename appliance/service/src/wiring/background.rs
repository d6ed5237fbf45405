//! What goes on beside the values: journal state as issues, relief of a journal that fills up,
//! ledger records, snapshots of all definitions.

use super::kept_issues::keep_issues;
use super::ledger_snapshot::INTERVAL;
use super::open::Workshop;
use super::pipelines::Sources;
use super::relief::{LEDGER, Relief, full_by, last_reader};
use super::state::Shared;
use anyhow::Context as _;
use millrace_catalog::Snapshotter;
use millrace_journal::{Cursor, State};
use millrace_supervisor::{Issue, Severity, Shutdown, spawn};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// Time between looks at the journal's state.
const LOOK: Duration = Duration::from_millis(500);
/// How long the ledger's record may wait for its commit before something else is tried.
const LEDGER_TURN_LIMIT: Duration = Duration::from_secs(2);

/// The running tasks.
pub(super) struct Background(Vec<JoinHandle<()>>);

impl Background {
    /// Waits until all have ended.
    pub(super) async fn ended(self) {
        for task in self.0 {
            // A task that failed has said so in the log.
            let _gone = task.await.is_err();
        }
    }
}

/// Starts the tasks; they end when the stop begins.
pub(super) fn start(
    shared: &Arc<Shared>,
    snapshotter: Snapshotter,
    ledger_cursor: Cursor,
    pipelines: &Workshop,
) -> anyhow::Result<Background> {
    let snapshotter = Arc::new(snapshotter);
    let relief = Relief::new(Arc::clone(shared), Arc::clone(&snapshotter));
    let watch = spawn::task("journal-watch", watch_journal(Arc::clone(shared), relief));
    let ledger = spawn::task("ledger", keep_ledger(Arc::clone(shared), ledger_cursor));
    let snapshots = spawn::task("snapshots", keep_snapshots(Arc::clone(shared), snapshotter));
    // The folder was there a moment ago; asking again tells early about a disk that went away.
    shared.loaded.config.data_dir.metadata().context("look at the data folder")?;
    let cursor = pipelines.cursor.clone();
    let engine = spawn::task("engine-cursor", keep_engine(Arc::clone(shared), cursor));
    let sources = Sources::new(shared, &pipelines.pool);
    let outside = spawn::task("outside", keep_outside(Arc::clone(shared), sources));
    let issues = spawn::task("kept-issues", keep_issues(Arc::clone(shared)));
    Ok(Background(vec![watch, ledger, snapshots, engine, outside, issues]))
}

/// Ticks until the stop begins.
struct Ticks(Interval);

impl Ticks {
    fn every(period: Duration) -> Self {
        let mut interval = interval(period);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self(interval)
    }

    /// Waits for the next tick; `false` when the stop has begun.
    async fn next(&mut self, shutdown: &Shutdown) -> bool {
        tokio::select! {
            _ = self.0.tick() => true,
            () = shutdown.begun() => false,
        }
    }
}

async fn watch_journal(shared: Arc<Shared>, mut relief: Relief) {
    let mut ticks = Ticks::every(LOOK);
    while ticks.next(&shared.shutdown).await {
        relief.look();
        let status = shared.journal.status();
        degraded(&shared, &status.state);
        full(&shared, &status.state);
        broken(&shared, &status.state);
    }
}

fn degraded(shared: &Shared, state: &State) {
    const KEY: &str = "journal-degraded";
    let State::Degraded { reason, .. } = state else {
        shared.issues.clear(KEY);
        return;
    };
    shared.issues.raise(Issue {
        key: KEY.to_owned(),
        severity: Severity::Critical,
        what: format!("Values cannot be made durable: {reason}."),
        effect: "Nothing is acknowledged; devices keep their values. Queries go on.".to_owned(),
        remedy: "Free disk space or repair the disk; no restart is needed.".to_owned(),
    });
}

fn full(shared: &Shared, state: &State) {
    const KEY: &str = "journal-full";
    let State::FullByReader { cursor, .. } = state else {
        shared.issues.clear(KEY);
        return;
    };
    shared.issues.raise(Issue {
        key: KEY.to_owned(),
        severity: Severity::Critical,
        what: format!(
            "The journal has reached journal.bytes_max_mib = {}: its reader '{}' is behind.",
            shared.loaded.config.journal.bytes_max_mib,
            cursor.unwrap_or("none")
        ),
        effect: "Devices are slowed until the reader catches up; nothing is lost.".to_owned(),
        remedy: "Solve that reader's own issue (a full disk, most often), or raise the limit."
            .to_owned(),
    });
}

fn broken(shared: &Shared, state: &State) {
    if let State::Broken { reason, .. } = state {
        shared.issues.raise(Issue {
            key: "journal-broken".to_owned(),
            severity: Severity::Critical,
            what: format!("The journal has stopped: {reason}."),
            effect: "No value is taken any more.".to_owned(),
            remedy: "Restart the appliance and report this with the log.".to_owned(),
        });
    }
}

async fn keep_ledger(shared: Arc<Shared>, cursor: Cursor) {
    let mut ticks = Ticks::every(LOOK);
    let mut passed = Duration::ZERO;
    while ticks.next(&shared.shutdown).await {
        passed += LOOK;
        if full_by(&shared).is_some() {
            // No room for the very record that would make room.
            let (shared, cursor) = (Arc::clone(&shared), cursor.clone());
            let saving = tokio::task::spawn_blocking(move || save_ledger(&shared, &cursor));
            // A panic in it has been logged.
            let _panicked = saving.await.is_err();
            continue;
        }
        if passed < INTERVAL && last_reader(&shared) != Some(LEDGER) {
            continue;
        }
        passed = Duration::ZERO;
        let turn = shared.ledger_snapshot.turn(&shared.ledger, &shared.journal, &cursor);
        // When the time is over the disk is full or a reader is behind: later counts are as good.
        if let Ok(Err(error)) = tokio::time::timeout(LEDGER_TURN_LIMIT, turn).await {
            tracing::debug!("The ledger's record was not written: {error}.");
            return;
        }
    }
}

/// Moves the engine's cursor behind what no run and no state needs any more.
async fn keep_engine(shared: Arc<Shared>, cursor: Cursor) {
    let mut ticks = Ticks::every(LOOK);
    while ticks.next(&shared.shutdown).await {
        let wanted = shared.engine.cursor_wanted();
        if wanted > cursor.position()
            && let Err(error) = cursor.checkpoint(wanted)
        {
            tracing::warn!("The engine's cursor was not moved: {error}.");
        }
    }
}

/// Keeps subscriptions at external brokers as the deployed pipelines want them, and looks after
/// the connections of steps.
async fn keep_outside(shared: Arc<Shared>, mut sources: Sources) {
    let mut ticks = Ticks::every(Duration::from_secs(1));
    while ticks.next(&shared.shutdown).await {
        sources.tick();
    }
}

fn save_ledger(shared: &Shared, cursor: &Cursor) {
    let snapshot = &shared.ledger_snapshot;
    if let Err(error) = snapshot.save_aside(&shared.ledger, &shared.journal, cursor) {
        tracing::warn!("The journal is full and the ledger's counts were not saved: {error:#}.");
    }
}

async fn keep_snapshots(shared: Arc<Shared>, snapshotter: Arc<Snapshotter>) {
    let mut ticks = Ticks::every(Duration::from_secs(1));
    while ticks.next(&shared.shutdown).await {
        let written = shared.journal.stats().written_bytes;
        if !snapshotter.is_due(written) {
            continue;
        }
        let snapshotter = Arc::clone(&snapshotter);
        match tokio::task::spawn_blocking(move || snapshotter.tick(written)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                tracing::warn!("A snapshot of the definitions was not written: {error}.");
            }
            Err(_) => return,
        }
    }
}
