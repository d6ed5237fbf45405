//! Moving on: along wires, out of scopes, and into the steps that waited for them.
//!
//! **Invariants**: a scope that ends is closed once and wakes the token that opened it once.

use super::scope::{Role, Scope};
use super::walk::failed;
use super::{Bench, End, Entry, Frame, Run, Token, Wait, Waiting};
use crate::plan::PlanStep;
use crate::step::StepFault;
use millrace_flow::Data;
use std::sync::Arc;
use std::time::Duration;

impl Run {
    /// Sends a datum along the wires of a port, in the token's own scope. The token itself still
    /// counts; its scope is left by [`Run::leave`].
    pub(super) fn emit(&mut self, token: &Token, step: &PlanStep, port: u8, data: Data) {
        self.emit_into(token.scope, (token.step, step), port, data);
    }

    pub(super) fn emit_into(
        &mut self,
        scope: u32,
        (number, step): (u16, &PlanStep),
        port: u8,
        data: Data,
    ) {
        let is_sequential = self.is_sequential();
        let Some(place) = self.scopes.get_mut(scope) else { return };
        place.last = data.clone();
        let targets = step.ports.get(usize::from(port)).map_or(&[][..], |targets| targets);
        place.live += u32::try_from(targets.len()).unwrap_or(u32::MAX);
        let frame = usize::from(place.frame);
        if let Some(output) =
            self.frames.get_mut(frame).and_then(|frame| frame.outputs.get_mut(usize::from(number)))
        {
            *output = data.clone();
        }
        if is_sequential {
            // The first branch is walked to its end before the second begins.
            for to in targets.iter().rev() {
                self.ready.push_front(Token::new(*to, scope, data.clone()));
            }
        } else {
            for to in targets {
                self.ready.push_back(Token::new(*to, scope, data.clone()));
            }
        }
    }

    /// A token has gone from its scope.
    pub(super) fn leave(&mut self, scope: u32) {
        if self.scopes.release(scope) == 0 {
            self.close(scope);
        }
    }

    fn close(&mut self, number: u32) {
        let Some(scope) = self.scopes.close(number) else { return };
        match scope.role {
            Role::Run => self.end = Some(End::Done(scope.last)),
            Role::Item { wait, place } => self.item_done(wait, place, scope.last),
            Role::Guard { wait } => {
                if let Some(Wait { token, .. }) = self.unpark(wait) {
                    self.emit_from(&token, 2, scope.last);
                    self.leave(token.scope);
                }
            }
            Role::Called { wait } => self.return_to(wait, scope.last),
        }
    }

    /// The step that a token stands before, and its plan.
    pub(super) fn step_of(&self, token: &Token) -> Option<(Arc<crate::plan::Plan>, u16)> {
        let frame = self.scopes.get(token.scope)?.frame;
        Some((Arc::clone(&self.frames.get(usize::from(frame))?.plan), token.step))
    }

    fn emit_from(&mut self, token: &Token, port: u8, data: Data) {
        if let Some((plan, number)) = self.step_of(token)
            && let Some(step) = plan.step(number)
        {
            self.emit(token, step, port, data);
        }
    }

    /// Opens a branch for each item of a list.
    pub(super) fn each(
        &mut self,
        token: Token,
        step: &PlanStep,
        items: Vec<Data>,
        bench: &mut Bench<'_>,
        began: Duration,
    ) {
        let most = bench.stage.config.items_max;
        if items.len() > most {
            let message = format!("a list of {} items is longer than {most}", items.len());
            return self.fail(token, step, StepFault::lasting("limit", message), bench);
        }
        let results = vec![Data::Missing; items.len()];
        let what = Waiting::Each { items: items.into_iter(), begun: 0, open: 0, results };
        let deadline = step.timeout.map(|timeout| began + timeout);
        let wait = self.park(token, began, deadline, what);
        self.next_items(wait);
    }

