//! Driving a run: executing tokens until it has ended or waits.
//!
//! **Invariants**: in a pipeline whose branches run in sequence nothing is executed while a token
//! waits for something outside or for a time.

use super::scope::{DEPTH_MAX, Role};
use super::{Bench, Drive, End, Entry, Outside, Run, Token, WAITS_AT_ONCE_MAX, Wait, Waiting};
use crate::plan::PlanStep;
use crate::report::{RunFault, StepStatus};
use crate::run::notes::Trace;
use crate::step::{Outcome, StepFault};
use millrace_flow::Data;
use millrace_flow::document::{Branches, HistoryDetail};
use std::sync::Arc;
use std::time::Duration;

impl Run {
    /// Executes all that can be executed now.
    pub(crate) fn drive(&mut self, bench: &mut Bench<'_>) -> Drive {
        self.at = bench.stage.clock.monotonic();
        self.notes.driven = self.at;
        bench.undo.begin();
        while self.end.is_none() && !self.is_left {
            self.heed_stop();
            if self.end.is_some() {
                break;
            }
            if let Some(token) = self.next_ready() {
                self.execute(token, bench);
            } else if !self.release_gathering() {
                break;
            }
        }
        if self.is_left {
            return Drive::Left;
        }
        if self.end.is_some() {
            self.abandon();
            return Drive::Ended;
        }
        if self.waits.is_empty() {
            // Every token has gone without the run's scope having noticed: a defect, but not one
            // that may leave the run hanging.
            self.end = Some(End::Done(Data::Missing));
            return Drive::Ended;
        }
        Drive::Parked
    }

    pub(super) fn is_sequential(&self) -> bool {
        self.plan().settings.branches == Branches::Sequential
    }

    fn next_ready(&mut self) -> Option<Token> {
        let most = if self.is_sequential() { 1 } else { WAITS_AT_ONCE_MAX };
        if self.blocking >= most {
            return None;
        }
        self.ready.pop_front()
    }

    fn execute(&mut self, token: Token, bench: &mut Bench<'_>) {
        let Some(scope) = self.scopes.get(token.scope) else { return };
        let frame = scope.frame;
        let Some(plan) = self.frames.get(usize::from(frame)).map(|frame| Arc::clone(&frame.plan))
        else {
            return;
        };
        let Some(step) = plan.step(token.step) else { return };
        self.notes.executions += 1;
        let most = bench.stage.config.executions_max;
        if self.notes.executions > most {
            let message = format!("the run executed more than {most} steps");
            self.end = Some(failed(step, &StepFault::lasting("limit", message)));
            return;
        }
        let began = self.at;
        let deadline = step.timeout.map(|timeout| began + timeout);
        bench.undo.begin_step(self.notes.changes.len());
        let Token { input, entry, .. } = &token;
        let outcome = match entry {
            Entry::Fail(fault) => Err((**fault).clone()),
            _ if step.is_disabled => Ok(Outcome::Out(0, input.clone())),
            Entry::Input => self
                .with_context(bench, (frame, step, input), deadline, |context| {
                    step.step.execute(context, input)
                })
                .unwrap_or(Ok(Outcome::Nothing)),
            Entry::Resume(data) => self
                .with_context(bench, (frame, step, input), deadline, |context| {
                    step.step.resume(context, data.clone())
                })
                .unwrap_or(Ok(Outcome::Nothing)),
        };
        self.at = bench.stage.clock.monotonic();
        self.note(step, &token, began, self.at, &outcome);
        if outcome.is_err() {
            self.drop_changes(bench);
        }
        if let Some(halted) = self.notes.halted.take() {
            return self.halt(step, halted);
        }
        match outcome {
            Ok(outcome) => self.take(token, step, outcome, bench, began),
            Err(fault) => self.fail(token, step, fault, bench),
        }
    }

    fn take(
        &mut self,
        token: Token,
        step: &PlanStep,
        outcome: Outcome,
        bench: &mut Bench<'_>,
        began: Duration,
    ) {
        match outcome {
            Outcome::Out(port, data) => {
                if self.check_size(&token, step, &data, bench) {
                    self.emit(&token, step, port, data);
                    self.leave(token.scope);
                }
            }
            Outcome::Many(outputs) => {
                let is_fit =
                    outputs.iter().all(|(_, data)| self.check_size(&token, step, data, bench));
                if is_fit {
                    // In sequence what is emitted last runs first, so the order is turned.
                    if self.is_sequential() {
                        for (port, data) in outputs.into_iter().rev() {
                            self.emit(&token, step, port, data);
                        }
                    } else {
                        for (port, data) in outputs {
                            self.emit(&token, step, port, data);
                        }
                    }
                    self.leave(token.scope);
                }
            }
            Outcome::Nothing => {
                if let Some(scope) = self.scopes.get_mut(token.scope) {
                    scope.last = Data::Missing;
                }
                self.leave(token.scope);
            }
            Outcome::Each(_) | Outcome::Guard(_) | Outcome::Call { .. }
                if self.scopes.is_deepest(token.scope) =>
            {
                let message = format!("loops, guards and calls lie more than {DEPTH_MAX} deep");
                self.fail(token, step, StepFault::lasting("limit", message), bench);
            }
            Outcome::Wait(future) => {
                self.wait(token, step, began, Waiting::Future(Outside::Fresh(future)));
            }
            Outcome::Pause { until, carry } => {
                // The time is the step's own; its timeout does not count.
                self.park(token, began, None, Waiting::Pause { until, carry });
            }
            Outcome::Each(items) => self.each(token, step, items, bench, began),
            Outcome::Guard(data) => self.guard(token, step, data, began),
            Outcome::Call { pipeline, input } => {
                self.call(token, step, (&pipeline, input), bench, began);
            }
            Outcome::Stop(data) => self.stop(&token, data),
            Outcome::Gather => self.gather(token, began),
        }
    }

