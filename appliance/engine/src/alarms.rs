//! Issues that the engine raises and clears, runs that issues start, and how much CPU pipelines
//! used lately.
//!
//! Triggers on issues are given the changes of the list since the last look, so that an issue which
//! came and went in between starts its runs too. What the journal takes no request for waits here.
//!
//! **Invariants**: an issue is raised within a second of its cause and cleared when the cause has
//! been away for ten minutes, or its pipeline is no more; at most [`WISHES_MAX`] requests wait.

use crate::config::Config;
use crate::deployment::Deployment;
use crate::engine::{AskFault, Core};
use crate::run::issue_key;
use crate::stats::TallyStats;
use crate::trigger::Cause;
use millrace_flow::{Data, Map};
use millrace_model::Timestamp;
use millrace_supervisor::{Issue, IssueChange, IssueState, Issues, Severity};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Without a new event for so long an issue is cleared.
const QUIET: i64 = 600_000_000_000;
/// CPU times are kept by the minute, for so many minutes.
const MINUTES: usize = 15;
const MINUTE: Duration = Duration::from_secs(60);
/// Key of the issue about panics.
const PANIC: &str = "engine-panicked";
/// Kills in a row that make the issue critical.
const KILLS_CRITICAL: u32 = 10;
/// Most runs for issues that wait for the journal; more are dropped and logged.
const WISHES_MAX: usize = 1_000;

/// What was seen when last looked at.
#[derive(Debug, Default)]
pub(crate) struct Alarms {
    looked: Option<Duration>,
    minute: Duration,
    pipelines: BTreeMap<u32, Known>,
    /// Panics of the engine's threads, as the issue tells them; none while it is not raised.
    panics: Option<Panics>,
    /// The last change of the list of issues that was looked at; none before the first look.
    changes: Option<u64>,
    wishes: VecDeque<Wish>,
}

/// A run that an issue starts.
#[derive(Debug)]
struct Wish {
    pipeline: u32,
    trigger: Arc<str>,
    data: Data,
    hops: u8,
}

#[derive(Debug, Default)]
struct Panics {
    count: u64,
    last: Timestamp,
}

#[derive(Debug, Default)]
struct Known {
    raised: BTreeSet<Kind>,
    counts: BTreeMap<Kind, u64>,
    cpu: VecDeque<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Late,
    Shed,
    ScriptLimit,
    Loop,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Late, Self::Shed, Self::ScriptLimit, Self::Loop];

    fn key(self, pipeline: u32) -> String {
        let word = match self {
            Self::Late => "runs-late",
            Self::Shed => "runs-shed",
            Self::ScriptLimit => "script-at-limit",
            Self::Loop => "pipeline-loop",
        };
        format!("{word}:{pipeline}")
    }

    fn tally(self, deployment: &Deployment) -> TallyStats {
        let counters = &deployment.counters;
        match self {
            Self::Late => counters.late.read(),
            Self::Shed => counters.shed.read(),
            Self::ScriptLimit => counters.kills.read(),
            Self::Loop => counters.looped.read(),
        }
    }

    fn issue(self, deployment: &Deployment, tally: &TallyStats, config: &Config) -> Issue {
        let name = &deployment.plan.name;
        let count = tally.count;
        let first = tally.first.unwrap_or_default().to_rfc3339();
        let last = tally.last.unwrap_or_default().to_rfc3339();
        let times = format!("first {first}, last {last}");
        let kills = deployment.counters.kills_in_a_row.load(Ordering::Relaxed);
        let severity = match self {
            Self::ScriptLimit if kills >= KILLS_CRITICAL => Severity::Critical,
            _ => Severity::Warning,
        };
        let (what, effect, remedy) = match self {
            Self::Late => (
                format!(
                    "{count} runs of the pipeline `{name}` were taken and not finished in time ({times})."
                ),
                "They are run again, late. What they had published before is published once.",
                "See first whether the box is starved of CPU; then look for a step of this pipeline that computes for very long.",
            ),
            Self::Shed if config.discard_new_on_full => (
                format!(
                    "{count} runs of the pipeline `{name}` were refused because the queue was full ({times})."
                ),
                "These runs did not run. Values that triggered them are in history.",
                "Make the pipeline cheaper, trigger it less often, or give the box more cores; the queue's limits are in the configuration.",
            ),
            Self::Shed => (
                format!(
                    "{count} runs of the pipeline `{name}` were shed from the queue ({times})."
                ),
                "These runs did not run. Values that triggered them are in history.",
                "Make the pipeline cheaper, trigger it less often, or give the box more cores; the queue's limits are in the configuration.",
            ),
            Self::ScriptLimit => (
                format!(
                    "A script of the pipeline `{name}` reached a limit {count} times ({times})."
                ),
                "These runs failed, and the pipeline pauses after each, up to a minute.",
                "Open a failed run: it names the step, the limit and the line. Correct the script or raise the pipeline's limit.",
            ),
            Self::Loop => (
                format!(
                    "{count} times something came to the pipeline `{name}` through {} pipelines and was not taken ({times}).",
                    config.hops_max
                ),
                "Such values are stored, but start no run: pipelines start one another in a circle.",
                "Narrow the pipeline's trigger (its filters, its keys of issues) so that it does not see what it or its followers do.",
            ),
        };
        Issue {
            key: self.key(deployment.plan.number),
            severity,
            what,
            effect: effect.to_owned(),
            remedy: remedy.to_owned(),
        }
    }
}

