//! A plant for tests: a journal in memory that commits when told, an outbox over it, scripts that
//! are functions by name, a clock that is moved by hand, and a box that can be pulled out of the
//! wall.
//!
//! **Invariants**: nothing happens by itself; a crash loses exactly what was not committed.

use crate::compile::{CompileFault, Compiler, Registry};
use crate::config::Config;
use crate::engine::{Asking, Deployed, Engine, Parts, Records, RecordsFault};
use crate::names::{Names, Place};
use crate::outbox::{Outbox, Outboxes, Sent, Source};
use crate::report::{RunReport, RunSink};
use crate::script::{
    Budget, Compiled, FaultKind, Level, Overrun, Report, Root, Scope, ScriptFault, ScriptHost,
    SyntaxFault, Unit, Worker,
};
use crate::services::{FoundTag, HistoryQuery, Last, Services};
use crate::state::{StateEntry, StateStore};
use crate::step::{BoxFuture, Context, Outcome, Step, StepFault};
use crate::{Hand, steps};
use millrace_flow::Data;
use millrace_journal::{Seq, SeqRange};
use millrace_model::{
    ClientNumber, Quality, Record, SampleRecord, TagId, Timestamp, Value, ValueRef,
};
use millrace_supervisor::{Clock, Issues, TestClock};
use parking_lot::Mutex;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

/// When tests begin.
pub(crate) const START: Timestamp = Timestamp(1_800_000_000_000_000_000);

/// The journal, the namespace and everything else that outlives a crash.
#[derive(Default)]
pub(crate) struct World {
    inner: Mutex<Inner>,
    pub(crate) stored: Mutex<BTreeMap<(String, String), Vec<u8>>>,
    stored_through: AtomicU64,
    pub(crate) reports: Mutex<Vec<RunReport>>,
    futures: Mutex<Vec<BoxFuture<()>>>,
    gates: Mutex<Vec<(String, Waker)>>,
    answers: Mutex<HashMap<String, Data>>,
    workers: AtomicU64,
    overruns: Mutex<Vec<u64>>,
    given_up: Mutex<Vec<u64>>,
    pub(crate) lasts: Mutex<HashMap<String, Last>>,
}

#[derive(Default)]
struct Inner {
    records: Vec<Vec<u8>>,
    durable: usize,
    is_full: bool,
    tags: Vec<String>,
}

impl Inner {
    fn tag(&mut self, path: &str) -> TagId {
        let place = self.tags.iter().position(|known| known == path).unwrap_or_else(|| {
            self.tags.push(path.to_owned());
            self.tags.len() - 1
        });
        TagId(u32::try_from(place).unwrap() + 1)
    }

    fn append(&mut self, records: &mut Vec<Vec<u8>>) -> SeqRange {
        let first = Seq(self.records.len() as u64 + 1);
        let count = u32::try_from(records.len()).unwrap();
        self.records.append(records);
        SeqRange { first, count }
    }
}

impl Names for World {
    fn place(&self, tag: TagId) -> Option<Place> {
        let inner = self.inner.lock();
        let path = inner.tags.get(tag.0 as usize - 1)?;
        let topic = format!("mr/v1/plant/{path}").into();
        Some(Place { workspace: 1, path: path.as_str().into(), topic })
    }

    fn client(&self, client: ClientNumber) -> Option<Arc<str>> {
        (client.0 > 0).then(|| format!("client-{}", client.0).into())
    }
}

impl Records for World {
    fn append(&self, records: &[Record<'_>]) -> Result<SeqRange, RecordsFault> {
        let mut inner = self.inner.lock();
        if inner.is_full {
            return Err(RecordsFault::Full);
        }
        let mut encoded = records
            .iter()
            .map(|record| {
                let mut bytes = Vec::new();
                record.encode(&mut bytes);
                bytes
            })
            .collect();
        Ok(inner.append(&mut encoded))
    }
}

impl StateStore for World {
    fn load(&self) -> Result<Vec<StateEntry>, String> {
        let stored = self.stored.lock();
        let entries = stored.iter().map(|((owner, key), value)| StateEntry {
            owner: owner.clone(),
            key: key.clone(),
            value: Some(value.clone()),
        });
        Ok(entries.collect())
    }

    fn store(&self, changed: Vec<StateEntry>, through: Seq) -> Result<(), String> {
        let mut stored = self.stored.lock();
        for entry in changed {
            match entry.value {
                Some(value) => drop(stored.insert((entry.owner, entry.key), value)),
                None => drop(stored.remove(&(entry.owner, entry.key))),
            }
        }
        self.stored_through.store(through.0, Ordering::SeqCst);
        Ok(())
    }

