//! A document, compiled: what runs walk on.
//!
//! Steps and wires are numbers here, fields are compiled, scripts are one unit. A plan never
//! changes; a new revision is a new plan beside the old one, on which its runs go on.
//!
//! **Invariants**: every number of a step in a plan is one of its steps; the wires have no cycle;
//! a plan that was built can be run.

mod fate;
mod graph;

use crate::compile::{CompileFault, Compiler, Registry};
use crate::config::Config;
use crate::script::{Compiled, ScriptHost, Unit};
use crate::state::cells::{Cell, Owner, States};
use crate::step::Step;
use crate::trigger::{Cause, Trigger};
use fate::Fate;
use graph::Reach;
use millrace_flow::document::{self, OnError, Order, Overlap, Retry, Settings};
use millrace_flow::kind::Group;
use millrace_flow::{Data, Document};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

/// Most steps of a pipeline.
pub const STEPS_MAX: usize = 1_000;

/// A pipeline, ready to run.
pub(crate) struct Plan {
    pub(crate) number: u32,
    pub(crate) workspace: u16,
    pub(crate) name: Arc<str>,
    pub(crate) revision: u32,
    pub(crate) settings: Settings,
    pub(crate) steps: Box<[PlanStep]>,
    pub(crate) triggers: Box<[Trigger]>,
    /// All scripts and expressions, if there are any.
    pub(crate) unit: Option<Compiled>,
    /// The expression of `in_order_by`.
    pub(crate) key: Option<crate::step::Field>,
    /// Its runs run on one thread: it has scripts, or steps that keep state, or it keeps order: the
    /// effects of two threads would not come to the journal in the order of their runs.
    pub(crate) is_pinned: bool,
    /// Whether something asks for the outputs of steps by name.
    pub(crate) keeps_outputs: bool,
    pub(crate) reach: Reach,
    pub(crate) script_cpu: Duration,
    pub(crate) variables: Arc<Cell>,
    /// Secrets that its steps use.
    pub(crate) secrets: Box<[Arc<str>]>,
    /// Whether it is in force.
    pub(crate) fate: Fate,
}

/// A step of a plan.
pub(crate) struct PlanStep {
    pub(crate) id: Arc<str>,
    pub(crate) kind: Arc<str>,
    pub(crate) step: Arc<dyn Step>,
    /// Where each port leads.
    pub(crate) ports: Box<[Box<[u16]>]>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) retry: Option<Box<Retry>>,
    pub(crate) on_fault: OnFault,
    /// The port at which a run goes on behind it, if it failed and may go on.
    pub(crate) behind: u8,
    pub(crate) is_disabled: bool,
    /// Its lasting state, once there is some.
    state: OnceLock<Arc<Cell>>,
}

impl PlanStep {
    /// An entry of its lasting state.
    pub(crate) fn state(&self, states: &States, pipeline: u32, key: &str) -> Data {
        if let Some(cell) = self.state.get() {
            return cell.get(key);
        }
        let found = states.find(&Owner::Step(pipeline, Arc::clone(&self.id)));
        found.map_or(Data::Missing, |cell| self.state.get_or_init(|| cell).get(key))
    }

    /// The cell of its lasting state, to change it.
    pub(crate) fn cell(&self, states: &States, pipeline: u32) -> &Arc<Cell> {
        self.state.get_or_init(|| states.cell(&Owner::Step(pipeline, Arc::clone(&self.id))))
    }
}

/// The name of a kind, one text for all steps of all plans.
fn shared_name(kind: &str) -> Arc<str> {
    static NAMES: LazyLock<BTreeMap<&'static str, Arc<str>>> = LazyLock::new(|| {
        millrace_flow::kind::ALL.iter().map(|kind| (kind.name, kind.name.into())).collect()
    });
    NAMES.get(kind).map_or_else(|| kind.into(), Arc::clone)
}

/// What a fault of a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnFault {
    Stop,
    Continue,
    GoTo(u16),
}

impl Plan {
    /// Number of a step by its id.
    pub(crate) fn step_number(&self, id: &str) -> Option<u16> {
        let at = self.steps.binary_search_by(|step| (*step.id).cmp(id)).ok()?;
        u16::try_from(at).ok()
    }

    pub(crate) fn step(&self, number: u16) -> Option<&PlanStep> {
        self.steps.get(usize::from(number))
    }

