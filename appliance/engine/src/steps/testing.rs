//! A run for tests of steps: state, variables, last values, a clock that tests set, and functions
//! in place of scripts.
//!
//! **Invariants**: what a step did stands in the public fields, in the order in which it did it.

use crate::compile::{Compile, CompileFault, Compiler, Registry};
use crate::script::{Level, Root, Unit};
use crate::services::{FoundTag, HistoryQuery, IssueChange, Last, Publish, Services};
use crate::step::{BoxFuture, Context, Field, Outcome, Port, Step, StepFault};
use millrace_flow::document::{self, Document};
use millrace_flow::{Data, Map};
use millrace_model::time::NANOS_PER_SECOND;
use millrace_model::{TagId, Timestamp};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A function in place of a script.
type Function = Box<dyn Fn(&Data, &Data) -> Result<Data, StepFault>>;

/// When tests begin.
pub(super) const START: i64 = 1_800_000_000 * NANOS_PER_SECOND;

/// A run.
pub(super) struct FakeContext {
    pub(super) now: i64,
    pub(super) item: Data,
    pub(super) trigger: Data,
    pub(super) states: BTreeMap<String, Data>,
    pub(super) variables: BTreeMap<String, Data>,
    pub(super) lasts: BTreeMap<String, Data>,
    pub(super) published: Vec<Publish>,
    pub(super) refusal: Option<StepFault>,
    pub(super) logged: Vec<(Level, String)>,
    pub(super) issues: Vec<(String, IssueChange)>,
    /// Settings of the pipeline that steps are compiled for.
    pub(super) settings: Value,
    executions: u32,
    /// By the source of the expression or the body.
    pub(super) functions: BTreeMap<String, Function>,
    unit: Unit,
    services: Arc<FakeServices>,
    as_services: Arc<dyn Services>,
}

/// The box.
#[derive(Default)]
pub(super) struct FakeServices {
    pub(super) history: Mutex<Vec<HistoryQuery>>,
    pub(super) tags: Mutex<Vec<String>>,
}

impl FakeContext {
    pub(super) fn new() -> Self {
        let services = Arc::new(FakeServices::default());
        Self {
            now: START,
            item: Data::Missing,
            trigger: Data::Missing,
            states: BTreeMap::new(),
            variables: BTreeMap::new(),
            lasts: BTreeMap::new(),
            published: Vec::new(),
            refusal: None,
            logged: Vec::new(),
            issues: Vec::new(),
            settings: json!({}),
            executions: 0,
            functions: BTreeMap::new(),
            unit: Unit::default(),
            as_services: services.clone(),
            services,
        }
    }

    pub(super) fn fake_services(&self) -> &FakeServices {
        &self.services
    }

    /// Compiles a step of a kind from its fields.
    pub(super) fn compile(
        &mut self,
        kind: &str,
        fields: Value,
    ) -> Result<Arc<dyn Step>, CompileFault> {
        let mut registry = Registry::new();
        super::register(&mut registry);
        let compile: Compile = registry.get(kind).expect("the kind is registered");
        let document: Document = serde_json::from_value(json!({
            "millrace": 1,
            "name": "test",
            "settings": self.settings,
            "steps": { "it": { "kind": kind, "fields": fields } },
            "wires": [],
        }))
        .expect("the document of a test is well formed");
        let step: &document::Step = document.steps.get("it").expect("it is there");
        compile(step, &mut Compiler::new("it", step, &document, &mut self.unit))
    }

    /// The same, of a step that must compile.
    pub(super) fn step(&mut self, kind: &str, fields: Value) -> Arc<dyn Step> {
        self.compile(kind, fields).expect("the step compiles")
    }

    /// Says what the expression or body with this source does, given `$item` and `$trigger`.
    pub(super) fn function(
        &mut self,
        source: &str,
        function: impl Fn(&Data, &Data) -> Data + 'static,
    ) {
        let function = move |item: &Data, trigger: &Data| Ok(function(item, trigger));
        self.functions.insert(source.to_owned(), Box::new(function));
    }

    /// Executes on an input.
    pub(super) fn run(&mut self, step: &Arc<dyn Step>, input: Data) -> Result<Outcome, StepFault> {
        self.item = input.clone();
        self.executions += 1;
        step.execute(self, &input)
    }

    /// Executes on an input that passes at one port.
    pub(super) fn out(&mut self, step: &Arc<dyn Step>, input: Data) -> (Port, Data) {
        match self.run(step, input) {
            Ok(Outcome::Out(port, data)) => (port, data),
            other => panic!("one output was expected, not {}", name_of(&other)),
        }
    }

    /// Everything that came out, whichever way.
    pub(super) fn outs(&mut self, step: &Arc<dyn Step>, input: Data) -> Vec<(Port, Data)> {
        listed(self.run(step, input))
    }

