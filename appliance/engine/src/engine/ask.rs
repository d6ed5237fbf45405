//! Runs that somebody asks for: people, programs, schedules, other brokers, issues.
//!
//! A request is a record of its own; its seq is the run's id. When it is durable the follower
//! brings it back and the run is queued like any other.
//!
//! **Invariants**: a request that is answered with an id is in the journal's order; nothing of a
//! refused one remains.

use super::{Core, Engine};
use crate::answers::{RunEnd, Ticket};
use crate::deployment::Deployment;
use crate::plan::Plan;
use crate::queued::{RunId, Start};
use crate::record;
use crate::run::Notes;
use crate::state::cells::Owner;
use crate::trigger::{Cause, Trigger};
use millrace_flow::{Data, Map};
use millrace_journal::{Seq, SeqRange};
use millrace_model::{Record, RunEvent, RunRecord, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// Puts single records into the journal.
pub trait Records: Send + Sync {
    /// Appends records, all in one commit; never waits.
    ///
    /// # Errors
    /// [`RecordsFault`]; nothing was appended.
    fn append(&self, records: &[Record<'_>]) -> Result<SeqRange, RecordsFault>;
}

/// Why records were not appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordsFault {
    /// The journal takes no more now.
    #[error("the journal takes no more now; try again in a moment")]
    Full,
    /// The appliance stops.
    #[error("the appliance stops")]
    Closed,
}

/// A run that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asking {
    /// The pipeline's number.
    pub pipeline: u32,
    /// The trigger step; the only manual one if none.
    pub trigger: Option<String>,
    /// What `$trigger` holds.
    pub input: Data,
    /// Whether a person or a program asked for it by name: its history is always kept.
    pub is_manual: bool,
    /// Through how many pipelines the request has come; 0 from outside.
    pub hops: u8,
}

/// Why a run cannot be asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskFault {
    /// The pipeline is not deployed.
    #[error("the pipeline does not run: deploy it first")]
    NotDeployed,
    /// It has no such trigger.
    #[error("the pipeline has no trigger `{0}`")]
    NoTrigger(String),
    /// It is not said which of its manual triggers is meant, or it has none.
    #[error("{}", unclear(*.0))]
    Unclear(usize),
    /// The input is too large.
    #[error("the input takes more than {0} bytes")]
    TooLarge(usize),
    /// Too many runs are waited for.
    #[error("too many runs are waited for; try again in a moment")]
    Busy,
    /// The queue is full and refuses new runs (`discard_new_on_full`).
    #[error("the queue of runs is full; try again in a moment")]
    QueueFull,
    /// It has come through as many pipelines as may start one another.
    #[error("the request has come through {0} pipelines that start one another; it starts no run")]
    Loop(u8),
    /// The journal does not take it.
    #[error(transparent)]
    Records(#[from] RecordsFault),
}

fn unclear(manual: usize) -> String {
    match manual {
        0 => "the pipeline has no `manual` trigger: nobody can start it by hand".to_owned(),
        count => format!("the pipeline has {count} `manual` triggers: say which step is meant"),
    }
}

/// A webhook in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// The pipeline's number.
    pub pipeline: u32,
    /// The trigger step.
    pub step: String,
    /// Methods that are answered.
    pub methods: Vec<String>,
    /// The name of the secret that a caller must know.
    pub secret: String,
    /// The header that carries it, in lower case.
    pub secret_header: String,
    /// How long to wait for the run's result; at once if none.
    pub wait: Option<Duration>,
    /// Largest body.
    pub body_bytes_max: usize,
}

/// A trigger that somebody outside of the engine drives.
#[derive(Clone, Debug, PartialEq)]
pub struct OutsideTrigger {
    /// The pipeline's number.
    pub pipeline: u32,
    /// The number of its workspace.
    pub workspace: u16,
    /// The pipeline's name.
    pub name: Arc<str>,
    /// Its revision: another one may have changed the fields.
    pub revision: u32,
    /// The trigger step.
    pub step: Arc<str>,
    /// Its kind: `mqtt.subscribe`.
    pub kind: Arc<str>,
}

impl Engine {
    /// Asks for a run. The ticket tells when it is durable and when it has ended.
    ///
    /// # Errors
    /// [`AskFault`]; nothing runs then.
    pub fn ask(&self, asking: &Asking) -> Result<Ticket, AskFault> {
        let core = &self.core;
        let deployment = core.deployments.get(asking.pipeline).ok_or(AskFault::NotDeployed)?;
        let trigger = find_trigger(&deployment.plan, asking.trigger.as_deref())?;
        let most = core.stage.config.effects_bytes_max;
        if crate::codec::size(&asking.input, most) > most {
            return Err(AskFault::TooLarge(most));
        }
        let input = match (&trigger.cause, &asking.input) {
            (Cause::Manual { input: preset }, Data::Map(given)) => merged(preset, given),
            (Cause::Manual { input: preset }, Data::Missing | Data::Null) => {
                Data::Map(Arc::clone(preset))
            }
            (_, input) => input.clone(),
        };
        core.answers.open(
            || {
                let trigger = (asking.pipeline, &*trigger.id);
                core.request(trigger, input, asking.is_manual, asking.hops)
            },
            || AskFault::Busy,
        )
    }

