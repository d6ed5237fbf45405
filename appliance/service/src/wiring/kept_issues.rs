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
    let deployed = pipelines.deployed();
    restore_those(data, issues, |name| deployed.iter().any(|pipeline| pipeline.name() == name));
}

fn restore_those(data: &Path, issues: &Issues, is_deployed: impl Fn(&str) -> bool) {
    let Ok(bytes) = std::fs::read(data.join(FILE)) else { return };
    let states: Vec<IssueState> = match serde_json::from_slice(&bytes) {
        Ok(states) => states,
        Err(error) => {
            tracing::warn!("The pipelines' issues cannot be read back: {error}.");
            return;
        }
    };
    for state in states {
        let name = state.key.strip_prefix(OWN).and_then(|rest| rest.split(':').next());
        if name.is_some_and(&is_deployed) {
            issues.restore(state);
        }
    }
}

/// Writes them whenever they have changed, until the stop begins; then once more.
pub(super) async fn keep_issues(shared: Arc<Shared>) {
    let mut ticks = tokio::time::interval(LOOK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut written = Vec::new();
    loop {
        let goes_on = wait(&mut ticks, &shared.shutdown).await;
        let own = own(&shared.issues);
        if is_changed(&written, &own) {
            let bytes = serde_json::to_vec(&own).unwrap_or_default();
            let data = shared.loaded.config.data_dir.clone();
            let kept = tokio::task::spawn_blocking(move || keep(&data, FILE, &bytes)).await;
            match kept {
                Ok(Ok(())) => written = own,
                Ok(Err(error)) => tracing::debug!("The issues were not kept: {error:#}."),
                Err(_) => return,
            }
        }
        if !goes_on {
            return;
        }
    }
}

/// The issues that pipelines have raised.
fn own(issues: &Issues) -> Vec<IssueState> {
    let mut own = issues.list();
    own.retain(|issue| issue.key.starts_with(OWN));
    own
}

/// Whether the file says something else than is so. How often an issue was seen, and when last,
/// alone is no change worth a write.
fn is_changed(written: &[IssueState], now: &[IssueState]) -> bool {
    let is_same = |one: &IssueState, other: &IssueState| {
        let seen = IssueState { last_seen: one.last_seen, count: one.count, ..other.clone() };
        seen == *one
    };
    written.len() != now.len() || written.iter().zip(now).any(|(one, other)| !is_same(one, other))
}

async fn wait(ticks: &mut tokio::time::Interval, shutdown: &Shutdown) -> bool {
    tokio::select! {
        _ = ticks.tick() => true,
        () = shutdown.begun() => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_model::Timestamp;
    use millrace_supervisor::{Issue, Severity, TestClock};

    fn raise(issues: &Issues, key: &str, severity: Severity, what: &str) {
        let (effect, remedy) = ("e".to_owned(), "r".to_owned());
        issues.raise(Issue {
            key: key.to_owned(),
            severity,
            what: what.to_owned(),
            effect,
            remedy,
        });
    }

    #[test]
    fn what_is_said_of_an_issue_is_kept_as_it_is_said_last() {
        let clock = Arc::new(TestClock::new(Timestamp(0)));
        let issues = Issues::new(Arc::clone(&clock) as _);
        assert!(!is_changed(&[], &own(&issues)), "nothing is no reason to write");
        raise(&issues, "disk-low", Severity::Warning, "not a pipeline's");
        raise(&issues, "pipeline:oven:hot", Severity::Warning, "81 degrees");
        let written = own(&issues);
        assert_eq!(written.len(), 1);
        assert!(is_changed(&[], &written));
        clock.advance(Duration::from_secs(60));
        raise(&issues, "pipeline:oven:hot", Severity::Warning, "81 degrees");
        assert!(!is_changed(&written, &own(&issues)), "it was only seen again");
        raise(&issues, "pipeline:oven:hot", Severity::Warning, "93 degrees");
        assert!(is_changed(&written, &own(&issues)), "another text");
        let written = own(&issues);
        raise(&issues, "pipeline:oven:hot", Severity::Critical, "93 degrees");
        assert!(is_changed(&written, &own(&issues)), "worse");
        let written = own(&issues);
        issues.acknowledge("pipeline:oven:hot", "eva");
        assert!(is_changed(&written, &own(&issues)), "acknowledged");
        issues.clear("pipeline:oven:hot");
        assert!(is_changed(&written, &own(&issues)), "gone");
    }

    #[test]
    fn a_file_brings_back_what_deployed_pipelines_had_raised() {
        let folder = tempfile::tempdir().unwrap();
        let issues = Issues::new(Arc::new(TestClock::new(Timestamp(0))));
        raise(&issues, "pipeline:oven:hot", Severity::Critical, "93 degrees");
        raise(&issues, "pipeline:gone:x", Severity::Warning, "its pipeline is not deployed");
        keep(folder.path(), FILE, &serde_json::to_vec(&own(&issues)).unwrap()).unwrap();
        let back = Issues::new(Arc::new(TestClock::new(Timestamp(5))));
        restore_those(folder.path(), &back, |name| name == "oven");
        assert_eq!(own(&back), [own(&issues).remove(0)], "the worst comes first");
        keep(folder.path(), FILE, b"{").unwrap();
        restore_those(folder.path(), &back, |_| true);
        assert_eq!(own(&back).len(), 1, "a damaged file changes nothing");
    }
}
