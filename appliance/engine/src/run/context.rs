//! The run, as a step and a script see it.
//!
//! **Invariants**: what a step changes is noted with the run; with stubs nothing goes outside.

use super::bench::{Bench, Stage, Stubs};
use super::notes::Notes;
use super::{Frame, Run};
use crate::json;
use crate::outbox::{Mark, Outbox};
use crate::plan::{Plan, PlanStep};
use crate::queued::{Queued, quality_data};
use crate::refusals::Refusals;
use crate::rehearse::OutputForm;
use crate::script::{Budget, FaultKind, Level, Root, Scope, Worker};
use crate::services::{IssueChange, Publish, Services};
use crate::state::cells::Owner;
use crate::state::undo::Undo;
use crate::step::{Context, Field, Outcome, StepFault};
use millrace_flow::{Data, Map};
use millrace_model::Timestamp;
use millrace_supervisor::Issue;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// A script may take so many times its CPU time on the wall.
const WALL_PER_CPU: u32 = 10;

/// Everything but the script worker, which calls back into this.
pub(super) struct Desk<'a> {
    pub(super) notes: &'a mut Notes,
    pub(super) frame: &'a Frame,
    pub(super) step: &'a PlanStep,
    pub(super) queued: &'a Queued,
    pub(super) attempt: u32,
    pub(super) input: &'a Data,
    pub(super) stage: &'a Stage,
    pub(super) stubs: Option<&'a mut Stubs>,
    pub(super) deadline: Option<Duration>,
    pub(super) undo: &'a mut Undo,
}

/// The context of one execution.
pub(super) struct Execution<'a> {
    pub(super) desk: Desk<'a>,
    pub(super) scripts: &'a mut dyn Worker,
    pub(super) outbox: &'a mut dyn Outbox,
    pub(super) text: &'a mut String,
}

impl Run {
    /// Calls `body` with the context of an execution of a step.
    pub(super) fn with_context<T>(
        &mut self,
        bench: &mut Bench<'_>,
        (frame, step, input): (u16, &PlanStep, &Data),
        deadline: Option<Duration>,
        body: impl FnOnce(&mut Execution<'_>) -> T,
    ) -> Option<T> {
        let frame = self.frames.get(usize::from(frame))?;
        let mut execution = Execution {
            desk: Desk {
                notes: &mut self.notes,
                frame,
                step,
                queued: &self.queued,
                attempt: self.attempt,
                input,
                stage: bench.stage,
                stubs: bench.stubs.as_deref_mut(),
                deadline,
                undo: bench.undo,
            },
            scripts: bench.scripts,
            outbox: bench.outbox,
            text: bench.text,
        };
        Some(body(&mut execution))
    }
}

impl Run {
    /// Says what steps gave, for a step that is tried alone.
    pub(crate) fn pin(&mut self, pinned: &[(String, Data)]) {
        let Some(frame) = self.frames.first_mut() else { return };
        for (step, data) in pinned {
            let number = frame.plan.step_number(step);
            let place = number.and_then(|number| frame.outputs.get_mut(usize::from(number)));
            if let Some(place) = place {
                *place = data.clone();
            }
        }
    }

    /// Executes one step alone.
    pub(crate) fn try_step(
        &mut self,
        bench: &mut Bench<'_>,
        step: &PlanStep,
        (input, resumed): (&Data, Option<Data>),
        deadline: Option<Duration>,
    ) -> Result<Outcome, StepFault> {
        bench.undo.begin();
        let outcome =
            self.with_context(bench, (0, step, input), deadline, |context| match resumed {
                None => step.step.execute(context, input),
                Some(data) => step.step.resume(context, data),
            });
        outcome.unwrap_or(Ok(Outcome::Nothing))
    }

    /// The key of the pipeline's order; `None` if the evaluation was interrupted.
    pub(crate) fn evaluate_key(
        &mut self,
        bench: &mut Bench<'_>,
    ) -> Option<Result<Data, StepFault>> {
        bench.undo.begin();
        let key = self.key(bench);
        self.notes.halted.is_none().then_some(key)
    }

    fn key(&mut self, bench: &mut Bench<'_>) -> Result<Data, StepFault> {
        let plan = Arc::clone(self.plan());
        let trigger = self.queued.start.data();
        let step = plan.triggers.get(usize::from(self.queued.trigger));
        let step = step.and_then(|trigger| plan.step(trigger.step));
        let (Some(step), Some(key)) = (step, &plan.key) else { return Ok(Data::Missing) };
        self.with_context(bench, (0, step, &trigger), None, |context| context.evaluate(key))
            .unwrap_or(Ok(Data::Missing))
    }
}

impl Desk<'_> {
    fn plan(&self) -> &Plan {
        &self.frame.plan
    }

