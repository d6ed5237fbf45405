//! A plant for tests: a journal in memory that commits when told, an outbox over it, scripts that
//! are functions by name, a clock that is moved by hand, and a box that can be pulled out of the
//! wall.
//!
//! **Invariants**: nothing happens by itself; a crash loses exactly what was not committed.

mod kinds;
mod words;
mod world;

pub(crate) use kinds::{cpu_readings, next_deed, noted, registry};
pub(crate) use words::NoScripts;
pub(crate) use world::World;

use kinds::{WORLD, thread_cpu};
use words::WordHost;
use world::TestOutboxes;

use crate::Hand;
use crate::compile::CompileFault;
use crate::config::Config;
use crate::engine::{Asking, Deployed, Engine, Parts};
use crate::queued::RunId;
use crate::report::OpenState;
use millrace_flow::Data;
use millrace_journal::Seq;
use millrace_model::{ClientNumber, Quality, Record, SampleRecord, Timestamp, Value, ValueRef};
use millrace_supervisor::{Clock as _, Issues, TestClock};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context as TaskContext, Waker};
use std::time::Duration;

/// When tests begin.
pub(crate) const START: Timestamp = Timestamp(1_800_000_000_000_000_000);

/// A box with its engine.
pub(crate) struct Plant {
    pub(crate) world: Arc<World>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) issues: Arc<Issues>,
    pub(crate) engine: Engine,
    pub(crate) hand: Hand,
    /// The one behind all others.
    aside: Hand,
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
            thread_cpu,
            step_back: || {},
        };
        let engine = Engine::new(config.clone(), parts, Seq(cursor)).unwrap();
        for pipeline in deployed.values() {
            engine.deploy(pipeline).unwrap();
        }
        let seen = usize::try_from(cursor).unwrap();
        let hand = engine.hand(0);
        let aside = engine.hand(config.workers);
        let mut plant =
            Self { world, clock, issues, engine, hand, aside, config, deployed, cursor, seen };
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
            let driven = self.hand.run_ready() + self.aside.run_ready();
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

    /// All bytes of the journal.
    pub(crate) fn journal(&self) -> Vec<u8> {
        self.world.inner.lock().records.concat()
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
        let input = Data::from(input);
        let asking = Asking { pipeline, trigger: None, input, is_manual: true, hops: 0 };
        let ticket = self.engine.ask(&asking).unwrap();
        self.settle();
        ticket
    }
}

/// Cancels a run, which the journal takes; in which state it was.
pub(crate) fn cancel(engine: &Engine, id: RunId, message: &str) -> Option<OpenState> {
    engine.cancel(id, message).unwrap().map(|canceled| canceled.was)
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
