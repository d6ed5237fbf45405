//! What outlives a crash: the journal, the namespace, the state's store; and the box for steps.
//!
//! **Invariants**: the journal commits when it is told, and not before.

use crate::engine::{Records, RecordsFault};
use crate::names::{Names, Place};
use crate::outbox::{Mark, Outbox, Outboxes, Sent, Source};
use crate::report::{RunReport, RunSink};
use crate::services::{FoundTag, HistoryQuery, Last, Services};
use crate::state::{StateEntry, StateStore};
use crate::step::{BoxFuture, StepFault};
use millrace_flow::Data;
use millrace_journal::{Seq, SeqRange};
use millrace_model::{ClientNumber, Quality, Record, SampleRecord, TagId, Timestamp};
use millrace_supervisor::{Clock as _, TestClock};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Poll, Waker};

/// The journal, the namespace and everything else that outlives a crash.
#[derive(Default)]
pub(crate) struct World {
    pub(super) inner: Mutex<Inner>,
    pub(crate) stored: Mutex<BTreeMap<(String, String), Vec<u8>>>,
    stored_through: AtomicU64,
    pub(crate) reports: Mutex<Vec<RunReport>>,
    pub(super) futures: Mutex<Vec<BoxFuture<()>>>,
    pub(super) gates: Mutex<Vec<(String, Waker)>>,
    pub(super) answers: Mutex<HashMap<String, Data>>,
    pub(super) workers: AtomicU64,
    /// How often `test.panic` steps will panic from now on.
    pub(crate) panics: AtomicU64,
    /// How often `test.flaky` steps were executed; the first two fail.
    pub(crate) flaws: AtomicU64,
    /// How many `spin` scripts have begun.
    pub(crate) spinning: AtomicU64,
    pub(super) overruns: Mutex<Vec<u64>>,
    pub(super) given_up: Mutex<Vec<u64>>,
    pub(crate) lasts: Mutex<HashMap<String, Last>>,
}

#[derive(Default)]
pub(super) struct Inner {
    pub(super) records: Vec<Vec<u8>>,
    pub(super) durable: usize,
    pub(super) is_full: bool,
    pub(super) tags: Vec<String>,
}

impl Inner {
    pub(super) fn tag(&mut self, path: &str) -> TagId {
        let place = self.tags.iter().position(|known| known == path).unwrap_or_else(|| {
            self.tags.push(path.to_owned());
            self.tags.len() - 1
        });
        TagId(u32::try_from(place).unwrap() + 1)
    }

    pub(super) fn append(&mut self, records: &mut Vec<Vec<u8>>) -> SeqRange {
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
    marks: [usize; 2],
}

pub(super) struct TestOutboxes(pub(super) Arc<World>, pub(super) Arc<TestClock>);

impl Outboxes for TestOutboxes {
    fn open(&self) -> Box<dyn Outbox> {
        let source = Source { workspace: 0, pipeline: 0, hops: 0 };
        Box::new(TestOutbox {
            world: Arc::clone(&self.0),
            clock: Arc::clone(&self.1),
            source,
            collected: Vec::new(),
            marks: [0; 2],
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

    fn mark(&mut self, mark: Mark) {
        self.marks[mark as usize] = self.collected.len();
    }

    fn undo(&mut self, mark: Mark) {
        self.collected.truncate(self.marks[mark as usize]);
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

    fn secret(&self, _: u16, name: &str) -> Option<Arc<str>> {
        (name == "key").then(|| "open-sesame-4711".into())
    }

    fn spawn(&self, _: &'static str, future: BoxFuture<()>) {
        self.futures.lock().push(future);
    }
}

impl World {
    /// Commits what was appended, as the journal's thread does while a worker is at work; the engine
    /// does not see it yet.
    pub(crate) fn sync(&self) {
        let mut inner = self.inner.lock();
        inner.durable = inner.records.len();
    }

    /// A future that is done when the test gives it an answer.
    pub(super) fn gate(self: &Arc<Self>, name: String) -> BoxFuture<Result<Data, StepFault>> {
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