    fn run_data(&self) -> Data {
        let mut map = Map::new();
        map.set("id", Data::Text(self.id().into()));
        map.set("attempt", Data::Int(i64::from(self.attempt)));
        map.set("started", Data::Text(self.notes.now.to_rfc3339().into()));
        // Later than the start, in a run that has waited.
        map.set("now", Data::Text(self.stage.clock.now().to_rfc3339().into()));
        Data::Map(Arc::new(map))
    }

    fn id(&self) -> &str {
        self.notes.id_text.get_or_init(|| self.queued.id().to_string())
    }

    fn output_of(&self, step: &str) -> Data {
        let number = self.plan().step_number(step);
        let output = number.and_then(|number| self.frame.outputs.get(usize::from(number)));
        output.cloned().unwrap_or_default()
    }

    fn after(&self) -> Duration {
        self.stage.clock.monotonic().saturating_sub(self.notes.began)
    }

    fn set_step_state(&mut self, key: &str, data: Data) -> Result<(), String> {
        self.room_for_changes()?;
        let number = self.plan().number;
        let cell = self.step.cell(&self.stage.states, number);
        let set = self.stage.states.set(cell, key, data.clone())?;
        self.undo.note(cell, set, data.clone(), false);
        let owner = Owner::Step(number, Arc::clone(&self.step.id));
        self.notes.change(&owner, key, &data);
        Ok(())
    }

    fn state_of_step(&self, key: &str) -> Data {
        self.step.state(&self.stage.states, self.plan().number, key)
    }

    fn room_for_changes(&self) -> Result<(), String> {
        let most = self.stage.config.effects_bytes_max;
        if self.notes.changes.len() > most {
            return Err(format!("the run changes more than {most} bytes of state at once"));
        }
        Ok(())
    }

    /// The text without the secrets that the run has used.
    fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let secrets = self.notes.secrets.borrow();
        if secrets.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(secrets.scrub(text)) }
    }

    fn note_line(&mut self, level: Level, line: &str) {
        let line = &*self.shown(line);
        let after = self.after();
        let most = self.stage.config.log_lines_max;
        self.notes.log((&self.step.id, after), level, line, most);
        let step = &self.step.id;
        if let Some(stubs) = &mut self.stubs {
            stubs.note(step, OutputForm::Log { level, line: line.to_owned() });
        } else {
            let pipeline = &self.frame.plan.name;
            tracing::debug!(%pipeline, %step, ?level, "{line}");
        }
    }

    fn time_left(&self) -> Duration {
        match self.deadline {
            Some(deadline) => deadline.saturating_sub(self.stage.clock.monotonic()),
            None => Duration::MAX,
        }
    }
}

impl Scope for Desk<'_> {
    fn root(&mut self, root: Root<'_>) -> Data {
        match root {
            Root::Trigger => self.frame.trigger.clone(),
            Root::Item => self.input.clone(),
            Root::Run => self.run_data(),
            Root::Step(name) => self.output_of(name),
            Root::Variable(name) => self.plan().variables.get(name),
        }
    }

    fn state(&mut self, name: &str) -> Data {
        self.state_of_step(name)
    }

    fn set_state(&mut self, name: &str, data: Data) -> Result<(), String> {
        self.set_step_state(name, data)
    }

    fn now(&self) -> Timestamp {
        self.notes.now
    }

    fn seed(&self) -> u64 {
        self.notes.seed
    }

    fn is_stopped(&self) -> bool {
        self.halt().is_some()
    }

    fn console(&mut self, level: Level, line: &str) {
        self.note_line(level, line);
    }
}