    pub(super) fn wait(&mut self, token: Token, step: &PlanStep, began: Duration, what: Waiting) {
        let deadline = step.timeout.map(|timeout| began + timeout);
        self.park(token, began, deadline, what);
    }

    pub(super) fn park(
        &mut self,
        token: Token,
        since: Duration,
        deadline: Option<Duration>,
        what: Waiting,
    ) -> u32 {
        let number = self.next_wait;
        self.next_wait = self.next_wait.wrapping_add(1);
        if self.blocks(&token, &what) {
            self.blocking += 1;
        }
        let (now, at) = self.clocks;
        let begun = now.plus_nanos(super::open::nanos(since.saturating_sub(at)));
        self.waits.insert(number, Wait { token, since, begun, deadline, what });
        number
    }

    pub(super) fn unpark(&mut self, number: u32) -> Option<Wait> {
        let wait = self.waits.remove(&number)?;
        if self.blocks(&wait.token, &wait.what) {
            self.blocking = self.blocking.saturating_sub(1);
        }
        Some(wait)
    }

    /// Whether a wait holds the other branches of a run whose branches run in sequence. A step that
    /// waits for later runs does not: nobody means the other branches to wait an hour for a window.
    pub(super) fn blocks(&self, token: &Token, what: &Waiting) -> bool {
        let waits_for_runs = || {
            let step = self.step_of(token);
            step.is_some_and(|(plan, step)| {
                plan.step(step).is_some_and(|step| step.step.waits_for_runs())
            })
        };
        what.is_blocking() && !(matches!(what, Waiting::Pause { .. }) && waits_for_runs())
    }

    /// A datum that leaves a step is bounded, and so is all that a run's steps give together.
    fn check_size(
        &mut self,
        token: &Token,
        step: &PlanStep,
        data: &Data,
        bench: &mut Bench<'_>,
    ) -> bool {
        let config = &bench.stage.config;
        let size = crate::codec::size(data, config.datum_bytes_max);
        self.notes.given_bytes += size;
        let message = if size > config.datum_bytes_max {
            format!("its output takes more than {} bytes", config.datum_bytes_max)
        } else if self.notes.given_bytes > config.run_bytes_max {
            format!("the run's data takes more than {} bytes in all", config.run_bytes_max)
        } else {
            return true;
        };
        self.drop_changes(bench);
        self.fail(token.clone(), step, StepFault::lasting("limit", message), bench);
        false
    }

    /// A step that fails has changed nothing of lasting state.
    fn drop_changes(&mut self, bench: &mut Bench<'_>) {
        let noted_bytes = bench.undo.back_step(&bench.stage.states);
        self.notes.changes.truncate(noted_bytes);
    }

    fn note(
        &mut self,
        step: &PlanStep,
        token: &Token,
        began: Duration,
        ended: Duration,
        outcome: &Result<Outcome, StepFault>,
    ) {
        let is_full = self.plan().settings.history == HistoryDetail::Full;
        let output = match outcome {
            Ok(Outcome::Out(_, data) | Outcome::Stop(data)) => Some(data.clone()),
            Ok(Outcome::Many(outputs)) => outputs.last().map(|(_, data)| data.clone()),
            _ => None,
        };
        let status = match outcome {
            Ok(Outcome::Out(..) | Outcome::Many(_) | Outcome::Nothing | Outcome::Stop(_)) => {
                StepStatus::Done
            }
            Ok(_) => StepStatus::Waited,
            Err(fault) if retries(step, token, fault) => StepStatus::Retried(fault.message.clone()),
            Err(fault) => StepStatus::Failed(fault.message.clone()),
        };
        self.notes.trace(Trace {
            step: Arc::clone(&step.id),
            after: began.saturating_sub(self.notes.began),
            took: ended.saturating_sub(began),
            status,
            input: is_full.then(|| token.input.clone()),
            output: output.filter(|_| is_full),
        });
    }

    fn stop(&mut self, token: &Token, data: Data) {
        let mut at = Some(token.scope);
        while let Some(scope) = at.and_then(|number| self.scopes.get(number)) {
            match scope.role {
                Role::Run => break,
                // A called pipeline ends alone; its caller goes on.
                Role::Called { wait } => return self.called(wait, data),
                Role::Item { .. } | Role::Guard { .. } => at = scope.parent,
            }
        }
        self.end = Some(End::Done(data));
    }

    /// Drops what still stands or waits; futures stop when they are dropped.
    pub(super) fn abandon(&mut self) {
        self.ready.clear();
        self.waits.clear();
        self.blocking = 0;
    }
}

pub(super) fn retries(step: &PlanStep, token: &Token, fault: &StepFault) -> bool {
    fault.is_transient && step.retry.as_ref().is_some_and(|retry| token.tries < retry.times)
}

pub(super) fn failed(step: &PlanStep, fault: &StepFault) -> End {
    End::Failed(RunFault {
        step: Arc::clone(&step.id),
        code: fault.code,
        message: fault.message.clone(),
        line: fault.script.as_ref().and_then(|script| script.line),
    })
}
