//! What the engine costs a run: a value trigger, `set`, `uns.publish`, in 20 pipelines, from the
//! journal's follower to the record of the run's end, without admission and journal.
//!
//! Values come in commits of 20 and of 1; one thread does all of it. The best of 5 rounds counts.
//! Run with `cargo bench -p millrace-engine --bench pass_through`.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use millrace_engine::report::{RunReport, RunSink};
use millrace_engine::script::{Compiled, ScriptHost, SyntaxFault, Unit, Worker};
use millrace_engine::services::{FoundTag, HistoryQuery, Last, Services};
use millrace_engine::step::{BoxFuture, StepFault};
use millrace_engine::{
    Config, Deployed, Engine, Mark, Names, Outbox, Outboxes, Parts, Place, Records, RecordsFault,
    Registry, Sent, Source, StateEntry, StateStore,
};
use millrace_flow::Data;
use millrace_journal::{Seq, SeqRange};
use millrace_model::{ClientNumber, Quality, Record, SampleRecord, TagId, Timestamp, ValueRef};
use millrace_supervisor::{Clock as _, Issues, SystemClock};
use std::sync::Arc;
use std::sync::Mutex;
use std::task::Waker;
use std::time::{Duration, Instant};

const PIPELINES: u32 = 20;
const TAGS_EACH: u32 = 20;
const RUNS: usize = 100_000;

/// A box that takes everything and keeps the records of runs only.
#[derive(Default)]
struct Nothing {
    records: Mutex<Vec<Vec<u8>>>,
}

impl Names for Nothing {
    fn place(&self, tag: TagId) -> Option<Place> {
        let root = if tag.0 < 1_000_000 { "in" } else { "other" };
        let path: Arc<str> = format!("{root}/{}/{}", tag.0 % PIPELINES, tag.0 / PIPELINES).into();
        Some(Place { workspace: 1, topic: format!("mr/v1/plant/{path}").into(), path })
    }
    fn client(&self, _: ClientNumber) -> Option<Arc<str>> {
        None
    }
}

impl Records for Nothing {
    fn append(&self, _: &[Record<'_>]) -> Result<SeqRange, RecordsFault> {
        Err(RecordsFault::Full)
    }
}

impl StateStore for Nothing {
    fn load(&self) -> Result<Vec<StateEntry>, String> {
        Ok(Vec::new())
    }
    fn store(&self, _: Vec<StateEntry>, _: Seq) -> Result<(), String> {
        Ok(())
    }
    fn stored_through(&self) -> Seq {
        Seq(u64::MAX)
    }
}

impl RunSink for Nothing {
    fn ended(&self, _: RunReport) {}
}

impl Services for Nothing {
    fn last(&self, _: u16, _: &str) -> Option<Last> {
        None
    }
    fn search(&self, _: u16, _: &str, _: usize) -> Vec<FoundTag> {
        Vec::new()
    }
    fn history(&self, _: u16, _: HistoryQuery) -> BoxFuture<Result<Data, StepFault>> {
        Box::pin(std::future::ready(Ok(Data::Null)))
    }
    fn secret(&self, _: u16, _: &str) -> Option<Arc<str>> {
        None
    }
    fn spawn(&self, _: &'static str, _: BoxFuture<()>) {}
}

struct Sink {
    world: Arc<Nothing>,
    records: Vec<Vec<u8>>,
    bytes: usize,
}

impl Outbox for Sink {
    fn mark(&mut self, _: Mark) {}

    fn undo(&mut self, _: Mark) {}