impl Context for Execution<'_> {
    fn evaluate(&mut self, field: &Field) -> Result<Data, StepFault> {
        Ok(match field {
            Field::Literal(data) => data.clone(),
            Field::Path(accessor) => {
                let found = match accessor.root() {
                    Root::Item => accessor.follow(self.desk.input),
                    Root::Trigger => accessor.follow(&self.desk.frame.trigger),
                    root => accessor.follow(&self.desk.root(root)),
                };
                found.map_err(|message| StepFault::lasting("script", message))?
            }
            Field::Template(parts) => {
                let mut text = String::new();
                for part in parts {
                    self.evaluate(part)?.write_js_text(&mut text);
                }
                Data::Text(text.into())
            }
            Field::Map(members) => {
                let mut map = Map::new();
                for (name, member) in members {
                    map.set(Arc::clone(name), self.evaluate(member)?);
                }
                Data::Map(Arc::new(map))
            }
            Field::List(items) => {
                Data::List(items.iter().map(|item| self.evaluate(item)).collect::<Result<_, _>>()?)
            }
            Field::Script(function) => self.script(*function)?,
        })
    }

    fn script(&mut self, function: usize) -> Result<Data, StepFault> {
        let plan = Arc::clone(&self.desk.frame.plan);
        let Some(unit) = &plan.unit else {
            return Err(StepFault::lasting("script", "the pipeline has no scripts"));
        };
        if self.desk.is_stopped() {
            return Err(self.desk.halted(None));
        }
        let config = &self.desk.stage.config;
        let cpu = plan.script_cpu.saturating_sub(self.desk.notes.script_cpu);
        let budget = Budget {
            cpu,
            wall: (cpu * WALL_PER_CPU).min(self.desk.time_left()),
            output_bytes_max: config.script_output_bytes_max,
            console_bytes_max: config.script_console_bytes_max,
        };
        let report = self.scripts.call(unit, function, &mut self.desk, &budget);
        let notes = &mut self.desk.notes;
        notes.script_cpu += report.cpu;
        notes.script_memory_bytes = notes.script_memory_bytes.max(report.memory_bytes);
        report.result.map_err(|fault| {
            if fault.kind == FaultKind::Stopped {
                return self.desk.halted(fault.line);
            }
            self.desk.notes.is_killed |= fault.kind.is_limit();
            let message = match fault.line {
                Some(line) => format!("line {line}: {}", fault.message),
                None => fault.message.clone(),
            };
            let code = if fault.kind.is_limit() { "limit" } else { "script" };
            StepFault { code, message, is_transient: false, script: Some(fault), details: None }
        })
    }

    fn now(&self) -> Timestamp {
        self.desk.notes.now
    }

    fn trigger(&self) -> &Data {
        &self.desk.frame.trigger
    }

    fn run_id(&self) -> &str {
        self.desk.id()
    }

    fn workspace(&self) -> u16 {
        self.desk.plan().workspace
    }

    fn execution(&self) -> u32 {
        self.desk.notes.executions
    }

    fn state(&self, key: &str) -> Data {
        self.desk.state_of_step(key)
    }

    fn set_state(&mut self, key: &str, data: Data) -> Result<(), StepFault> {
        self.desk.set_step_state(key, data).map_err(|message| StepFault::lasting("limit", message))
    }

    fn variable(&self, name: &str) -> Data {
        self.desk.plan().variables.get(name)
    }

    fn set_variable(&mut self, name: &str, data: Data) -> Result<(), StepFault> {
        let desk = &mut self.desk;
        let limit = |message| StepFault::lasting("limit", message);
        desk.room_for_changes().map_err(limit)?;
        let variables = &desk.frame.plan.variables;
        let set = desk.stage.states.set(variables, name, data.clone()).map_err(limit)?;
        desk.undo.note(variables, set, data.clone(), true);
        let owner = Owner::Variables(desk.plan().workspace);
        desk.notes.change(&owner, name, &data);
        if let Some(stubs) = &mut desk.stubs {
            let form = OutputForm::Variable { name: name.to_owned(), value: data };
            stubs.note(&desk.step.id, form);
        }
        Ok(())
    }

    fn publish(&mut self, values: Vec<Publish>) -> Result<(), StepFault> {
        self.outbox.mark(Mark::Batch);
        let (published, bytes) = (self.desk.notes.published, self.desk.notes.published_bytes);
        let count = values.len();
        let mut refusals = Refusals::default();
        for (place, value) in values.into_iter().enumerate() {
            let path = value.path.clone();
            if let Err(fault) = self.publish_one(value) {
                refusals.add(place, path, fault);
            }
        }
        let refused = refusals.into_fault(count);
        if refused.is_some() {
            self.outbox.undo(Mark::Batch);
            self.desk.notes.published = published;
            self.desk.notes.published_bytes = bytes;
        }
        refused.map_or(Ok(()), Err)
    }

    fn last(&mut self, path: &str) -> Data {
        let workspace = self.desk.plan().workspace;
        let Some(last) = self.desk.stage.services.last(workspace, path) else {
            return Data::Missing;
        };
        let mut map = Map::new();
        map.set("path", Data::Text(path.into()));
        map.set("value", last.value);
        map.set("time", Data::Text(last.time.to_rfc3339().into()));
        map.set("received", Data::Text(last.received.to_rfc3339().into()));
        map.set("quality", quality_data(last.quality));
        Data::Map(Arc::new(map))
    }

    fn log(&mut self, level: Level, line: &str) {
        let desk = &mut self.desk;
        let line = &*desk.shown(line);
        if desk.stubs.is_none() {
            let (pipeline, step) = (&*desk.frame.plan.name, &*desk.step.id);
            match level {
                Level::Debug => tracing::debug!(pipeline, step, "{line}"),
                Level::Info => tracing::info!(pipeline, step, "{line}"),
                Level::Warn => tracing::warn!(pipeline, step, "{line}"),
                Level::Error => tracing::error!(pipeline, step, "{line}"),
            }
        }
        desk.note_line(level, line);
    }

    fn issue(&mut self, key: &str, change: IssueChange) {
        let desk = &mut self.desk;
        let is_raised = matches!(change, IssueChange::Raise { .. });
        if let Some(stubs) = &mut desk.stubs {
            let form = OutputForm::Issue { key: key.to_owned(), is_raised };
            return stubs.note(&desk.step.id, form);
        }
        let key = issue_key(&desk.frame.plan.name, key);
        let stage = desk.stage;
        stage.issue_hops.note(&key, desk.queued.hops.saturating_add(1), &stage.issues);
        match change {
            IssueChange::Raise { severity, what, effect, remedy } => {
                let shown = |text: String| desk.shown(&text).into_owned();
                let (what, effect, remedy) = (shown(what), shown(effect), shown(remedy));
                desk.stage.issues.raise(Issue { key, severity, what, effect, remedy });
            }
            IssueChange::Clear => {
                desk.stage.issues.clear(&key);
            }
        }
    }

    fn services(&self) -> &Arc<dyn Services> {
        &self.desk.stage.services
    }

    fn hops(&self) -> u8 {
        self.desk.queued.hops.saturating_add(1)
    }

    fn secret(&self, name: &str) -> Option<Arc<str>> {
        let value = self.services().secret(self.workspace(), name)?;
        self.hide(name, &value);
        Some(value)
    }

    fn hide(&self, name: &str, form: &Arc<str>) {
        self.desk.notes.secrets.borrow_mut().add(name, form);
    }

    fn is_stubbed(&self) -> bool {
        self.desk.stubs.is_some()
    }

    fn stub(&mut self, fields: Data) -> Result<Data, StepFault> {
        let step = &self.desk.step.id;
        let Some(stubs) = &mut self.desk.stubs else { return Ok(Data::Null) };
        stubs.note(step, OutputForm::Call { fields });
        match stubs.faults.get(&**step) {
            Some(reason) => Err(StepFault::passing("unreachable", reason)),
            None => Ok(stubs.answers.get(&**step).cloned().unwrap_or(Data::Null)),
        }
    }

    fn time_left(&self) -> Duration {
        self.desk.time_left()
    }
}