    fn stored_through(&self) -> Seq {
        Seq(self.stored_through.load(Ordering::SeqCst))
    }
}

impl RunSink for World {
    fn ended(&self, report: RunReport) {
        self.reports.lock().push(report);
    }
}

/// An outbox over the world's journal.
struct TestOutbox {
    world: Arc<World>,
    clock: Arc<TestClock>,
    source: Source,
    collected: Vec<Vec<u8>>,
}

struct TestOutboxes(Arc<World>, Arc<TestClock>);

impl Outboxes for TestOutboxes {
    fn open(&self) -> Box<dyn Outbox> {
        let source = Source { workspace: 0, pipeline: 0, hops: 0 };
        Box::new(TestOutbox {
            world: Arc::clone(&self.0),
            clock: Arc::clone(&self.1),
            source,
            collected: Vec::new(),
        })
    }
}

impl Outbox for TestOutbox {
    fn begin(&mut self, source: Source) {
        self.source = source;
    }

    fn publish(&mut self, path: &str, payload: &[u8]) -> Result<(), String> {
        if path.starts_with("refused") {
            return Err("not authorized".into());
        }
        let json: serde_json::Value = serde_json::from_slice(payload).unwrap();
        let value = Data::from(&json["value"]).to_value().unwrap();
        let time = json["timestamp"].as_i64().map(Timestamp);
        let now = self.clock.now();
        let sample = SampleRecord {
            tag: self.world.inner.lock().tag(path),
            client: ClientNumber(0),
            source_time: time.unwrap_or(now),
            receive_time: now,
            quality: Quality(json["quality"].as_u64().map_or(0, |code| code as u32)),
            has_source_time: time.is_some(),
            hops: self.source.hops,
            value: value.as_ref(),
        };
        let mut bytes = Vec::new();
        Record::Sample(sample).encode(&mut bytes);
        self.collected.push(bytes);
        Ok(())
    }

    fn push(&mut self, record: &Record<'_>) {
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        self.collected.push(bytes);
    }

    fn bytes(&self) -> usize {
        self.collected.iter().map(Vec::len).sum()
    }

    fn submit(&mut self, _: &Waker) -> Sent {
        let mut inner = self.world.inner.lock();
        if self.collected.is_empty() {
            return Sent::Empty;
        }
        if inner.is_full {
            return Sent::Full;
        }
        Sent::Queued(inner.append(&mut self.collected))
    }
}

impl Services for World {
    fn last(&self, _: u16, path: &str) -> Option<Last> {
        self.lasts.lock().get(path).cloned()
    }

    fn search(&self, _: u16, _: &str, _: usize) -> Vec<FoundTag> {
        Vec::new()
    }

    /// Waits until the test opens the gate of the path.
    fn history(&self, _: u16, _: HistoryQuery) -> BoxFuture<Result<Data, StepFault>> {
        Box::pin(std::future::ready(Ok(Data::Null)))
    }

    fn secret(&self, _: u16, _: &str) -> Option<Arc<str>> {
        None
    }

    fn spawn(&self, _: &'static str, future: BoxFuture<()>) {
        self.futures.lock().push(future);
    }
}

impl World {
    /// A future that is done when the test gives it an answer.
    fn gate(self: &Arc<Self>, name: String) -> BoxFuture<Result<Data, StepFault>> {
        let world = Arc::clone(self);
        Box::pin(std::future::poll_fn(move |context| {
            if let Some(answer) = world.answers.lock().remove(&name) {
                return Poll::Ready(Ok(answer));
            }
            world.gates.lock().push((name.clone(), context.waker().clone()));
            Poll::Pending
        }))
    }
}

/// Kinds of steps that tests steer.
struct TestStep {
    form: String,
    name: String,
}

thread_local! {
    /// What steps of kind `test.note` saw, and how often each `test.fail` failed.
    static NOTED: std::cell::RefCell<Vec<(String, Data)>> = const { std::cell::RefCell::new(Vec::new()) };
    static BURNT: std::cell::Cell<Duration> = const { std::cell::Cell::new(Duration::ZERO) };
    static WORLD: std::cell::RefCell<Option<Arc<World>>> = const { std::cell::RefCell::new(None) };
}

/// What was noted since it was last asked.
pub(crate) fn noted() -> Vec<(String, Data)> {
    NOTED.with_borrow_mut(std::mem::take)
}

fn note(name: &str, data: &Data) {
    NOTED.with_borrow_mut(|noted| noted.push((name.to_owned(), data.clone())));
}

impl Step for TestStep {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        match self.form.as_str() {
            "test.note" => note(&self.name, input),
            "test.fail" => {
                note(&self.name, input);
                return Err(StepFault::lasting("bad_input", "it was told to"));
            }
            "test.flaky" => {
                note(&self.name, input);
                let failed = context.state("failed").as_i64().unwrap_or(0);
                if failed < 2 {
                    context.set_state("failed", Data::Int(failed + 1))?;
                    return Err(StepFault::passing("unreachable", "not yet"));
                }
            }
            "test.burn" => {
                note(&self.name, input);
                BURNT.set(BURNT.get() + Duration::from_millis(10));
            }
            "test.list" => {
                return Ok(Outcome::Each(input.as_list().unwrap_or_default().to_vec()));
            }
            "test.gate" => {
                let world = WORLD.with_borrow(Clone::clone).unwrap();
                return Ok(Outcome::Wait(world.gate(self.name.clone())));
            }
            _ => {}
        }
        Ok(Outcome::Out(0, input.clone()))
    }
}