    /// Executes on an input that is refused.
    pub(super) fn fault(&mut self, step: &Arc<dyn Step>, input: Data) -> StepFault {
        match self.run(step, input) {
            Err(fault) => fault,
            other => panic!("a fault was expected, not {}", name_of(&other)),
        }
    }

    /// Executes on an input that makes it pause.
    pub(super) fn pause(&mut self, step: &Arc<dyn Step>, input: Data) -> (Timestamp, Data) {
        match self.run(step, input) {
            Ok(Outcome::Pause { until, carry }) => (until, carry),
            other => panic!("a pause was expected, not {}", name_of(&other)),
        }
    }

    /// Goes on after a pause, at its end.
    pub(super) fn resume(
        &mut self,
        step: &Arc<dyn Step>,
        pause: (Timestamp, Data),
    ) -> Result<Outcome, StepFault> {
        self.now = self.now.max(pause.0.0);
        step.resume(self, pause.1)
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, millis: i64) {
        self.now += millis * 1_000_000;
    }

    /// A trigger's value on a tag, at the present time.
    pub(super) fn value(&mut self, path: &str, value: Data) -> Data {
        self.value_at(path, value, self.now)
    }

    /// A trigger's value on a tag, measured at a time.
    pub(super) fn value_at(&mut self, path: &str, value: Data, time: i64) -> Data {
        let mut map = Map::new();
        map.set("path", text(path));
        map.set("value", value);
        map.set("time", text(&Timestamp(time).to_rfc3339()));
        map.set("quality", text("good"));
        let data = Data::Map(Arc::new(map));
        self.trigger = data.clone();
        data
    }
}

/// One step on a clock: runs that pause go on when their time has come.
pub(super) struct OnTime {
    pub(super) run: FakeContext,
    pub(super) step: Arc<dyn Step>,
    pub(super) waiting: Vec<(Timestamp, Data)>,
    /// Milliseconds after the start, port, and what came out.
    pub(super) out: Vec<(i64, Port, Data)>,
    /// Most runs that waited at once.
    pub(super) most: usize,
}

impl OnTime {
    pub(super) fn new(kind: &str, fields: Value) -> Self {
        let mut run = FakeContext::new();
        let step = run.step(kind, fields);
        Self { run, step, waiting: Vec::new(), out: Vec::new(), most: 0 }
    }

    fn take(&mut self, outcome: Result<Outcome, StepFault>) {
        if let Ok(Outcome::Pause { until, carry }) = outcome {
            self.waiting.push((until, carry));
            self.most = self.most.max(self.waiting.len());
            return;
        }
        let at = (self.run.now - START) / 1_000_000;
        self.out.extend(listed(outcome).into_iter().map(|(port, data)| (at, port, data)));
    }

    /// Lets time pass until so many milliseconds after the start.
    pub(super) fn until(&mut self, millis: i64) {
        let end = START + millis * 1_000_000;
        let step = Arc::clone(&self.step);
        while let Some(place) = (0..self.waiting.len())
            .min_by_key(|place| self.waiting[*place].0)
            .filter(|place| self.waiting[*place].0.0 <= end)
        {
            let pause = self.waiting.remove(place);
            let outcome = self.run.resume(&step, pause);
            self.take(outcome);
        }
        self.run.now = end;
    }

    /// An input, so many milliseconds after the start.
    pub(super) fn input(&mut self, millis: i64, input: Data) {
        self.until(millis);
        let step = Arc::clone(&self.step);
        let outcome = self.run.run(&step, input);
        self.take(outcome);
    }
}

/// Everything that came out, whichever way.
pub(super) fn listed(outcome: Result<Outcome, StepFault>) -> Vec<(Port, Data)> {
    match outcome {
        Ok(Outcome::Out(port, data)) => vec![(port, data)],
        Ok(Outcome::Many(list)) => list,
        Ok(Outcome::Nothing) => Vec::new(),
        other => panic!("outputs were expected, not {}", name_of(&other)),
    }
}

/// What an outcome is, for messages.
pub(super) fn name_of(outcome: &Result<Outcome, StepFault>) -> String {
    match outcome {
        Ok(Outcome::Out(port, data)) => format!("Out({port}, {data:?})"),
        Ok(Outcome::Many(list)) => format!("Many({list:?})"),
        Ok(Outcome::Nothing) => "Nothing".into(),
        Ok(Outcome::Wait(_)) => "Wait".into(),
        Ok(Outcome::Pause { until, .. }) => format!("Pause until {}", until.0),
        Ok(Outcome::Each(list)) => format!("Each({list:?})"),
        Ok(Outcome::Guard(_)) => "Guard".into(),
        Ok(Outcome::Call { pipeline, .. }) => format!("Call({pipeline})"),
        Ok(Outcome::Stop(_)) => "Stop".into(),
        Ok(Outcome::Gather) => "Gather".into(),
        Err(fault) => format!("{}: {fault}", fault.code),
    }
}

/// Data from JSON.
pub(super) fn data(value: Value) -> Data {
    crate::json::data_of(&value)
}