/// The key of an issue that a pipeline raises.
pub(crate) fn issue_key(pipeline: &str, key: &str) -> String {
    format!("pipeline:{pipeline}:{key}")
}

impl Execution<'_> {
    fn publish_one(&mut self, mut value: Publish) -> Result<(), StepFault> {
        let desk = &mut self.desk;
        let (time, quality) = desk.queued.start.inherited();
        value.time = value.time.or(time);
        value.quality = value.quality.or(quality);
        if let Some(stubs) = &mut desk.stubs {
            stubs.note(&desk.step.id, OutputForm::Publish(value));
            return Ok(());
        }
        self.text.clear();
        write_payload(&value, self.text)
            .map_err(|message| StepFault::lasting("bad_input", message))?;
        let bytes = desk.notes.published_bytes + value.path.len() + self.text.len() + 64;
        let most = desk.stage.config.effects_bytes_max;
        if bytes > most {
            let message = format!("the run publishes more than {most} bytes at once");
            return Err(StepFault::lasting("limit", message));
        }
        self.outbox
            .publish(&value.path, self.text.as_bytes())
            .map_err(|message| StepFault::lasting("refused", message))?;
        desk.notes.published += 1;
        desk.notes.published_bytes = bytes;
        Ok(())
    }
}

/// Below this many nanoseconds an epoch number would be read as one of a coarser unit.
const PLAIN_NANOS_MIN: i64 = 100_000_000_000_000_000;

/// Writes a value in a shape that admission reads back exactly.
fn write_payload(value: &Publish, out: &mut String) -> Result<(), String> {
    use std::fmt::Write as _;
    match &value.value {
        Data::Missing => return Err("there is no value to publish (it is undefined)".into()),
        Data::Float(float) if !float.is_finite() => {
            return Err(format!("{float} cannot be published: it is no number"));
        }
        _ => {}
    }
    out.push_str("{\"value\":");
    json::write(&value.value, out);
    if let Some(Timestamp(nanos)) = value.time {
        out.push_str(",\"timestamp\":");
        if nanos >= PLAIN_NANOS_MIN {
            // Writing to a String cannot fail.
            let _infallible = write!(out, "{nanos}");
        } else {
            let _infallible = write!(out, "\"{}\"", Timestamp(nanos).to_rfc3339());
        }
    }
    if let Some(quality) = value.quality.filter(|quality| quality.0 != 0) {
        let _infallible = write!(out, ",\"quality\":{}", quality.0);
    }
    out.push('}');
    Ok(())
}