fn compile(
    step: &millrace_flow::document::Step,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    if step.kind == "test.flaky" {
        compiler.keep_state();
    }
    Ok(Arc::new(TestStep { form: step.kind.clone(), name: compiler.id().to_owned() }))
}

pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    steps::register(&mut registry);
    for kind in
        ["test.pass", "test.note", "test.fail", "test.flaky", "test.list", "test.gate", "test.burn"]
    {
        registry.add(kind, compile);
    }
    registry
}

/// Scripts that are words: `double`, `kill`, `throw`, `count`, `log`.
pub(crate) struct NoScripts;

impl ScriptHost for NoScripts {
    fn compile(&self, unit: &Unit) -> Result<Compiled, Vec<SyntaxFault>> {
        let sources: Vec<String> =
            unit.functions.iter().map(|function| function.source.clone()).collect();
        match sources.iter().position(|source| source.contains("syntax")) {
            Some(function) => Err(vec![SyntaxFault {
                function,
                message: "unexpected word".into(),
                line: 1,
                column: 1,
            }]),
            None => Ok(Compiled(Arc::new(sources))),
        }
    }

    fn worker(&self) -> Box<dyn Worker> {
        Box::new(WordWorker { number: 0, world: Arc::default() })
    }
}

/// The same for a plant, which can give workers up.
struct WordHost(Arc<World>);

impl ScriptHost for WordHost {
    fn compile(&self, unit: &Unit) -> Result<Compiled, Vec<SyntaxFault>> {
        NoScripts.compile(unit)
    }

    fn worker(&self) -> Box<dyn Worker> {
        let number = self.0.workers.fetch_add(1, Ordering::SeqCst) + 1;
        Box::new(WordWorker { number, world: Arc::clone(&self.0) })
    }

    fn overruns(&self) -> Vec<Overrun> {
        let given_up = std::mem::take(&mut *self.0.overruns.lock());
        given_up.into_iter().map(|worker| Overrun { worker, pipeline: 1 }).collect()
    }
}

struct WordWorker {
    number: u64,
    world: Arc<World>,
}

impl Worker for WordWorker {
    fn call(
        &mut self,
        unit: &Compiled,
        function: usize,
        scope: &mut dyn Scope,
        budget: &Budget,
    ) -> Report {
        let sources = unit.0.downcast_ref::<Vec<String>>().unwrap();
        let fault =
            |kind, message: &str| Err(ScriptFault { kind, message: message.into(), line: Some(3) });
        let mut cpu = Duration::from_micros(10);
        let source = sources[function].trim().trim_start_matches("return ").trim_end_matches(';');
        let result = match source {
            "double" => {
                let value = scope.root(Root::Trigger).get("value").as_i64().unwrap_or(0);
                Ok(Data::Int(value * 2))
            }
            "count" => {
                let count = scope.state("n").as_i64().unwrap_or(0) + 1;
                scope.set_state("n", Data::Int(count)).unwrap();
                Ok(Data::Int(count))
            }
            "overrun" => {
                if !self.world.given_up.lock().is_empty() {
                    let result = fault(FaultKind::Quarantined, "it is kept from running");
                    return Report { result, cpu, memory_bytes: 0 };
                }
                // The watchdog gives this worker up while it runs; then it comes back all the same.
                self.world.overruns.lock().push(self.number);
                self.world.given_up.lock().push(self.number);
                Ok(Data::Null)
            }
            "log" => {
                scope.console(Level::Info, "hello");
                Ok(Data::Null)
            }
            "kill" => {
                cpu = budget.cpu;
                fault(FaultKind::Cpu, "took more than its CPU time")
            }
            "throw" => fault(FaultKind::Thrown, "Error: thrown"),
            source => panic!("no such word: {source}"),
        };
        Report { result, cpu, memory_bytes: 1_000 }
    }

