//! Issues that the engine raises and clears, and how much CPU pipelines used lately.
//!
//! **Invariants**: an issue is raised within a second of its cause and cleared when the cause has
//! been away for ten minutes, or its pipeline is no more.

use crate::deployment::Deployment;
use crate::engine::Core;
use crate::run::issue_key;
use crate::stats::TallyStats;
use crate::trigger::Cause;
use millrace_flow::{Data, Map};
use millrace_model::Timestamp;
use millrace_supervisor::{Issue, IssueState, Issues, Severity};
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

/// What was seen when last looked at.
#[derive(Debug, Default)]
pub(crate) struct Alarms {
    looked: Option<Duration>,
    minute: Duration,
    pipelines: BTreeMap<u32, Known>,
    /// Panics of the engine's threads, as the issue tells them; none while it is not raised.
    panics: Option<Panics>,
    /// Issues of the box, for triggers on issues; none until they were looked at once.
    issues: Option<BTreeMap<String, IssueState>>,
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

    fn issue(self, deployment: &Deployment, tally: &TallyStats, hops_max: u8) -> Issue {
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
                    "{count} values came to the pipeline `{name}` through {hops_max} pipelines and were not taken ({times})."
                ),
                "The values are stored, but start no run: pipelines publish into one another in a circle.",
                "Narrow the filters of the pipeline's trigger so that it does not see what it or its followers publish.",
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
        issues: &Issues,
        deployments: &[Arc<Deployment>],
        hops_max: u8,
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
                    issues.raise(kind.issue(deployment, &tally, hops_max));
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
        if let Some(known) = self.pipelines.remove(&pipeline) {
            for kind in known.raised {
                issues.clear(&kind.key(pipeline));
            }
        }
    }

    /// Issues that came, became worse or went since last looked at.
    fn changed(&mut self, list: Vec<IssueState>) -> Vec<Changed> {
        let now: BTreeMap<String, IssueState> =
            list.into_iter().map(|issue| (issue.key.clone(), issue)).collect();
        let Some(before) = self.issues.replace(now.clone()) else { return Vec::new() };
        let mut changed: Vec<Changed> = Vec::new();
        for (key, issue) in &now {
            let was = before.get(key).map(|known| known.severity);
            if was.is_none_or(|was| was < issue.severity) {
                changed.push(Changed { is_raised: true, issue: issue.clone(), was });
            }
        }
        let cleared = before.into_iter().filter(|(key, _)| !now.contains_key(key));
        changed.extend(cleared.map(|(_, issue)| Changed { is_raised: false, issue, was: None }));
        changed
    }
}

/// An issue that came, became worse or went.
struct Changed {
    is_raised: bool,
    issue: IssueState,
    /// How bad it was before, if it only became worse.
    was: Option<Severity>,
}

impl Core {
    /// Raises and clears the engine's issues, and asks for runs that issues trigger.
    pub(crate) fn look_at_issues(&self, now: Timestamp) {
        let deployments = self.deployments.all();
        let at = self.stage.clock.monotonic();
        let changed = {
            let mut alarms = self.alarms.lock();
            alarms.look(&self.stage.issues, &deployments, self.stage.config.hops_max, now);
            alarms.clear_panics(&self.stage.issues, now);
            alarms.count_cpu(&deployments, at);
            let has_triggers = deployments.iter().any(|deployment| {
                let triggers = &deployment.plan.triggers;
                triggers.iter().any(|trigger| matches!(trigger.cause, Cause::Issue(_)))
            });
            if has_triggers {
                alarms.changed(self.stage.issues.list())
            } else {
                alarms.issues = None;
                return;
            }
        };
        for changed in &changed {
            for deployment in &deployments {
                self.ask_for_issue(deployment, changed);
            }
        }
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

    fn ask_for_issue(&self, deployment: &Deployment, changed: &Changed) {
        let Changed { is_raised, issue, was } = changed;
        let is_raised = *is_raised;
        let plan = &deployment.plan;
        // A pipeline's own issues never start it.
        let is_own = issue.key.starts_with(&issue_key(&plan.name, ""))
            || Kind::ALL.iter().any(|kind| kind.key(plan.number) == issue.key);
        for trigger in plan.triggers.iter().filter(|_| !is_own) {
            let Cause::Issue(cause) = &trigger.cause else { continue };
            let wants = |severity| cause.wants(&issue.key, is_raised, severity);
            // What it was told of before does not start it again for having become worse.
            if !wants(issue.severity) || was.is_some_and(wants) {
                continue;
            }
            if let Err(fault) =
                self.request(plan.number, &trigger.id, issue_data(is_raised, issue), false)
            {
                tracing::warn!(
                    pipeline = plan.number,
                    "A run for an issue was not taken: {fault}."
                );
            }
        }
    }
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