    /// Begins the next item, or all of them where branches run side by side; ends when none is left.
    fn next_items(&mut self, number: u32) {
        let is_sequential = self.is_sequential();
        // An item whose port leads nowhere ends at once; this loop, not recursion, takes the next.
        loop {
            let Some(wait) = self.waits.get_mut(&number) else { return };
            let Waiting::Each { items, begun, open, results } = &mut wait.what else { return };
            let Some(item) = items.next() else {
                if *open > 0 {
                    return;
                }
                let results = std::mem::take(results);
                if let Some(Wait { token, .. }) = self.unpark(number) {
                    self.emit_from(&token, 1, Data::List(results.into()));
                    self.leave(token.scope);
                }
                return;
            };
            let place = u32::try_from(*begun).unwrap_or(u32::MAX);
            *begun += 1;
            *open += 1;
            let token = wait.token.clone();
            let Some((plan, step_number)) = self.step_of(&token) else { return };
            let Some(step) = plan.step(step_number) else { return };
            let frame = self.scopes.get(token.scope).map_or(0, |scope| scope.frame);
            let role = Role::Item { wait: number, place };
            let scope = self.scopes.open_in(token.scope, Scope::new(role, frame, item.clone()));
            self.emit_into(scope, (step_number, step), 0, item);
            let is_at_end = self.scopes.get(scope).is_some_and(|scope| scope.live == 0);
            if is_at_end && let Some(scope) = self.scopes.close(scope) {
                self.keep_result(number, place, scope.last);
            } else if is_sequential {
                return;
            }
        }
    }

    fn keep_result(&mut self, wait: u32, place: u32, result: Data) {
        if let Some(Wait { what: Waiting::Each { open, results, .. }, .. }) =
            self.waits.get_mut(&wait)
        {
            *open -= 1;
            if let Some(kept) = results.get_mut(place as usize) {
                *kept = result;
            }
        }
    }

    fn item_done(&mut self, wait: u32, place: u32, result: Data) {
        self.keep_result(wait, place, result);
        self.next_items(wait);
    }

    /// Opens a guarded branch.
    pub(super) fn guard(&mut self, token: Token, step: &PlanStep, data: Data, began: Duration) {
        let frame = self.scopes.get(token.scope).map_or(0, |scope| scope.frame);
        let (number, outer) = (token.step, token.scope);
        let deadline = step.timeout.map(|timeout| began + timeout);
        let wait = self.park(token, began, deadline, Waiting::Guard);
        let scope = Scope::new(Role::Guard { wait }, frame, data.clone());
        let scope = self.scopes.open_in(outer, scope);
        // Held while it is filled, so that an empty branch ends like any other.
        self.scopes.hold(scope);
        self.emit_into(scope, (number, step), 0, data);
        self.leave(scope);
    }

    /// Enters another pipeline.
    pub(super) fn call(
        &mut self,
        token: Token,
        step: &PlanStep,
        (pipeline, input): (&str, Data),
        bench: &mut Bench<'_>,
        began: Duration,
    ) {
        let most = bench.stage.config.call_depth_max;
        let workspace = self.plan().workspace;
        let found = bench.stage.directory.find(workspace, pipeline);
        let start = found.as_ref().and_then(|plan| plan.callable());
        let fault = match (&found, start) {
            _ if self.call_depth(token.scope) >= most => {
                format!("calls of pipelines go more than {most} deep")
            }
            (None, _) => format!("the pipeline `{pipeline}` is not deployed"),
            (Some(_), None) => format!("the pipeline `{pipeline}` has no manual trigger"),
            (Some(plan), Some(start)) => {
                let deadline = step.timeout.map(|timeout| began + timeout);
                let outer = token.scope;
                let wait = self.park(token, began, deadline, Waiting::Call);
                let frame = self.open_frame(Frame::new(Arc::clone(plan), input.clone()));
                let role = Role::Called { wait };
                let scope = Scope::new(role, frame, input.clone());
                let scope = self.scopes.open_in(outer, scope);
                self.scopes.hold(scope);
                self.ready.push_front(Token::new(start.step, scope, input));
                return;
            }
        };
        self.fail(token, step, StepFault::lasting("call", fault), bench);
    }