impl Alarms {
    /// Whether so much time has passed since it last was.
    pub(crate) fn is_due(&mut self, at: Duration, after: Duration) -> bool {
        let is_due = self.looked.is_none_or(|looked| at.saturating_sub(looked) >= after);
        if is_due {
            self.looked = Some(at);
        }
        is_due
    }

    fn look(
        &mut self,
        (issues, config): (&Issues, &Config),
        deployments: &[Arc<Deployment>],
        now: Timestamp,
    ) {
        for deployment in deployments {
            let number = deployment.plan.number;
            for kind in Kind::ALL {
                let tally = kind.tally(deployment);
                if tally.count == 0 {
                    continue;
                }
                let known = self.pipelines.entry(number).or_default();
                let before = known.counts.insert(kind, tally.count).unwrap_or(0);
                if tally.count != before {
                    known.raised.insert(kind);
                    issues.raise(kind.issue(deployment, &tally, config));
                } else if known.raised.contains(&kind)
                    && now.nanos_since(tally.last.unwrap_or_default()) >= QUIET
                {
                    known.raised.remove(&kind);
                    issues.clear(&kind.key(number));
                }
            }
        }
    }

    /// Clears what has not come again for a while.
    fn clear_panics(&mut self, issues: &Issues, now: Timestamp) {
        if self.panics.as_ref().is_some_and(|panics| now.nanos_since(panics.last) >= QUIET) {
            self.panics = None;
            issues.clear(PANIC);
        }
    }

    fn count_cpu(&mut self, deployments: &[Arc<Deployment>], at: Duration) {
        if at.saturating_sub(self.minute) < MINUTE {
            return;
        }
        self.minute = at;
        for deployment in deployments {
            let cpu = deployment.counters.read().cpu;
            if cpu.is_zero() {
                continue;
            }
            let kept = &mut self.pipelines.entry(deployment.plan.number).or_default().cpu;
            kept.push_back(cpu);
            while kept.len() > MINUTES {
                kept.pop_front();
            }
        }
    }

    /// Of a pipeline's CPU time, what it used in the last 15 minutes.
    pub(crate) fn recent_cpu(&self, pipeline: u32, cpu: Duration) -> Duration {
        let kept = self.pipelines.get(&pipeline).filter(|known| known.cpu.len() >= MINUTES);
        let before = kept.and_then(|known| known.cpu.front()).copied().unwrap_or_default();
        cpu.saturating_sub(before)
    }

    /// A pipeline is no more.
    pub(crate) fn forget(&mut self, issues: &Issues, pipeline: u32) {
        self.wishes.retain(|wish| wish.pipeline != pipeline);
        if let Some(known) = self.pipelines.remove(&pipeline) {
            for kind in known.raised {
                issues.clear(&kind.key(pipeline));
            }
        }
    }

    /// Changes of the list since it was last looked at.
    fn changed(&mut self, issues: &Issues) -> Vec<IssueChange> {
        let Some(before) = self.changes else {
            self.changes = Some(issues.changes_through());
            return Vec::new();
        };
        let changes = issues.changes_since(before);
        self.changes = Some(changes.through);
        if changes.missed > 0 {
            tracing::warn!(
                missed = changes.missed,
                "Changes of issues came too fast to start runs."
            );
        }
        changes.list
    }

    fn wish(&mut self, wish: Wish) {
        if self.wishes.len() >= WISHES_MAX {
            tracing::warn!(
                pipeline = wish.pipeline,
                "A run for an issue found no room and is lost."
            );
            return;
        }
        self.wishes.push_back(wish);
    }
}

