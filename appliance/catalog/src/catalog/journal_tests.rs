//! The catalog with the real journal: kill, rebuild, recycled segments.

use super::*;
use crate::marks::Marks;
use crate::namespace::{Namespace, NewTag};
use crate::snapshot::{Definitions, Snapshotter};
use crate::source::JournalSource;
use millrace_journal::{Committed, Follower, Journal, RealDisk, RecordBuf};
use millrace_model::{ClientNumber, Kind, Record, Retention, Tag, Timestamp, WorkspaceNumber};
use millrace_supervisor::TestClock;
use std::path::Path;

const LIMIT: Duration = Duration::from_secs(10);

struct Follow {
    namespace: Arc<Namespace>,
    catalog: Arc<Catalog>,
}

impl Follower for Follow {
    fn committed(&mut self, batch: &Committed<'_>) {
        let mut marks = Marks::default();
        for (seq, bytes) in batch.records() {
            let record = Record::decode(bytes).unwrap();
            if marks.is_change(&record)
                && let Record::Definition(json) = record
            {
                let definition = Definition::decode(json).unwrap();
                self.namespace.apply(&definition);
                self.catalog.store(seq, definition);
            }
        }
        self.catalog.seen(batch.last());
    }
}

struct State(Arc<Namespace>);
impl Definitions for State {
    fn all(&self) -> Vec<Definition> {
        self.0.definitions()
    }
}

struct Running {
    journal: Journal,
    namespace: Arc<Namespace>,
    catalog: Arc<Catalog>,
    snapshotter: Snapshotter,
    rebuilt: Option<String>,
}

fn start(folder: &Path) -> Running {
    let clock: Arc<dyn Clock> = Arc::new(TestClock::new(Timestamp(1)));
    let issues = Arc::new(Issues::new(clock.clone()));
    let config = millrace_journal::Config {
        segment_bytes: 256 * 1024,
        bytes_max: 2 << 20,
        commit_interval: Duration::ZERO,
        ..millrace_journal::Config::new(folder.join("journal"))
    };
    let (journal, _) = Journal::open(config, Arc::new(RealDisk)).unwrap();
    let source: Arc<dyn Source> = Arc::new(JournalSource::new(&journal));
    let config = Config { group_interval: Duration::from_millis(10), ..Config::new(folder) };
    let disk = Arc::new(RealDisk);
    let (catalog, loaded) =
        Catalog::open(config, disk, source.clone(), issues, clock.clone()).unwrap();
    let (catalog, namespace) = (Arc::new(catalog), Arc::new(Namespace::new(100_000)));
    loaded.definitions.iter().for_each(|definition| namespace.apply(definition));
    let follower = Follow { namespace: namespace.clone(), catalog: catalog.clone() };
    journal.start(Box::new(follower));
    let state = Arc::new(State(namespace.clone()));
    let snapshotter = Snapshotter::new(source, state, clock, 1 << 20, 0);
    Running { journal, namespace, catalog, snapshotter, rebuilt: loaded.rebuilt }
}

impl Running {
    fn create(&self, count: u32, prefix: &str) {
        let mut records = RecordBuf::new();
        for number in 0..count {
            let path = format!("{prefix}/{number}");
            let new = NewTag {
                workspace: WorkspaceNumber(1),
                path: &path,
                kind: Kind::Float,
                retention: Retention::Days1,
                by: ClientNumber(1),
                now: Timestamp(1),
                client_tags_max: 100_000,
            };
            let (tag, created) = self.namespace.create(new).unwrap();
            assert!(created);
            let json = Definition::Tag(Tag::clone(&tag)).encode();
            records.push_with(|out| Record::Definition(&json).encode(out));
        }
        self.journal.append_durable_blocking(&mut records).unwrap();
    }

    fn stop(self) -> Vec<Definition> {
        self.journal.close();
        self.catalog.close();
        self.namespace.definitions()
    }
}

#[test]
fn the_file_is_rebuilt_after_the_first_segments_were_recycled() {
    // Goal: definitions survive though the segments that first held them are gone and the file
    // is lost. Method: small segments, many samples, snapshots, delete, start.
    let folder = tempfile::tempdir().unwrap();
    let running = start(folder.path());
    assert_eq!(running.rebuilt, None);
    for part in 0..10 {
        running.create(200, &format!("line{part}"));
    }
    let mut sample = RecordBuf::new();
    for round in 0..5 {
        running.create(10, &format!("round{round}"));
        for _ in 0..10_000 {
            // Any record that is no definition.
            let at = Timestamp(round);
            sample.push_with(|out| Record::Started { at }.encode(out));
        }
        running.journal.append_durable_blocking(&mut sample).unwrap();
        sample.clear();
        assert!(running.catalog.settle(LIMIT));
        running.snapshotter.write().unwrap();
    }
    // The cursor of the catalog moves with the next group.
    running.create(1, "last");
    assert!(running.catalog.settle(LIMIT));
    let oldest = running.journal.stats().oldest;
    let expected = running.stop();
    assert_eq!(expected.len(), 2_051);
    assert!(oldest > Seq(2_000), "the first segments were recycled: oldest is {oldest}");
    std::fs::remove_file(folder.path().join("catalog.db")).unwrap();
    let again = start(folder.path());
    assert!(again.rebuilt.as_ref().is_some_and(|why| why.contains("missing")));
    assert_eq!(again.stop(), expected);
    let third = start(folder.path());
    assert_eq!(third.rebuilt, None);
    assert_eq!(third.stop(), expected);
}
