//! Issues that pipelines raise, kept over a restart.
//!
//! What the box itself finds wrong it finds again after a start. A pipeline that remembers that it
//! has raised an alarm raises no second one, so its issues are kept in a small file, written when
//! they change.
//!
//! **Invariants**: at most a second of changes is lost in a crash; a file that cannot be read is
//! no reason not to start.

use super::folder::keep;
use super::state::Shared;
use millrace_catalog::Pipelines;
use millrace_supervisor::{IssueState, Issues, Shutdown};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const FILE: &str = "issues.json";
/// Front of the keys of pipelines' own issues.
const OWN: &str = "pipeline:";
const LOOK: Duration = Duration::from_secs(1);

/// Brings back what was open, of the pipelines that are still deployed.
pub(super) fn restore(data: &Path, issues: &Issues, pipelines: &Pipelines) {
    let Ok(bytes) = std::fs::read(data.join(FILE)) else { return };
    let states: Vec<IssueState> = match serde_json::from_slice(&bytes) {
        Ok(states) => states,
        Err(error) => {
            tracing::warn!("The pipelines' issues cannot be read back: {error}.");
            return;
        }
    };
    let deployed = pipelines.deployed();
    for state in states {
        let name = state.key.strip_prefix(OWN).and_then(|rest| rest.split(':').next());
        if deployed.iter().any(|pipeline| Some(pipeline.name()) == name) {
            issues.restore(state);
        }
    }
}

/// Writes them whenever they have changed, until the stop begins; then once more.
pub(super) async fn keep_issues(shared: Arc<Shared>) {
    let mut ticks = tokio::time::interval(LOOK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut written = None;
    loop {
        let goes_on = wait(&mut ticks, &shared.shutdown).await;
        let issues = shared.issues.list();
        let own: Vec<_> = issues.iter().filter(|issue| issue.key.starts_with(OWN)).collect();
        // The time of the last sight alone is no change worth a write.
        let keys: Vec<_> =
            own.iter().map(|issue| (issue.key.clone(), issue.acknowledged_by.clone())).collect();
        if written.as_ref() != Some(&keys) && (written.is_some() || !keys.is_empty()) {
            let bytes = serde_json::to_vec(&own).unwrap_or_default();
            let data = shared.loaded.config.data_dir.clone();
            let kept = tokio::task::spawn_blocking(move || keep(&data, FILE, &bytes)).await;
            match kept {
                Ok(Ok(())) => written = Some(keys),
                Ok(Err(error)) => tracing::debug!("The issues were not kept: {error:#}."),
                Err(_) => return,
            }
        }
        if !goes_on {
            return;
        }
    }
}

async fn wait(ticks: &mut tokio::time::Interval, shutdown: &Shutdown) -> bool {
    tokio::select! {
        _ = ticks.tick() => true,
        () = shutdown.begun() => false,
    }
}