    fn open_frame(&mut self, frame: Frame) -> u16 {
        let is_used = |number: u16| {
            self.scopes.iter().any(|(_, scope)| scope.is_some_and(|scope| scope.frame == number))
        };
        let count = u16::try_from(self.frames.len()).unwrap_or(u16::MAX);
        // The first frame is the run's own.
        match (1..count).find(|number| !is_used(*number)) {
            Some(number) => {
                if let Some(place) = self.frames.get_mut(usize::from(number)) {
                    *place = frame;
                }
                number
            }
            None => {
                self.frames.push(frame);
                count
            }
        }
    }

    fn call_depth(&self, scope: u32) -> usize {
        let mut depth = 0;
        let mut at = self.scopes.get(scope);
        while let Some(scope) = at {
            depth += usize::from(matches!(scope.role, Role::Called { .. }));
            at = scope.parent.and_then(|parent| self.scopes.get(parent));
        }
        depth
    }

    /// A called pipeline stopped with a result: what else is in it goes.
    pub(super) fn called(&mut self, wait: u32, data: Data) {
        self.clear_opened_by(wait);
        self.return_to(wait, data);
    }

    fn return_to(&mut self, wait: u32, data: Data) {
        if let Some(Wait { mut token, .. }) = self.unpark(wait) {
            token.entry = Entry::Resume(data);
            self.ready.push_front(token);
        }
    }

    /// Takes away everything in the scopes that a waiting token opened.
    pub(super) fn clear_opened_by(&mut self, wait: u32) {
        let scopes = self.scopes.opened_by(wait);
        let is_gone = |scope: u32| scopes.binary_search(&scope).is_ok();
        self.ready.retain(|token| !is_gone(token.scope));
        let gone: Vec<u32> = self
            .waits
            .iter()
            .filter(|(_, wait)| is_gone(wait.token.scope))
            .map(|(number, _)| *number)
            .collect();
        for number in gone {
            drop(self.unpark(number));
        }
        for scope in scopes {
            self.scopes.close(scope);
        }
    }

    /// Joins the token that gathers here already, or begins to gather.
    pub(super) fn gather(&mut self, token: Token, began: Duration) {
        let known = self.waits.values_mut().find_map(|wait| match &mut wait.what {
            Waiting::Gather { inputs }
                if wait.token.step == token.step && wait.token.scope == token.scope =>
            {
                Some(inputs)
            }
            _ => None,
        });
        match known {
            Some(inputs) => {
                inputs.push(token.input);
                // Never the last one: the gathering token is in the same scope.
                self.scopes.release(token.scope);
            }
            None => {
                let inputs = vec![token.input.clone()];
                self.park(token, began, None, Waiting::Gather { inputs });
            }
        }
    }

    /// Lets one gathering token go on to which nothing can come any more.
    pub(super) fn release_gathering(&mut self) -> bool {
        if !self.ready.is_empty() {
            return false;
        }
        let complete = self.waits.iter().find_map(|(number, wait)| {
            let is_gathering = matches!(wait.what, Waiting::Gather { .. });
            (is_gathering && self.is_complete(*number, wait)).then_some(*number)
        });
        let Some(Wait { mut token, what: Waiting::Gather { inputs }, .. }) =
            complete.and_then(|number| self.unpark(number))
        else {
            return false;
        };
        token.entry = Entry::Resume(Data::List(inputs.into()));
        self.ready.push_front(token);
        true
    }

    fn is_complete(&self, number: u32, gathering: &Wait) -> bool {
        let Token { step, scope, .. } = gathering.token;
        let Some(place) = self.scopes.get(scope) else { return true };
        if place.live == 1 {
            return true;
        }
        let frame = self.frames.get(usize::from(place.frame));
        let Some(plan) = frame.map(|frame| &frame.plan) else { return true };
        !self.waits.iter().any(|(other, wait)| {
            *other != number && wait.token.scope == scope && plan.reach.can(wait.token.step, step)
        })
    }

    /// What a fault of a step does to the run.
    pub(super) fn end_failed(&mut self, step: &PlanStep, fault: &StepFault) {
        self.end = Some(failed(step, fault));
    }
}