pub(super) fn text(text: &str) -> Data {
    Data::Text(text.into())
}

/// Asserts that data are what JSON says, numbers by their value.
#[track_caller]
pub(super) fn assert_is(found: &Data, wanted: Value) {
    let wanted = data(wanted);
    assert!(found.is_same(&wanted), "found  {found:?}\nwanted {wanted:?}");
}

impl Context for FakeContext {
    fn evaluate(&mut self, field: &Field) -> Result<Data, StepFault> {
        Ok(match field {
            Field::Literal(data) => data.clone(),
            Field::Path(path) => {
                let root = match path.root() {
                    Root::Trigger => self.trigger.clone(),
                    Root::Item => self.item.clone(),
                    Root::Variable(name) => self.variable(name),
                    Root::Run | Root::Step(_) => Data::Missing,
                };
                path.follow(&root)
                    .map_err(|fault| StepFault::lasting("script", fault.to_string()))?
            }
            Field::Template(parts) => {
                let mut joined = String::new();
                for part in parts {
                    joined.push_str(&super::text::plain_text(&self.evaluate(part)?));
                }
                text(&joined)
            }
            Field::Map(fields) => {
                let mut map = Map::new();
                for (name, field) in fields {
                    map.set(name.clone(), self.evaluate(field)?);
                }
                Data::Map(Arc::new(map))
            }
            Field::List(fields) => Data::List(
                fields.iter().map(|field| self.evaluate(field)).collect::<Result<_, _>>()?,
            ),
            Field::Script(number) => return self.script(*number),
        })
    }

    fn script(&mut self, function: usize) -> Result<Data, StepFault> {
        let source = &self.unit.functions[function].source;
        let function = self.functions.get(source);
        let function = function.unwrap_or_else(|| panic!("the test knows no `{source}`"));
        function(&self.item, &self.trigger)
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.now)
    }

    fn trigger(&self) -> &Data {
        &self.trigger
    }

    fn run_id(&self) -> &str {
        "7-1"
    }

    fn workspace(&self) -> u16 {
        1
    }

    fn execution(&self) -> u32 {
        self.executions
    }

    fn state(&self, key: &str) -> Data {
        self.states.get(key).cloned().unwrap_or_default()
    }

    fn set_state(&mut self, key: &str, data: Data) -> Result<(), StepFault> {
        match data {
            Data::Missing => drop(self.states.remove(key)),
            // As the engine keeps it: through its written form.
            data => {
                let written = super::text::json_text(&data);
                let read = Data::from_json_text(&written).expect("it was just written");
                self.states.insert(key.to_owned(), read);
            }
        }
        Ok(())
    }

    fn variable(&self, name: &str) -> Data {
        self.variables.get(name).cloned().unwrap_or_default()
    }

    fn set_variable(&mut self, name: &str, data: Data) -> Result<(), StepFault> {
        match data {
            Data::Missing => drop(self.variables.remove(name)),
            data => drop(self.variables.insert(name.to_owned(), data)),
        }
        Ok(())
    }

    fn publish(&mut self, values: Vec<Publish>) -> Result<(), StepFault> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.clone());
        }
        self.published.extend(values);
        Ok(())
    }

    fn last(&mut self, path: &str) -> Data {
        self.lasts.get(path).cloned().unwrap_or_default()
    }

    fn log(&mut self, level: Level, line: &str) {
        self.logged.push((level, line.to_owned()));
    }

    fn issue(&mut self, key: &str, change: IssueChange) {
        self.issues.push((key.to_owned(), change));
    }

    fn services(&self) -> &Arc<dyn Services> {
        &self.as_services
    }

    fn is_stubbed(&self) -> bool {
        false
    }

    fn stub(&mut self, _fields: Data) -> Result<Data, StepFault> {
        Ok(Data::Missing)
    }

    fn time_left(&self) -> Duration {
        Duration::from_secs(1)
    }
}

impl Services for FakeServices {
    fn last(&self, _workspace: u16, _path: &str) -> Option<Last> {
        None
    }

    fn search(&self, _workspace: u16, filter: &str, limit: usize) -> Vec<FoundTag> {
        let filter = millrace_model::Filter::new(filter).expect("the test's filter is one");
        self.tags
            .lock()
            .iter()
            .filter(|path| filter.matches(path))
            .take(limit)
            .map(|path| FoundTag { tag: TagId(1), path: path.clone(), unit: None })
            .collect()
    }

    fn history(&self, _workspace: u16, query: HistoryQuery) -> BoxFuture<Result<Data, StepFault>> {
        self.history.lock().push(query);
        Box::pin(async { Ok(Data::List([].into())) })
    }

    fn secret(&self, _workspace: u16, _name: &str) -> Option<Arc<str>> {
        None
    }

    fn spawn(&self, _name: &'static str, future: BoxFuture<()>) {
        drop(future);
    }
}