impl Core {
    /// Raises and clears the engine's issues, and asks for runs that issues trigger.
    pub(crate) fn look_at_issues(&self, now: Timestamp) {
        let deployments = self.deployments.all();
        let at = self.stage.clock.monotonic();
        let stage = &self.stage;
        let mut alarms = self.alarms.lock();
        alarms.look((&*stage.issues, &stage.config), &deployments, now);
        alarms.clear_panics(&stage.issues, now);
        alarms.count_cpu(&deployments, at);
        for change in alarms.changed(&stage.issues) {
            let hops = stage.issue_hops.of(&change.state.key);
            for deployment in &deployments {
                for (trigger, is_raised) in started_by(deployment, &change) {
                    let data = issue_data(is_raised, &change.state);
                    let pipeline = deployment.plan.number;
                    alarms.wish(Wish { pipeline, trigger, data, hops });
                }
            }
        }
        drop(alarms);
        self.ask_for_issues();
    }

    /// A thread of the engine panicked, in a run of a pipeline or beside.
    pub(crate) fn note_panic(&self, pipeline: Option<u32>, message: &str) {
        let now = self.stage.clock.now();
        let count = {
            let mut alarms = self.alarms.lock();
            let panics = alarms.panics.get_or_insert_default();
            panics.count += 1;
            panics.last = now;
            panics.count
        };
        let known = pipeline.and_then(|number| self.deployments.get(number));
        let place = match &known {
            Some(deployment) => format!("a run of the pipeline `{}`", deployment.plan.name),
            None => "the engine's own work".to_owned(),
        };
        tracing::error!(pipeline, "The engine panicked in {place}: {message}.");
        self.stage.issues.raise(Issue {
            key: PANIC.to_owned(),
            severity: Severity::Critical,
            what: format!(
                "The engine of pipelines failed {count} times, last at {} in {place}: {message}.",
                now.to_rfc3339()
            ),
            effect: "The run is taken again at once, and fails if that happens to it twice; the \
                     engine and all other runs go on."
                .to_owned(),
            remedy:
                "This is a defect of the appliance: report it with the log. Until it is mended, \
                     undeploy the pipeline or keep the input away that leads to it."
                    .to_owned(),
        });
    }

    /// Asks for what issues want, until the journal takes no more: the rest waits for the next look.
    fn ask_for_issues(&self) {
        loop {
            let Some(wish) = self.alarms.lock().wishes.pop_front() else { return };
            let asked =
                self.request((wish.pipeline, &wish.trigger), wish.data.clone(), false, wish.hops);
            match asked {
                Ok(_) => {}
                Err(AskFault::Records(_) | AskFault::QueueFull) => {
                    return self.alarms.lock().wishes.push_front(wish);
                }
                Err(fault) => {
                    let pipeline = wish.pipeline;
                    tracing::warn!(pipeline, "A run for an issue was not taken: {fault}.");
                }
            }
        }
    }
}

/// The triggers of a pipeline that a change starts, and whether the issue counts as raised.
fn started_by(deployment: &Deployment, change: &IssueChange) -> Vec<(Arc<str>, bool)> {
    let plan = &deployment.plan;
    let key = &change.state.key;
    // A pipeline's own issues never start it.
    let is_own = key.starts_with(&issue_key(&plan.name, ""))
        || Kind::ALL.iter().any(|kind| kind.key(plan.number) == *key);
    let triggers = plan.triggers.iter().filter(|_| !is_own);
    let wanted = triggers.filter_map(|trigger| {
        let Cause::Issue(cause) = &trigger.cause else { return None };
        Some((Arc::clone(&trigger.id), cause.wants(change)?))
    });
    wanted.collect()
}

fn issue_data(is_raised: bool, issue: &IssueState) -> Data {
    let severity = match issue.severity {
        Severity::Notice => "notice",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    };
    let mut map = Map::new();
    map.set("key", Data::Text(issue.key.as_str().into()));
    map.set("raised", Data::Bool(is_raised));
    map.set("severity", Data::Text(severity.into()));
    map.set("what", Data::Text(issue.what.as_str().into()));
    map.set("effect", Data::Text(issue.effect.as_str().into()));
    map.set("remedy", Data::Text(issue.remedy.as_str().into()));
    Data::Map(Arc::new(map))
}

#[cfg(test)]
mod tests;