    /// The webhook on a path of a workspace.
    #[must_use]
    pub fn hook(&self, workspace: u16, path: &str) -> Option<Hook> {
        let (deployment, number) = self.core.deployments.hook(workspace, path)?;
        let trigger = deployment.plan.triggers.get(usize::from(number))?;
        let Cause::Http(hook) = &trigger.cause else { return None };
        Some(Hook {
            pipeline: deployment.plan.number,
            step: trigger.id.to_string(),
            methods: hook.methods.clone(),
            secret: hook.secret.clone(),
            secret_header: hook.secret_header.clone(),
            wait: hook.answers_result.then_some(hook.answer_within),
            body_bytes_max: hook.body_bytes_max,
        })
    }

    /// All triggers that are driven from outside, and a number that changes when they may have.
    #[must_use]
    pub fn outside_triggers(&self) -> (u64, Vec<OutsideTrigger>) {
        let generation = self.core.generation.load(std::sync::atomic::Ordering::Acquire);
        let mut found = Vec::new();
        for deployment in self.core.deployments.all() {
            let plan = &deployment.plan;
            found.extend(plan.triggers.iter().filter_map(|trigger| match &trigger.cause {
                Cause::Outside { kind } => Some(OutsideTrigger {
                    pipeline: plan.number,
                    workspace: plan.workspace,
                    name: Arc::clone(&plan.name),
                    revision: plan.revision,
                    step: Arc::clone(&trigger.id),
                    kind: Arc::clone(kind),
                }),
                _ => None,
            }));
        }
        (generation, found)
    }

    /// The number of [`Engine::outside_triggers`] alone, for looking often.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.core.generation.load(std::sync::atomic::Ordering::Acquire)
    }

    /// All variables of a workspace by name.
    #[must_use]
    pub fn variables(&self, workspace: u16) -> Vec<(Arc<str>, Data)> {
        self.core.stage.states.entries(&Owner::Variables(workspace))
    }

    /// Sets a variable, or removes it ([`Data::Missing`]); in force when the record is durable.
    ///
    /// # Errors
    /// The journal does not take it, or it is too large.
    pub fn set_variable(&self, workspace: u16, name: &str, data: &Data) -> Result<Seq, AskFault> {
        let most = crate::state::STATE_BYTES_MAX;
        if name.len() + crate::codec::size(data, most) > most {
            return Err(AskFault::TooLarge(most));
        }
        let mut notes = Notes::new(Timestamp(0), Duration::ZERO, 0);
        notes.change(&Owner::Variables(workspace), name, data);
        let mut body = Vec::new();
        record::changes(&notes.changes, &mut body);
        let record = RunRecord { event: RunEvent::Progress, pipeline: 0, run: 0, body: &body };
        let range = self.core.parts.records.append(&[Record::Run(record)])?;
        Ok(range.last())
    }
}

impl Core {
    /// Writes the request of a run at a trigger of a pipeline. A full queue that refuses new runs
    /// refuses it here, before anything is durable.
    pub(crate) fn request(
        &self,
        (pipeline, trigger): (u32, &str),
        input: Data,
        is_manual: bool,
        hops: u8,
    ) -> Result<RunId, AskFault> {
        let mut body = Vec::new();
        let now = self.stage.clock.now();
        let most = self.stage.config.hops_max;
        if hops >= most {
            if let Some(deployment) = self.deployments.get(pipeline) {
                deployment.counters.looped.add(1, now);
            }
            return Err(AskFault::Loop(most));
        }
        let start = Start::Data(input);
        if !self.queue.takes(start.bytes()) {
            return Err(AskFault::QueueFull);
        }
        record::requested((trigger, &start), (is_manual, hops), now, &mut body);
        let record = RunRecord { event: RunEvent::Requested, pipeline, run: 0, body: &body };
        let range = self.parts.records.append(&[Record::Run(record)])?;
        Ok(RunId { pipeline, seq: range.last().0 })
    }

    /// Notes when schedules and startup triggers of a pipeline are due.
    pub(crate) fn plan_ahead(&self, deployment: &Arc<Deployment>, is_deploy: bool) {
        let now = self.stage.clock.now();
        let mut agenda = self.agenda.lock();
        for (number, trigger) in (0u16..).zip(&deployment.plan.triggers) {
            agenda.add(&self.stage.states, &deployment.plan, (number, trigger), is_deploy, now);
        }
        drop(agenda);
        self.clockwork.ring();
    }
}

fn find_trigger<'a>(plan: &'a Plan, id: Option<&str>) -> Result<&'a Trigger, AskFault> {
    match id {
        Some(id) => plan
            .triggers
            .iter()
            .find(|trigger| &*trigger.id == id)
            .ok_or_else(|| AskFault::NoTrigger(id.to_owned())),
        None => {
            let manual = |trigger: &&Trigger| matches!(trigger.cause, Cause::Manual { .. });
            let mut found = plan.triggers.iter().filter(manual);
            match (found.next(), found.count()) {
                (Some(trigger), 0) => Ok(trigger),
                (Some(_), more) => Err(AskFault::Unclear(more + 1)),
                (None, _) => Err(AskFault::Unclear(0)),
            }
        }
    }
}

fn merged(preset: &Map, given: &Map) -> Data {
    let mut map = preset.clone();
    for (name, data) in given.iter() {
        map.set(Arc::clone(name), data.clone());
    }
    Data::Map(Arc::new(map))
}

/// What a run that was asked for came to, in a word: for logs.
impl std::fmt::Display for RunEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Done(_) => f.write_str("done"),
            Self::Failed(fault) => write!(f, "failed: {}", fault.message),
            Self::NotRun(why) => f.write_str(why),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}