    fn begin(&mut self, _: Source) {}
    fn publish(&mut self, path: &str, payload: &[u8]) -> Result<(), String> {
        self.bytes += path.len() + payload.len();
        Ok(())
    }
    fn push(&mut self, record: &Record<'_>) {
        let mut bytes = Vec::with_capacity(32);
        record.encode(&mut bytes);
        self.bytes += bytes.len();
        self.records.push(bytes);
    }
    fn bytes(&self) -> usize {
        self.bytes
    }
    fn submit(&mut self, _: &Waker) -> Sent {
        self.bytes = 0;
        self.world.records.lock().expect("there is one thread").append(&mut self.records);
        Sent::Empty
    }
}

struct Sinks(Arc<Nothing>);

impl Outboxes for Sinks {
    fn open(&self) -> Box<dyn Outbox> {
        Box::new(Sink { world: Arc::clone(&self.0), records: Vec::new(), bytes: 0 })
    }
}

struct NoScripts;

impl ScriptHost for NoScripts {
    fn compile(&self, _: &Unit) -> Result<Compiled, Vec<SyntaxFault>> {
        Ok(Compiled(Arc::new(())))
    }
    fn worker(&self) -> Box<dyn Worker> {
        Box::new(NoWorker)
    }
}

struct NoWorker;

impl Worker for NoWorker {
    fn call(
        &mut self,
        _: &Compiled,
        _: usize,
        _: &mut dyn millrace_engine::script::Scope,
        _: &millrace_engine::script::Budget,
    ) -> millrace_engine::script::Report {
        millrace_engine::script::Report {
            result: Ok(Data::Null),
            cpu: Duration::ZERO,
            memory_bytes: 0,
        }
    }
    fn tidy(&mut self, _: Duration) {}
    fn forget(&mut self, _: u32) {}
    fn warm(&self) -> (u64, usize) {
        (0, 0)
    }
}

fn document(number: u32, order: &str) -> millrace_flow::Document {
    serde_json::from_value(serde_json::json!({
        "millrace": 1,
        "name": format!("p{number}"),
        "settings": { "order": order },
        "steps": {
            "start": { "kind": "uns.subscribe", "fields": { "filters": [format!("in/{number}/#")] } },
            "set": { "kind": "set", "fields": { "fields": { "line": "L1" } } },
            "publish": { "kind": "uns.publish", "fields": { "path": format!("out/{number}") } }
        },
        "wires": [{ "from": "start", "to": "set" }, { "from": "set", "to": "publish" }]
    }))
    .expect("the bench is well formed")
}

fn engine(order: &str) -> (Engine, Arc<Nothing>) {
    let world = Arc::new(Nothing::default());
    let clock = Arc::new(SystemClock::new());
    let mut registry = Registry::new();
    millrace_engine::steps::register(&mut registry);
    let parts = Parts {
        registry,
        scripts: Arc::new(NoScripts),
        services: Arc::clone(&world) as _,
        names: Arc::clone(&world) as _,
        outboxes: Arc::new(Sinks(Arc::clone(&world))),
        records: Arc::clone(&world) as _,
        store: Arc::clone(&world) as _,
        sink: Arc::clone(&world) as _,
        issues: Arc::new(Issues::new(Arc::clone(&clock) as _)),
        clock,
        thread_cpu: || Duration::ZERO,
        step_back: || {},
    };
    let engine = Engine::new(Config::new(1), parts, Seq(0)).expect("the bench is well formed");
    for number in 0..PIPELINES {
        engine
            .deploy(&Deployed {
                number: number + 1,
                workspace: 1,
                name: format!("p{number}"),
                revision: 1,
                since: 0,
                document: Arc::new(document(number, order)),
            })
            .expect("the bench is well formed");
    }
    engine.start();
    (engine, world)
}

/// Nanoseconds per run: follower (samples), hand, follower (ends).
fn round(order: &str, commit: usize) -> [f64; 3] {
    let (engine, world) = engine(order);
    let mut hand = engine.hand(0);
    let now = SystemClock::new().now();
    let mut seq = 0u64;
    let mut spent = [Duration::ZERO; 3];
    let mut tag = 0u32;
    for _ in 0..RUNS / commit {
        let begun = Instant::now();
        let mut batch = engine.committed();
        for _ in 0..commit {
            seq += 1;
            tag = (tag + 1) % (PIPELINES * TAGS_EACH);
            let sample = SampleRecord {
                tag: TagId(tag),
                client: ClientNumber(1),
                source_time: now,
                receive_time: Timestamp(now.0 + 1_000_000),
                quality: Quality::GOOD,
                has_source_time: true,
                hops: 0,
                value: ValueRef::Float(42.7),
            };
            batch.sample(Seq(seq), &sample);
        }
        batch.done(Seq(seq));
        spent[0] += begun.elapsed();
        let begun = Instant::now();
        hand.run_ready();
        spent[1] += begun.elapsed();
        let ended = std::mem::take(&mut *world.records.lock().expect("there is one thread"));
        let begun = Instant::now();
        let mut batch = engine.committed();
        for bytes in &ended {
            seq += 1;
            if let Ok(Record::Run(run)) = Record::decode(bytes) {
                batch.run(Seq(seq), &run);
            }
        }
        batch.done(Seq(seq));
        spent[2] += begun.elapsed();
    }
    assert_eq!(engine.stats().open, 0);
    let runs = (RUNS / commit * commit) as f64;
    spent.map(|spent| spent.as_nanos() as f64 / runs)
}

/// Resident bytes of this process.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = status.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0.0);
    pages * 4096.0
}

/// Bytes of an idle deployed pipeline.
fn idle() {
    const COUNT: u32 = 5_000;
    let (engine, _world) = engine("parallel");
    let before = resident();
    for number in 100..100 + COUNT {
        let document = Arc::new(document(number, "parallel"));
        let name = document.name.clone();
        let deployed = Deployed { number, workspace: 1, name, revision: 1, since: 0, document };
        engine.deploy(&deployed).expect("the bench is well formed");
    }
    let each = (resident() - before) / f64::from(COUNT);
    println!("an idle pipeline: {each:.0} bytes");
}

/// Nanoseconds of a value that no trigger wants.
fn unwanted() {
    let (engine, _world) = engine("parallel");
    let now = SystemClock::new().now();
    let mut best = f64::MAX;
    for turn in 0..10u64 {
        let begun = Instant::now();
        let mut batch = engine.committed();
        for seq in 0..100_000u64 {
            let tag = TagId(1_000_000 + u32::try_from(seq % 10_000).unwrap_or(0));
            let sample = SampleRecord {
                tag,
                client: ClientNumber(1),
                source_time: now,
                receive_time: now,
                quality: Quality::GOOD,
                has_source_time: true,
                hops: 0,
                value: ValueRef::Float(42.7),
            };
            batch.sample(Seq(turn * 100_000 + seq + 1), &sample);
        }
        batch.done(Seq((turn + 1) * 100_000));
        best = best.min(begun.elapsed().as_nanos() as f64 / 100_000.0);
    }
    println!("a value that nobody wants: {best:.1} ns");
}

fn main() {
    idle();
    unwanted();
    println!("nanoseconds per run: follower, worker, follower at the end, together");
    for order in ["parallel", "in_order"] {
        for commit in [1, 20, 200] {
            let mut best = [f64::MAX; 3];
            for _ in 0..5 {
                let found = round(order, commit);
                for (best, found) in best.iter_mut().zip(found) {
                    *best = best.min(found);
                }
            }
            let [first, work, end] = best;
            let all = first + work + end;
            println!("{order:9} commits of {commit:3}: {first:6.0} {work:6.0} {end:6.0} {all:7.0}");
        }
    }
}
