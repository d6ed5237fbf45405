//! Faults of steps: tried again, passed on, caught, or the end of the run.
//!
//! A fault that its step does not deal with goes outwards: a guarded branch catches it, an item
//! fails its `foreach`, a called pipeline fails its `call`, and only what nobody deals with ends
//! the run.
//!
//! **Invariants**: a retry holds no slot; retries are bounded in number and each wait in length.

use super::scope::Role;
use super::walk::retries;
use super::{Bench, Entry, Run, Token, Wait, Waiting};
use crate::plan::{OnFault, PlanStep};
use crate::step::StepFault;
use millrace_flow::document::Retry;
use millrace_flow::{Data, Map};
use std::sync::Arc;
use std::time::Duration;

impl Run {
    /// A step failed on a token, which still counts in its scope.
    pub(super) fn fail(
        &mut self,
        mut token: Token,
        step: &PlanStep,
        mut fault: StepFault,
        bench: &mut Bench<'_>,
    ) {
        // A script may have thrown what a server gave back.
        self.notes.hide_in(&mut fault);
        if let Some(retry) = step.retry.as_ref().filter(|_| retries(step, &token, &fault)) {
            let now = bench.stage.clock.monotonic();
            let until = now + delay(retry, token.tries);
            token.tries += 1;
            token.entry = Entry::Input;
            self.park(token, now, None, Waiting::Retry { until });
            return;
        }
        match step.on_fault {
            OnFault::Continue => {
                let data = error_data(step, &fault, None);
                self.emit(&token, step, step.behind, data);
                self.leave(token.scope);
            }
            OnFault::GoTo(to) => {
                let data = error_data(step, &fault, Some(&token.input));
                if let Some(scope) = self.scopes.get_mut(token.scope) {
                    scope.last = data.clone();
                }
                self.ready.push_front(Token::new(to, token.scope, data));
            }
            OnFault::Stop => self.unwind(token, step, fault, bench),
        }
    }

    /// Takes a fault outwards from the scope of a token.
    fn unwind(
        &mut self,
        token: Token,
        step: &PlanStep,
        mut fault: StepFault,
        bench: &mut Bench<'_>,
    ) {
        let scope = self.scopes.get(token.scope);
        let (role, frame) = match scope {
            Some(scope) => (scope.role, scope.frame),
            None => (Role::Run, 0),
        };
        let opener = role.wait().and_then(|wait| {
            self.clear_opened_by(wait);
            self.unpark(wait)
        });
        let Some(Wait { token: outer, .. }) = opener else {
            return self.end_failed(step, &fault);
        };
        let outer_frame = self.scopes.get(outer.scope).map_or(0, |scope| scope.frame);
        let plan = self.frames.get(usize::from(outer_frame)).map(|frame| Arc::clone(&frame.plan));
        let Some(outer_step) = plan.as_ref().and_then(|plan| plan.step(outer.step)) else {
            return self.end_failed(step, &fault);
        };
        match role {
            Role::Guard { .. } => {
                let data = error_data(step, &fault, Some(&outer.input));
                self.emit(&outer, outer_step, 1, data);
                self.leave(outer.scope);
            }
            Role::Called { .. } => {
                let name = self.frames.get(usize::from(frame)).map(|frame| &frame.plan.name);
                let name = name.map_or("", |name| name);
                let message = format!("pipeline `{name}`, step `{}`: {}", step.id, fault.message);
                fault.message = message;
                self.fail(outer, outer_step, fault, bench);
            }
            Role::Item { .. } => {
                fault.message = format!("step `{}`: {}", step.id, fault.message);
                self.fail(outer, outer_step, fault, bench);
            }
            Role::Run => self.end_failed(step, &fault),
        }
    }
}

fn delay(retry: &Retry, tries: u32) -> Duration {
    let factor = retry.factor.clamp(1.0, 10.0).powi(i32::try_from(tries).unwrap_or(i32::MAX));
    let first = Duration::from_millis(retry.first_ms).as_secs_f64();
    let most = Duration::from_millis(retry.most_ms);
    Duration::try_from_secs_f64(first * factor).unwrap_or(most).min(most)
}

/// A fault as the data that goes on: `{ error: { code, message, step, line?, details? }, item? }`.
fn error_data(step: &PlanStep, fault: &StepFault, item: Option<&Data>) -> Data {
    let mut error = Map::new();
    error.set("code", Data::Text(fault.code.into()));
    error.set("message", Data::Text(fault.message.as_str().into()));
    error.set("step", Data::Text(Arc::clone(&step.id)));
    if let Some(line) = fault.script.as_ref().and_then(|script| script.line) {
        error.set("line", Data::Int(i64::from(line)));
    }
    if let Some(details) = &fault.details {
        error.set("details", details.clone());
    }
    let mut map = Map::new();
    map.set("error", Data::Map(Arc::new(error)));
    if let Some(item) = item {
        map.set("item", item.clone());
    }
    Data::Map(Arc::new(map))
}