    fn tidy(&mut self, _: Duration) {}

    fn forget(&mut self, _: u32) {}

    fn warm(&self) -> (u64, usize) {
        (0, 0)
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn is_given_up(&self) -> bool {
        self.world.given_up.lock().contains(&self.number)
    }
}

/// A box with its engine.
pub(crate) struct Plant {
    pub(crate) world: Arc<World>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) issues: Arc<Issues>,
    pub(crate) engine: Engine,
    pub(crate) hand: Hand,
    pub(crate) config: Config,
    deployed: BTreeMap<u32, Deployed>,
    cursor: u64,
    seen: usize,
}

impl Plant {
    pub(crate) fn new() -> Self {
        Self::with(Config::new(1))
    }

    pub(crate) fn with(config: Config) -> Self {
        drop(noted());
        let world = Arc::new(World::default());
        let clock = Arc::new(TestClock::new(START));
        WORLD.set(Some(Arc::clone(&world)));
        Self::switch_on(world, clock, config, BTreeMap::new(), 0)
    }

    fn switch_on(
        world: Arc<World>,
        clock: Arc<TestClock>,
        config: Config,
        deployed: BTreeMap<u32, Deployed>,
        cursor: u64,
    ) -> Self {
        let issues = Arc::new(Issues::new(Arc::clone(&clock) as _));
        let parts = Parts {
            registry: registry(),
            scripts: Arc::new(WordHost(Arc::clone(&world))),
            services: Arc::clone(&world) as _,
            names: Arc::clone(&world) as _,
            outboxes: Arc::new(TestOutboxes(Arc::clone(&world), Arc::clone(&clock))),
            records: Arc::clone(&world) as _,
            store: Arc::clone(&world) as _,
            sink: Arc::clone(&world) as _,
            issues: Arc::clone(&issues),
            clock: Arc::clone(&clock) as _,
            thread_cpu: || BURNT.get(),
        };
        let engine = Engine::new(config.clone(), parts, Seq(cursor)).unwrap();
        for pipeline in deployed.values() {
            engine.deploy(pipeline).unwrap();
        }
        let seen = usize::try_from(cursor).unwrap();
        let hand = engine.hand(0);
        let mut plant = Self { world, clock, issues, engine, hand, config, deployed, cursor, seen };
        plant.read();
        plant.engine.start();
        plant
    }

    /// Pulls the plug: what was not committed is lost, and so is everything in memory. Then the box
    /// is switched on again.
    pub(crate) fn crash(self) -> Self {
        let Self { world, clock, config, deployed, cursor, .. } = self;
        {
            let mut inner = world.inner.lock();
            let durable = inner.durable;
            inner.records.truncate(durable);
            inner.is_full = false;
        }
        world.futures.lock().clear();
        world.gates.lock().clear();
        Self::switch_on(world, clock, config, deployed, cursor)
    }

    /// Deploys a document: steps and wires, everything else by default.
    pub(crate) fn deploy(&mut self, number: u32, document: serde_json::Value) {
        self.try_deploy(number, document).unwrap();
    }

    pub(crate) fn try_deploy(
        &mut self,
        number: u32,
        document: serde_json::Value,
    ) -> Result<(), Vec<CompileFault>> {
        let deployed = draft(number, document, self.seen as u64);
        self.engine.deploy(&deployed)?;
        self.deployed.insert(number, deployed);
        Ok(())
    }

    pub(crate) fn undeploy(&mut self, number: u32) {
        self.deployed.remove(&number);
        assert!(self.engine.undeploy(number));
    }

    /// A device publishes a value; it is appended, not committed.
    pub(crate) fn device(&self, path: &str, value: i64) {
        self.device_with(path, &Value::Int(value), 0, Quality::GOOD);
    }

    pub(crate) fn device_with(&self, path: &str, value: &Value, hops: u8, quality: Quality) {
        let now = self.clock.now();
        let mut inner = self.world.inner.lock();
        let sample = SampleRecord {
            tag: inner.tag(path),
            client: ClientNumber(7),
            source_time: now,
            receive_time: now,
            quality,
            has_source_time: true,
            hops,
            value: value.as_ref(),
        };
        let mut bytes = Vec::new();
        Record::Sample(sample).encode(&mut bytes);
        inner.append(&mut vec![bytes]);
    }

