//! A waiting run as bytes: what a crash must not make it do again.
//!
//! Steps stand by their ids, so that a run that was saved under one revision goes on under
//! another as long as its steps are there. Work outside that was under way is begun again; a
//! pause keeps its time. docs/formats/journal.md, "Run bodies", has the layout.
//!
//! **Invariants**: reading never panics; what cannot be read whole is not read at all.

use super::scope::{Role, Scope, Scopes};
use super::{Directory, Entry, Frame, Run, Token, Wait, Waiting};
use crate::codec::{self, Reader};
use crate::plan::Plan;
use crate::queued::Queued;
use crate::services::Services;
use millrace_flow::Data;
use millrace_model::Timestamp;
use std::sync::Arc;
use std::time::Duration;

const VERSION: u8 = 2;
/// Without the times since when tokens wait.
const VERSION_1: u8 = 1;
const NONE: u32 = u32::MAX;
/// Counts above this are not of our writing.
const COUNT_MAX: usize = 10_000_000;

impl Run {
    /// Appends the run as it stands.
    pub(crate) fn save(&self, at: Duration, out: &mut Vec<u8>) {
        out.push(VERSION);
        out.extend_from_slice(&self.notes.now.0.to_le_bytes());
        out.extend_from_slice(&self.notes.executions.to_le_bytes());
        codec::write_count(self.notes.given_bytes, out);
        codec::write_count(self.frames.len(), out);
        for frame in &self.frames {
            frame.save(out);
        }
        codec::write_count(self.scopes.iter().count(), out);
        for (_, scope) in self.scopes.iter() {
            save_scope(scope, out);
        }
        let again = self.waits.values().filter(|wait| is_begun_again(&wait.what));
        let tokens: Vec<&Token> = again.map(|wait| &wait.token).chain(self.ready.iter()).collect();
        codec::write_count(tokens.len(), out);
        for token in tokens {
            self.save_token(token, out);
        }
        out.extend_from_slice(&self.next_wait.to_le_bytes());
        let waits = || self.waits.iter().filter(|(_, wait)| !is_begun_again(&wait.what));
        codec::write_count(waits().count(), out);
        for (number, wait) in waits() {
            out.extend_from_slice(&number.to_le_bytes());
            self.save_token(&wait.token, out);
            let left = wait.deadline.map_or(u64::MAX, |deadline| {
                u64::try_from(deadline.saturating_sub(at).as_millis()).unwrap_or(u64::MAX)
            });
            out.extend_from_slice(&left.to_le_bytes());
            out.extend_from_slice(&wait.begun.0.to_le_bytes());
            save_waiting(&wait.what, out);
        }
    }

    /// Looks up the secrets that the run may have used before it was saved: their values were not
    /// saved, and what a server gave back of them may have been.
    pub(crate) fn hide_again(&self, services: &dyn Services) {
        let mut secrets = self.notes.secrets.borrow_mut();
        for plan in self.frames.iter().map(|frame| &frame.plan) {
            for name in &plan.secrets {
                if let Some(value) = services.secret(plan.workspace, name) {
                    secrets.add(name, &value);
                }
            }
        }
    }

    fn plan_at(&self, scope: u32) -> Option<&Plan> {
        let frame = self.scopes.get(scope)?.frame;
        self.frames.get(usize::from(frame)).map(|frame| &*frame.plan)
    }

    fn save_token(&self, token: &Token, out: &mut Vec<u8>) {
        let step = self.plan_at(token.scope).and_then(|plan| plan.step(token.step));
        codec::write_text(step.map_or("", |step| &step.id), out);
        out.extend_from_slice(&token.scope.to_le_bytes());
        out.extend_from_slice(&token.tries.to_le_bytes());
        codec::write(&token.input, out);
        match &token.entry {
            Entry::Input | Entry::Fail(_) => out.push(0),
            Entry::Resume(data) => {
                out.push(1);
                codec::write(data, out);
            }
        }
    }

    /// Reads a run that was saved.
    pub(crate) fn restore(
        queued: &Arc<Queued>,
        attempt: u32,
        bytes: &[u8],
        directory: &dyn Directory,
        (now, at): (Timestamp, Duration),
    ) -> Option<Self> {
        let reader = &mut Reader(bytes);
        let version = reader.u8()?;
        if ![VERSION, VERSION_1].contains(&version) {
            return None;
        }
        let started = Timestamp(reader.i64()?);
        let mut run = Self::empty(Arc::clone(queued), attempt, started, at);
        run.clocks = (now, at);
        run.notes.executions = reader.u32()?;
        run.notes.given_bytes = reader.count()?;
        for place in 0..count(reader)? {
            run.frames.push(Frame::restore(reader, queued, place == 0, directory)?);
        }
        let mut places = Vec::new();
        for _ in 0..count(reader)? {
            places.push(restore_scope(reader)?);
        }
        run.scopes = Scopes::from_places(places);
        for _ in 0..count(reader)? {
            let token = run.restore_token(reader)?;
            run.ready.push_back(token);
        }
        run.next_wait = reader.u32()?;
        for _ in 0..count(reader)? {
            let number = reader.u32()?;
            let token = run.restore_token(reader)?;
            let left = reader.u64()?;
            let deadline = (left != u64::MAX).then(|| at + Duration::from_millis(left));
            let begun = match version {
                VERSION_1 => now,
                _ => Timestamp(reader.i64()?),
            };
            let what = restore_waiting(reader)?;
            if run.blocks(&token, &what) {
                run.blocking += 1;
            }
            run.waits.insert(number, Wait { token, since: at, begun, deadline, what });
        }
        (reader.0.is_empty() && !run.frames.is_empty()).then_some(run)
    }

