//! What the tests of this crate share: a context, a pool, and servers on loopback.
//!
//! **Invariants**: every server listens on a port of its own and ends with its test.

use crate::{Policy, Pool};
use millrace_engine::Compiler;
use millrace_engine::script::{Level, Unit};
use millrace_engine::services::{FoundTag, HistoryQuery, IssueChange, Last, Publish, Services};
use millrace_engine::step::{BoxFuture, Context, Field, Outcome, Step, StepFault};
use millrace_flow::{Data, Map, document};
use millrace_model::Timestamp;
use millrace_supervisor::{Clock, Issues, SystemClock, spawn};
use parking_lot::Mutex;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

pub(crate) mod broker;
pub(crate) mod server;
pub(crate) mod tls;

/// A box for steps: a pool that may reach loopback, secrets, and a folder.
pub(crate) struct Bench {
    pub(crate) pool: Arc<Pool>,
    pub(crate) issues: Arc<Issues>,
    pub(crate) folder: tempfile::TempDir,
    services: Arc<dyn Services>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(&["127.0.0.1"])
    }

    /// A box that allows these hosts by name.
    pub(crate) fn with(allowed: &[&str]) -> Self {
        Self::on_clock(allowed, Arc::new(SystemClock::new()))
    }

    /// The same with a clock of the test's.
    pub(crate) fn on_clock(allowed: &[&str], clock: Arc<dyn Clock>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let policy = Policy {
            allowed_hosts: allowed.iter().map(|&host| host.to_owned()).collect(),
            own_listeners: Vec::new(),
            folder: Some(folder.path().to_owned()),
        };
        let issues = Arc::new(Issues::new(Arc::clone(&clock)));
        let pool = Pool::new(policy, clock, Arc::clone(&issues));
        Self { pool, issues, folder, services: Arc::new(Secrets) }
    }

    pub(crate) fn compile(&self, kind: &str, fields: Value) -> Result<Arc<dyn Step>, String> {
        let json = serde_json::json!({
            "millrace": 1, "name": "p", "steps": { "s": { "kind": kind, "fields": fields } },
        });
        let document: document::Document = serde_json::from_value(json).unwrap();
        let mut unit = Unit::default();
        let step = document.steps.get("s").unwrap();
        let mut compiler = Compiler::new("s", step, &document, &mut unit);
        let compile = crate::register::compile_of(kind).unwrap();
        compile(step, &mut compiler, &self.pool).map_err(|fault| fault.to_string())
    }

    pub(crate) fn context(&self) -> TestContext {
        TestContext {
            services: Arc::clone(&self.services),
            stubs: Vec::new(),
            is_stubbed: false,
            time_left: Duration::from_secs(5),
            trigger: Data::Missing,
        }
    }

    /// Compiles and executes a step, in the time given.
    pub(crate) async fn run_within(
        &self,
        kind: &str,
        fields: Value,
        input: Value,
        time: Duration,
    ) -> Result<Data, StepFault> {
        let step = self.compile(kind, fields).unwrap();
        let mut context = self.context();
        context.time_left = time;
        match step.execute(&mut context, &data(input))? {
            Outcome::Wait(future) => future.await,
            Outcome::Out(0, data) => Ok(data),
            _ => panic!("another outcome"),
        }
    }

    pub(crate) async fn run(
        &self,
        kind: &str,
        fields: Value,
        input: Value,
    ) -> Result<Data, StepFault> {
        self.run_within(kind, fields, input, Duration::from_secs(5)).await
    }

    /// Compiles and executes a step in a rehearsal: the fields that it records.
    pub(crate) fn stub(&self, kind: &str, fields: Value, input: Value) -> Value {
        let step = self.compile(kind, fields).unwrap();
        let mut context = self.context();
        context.is_stubbed = true;
        let outcome = step.execute(&mut context, &data(input)).unwrap();
        assert!(matches!(outcome, Outcome::Out(0, _)), "a stub waits for nothing");
        millrace_engine::json::value_of(context.stubs.first().unwrap())
    }
}

pub(crate) fn data(value: Value) -> Data {
    millrace_engine::json::data_of(&value)
}

pub(crate) fn json(data: &Data) -> Value {
    millrace_engine::json::value_of(data)
}

/// Every secret `s...` has the value `value-of-s...`.
struct Secrets;

impl Services for Secrets {
    fn last(&self, _: u16, _: &str) -> Option<Last> {
        None
    }
    fn search(&self, _: u16, _: &str, _: usize) -> Vec<FoundTag> {
        Vec::new()
    }
    fn history(&self, _: u16, _: HistoryQuery) -> BoxFuture<Result<Data, StepFault>> {
        Box::pin(async { Ok(Data::Missing) })
    }
    fn secret(&self, _: u16, name: &str) -> Option<Arc<str>> {
        name.starts_with('s').then(|| format!("value-of-{name}").into())
    }
    fn spawn(&self, name: &'static str, future: BoxFuture<()>) {
        spawn::task(name, future);
    }
}

pub(crate) struct TestContext {
    services: Arc<dyn Services>,
    pub(crate) stubs: Vec<Data>,
    pub(crate) is_stubbed: bool,
    pub(crate) time_left: Duration,
    trigger: Data,
}

impl Context for TestContext {
    fn evaluate(&mut self, field: &Field) -> Result<Data, StepFault> {
        Ok(match field {
            Field::Literal(data) => data.clone(),
            Field::Map(members) => {
                let mut map = Map::new();
                for (name, field) in members {
                    map.set(Arc::clone(name), self.evaluate(field)?);
                }
                Data::Map(Arc::new(map))
            }
            Field::List(items) => Data::List(
                items.iter().map(|item| self.evaluate(item)).collect::<Result<Vec<_>, _>>()?.into(),
            ),
            _ => panic!("the tests give literals"),
        })
    }
    fn script(&mut self, _: usize) -> Result<Data, StepFault> {
        panic!("no scripts here")
    }
    fn now(&self) -> Timestamp {
        Timestamp(1_764_522_872_000_000_000)
    }
    fn trigger(&self) -> &Data {
        &self.trigger
    }
    fn workspace(&self) -> u16 {
        1
    }
    fn run_id(&self) -> &str {
        "7-42"
    }
    fn execution(&self) -> u32 {
        3
    }
    fn state(&self, _: &str) -> Data {
        Data::Missing
    }
    fn set_state(&mut self, _: &str, _: Data) -> Result<(), StepFault> {
        Ok(())
    }
    fn variable(&self, _: &str) -> Data {
        Data::Missing
    }
    fn set_variable(&mut self, _: &str, _: Data) -> Result<(), StepFault> {
        Ok(())
    }
    fn publish(&mut self, _: Vec<Publish>) -> Result<(), StepFault> {
        Ok(())
    }
    fn last(&mut self, _: &str) -> Data {
        Data::Missing
    }
    fn log(&mut self, _: Level, _: &str) {}
    fn issue(&mut self, _: &str, _: IssueChange) {}
    fn services(&self) -> &Arc<dyn Services> {
        &self.services
    }
    fn is_stubbed(&self) -> bool {
        self.is_stubbed
    }
    fn stub(&mut self, fields: Data) -> Result<Data, StepFault> {
        self.stubs.push(fields);
        Ok(Data::Missing)
    }
    fn time_left(&self) -> Duration {
        self.time_left
    }
}

/// Waits for a condition, no longer than two seconds.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..400 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("never came true: {what}");
}

/// A list that servers write and tests read.
pub(crate) type Notes<T> = Arc<Mutex<Vec<T>>>;
