//! One step on one input, without the rest of its pipeline.
//!
//! **Invariants**: as of a rehearsal.

use super::room::{NoOutbox, block_on};
use super::{Keep, Output, Rehearsal};
use crate::compile::CompileFault;
use crate::deployment::Deployed;
use crate::engine::Engine;
use crate::queued::{Queued, Start};
use crate::report::LogLine;
use crate::run::{Bench, Run};
use crate::step::{Outcome, StepFault};
use millrace_flow::{Data, Map};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Most turns of waiting and going on of one step.
const TURNS_MAX: usize = 1_000;

/// What a step did with an input.
#[derive(Clone, Debug)]
pub struct StepTrial {
    /// The input.
    pub input: Data,
    /// What left the step, by port number.
    pub given: Vec<(u8, Data)>,
    /// Why it failed, if it did.
    pub fault: Option<StepFault>,
    /// What it would have done outside.
    pub outputs: Vec<Output>,
    /// What it logged.
    pub log: Vec<LogLine>,
}

impl Engine {
    /// Executes one step of a draft on an input, with what other steps gave. `None`: no such step.
    ///
    /// # Errors
    /// What is wrong with the draft.
    pub fn try_step(
        &self,
        draft: &Deployed,
        (step, input): (&str, Data),
        trigger: Data,
        pinned: &[(String, Data)],
    ) -> Result<Option<StepTrial>, Vec<CompileFault>> {
        let now = self.core.stage.clock.now();
        let mut rehearsal = self.rehearse(draft, now, true, Keep::All)?;
        Ok(rehearsal.try_step(step, input, trigger, pinned))
    }

    /// The input that comes to a step when a trigger is fed with this datum. `None`: none came, or
    /// there is no such trigger.
    ///
    /// # Errors
    /// What is wrong with the draft.
    pub fn upstream_input(
        &self,
        draft: &Deployed,
        step: &str,
        (trigger, datum): (&str, Data),
    ) -> Result<Option<Data>, Vec<CompileFault>> {
        let now = self.core.stage.clock.now();
        let mut rehearsal = self.rehearse(draft, now, true, Keep::All)?;
        if rehearsal.trigger(trigger, datum).is_none() {
            return Ok(None);
        }
        rehearsal.finish();
        let steps = rehearsal.runs.iter().flat_map(|run| &run.steps);
        let mut inputs = steps.filter(|report| &*report.step == step);
        Ok(inputs.find_map(|report| report.input.clone()))
    }
}

impl Rehearsal {
    fn try_step(
        &mut self,
        step: &str,
        input: Data,
        trigger: Data,
        pinned: &[(String, Data)],
    ) -> Option<StepTrial> {
        let plan = Arc::clone(&self.plan);
        let number = plan.step_number(step)?;
        let plan_step = plan.step(number)?;
        let (now, at) = (self.stage.clock.now(), self.stage.clock.monotonic());
        let queued = Arc::new(Queued {
            plan: Arc::clone(&plan),
            seq: 1,
            trigger: 0,
            also: [].into(),
            bytes: 0,
            start: Start::Data(trigger),
            is_manual: true,
            hops: 0,
            at,
            asked: now,
            key: AtomicU64::new(0),
            attempt: AtomicU32::new(1),
            saved: parking_lot::Mutex::new(None),
            panics: parking_lot::Mutex::new(None),
            stop: std::sync::OnceLock::new(),
        });
        let mut run = Run::begin(queued, 1, now, at);
        run.pin(pinned);
        let mut trial = StepTrial {
            input: input.clone(),
            given: Vec::new(),
            fault: None,
            outputs: Vec::new(),
            log: Vec::new(),
        };
        let mut resumed: Option<Data> = None;
        for _ in 0..TURNS_MAX {
            let mut bench = Bench {
                stage: &self.stage,
                outbox: &mut NoOutbox,
                scripts: &mut *self.scripts,
                stubs: Some(&mut self.stubs),
                text: &mut self.text,
                undo: &mut self.undo,
            };
            let deadline = plan_step.timeout.map(|timeout| at + timeout);
            let outcome = run.try_step(&mut bench, plan_step, (&input, resumed.take()), deadline);
            match outcome {
                Err(fault) => {
                    trial.fault = Some(fault);
                    break;
                }
                Ok(outcome) => match self.outcome(outcome, &input, &mut trial) {
                    Ok(None) => break,
                    Ok(Some(data)) => resumed = Some(data),
                    Err(fault) => {
                        trial.fault = Some(fault);
                        break;
                    }
                },
            }
        }
        trial.outputs = self.take_outputs().0;
        trial.log = run.notes.log.clone();
        Some(trial)
    }

    /// What an outcome gives, and with what the step goes on, if it does.
    fn outcome(
        &mut self,
        outcome: Outcome,
        input: &Data,
        trial: &mut StepTrial,
    ) -> Result<Option<Data>, StepFault> {
        match outcome {
            Outcome::Out(port, data) => trial.given.push((port, data)),
            Outcome::Many(given) => trial.given.extend(given),
            Outcome::Nothing => {}
            Outcome::Wait(work) => return block_on(work).map(Some),
            Outcome::Pause { until, carry } => {
                self.clock.set(until);
                return Ok(Some(carry));
            }
            Outcome::Each(items) => trial.given.extend(items.into_iter().map(|item| (0, item))),
            Outcome::Guard(data) => trial.given.push((0, data)),
            Outcome::Call { pipeline, input } => {
                let mut map = Map::new();
                map.set("pipeline", Data::Text(pipeline.into()));
                map.set("input", input);
                trial.given.push((0, Data::Map(Arc::new(map))));
            }
            Outcome::Stop(data) => trial.given.push((0, data)),
            Outcome::Gather => return Ok(Some(Data::List(Arc::from([input.clone()])))),
        }
        Ok(None)
    }
}