    /// The same plan with its state elsewhere.
    pub(crate) fn in_states(&self, states: &States) -> Self {
        let step = |step: &PlanStep| PlanStep {
            id: Arc::clone(&step.id),
            kind: Arc::clone(&step.kind),
            step: Arc::clone(&step.step),
            ports: step.ports.clone(),
            timeout: step.timeout,
            retry: step.retry.clone(),
            on_fault: step.on_fault,
            behind: step.behind,
            is_disabled: step.is_disabled,
            state: OnceLock::new(),
        };
        Self {
            number: self.number,
            workspace: self.workspace,
            name: Arc::clone(&self.name),
            revision: self.revision,
            settings: self.settings.clone(),
            steps: self.steps.iter().map(step).collect(),
            triggers: self.triggers.clone(),
            unit: self.unit.clone(),
            key: self.key.clone(),
            is_pinned: self.is_pinned,
            keeps_outputs: self.keeps_outputs,
            reach: self.reach.clone(),
            script_cpu: self.script_cpu,
            variables: states.cell(&Owner::Variables(self.workspace)),
            secrets: self.secrets.clone(),
            fate: Fate::default(),
        }
    }

    /// Whether runs of a key run one after the other.
    pub(crate) fn is_ordered(&self) -> bool {
        self.settings.order != Order::Parallel
    }

    /// The trigger that a call of this pipeline starts at.
    pub(crate) fn callable(&self) -> Option<&Trigger> {
        self.triggers.iter().find(|trigger| matches!(trigger.cause, Cause::Manual { .. }))
    }
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plan({} {} revision {})", self.number, self.name, self.revision)
    }
}

/// A pipeline's place in the box.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) number: u32,
    pub(crate) workspace: u16,
    pub(crate) revision: u32,
    pub(crate) name: String,
}

/// Builds plans.
pub(crate) struct Planner<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) host: &'a dyn ScriptHost,
    pub(crate) states: &'a States,
    pub(crate) config: &'a Config,
}

impl Planner<'_> {
    /// Compiles a document.
    ///
    /// # Errors
    /// Everything that is wrong with it, as far as it can be told at once.
    pub(crate) fn plan(
        &self,
        identity: &Identity,
        document: &Document,
    ) -> Result<Plan, Vec<CompileFault>> {
        if document.steps.len() > STEPS_MAX {
            let message = format!("has more than {STEPS_MAX} steps");
            return Err(vec![CompileFault { step: String::new(), field: None, message }]);
        }
        let mut faults = Vec::new();
        let graph = graph::Graph::read(document, &mut faults);
        let mut unit = Unit {
            pipeline: identity.number,
            name: identity.name.clone(),
            functions: Vec::new(),
            memory_bytes_max: document
                .settings
                .limits
                .memory_bytes
                .unwrap_or(self.config.script_memory_bytes),
        };
        let mut steps = Vec::with_capacity(document.steps.len());
        let mut triggers = Vec::new();
        let mut is_stateful = false;
        let mut secrets = Vec::new();
        for (place, (id, step)) in (0u16..).zip(&document.steps) {
            let mut compiler = Compiler::new(id, step, document, &mut unit);
            is_stateful |= step.known_kind().is_some_and(|kind| kind.is_stateful);
            match self.step(&graph, (place, id, step), &mut compiler) {
                Ok((step, trigger)) => {
                    steps.push(step);
                    triggers.extend(trigger);
                }
                Err(fault) => faults.push(fault),
            }
            is_stateful |= compiler.keeps_state;
            secrets.append(&mut compiler.secrets);
        }
        secrets.sort();
        secrets.dedup();
        let key = order_key(document, &mut unit, &mut faults);
        let has_trigger = document.steps.values().any(document::Step::is_trigger);
        if !has_trigger && faults.is_empty() {
            let message = "has no trigger: nothing would ever start it".to_owned();
            faults.push(CompileFault { step: String::new(), field: None, message });
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let keeps_outputs = uses_outputs(document);
        let compiled = self.compile(&unit)?;
        Ok(Plan {
            number: identity.number,
            workspace: identity.workspace,
            name: identity.name.as_str().into(),
            revision: identity.revision,
            settings: document.settings.clone(),
            steps: steps.into(),
            triggers: triggers.into(),
            is_pinned: compiled.is_some() || is_stateful || is_keyed(&document.settings),
            unit: compiled,
            key,
            keeps_outputs,
            reach: graph.reach(),
            script_cpu: document
                .settings
                .limits
                .cpu_ms
                .map_or(self.config.script_cpu, Duration::from_millis),
            variables: self.states.cell(&Owner::Variables(identity.workspace)),
            secrets: secrets.into(),
            fate: Fate::default(),
        })
    }

    fn step(
        &self,
        graph: &graph::Graph,
        (place, id, step): (u16, &str, &document::Step),
        compiler: &mut Compiler<'_>,
    ) -> Result<(PlanStep, Option<Trigger>), CompileFault> {
        let kind = step.known_kind();
        let is_trigger = kind.is_some_and(|kind| kind.group == Group::Trigger);
        let trigger = if is_trigger && !step.disabled {
            let cause = Cause::read(&step.kind, compiler)?;
            Some(Trigger { step: place, id: id.into(), cause })
        } else {
            None
        };
        let compiled: Arc<dyn Step> = match self.registry.compile(&step.kind, step, compiler) {
            Some(compiled) => compiled?,
            None if is_trigger => Arc::new(PassOn),
            None => {
                let message = format!("the kind `{}` is not known to this version", step.kind);
                return Err(compiler.step_fault(message));
            }
        };
        let on_fault = match &step.on_error {
            OnError::Stop => OnFault::Stop,
            OnError::Continue => OnFault::Continue,
            OnError::GoTo(to) => match graph.number(to) {
                Some(to) => OnFault::GoTo(to),
                None => {
                    let message = format!("`on_error` goes to the step `{to}`, which is not there");
                    return Err(compiler.step_fault(message));
                }
            },
        };
        let own_timeout = step.timeout_ms.or_else(|| kind.and_then(|kind| kind.timeout_ms));
        Ok((
            PlanStep {
                id: id.into(),
                kind: shared_name(&step.kind),
                step: compiled,
                ports: graph.ports(place),
                timeout: own_timeout.map(Duration::from_millis),
                retry: step.retry.map(Box::new),
                on_fault,
                behind: behind(&step.kind),
                is_disabled: step.disabled,
                state: OnceLock::new(),
            },
            trigger,
        ))
    }

    fn compile(&self, unit: &Unit) -> Result<Option<Compiled>, Vec<CompileFault>> {
        if unit.functions.is_empty() {
            return Ok(None);
        }
        self.host.compile(unit).map(Some).map_err(|faults| {
            let fault = |fault: crate::script::SyntaxFault| {
                let function = unit.functions.get(fault.function);
                CompileFault {
                    step: function.map(|function| function.step.clone()).unwrap_or_default(),
                    field: function.map(|function| function.field.clone()),
                    message: fault.to_string(),
                }
            };
            faults.into_iter().map(fault).collect()
        })
    }
}