    fn restore_token(&self, reader: &mut Reader<'_>) -> Option<Token> {
        let id = reader.text()?;
        let scope = reader.u32()?;
        let tries = reader.u32()?;
        let input = reader.data()?;
        let entry = match reader.u8()? {
            0 => Entry::Input,
            1 => Entry::Resume(reader.data()?),
            _ => return None,
        };
        let step = self.plan_at(scope)?.step_number(id)?;
        Some(Token { step, scope, input, entry, tries })
    }
}

/// Futures and retries are begun again after a crash.
fn is_begun_again(what: &Waiting) -> bool {
    matches!(what, Waiting::Future(_) | Waiting::Retry { .. })
}

fn count(reader: &mut Reader<'_>) -> Option<usize> {
    reader.count().filter(|count| *count <= COUNT_MAX)
}

impl Frame {
    fn save(&self, out: &mut Vec<u8>) {
        codec::write_text(&self.plan.name, out);
        codec::write(&self.trigger, out);
        let outputs = || {
            let named = self.plan.steps.iter().zip(&self.outputs);
            named.filter(|(_, output)| **output != Data::Missing)
        };
        codec::write_count(outputs().count(), out);
        for (step, output) in outputs() {
            codec::write_text(&step.id, out);
            codec::write(output, out);
        }
    }

    fn restore(
        reader: &mut Reader<'_>,
        queued: &Queued,
        is_first: bool,
        directory: &dyn Directory,
    ) -> Option<Self> {
        let name = reader.text()?;
        let trigger = reader.data()?;
        let plan = if is_first {
            Arc::clone(&queued.plan)
        } else {
            directory.find(queued.plan.workspace, name)?
        };
        let mut frame = Self::new(plan, trigger);
        for _ in 0..count(reader)? {
            let step = reader.text()?;
            let output = reader.data()?;
            let number = frame.plan.step_number(step);
            let place = number.and_then(|number| frame.outputs.get_mut(usize::from(number)));
            if let Some(place) = place {
                *place = output;
            }
        }
        Some(frame)
    }
}

fn save_scope(scope: Option<&Scope>, out: &mut Vec<u8>) {
    let Some(scope) = scope else { return out.push(0) };
    out.push(1);
    out.extend_from_slice(&scope.parent.unwrap_or(NONE).to_le_bytes());
    out.extend_from_slice(&scope.frame.to_le_bytes());
    out.extend_from_slice(&scope.depth.to_le_bytes());
    out.extend_from_slice(&scope.live.to_le_bytes());
    let (role, wait, place) = match scope.role {
        Role::Run => (0, 0, 0),
        Role::Item { wait, place } => (1, wait, place),
        Role::Guard { wait } => (2, wait, 0),
        Role::Called { wait } => (3, wait, 0),
    };
    out.push(role);
    out.extend_from_slice(&wait.to_le_bytes());
    out.extend_from_slice(&place.to_le_bytes());
    codec::write(&scope.last, out);
}

#[expect(clippy::option_option, reason = "the outer one is whether the bytes can be read")]
fn restore_scope(reader: &mut Reader<'_>) -> Option<Option<Scope>> {
    if reader.u8()? == 0 {
        return Some(None);
    }
    let parent = Some(reader.u32()?).filter(|parent| *parent != NONE);
    let frame = reader.take().map(u16::from_le_bytes)?;
    let depth = reader.u32()?;
    let live = reader.u32()?;
    let (role, wait, place) = (reader.u8()?, reader.u32()?, reader.u32()?);
    let role = match role {
        0 => Role::Run,
        1 => Role::Item { wait, place },
        2 => Role::Guard { wait },
        3 => Role::Called { wait },
        _ => return None,
    };
    let last = reader.data()?;
    Some(Some(Scope { parent, frame, depth, role, live, last }))
}

fn save_waiting(what: &Waiting, out: &mut Vec<u8>) {
    match what {
        Waiting::Future(_) | Waiting::Retry { .. } => out.push(0),
        Waiting::Pause { until, carry } => {
            out.push(1);
            out.extend_from_slice(&until.0.to_le_bytes());
            codec::write(carry, out);
        }
        Waiting::Each { items, begun, open, results } => {
            out.push(2);
            let items = items.as_slice();
            codec::write_count(items.len(), out);
            items.iter().for_each(|item| codec::write(item, out));
            codec::write_count(*begun, out);
            codec::write_count(*open, out);
            codec::write_count(results.len(), out);
            results.iter().for_each(|result| codec::write(result, out));
        }
        Waiting::Guard => out.push(3),
        Waiting::Call => out.push(4),
        Waiting::Gather { inputs } => {
            out.push(5);
            codec::write_count(inputs.len(), out);
            inputs.iter().for_each(|input| codec::write(input, out));
        }
    }
}

fn restore_waiting(reader: &mut Reader<'_>) -> Option<Waiting> {
    let list = |reader: &mut Reader<'_>| -> Option<Vec<Data>> {
        let count = count(reader)?;
        let mut list = Vec::with_capacity(count.min(reader.0.len()));
        for _ in 0..count {
            list.push(reader.data()?);
        }
        Some(list)
    };
    Some(match reader.u8()? {
        1 => Waiting::Pause { until: Timestamp(reader.i64()?), carry: reader.data()? },
        2 => Waiting::Each {
            items: list(reader)?.into_iter(),
            begun: count(reader)?,
            open: count(reader)?,
            results: list(reader)?,
        },
        3 => Waiting::Guard,
        4 => Waiting::Call,
        5 => Waiting::Gather { inputs: list(reader)? },
        _ => return None,
    })
}
