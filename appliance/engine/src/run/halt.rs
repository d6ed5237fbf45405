//! A run that computes is interrupted: it is canceled, its pipeline is undeployed or deployed anew,
//! or the box stops.
//!
//! Scripts ask wherever their budget is looked at; between two steps a canceled run is looked at
//! too. A run that is canceled or whose pipeline is gone ends so, with what it had done. One that
//! is to run again leaves nothing of this attempt.
//!
//! **Invariants**: no step deals with an interruption: neither retries nor `on_error` see it.

use super::context::Desk;
use super::{End, Run};
use crate::plan::{Plan, PlanStep};
use crate::queue::Why;
use crate::report::RunFault;
use crate::step::StepFault;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Why a run that computes is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// A person, or a limit, canceled it.
    Canceled,
    /// Its pipeline is undeployed.
    Undeployed,
    /// The pipeline that it calls is undeployed: its step fails.
    CalledGone,
    /// Another revision is in force, or the box stops: it runs again.
    Again,
}

/// An interruption, and the line of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halted {
    halt: Halt,
    line: Option<u32>,
}

impl Desk<'_> {
    /// Why the run's scripts have to end now, if they have.
    pub(super) fn halt(&self) -> Option<Halt> {
        if self.queued.stopped().is_some() {
            return Some(Halt::Canceled);
        }
        if self.stage.is_stopping.load(Ordering::Acquire) {
            return Some(Halt::Again);
        }
        let (own, called) = (&self.queued.plan, &self.frame.plan);
        if own.fate.is_undeployed() {
            return Some(Halt::Undeployed);
        }
        if called.fate.is_undeployed() {
            return Some(Halt::CalledGone);
        }
        (self.is_replaced(own) || self.is_replaced(called)).then_some(Halt::Again)
    }

    /// Whether another revision has the place of a plan and the run's time to end is over.
    fn is_replaced(&self, plan: &Plan) -> bool {
        plan.fate.replaced_at().is_some_and(|at| {
            // One that waited meanwhile has its time from when it went on.
            let until = at.max(self.notes.driven) + self.stage.config.revision_grace;
            self.stage.clock.monotonic() >= until
        })
    }

    /// A script was interrupted; what its step comes to.
    pub(super) fn halted(&mut self, line: Option<u32>) -> StepFault {
        let halt = self.halt().unwrap_or(Halt::Again);
        if halt == Halt::CalledGone {
            let name = &self.frame.plan.name;
            let message = format!("the pipeline `{name}` was undeployed while it computed");
            return StepFault::lasting("call", message);
        }
        self.notes.halted = Some(Halted { halt, line });
        StepFault::lasting("stopped", "the script was interrupted")
    }
}

impl Run {
    /// A script of this step was interrupted.
    pub(super) fn halt(&mut self, step: &PlanStep, halted: Halted) {
        let Halted { halt, line } = halted;
        match (halt, self.queued.stopped()) {
            (Halt::Canceled, Some(stop)) => {
                let message = format!("{} while the step `{}` computed", stop.message, step.id);
                let (step, code) = (Arc::clone(&step.id), stop.code);
                self.end = Some(End::Failed(RunFault { step, code, message, line }));
            }
            (Halt::Undeployed, _) => {
                let (step, message) = (Arc::clone(&step.id), Why::Undeployed.sentence().to_owned());
                self.end = Some(End::Failed(RunFault { step, code: "undeployed", message, line }));
            }
            _ => self.is_left = true,
        }
    }

    /// It was to run again, and its pipeline, or its trigger there, is no more.
    pub(crate) fn end_gone(&mut self, is_deployed: bool) {
        let message = match is_deployed {
            true => "a revision without its trigger was deployed while it computed",
            false => Why::Undeployed.sentence(),
        };
        let (step, message) = (self.standing(), message.to_owned());
        self.end = Some(End::Failed(RunFault { step, code: "undeployed", message, line: None }));
    }

    /// The box stops, and nobody runs it again: it was a trial.
    pub(crate) fn end_stopping(&mut self) {
        let (step, message) = (self.standing(), "the appliance stops".to_owned());
        self.end = Some(End::Failed(RunFault { step, code: "stopped", message, line: None }));
    }

    /// Ends as it was told to, if it was and did not end so already.
    pub(crate) fn heed_stop(&mut self) {
        let Some(stop) = self.queued.stopped() else { return };
        let is_heeded = matches!(&self.end, Some(End::Failed(fault)) if fault.is_cancel() || fault.code == stop.code);
        if !is_heeded {
            let (code, message) = (stop.code, stop.message.clone());
            let step = self.standing();
            self.end = Some(End::Failed(RunFault { step, code, message, line: None }));
        }
    }

    /// The step at which it stands: where it waits, or what it would execute next.
    pub(super) fn standing(&self) -> Arc<str> {
        let waits = self.waits.values().filter(|wait| wait.what.is_blocking());
        let token = waits.map(|wait| &wait.token).next().or_else(|| self.ready.front());
        let found = token.and_then(|token| {
            let (plan, step) = self.step_of(token)?;
            plan.step(step).map(|step| Arc::clone(&step.id))
        });
        let trigger = || self.plan().triggers.get(usize::from(self.queued.trigger));
        found
            .or_else(|| trigger().map(|trigger| Arc::clone(&trigger.id)))
            .unwrap_or_else(|| "".into())
    }
}

#[cfg(test)]
mod tests;