    /// Commits what was appended; the engine sees it.
    pub(crate) fn commit(&mut self) {
        let mut inner = self.world.inner.lock();
        inner.durable = inner.records.len();
        drop(inner);
        self.read();
    }

    fn read(&mut self) {
        let records: Vec<Vec<u8>> = {
            let inner = self.world.inner.lock();
            inner.records[self.seen..inner.durable].to_vec()
        };
        if records.is_empty() {
            return;
        }
        let mut batch = self.engine.committed();
        for record in &records {
            self.seen += 1;
            let seq = Seq(self.seen as u64);
            match Record::decode(record).unwrap() {
                Record::Sample(sample) => batch.sample(seq, &sample),
                Record::Run(run) => batch.run(seq, &run),
                _ => {}
            }
        }
        batch.done(Seq(self.seen as u64));
    }

    /// Runs what is ready; commits and runs again until nothing comes any more.
    pub(crate) fn settle(&mut self) {
        for _ in 0..1_000 {
            let before = self.world.inner.lock().records.len();
            self.commit();
            let driven = self.hand.run_ready();
            self.engine.tick();
            self.poll();
            if driven == 0 && self.world.inner.lock().records.len() == before {
                return;
            }
        }
        panic!("it does not settle");
    }

    /// Lets futures outside go on.
    pub(crate) fn poll(&self) {
        let futures = std::mem::take(&mut *self.world.futures.lock());
        for mut future in futures {
            let mut context = TaskContext::from_waker(Waker::noop());
            if future.as_mut().poll(&mut context).is_pending() {
                self.world.futures.lock().push(future);
            }
        }
    }

    /// Answers what a `test.gate` step waits for.
    pub(crate) fn answer(&self, step: &str, data: i64) {
        self.world.answers.lock().insert(step.to_owned(), Data::Int(data));
        self.poll();
    }

    /// Futures that are under way.
    pub(crate) fn outside(&self) -> usize {
        self.world.futures.lock().len()
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.engine.tick();
    }

    pub(crate) fn set_full(&self, is_full: bool) {
        self.world.inner.lock().is_full = is_full;
    }

    /// Moves the journal's cursor to where the engine wants it.
    pub(crate) fn move_cursor(&mut self) -> u64 {
        self.cursor = self.engine.cursor_wanted().0;
        self.cursor
    }

    pub(crate) fn seen(&self) -> u64 {
        self.seen as u64
    }

    /// All durable values of a path, in order.
    pub(crate) fn values(&self, path: &str) -> Vec<Value> {
        let mut inner = self.world.inner.lock();
        let tag = inner.tag(path);
        let durable = inner.durable;
        let mut values = Vec::new();
        for record in &inner.records[..durable] {
            if let Record::Sample(sample) = Record::decode(record).unwrap()
                && sample.tag == tag
            {
                values.push(sample.value.to_value());
            }
        }
        values
    }

    pub(crate) fn ints(&self, path: &str) -> Vec<i64> {
        self.values(path)
            .iter()
            .map(|value| match value.as_ref() {
                ValueRef::Int(value) => value,
                other => panic!("{other:?} is no integer"),
            })
            .collect()
    }

    /// Asks for a manual run; it is settled.
    pub(crate) fn run(&mut self, pipeline: u32, input: &serde_json::Value) -> crate::Ticket {
        let asking = Asking { pipeline, trigger: None, input: Data::from(input), is_manual: true };
        let ticket = self.engine.ask(&asking).unwrap();
        self.settle();
        ticket
    }
}

/// A draft of a pipeline.
pub(crate) fn draft(number: u32, mut document: serde_json::Value, since: u64) -> Deployed {
    let object = document.as_object_mut().unwrap();
    object.insert("millrace".into(), json!(1));
    object.entry("name").or_insert_with(|| json!(format!("p{number}")));
    let document: millrace_flow::Document = serde_json::from_value(document).unwrap();
    Deployed {
        number,
        workspace: 1,
        name: document.name.clone(),
        revision: 1,
        since,
        document: Arc::new(document),
    }
}

/// Wires `a > b`, `a:port > b`.
pub(crate) fn wires(list: &[&str]) -> serde_json::Value {
    let wire = |text: &&str| {
        let (from, to) = text.split_once(" > ").unwrap();
        let (from, port) = from.split_once(':').unwrap_or((from, "out"));
        json!({ "from": from, "port": port, "to": to })
    };
    list.iter().map(wire).collect()
}