fn is_keyed(settings: &Settings) -> bool {
    settings.order != Order::Parallel || settings.overlap != Overlap::Queue
}

/// Steps that open branches go on behind them at another port than the first.
fn behind(kind: &str) -> u8 {
    match kind {
        "foreach" => 1,
        "try" => 2,
        _ => 0,
    }
}

fn order_key(
    document: &Document,
    unit: &mut Unit,
    faults: &mut Vec<CompileFault>,
) -> Option<crate::step::Field> {
    let Order::InOrderBy(source) = &document.settings.order else { return None };
    let source = source.trim();
    let source =
        source.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")).unwrap_or(source);
    let nobody = document::Step {
        kind: String::new(),
        label: String::new(),
        fields: BTreeMap::default(),
        timeout_ms: None,
        retry: None,
        on_error: OnError::Stop,
        disabled: false,
    };
    let compiled = Compiler::new("", &nobody, document, unit)
        .compile_expression("settings.order.in_order_by", source);
    match compiled {
        Ok(field) => Some(field),
        Err(fault) => {
            faults.push(fault);
            None
        }
    }
}

/// Whether anything in the document speaks of `$step`.
fn uses_outputs(document: &Document) -> bool {
    fn speaks(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::String(text) => text.contains("$step"),
            serde_json::Value::Array(items) => items.iter().any(speaks),
            serde_json::Value::Object(members) => members.values().any(speaks),
            _ => false,
        }
    }
    document.steps.values().any(|step| step.fields.values().any(speaks))
}

/// A trigger's step: gives what started the run.
struct PassOn;

impl Step for PassOn {
    fn execute(
        &self,
        _: &mut dyn crate::step::Context,
        input: &Data,
    ) -> Result<crate::step::Outcome, crate::step::StepFault> {
        Ok(crate::step::Outcome::Out(0, input.clone()))
    }
}

#[cfg(test)]
mod tests;
