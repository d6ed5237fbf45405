//! Tests of the catalog against a journal in memory and real SQLite files.

use super::*;
use crate::catalog::open::{ISSUE_CANNOT_WRITE, ISSUE_REBUILT};
use crate::namespace::Namespace;
use crate::snapshot::{Definitions, Snapshotter};
use crate::source::Source as _;
use crate::source::testing::MemoryJournal;
use millrace_journal::RealDisk;
use millrace_model::{
    ApiClient, AuditEntry, ClientNumber, Deployment, Filter, Kind, Person, PipelineRemoved,
    PipelineRevision, Retention, Role, Schema, Secret, Tag, TagId, Timestamp, Workspace,
    WorkspaceNumber,
};
use millrace_supervisor::TestClock;
use rusqlite::Connection;
use std::io::Write as _;
use std::path::Path;

pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// A box that can be stopped and started again.
pub(super) struct Bench {
    pub(super) folder: tempfile::TempDir,
    pub(super) journal: Arc<MemoryJournal>,
    pub(super) issues: Arc<Issues>,
    pub(super) clock: Arc<TestClock>,
    pub(super) checkpoint_interval: Duration,
    pub(super) queue_max: usize,
}

impl Bench {
    pub(super) fn new() -> Self {
        let clock = Arc::new(TestClock::new(Timestamp(1_000)));
        Self {
            folder: tempfile::tempdir().unwrap(),
            journal: Arc::default(),
            issues: Arc::new(Issues::new(clock.clone())),
            clock,
            checkpoint_interval: Duration::from_secs(10),
            queue_max: QUEUE_MAX,
        }
    }

    pub(super) fn config(&self) -> Config {
        Config {
            queue_max: self.queue_max,
            group_interval: Duration::from_millis(20),
            retry_interval: Duration::from_millis(20),
            checkpoint_interval: self.checkpoint_interval,
            ..Config::new(self.folder.path())
        }
    }

    pub(super) fn open(&self) -> (Catalog, Loaded) {
        self.try_open().unwrap()
    }

    fn try_open(&self) -> Result<(Catalog, Loaded), Error> {
        Catalog::open(
            self.config(),
            Arc::new(RealDisk),
            self.journal.clone(),
            self.issues.clone(),
            self.clock.clone(),
        )
    }

    /// One commit, followed as the service does.
    pub(super) fn commit(&self, catalog: &Catalog, definitions: &[Definition]) {
        let committed = self.journal.define(definitions);
        let last = committed.last().unwrap().0;
        for (seq, definition) in committed {
            catalog.store(seq, definition);
        }
        catalog.seen(last);
    }

    fn quarantined(&self) -> Vec<String> {
        use millrace_journal::Disk as _;
        RealDisk.list(&self.config().quarantine).unwrap_or_default()
    }

    pub(super) fn overwrite(&self, place: usize, bytes: &[u8]) {
        use std::io::{Seek as _, SeekFrom};
        let mut file = std::fs::OpenOptions::new().write(true).open(self.config().path).unwrap();
        file.seek(SeekFrom::Start(place as u64)).unwrap();
        file.write_all(bytes).unwrap();
    }
}

pub(super) fn tag(id: u32, path: &str) -> Definition {
    Definition::Tag(Tag {
        id: TagId(id),
        workspace: WorkspaceNumber(1),
        path: path.into(),
        kind: Kind::UInt,
        unit: "°C".into(),
        description: "oil, return".into(),
        retention: Retention::Days14,
        schema: Schema { min: Some(-0.5), choices: vec!["a'b".into()], ..Schema::default() },
        created: Timestamp(i64::MIN),
        created_by: ClientNumber(7),
    })
}

pub(super) fn client(number: u32, revoked: Option<Timestamp>) -> Definition {
    Definition::Client(ApiClient {
        number: ClientNumber(number),
        id: format!("press-{number}"),
        name: "Press".into(),
        workspace: WorkspaceNumber(1),
        secret_hash: "ab".repeat(32),
        publish: vec![Filter::new("press/#").unwrap(), Filter::new("a/+/b").unwrap()],
        subscribe: vec![Filter::new("#").unwrap()],
        may_create: true,
        retention: Some(Retention::Keep),
        rate_per_s: Some(0),
        created: Timestamp(3),
        revoked,
    })
}

fn audit(subject: &str) -> Definition {
    Definition::Audit(AuditEntry {
        at: Timestamp(9),
        who: "user:anna".into(),
        action: "client.create".into(),
        subject: subject.into(),
        from: Some("10.0.0.7".into()),
    })
}

fn one_of_each() -> Vec<Definition> {
    vec![
        Definition::Setting { name: "access.secret_key".into(), value: "00ff".into() },
        Definition::Workspace(Workspace {
            number: WorkspaceNumber(1),
            name: "main".into(),
            created: Timestamp(1),
        }),
        tag(4, "press/t"),
        client(2, None),
        Definition::Person(Person {
            name: "anna".into(),
            password_hash: "$argon2id$x".into(),
            role: Role::Engineer,
            created: Timestamp(2),
            disabled: None,
        }),
        audit("press-2"),
    ]
}

fn of_pipelines() -> Vec<Definition> {
    vec![
        Definition::Deployment(Deployment {
            pipeline: 3,
            workspace: WorkspaceNumber(1),
            revision: Some(1),
            previous: None,
            at: Timestamp(4),
            by: "local".into(),
            note: "go".into(),
        }),
        revision(1, "{\"a\":\"ü'\"}"),
        revision(2, "{}"),
        Definition::Secret(Secret {
            workspace: WorkspaceNumber(1),
            name: "mes".into(),
            sealed: Some("v1.AAAA".into()),
            at: Timestamp(4),
            by: "user:anna".into(),
        }),
    ]
}

fn revision(number: u32, document: &str) -> Definition {
    Definition::PipelineRevision(PipelineRevision {
        pipeline: 3,
        workspace: WorkspaceNumber(1),
        name: "oee".into(),
        revision: number,
        at: Timestamp(i64::from(number)),
        author: "user:anna".into(),
        note: "new".into(),
        document: document.into(),
    })
}

fn without_audit(definitions: &[Definition]) -> Vec<Definition> {
    definitions.iter().filter(|d| !matches!(d, Definition::Audit(_))).cloned().collect()
}

/// The state that definitions lead to, later ones replacing earlier ones.
pub(super) fn state(definitions: &[Definition]) -> Vec<String> {
    let mut last = std::collections::BTreeMap::new();
    for definition in without_audit(definitions) {
        let key = match &definition {
            Definition::Tag(tag) => format!("tag {}", tag.id.0),
            Definition::Client(client) => format!("client {}", client.number.0),
            Definition::Person(person) => format!("person {}", person.name),
            Definition::Workspace(workspace) => format!("workspace {}", workspace.number.0),
            Definition::Setting { name, .. } => format!("setting {name}"),
            Definition::PipelineRevision(row) => {
                format!("revision {}.{}", row.pipeline, row.revision)
            }
            Definition::Deployment(row) => format!("deployment {}", row.pipeline),
            Definition::Secret(secret) => format!("secret {}", secret.name),
            Definition::PipelineRemoved(_) | Definition::Audit(_) => continue,
        };
        last.insert(key, format!("{definition:?}"));
    }
    last.into_values().collect()
}

struct Fixed(Vec<Definition>);
impl Definitions for Fixed {
    fn all(&self) -> Vec<Definition> {
        self.0.clone()
    }
}

fn snapshotter(bench: &Bench, state: Vec<Definition>) -> Snapshotter {
    let source = bench.journal.clone();
    Snapshotter::new(source, Arc::new(Fixed(state)), bench.clock.clone(), 1_000, 0)
}

#[test]
fn everything_comes_back_as_it_was_stored() {
    let bench = Bench::new();
    let (catalog, loaded) = bench.open();
    assert!(loaded.definitions.is_empty());
    assert_eq!(loaded.rebuilt, None, "a first start is not a rebuild");
    bench.commit(&catalog, &one_of_each());
    bench.commit(&catalog, &[client(2, Some(Timestamp(5))), tag(5, "press/p")]);
    bench.commit(&catalog, &of_pipelines());
    assert!(catalog.settle(LIMIT));
    catalog.close();
    assert_eq!(bench.journal.cursors().0, Seq(12), "the cursor follows");
    let (_, loaded) = bench.open();
    assert_eq!((loaded.rebuilt, loaded.checkpoint), (None, Seq(12)));
    assert_eq!(state(&loaded.definitions), state(&bench.journal.changes()));
    assert!(bench.issues.list().is_empty());
}

#[test]
fn what_was_committed_but_not_stored_is_read_at_the_next_start() {
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    bench.commit(&catalog, &one_of_each());
    catalog.close();
    // A crash right after the commit: the catalog never heard of these.
    bench.journal.define(&[tag(6, "late"), client(2, Some(Timestamp(8)))]);
    let (catalog, loaded) = bench.open();
    assert_eq!(loaded.checkpoint, Seq(8));
    assert_eq!(state(&loaded.definitions), state(&bench.journal.changes()));
    catalog.close();
    let (_, loaded) = bench.open();
    assert_eq!(state(&loaded.definitions), state(&bench.journal.changes()), "and was stored");
}

#[test]
fn ten_thousand_first_values_are_a_few_transactions() {
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    let namespace = Namespace::new(100_000);
    // 500 commits of 20, as fast as they come.
    for commit in 0..500u32 {
        let tags: Vec<_> =
            (0..20).map(|n| tag(commit * 20 + n + 1, &format!("line/{commit}/{n}"))).collect();
        tags.iter().for_each(|tag| namespace.apply(tag));
        bench.commit(&catalog, &tags);
    }
    assert!(catalog.settle(LIMIT));
    let transactions = catalog.transactions();
    assert!(transactions <= 60, "{transactions} transactions");
    assert_eq!(bench.journal.reads(), 1, "the queue was enough, nothing was read again");
    catalog.close();
    let (_, loaded) = bench.open();
    assert_eq!(loaded.definitions.len(), 10_000);
    assert_eq!(namespace.tag_count(), 10_000);
}

#[test]
fn an_overflowing_queue_is_read_from_the_journal_again() {
    let bench = Bench { queue_max: 2_000, ..Bench::new() };
    let (catalog, _) = bench.open();
    let count = 2_500;
    let tags: Vec<_> = (1..=count).map(|id| tag(id, &format!("t/{id}"))).collect();
    // One commit larger than the queue: the thread has no chance to take it in parts.
    bench.commit(&catalog, &tags);
    bench.commit(&catalog, &[audit("after")]);
    assert!(catalog.settle(LIMIT));
    assert!(bench.journal.reads() > 1, "the journal was read again");
    assert_eq!(catalog.audit(None, 9).unwrap().len(), 1);
    // From then on the queue is used again.
    let reads = bench.journal.reads();
    bench.commit(&catalog, &[tag(count + 1, "last")]);
    assert!(catalog.settle(LIMIT));
    assert_eq!(bench.journal.reads(), reads);
    catalog.close();
    assert_eq!(bench.open().1.definitions.len(), tags.len() + 1);
}

#[test]
fn a_file_that_cannot_be_written_is_tried_again_and_recovers() {
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    bench.commit(&catalog, &one_of_each());
    assert!(catalog.settle(LIMIT));
    let before = bench.journal.cursors().0;
    // Somebody holds the file: the same answer as a disk that says no.
    let other = Connection::open(bench.config().path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    bench.commit(&catalog, &[tag(9, "while/locked")]);
    assert!(!catalog.settle(Duration::from_millis(600)));
    assert!(bench.issues.is_open(ISSUE_CANNOT_WRITE));
    bench.commit(&catalog, &[tag(10, "while/locked/too")]);
    assert_eq!(bench.journal.cursors().0, before, "the journal keeps what is not stored");
    other.execute_batch("ROLLBACK").unwrap();
    assert!(catalog.settle(LIMIT));
    assert_eq!(bench.journal.cursors().0, Seq(8), "it went on by itself");
    assert!(!bench.issues.is_open(ISSUE_CANNOT_WRITE));
    catalog.close();
    assert_eq!(state(&bench.open().1.definitions), state(&bench.journal.changes()));
}

fn wait_for(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < deadline, "the condition did not come true");
        std::thread::yield_now();
    }
}

#[test]
fn a_folder_that_cannot_be_made_still_loads_from_the_journal_and_recovers() {
    let bench = Bench::new();
    bench.journal.define(&one_of_each());
    // Where the catalog's folder should be there is a file.
    let blocked = bench.folder.path().join("data");
    std::fs::File::create(&blocked).unwrap();
    let config = Config { path: blocked.join("catalog.db"), ..bench.config() };
    let (catalog, loaded) = Catalog::open(
        config,
        Arc::new(RealDisk),
        bench.journal.clone(),
        bench.issues.clone(),
        bench.clock.clone(),
    )
    .unwrap();
    assert_eq!(state(&loaded.definitions), state(&one_of_each()));
    assert!(bench.issues.is_open(ISSUE_CANNOT_WRITE));
    std::fs::remove_file(&blocked).unwrap();
    assert!(catalog.settle(LIMIT), "the file was made as soon as it could be");
    assert_eq!(catalog.audit(None, 9).unwrap().len(), 1);
}

#[test]
fn a_damaged_file_is_set_aside_and_rebuilt_whatever_the_damage() {
    type Damage = fn(&Bench);
    let damages: [(&str, Damage); 6] = [
        ("not a database", |bench| bench.overwrite(0, &[0x55; 4_096])),
        ("a page of the tree", |bench| bench.overwrite(8_192, &[0xff; 20_000])),
        ("cut in half", |bench| {
            let file = std::fs::OpenOptions::new().write(true).open(bench.config().path).unwrap();
            let half = file.metadata().unwrap().len() / 2;
            file.set_len(half).unwrap();
        }),
        ("a table is gone", |bench| {
            let db = Connection::open(bench.config().path).unwrap();
            db.execute_batch("DROP TABLE clients").unwrap();
        }),
        ("an unknown word", |bench| {
            let db = Connection::open(bench.config().path).unwrap();
            db.execute_batch("UPDATE tags SET retention = 'forever'").unwrap();
        }),
        ("a bad filter", |bench| {
            let db = Connection::open(bench.config().path).unwrap();
            db.execute_batch("UPDATE permissions SET filter = 'a/#/b'").unwrap();
        }),
    ];
    for (name, damage) in damages {
        let bench = Bench::new();
        let (catalog, _) = bench.open();
        bench.commit(&catalog, &one_of_each());
        let tags: Vec<_> = (10..900).map(|id| tag(id, &format!("t/{id}"))).collect();
        bench.commit(&catalog, &tags);
        bench.commit(&catalog, &[client(2, Some(Timestamp(5)))]);
        assert!(catalog.settle(LIMIT));
        catalog.close();
        damage(&bench);
        let (catalog, loaded) = bench.open();
        let reason = loaded.rebuilt.unwrap_or_else(|| panic!("{name}: not noticed"));
        assert!(reason.contains("damaged"), "{name}: {reason}");
        assert_eq!(state(&loaded.definitions), state(&bench.journal.changes()), "{name}");
        assert_eq!(catalog.audit(None, 9).unwrap().len(), 1, "{name}");
        assert!(!bench.quarantined().is_empty(), "{name}: set aside, not deleted");
        assert!(bench.issues.is_open(ISSUE_REBUILT), "{name}");
        catalog.close();
        assert_eq!(bench.open().1.rebuilt, None, "{name}: rebuilt once");
    }
}

#[test]
fn a_missing_file_is_rebuilt_from_the_snapshot_and_what_came_after() {
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    bench.commit(&catalog, &one_of_each());
    bench.commit(&catalog, &[tag(700, "highest")]);
    snapshotter(&bench, without_audit(&bench.journal.changes())).write().unwrap();
    bench.commit(&catalog, &[client(2, Some(Timestamp(5))), audit("press-2 again")]);
    assert!(catalog.settle(LIMIT));
    let expected = state(&bench.journal.changes());
    catalog.close();
    // The records before the snapshot were recycled, the file is lost.
    bench.journal.recycle_through(bench.journal.cursors().1);
    std::fs::remove_file(bench.config().path).unwrap();
    let (catalog, loaded) = bench.open();
    assert!(loaded.rebuilt.unwrap().contains("missing"));
    assert_eq!(state(&loaded.definitions), expected);
    assert_eq!(catalog.audit(None, 9).unwrap()[0].entry.subject, "press-2 again");
    // Numbers go on above everything there was.
    let namespace = Namespace::new(10);
    loaded.definitions.iter().for_each(|definition| namespace.apply(definition));
    let new = crate::namespace::NewTag {
        workspace: WorkspaceNumber(1),
        path: "new",
        kind: Kind::Int,
        retention: Retention::Days1,
        by: ClientNumber(1),
        now: Timestamp(1),
        client_tags_max: 9,
    };
    assert_eq!(namespace.create(new).unwrap().0.id, TagId(701));
    let issue = &bench.issues.list()[0];
    assert_eq!(issue.severity, millrace_supervisor::Severity::Notice, "nothing is missing");
}

#[test]
fn a_snapshot_never_brings_back_an_older_state() {
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    bench.commit(&catalog, &one_of_each());
    // The client is revoked after the state was read and before it is appended: in the journal
    // the repetition of the old state stands behind the change.
    struct Late(Arc<MemoryJournal>);
    impl Definitions for Late {
        fn all(&self) -> Vec<Definition> {
            self.0.define(&[client(2, Some(Timestamp(5)))]);
            without_audit(&one_of_each())
        }
    }
    let late = Arc::new(Late(bench.journal.clone()));
    let source = bench.journal.clone();
    Snapshotter::new(source, late, bench.clock.clone(), 1_000, 0).write().unwrap();
    let revoked = format!("{:?}", client(2, Some(Timestamp(5))));
    assert!(state(&bench.journal.changes()).contains(&revoked), "a follower skips repetitions");
    catalog.close();
    std::fs::remove_file(bench.config().path).unwrap();
    let (catalog, loaded) = bench.open();
    assert!(state(&loaded.definitions).contains(&revoked), "a rebuild puts it beneath");
    catalog.close();
}

#[test]
fn an_incomplete_snapshot_is_as_if_it_were_not_there() {
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    bench.commit(&catalog, &one_of_each());
    let all = without_audit(&bench.journal.changes());
    snapshotter(&bench, all).write().unwrap();
    let complete = bench.journal.cursors().1;
    bench.commit(&catalog, &[tag(5, "after/the/first")]);
    let expected = state(&bench.journal.changes());
    assert!(catalog.settle(LIMIT));
    catalog.close();
    // The second snapshot ends after its second chunk: only a part of a larger state.
    let many: Vec<_> = (100..4_000).map(|id| tag(id, &format!("never/{id}"))).collect();
    bench.journal.fail_appends_after(Some(2));
    assert!(snapshotter(&bench, many).write().is_err());
    assert_eq!(bench.journal.cursors().1, complete, "the first one stays in force");
    bench.journal.recycle_through(complete);
    std::fs::remove_file(bench.config().path).unwrap();
    let (_, loaded) = bench.open();
    assert_eq!(state(&loaded.definitions), expected);
}

#[test]
fn a_snapshot_with_a_lost_chunk_is_as_if_it_were_not_there() {
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    let tags: Vec<_> = (1..2_000).map(|id| tag(id, &format!("t/{id}"))).collect();
    bench.commit(&catalog, &tags);
    let before = bench.journal.durable();
    snapshotter(&bench, tags.clone()).write().unwrap();
    let begin = bench.journal.cursors().1;
    assert_eq!(begin, before);
    catalog.close();
    // Chunk 0 is two records; the commit behind it is the first chunk with definitions.
    bench.journal.lose(Seq(before.0 + 3));
    std::fs::remove_file(bench.config().path).unwrap();
    let (_, loaded) = bench.open();
    assert_eq!(state(&loaded.definitions), state(&tags), "all are still in the journal itself");
}

#[test]
fn a_file_that_ends_before_the_journal_begins_is_filled_from_the_snapshot() {
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    bench.commit(&catalog, &one_of_each());
    assert!(catalog.settle(LIMIT));
    catalog.close();
    let old_file = std::fs::read(bench.config().path).unwrap();
    bench.journal.define(&[client(2, Some(Timestamp(5)))]);
    snapshotter(&bench, without_audit(&bench.journal.changes())).write().unwrap();
    bench.journal.recycle_through(bench.journal.cursors().1);
    // A person has put an old copy in place.
    std::fs::File::create(bench.config().path).unwrap().write_all(&old_file).unwrap();
    let (_, loaded) = bench.open();
    assert!(loaded.rebuilt.unwrap().contains("journal begins at"));
    let revoked = format!("{:?}", client(2, Some(Timestamp(5))));
    assert!(state(&loaded.definitions).contains(&revoked));
    assert_eq!(loaded.checkpoint, bench.journal.durable());
}

#[test]
fn a_lost_journal_keeps_the_file_and_gives_higher_seqs() {
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    bench.commit(&catalog, &one_of_each());
    assert!(catalog.settle(LIMIT));
    catalog.close();
    let bench = Bench { journal: Arc::default(), ..bench };
    let (catalog, loaded) = bench.open();
    assert_eq!(state(&loaded.definitions), state(&one_of_each()));
    bench.commit(&catalog, &[audit("new")]);
    let lines = catalog.audit(None, 9).unwrap();
    assert_eq!(lines.len(), 2, "the new entry did not replace an old one");
    assert!(lines[0].seq > lines[1].seq);
}

#[test]
fn a_newer_file_is_refused_and_not_touched() {
    let bench = Bench::new();
    bench.open().0.close();
    let db = Connection::open(bench.config().path).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let refused = bench.try_open().unwrap_err();
    assert!(matches!(refused, Error::Newer { found: 99, known: 2, .. }), "{refused}");
    assert!(bench.quarantined().is_empty());
}

#[test]
fn a_commit_that_is_handed_over_in_parts_is_stored_whole() {
    // The thread wakes all the time and meets the queue in the middle of commits.
    let bench = Bench { checkpoint_interval: Duration::ZERO, ..Bench::new() };
    let config = Config { group_interval: Duration::ZERO, ..bench.config() };
    let (catalog, _) = Catalog::open(
        config,
        Arc::new(RealDisk),
        bench.journal.clone(),
        bench.issues.clone(),
        bench.clock.clone(),
    )
    .unwrap();
    for commit in 0..20u32 {
        let committed = bench.journal.define(&[tag(2 * commit + 1, "a"), tag(2 * commit + 2, "b")]);
        for (seq, definition) in committed {
            let before = catalog.transactions();
            catalog.store(seq, definition);
            wait_for(|| catalog.transactions() > before);
        }
        catalog.seen(Seq(u64::from(commit) * 2 + 2));
    }
    assert!(catalog.settle(LIMIT));
    catalog.close();
    assert_eq!(bench.open().1.definitions.len(), 40);
}

#[test]
fn the_checkpoint_moves_though_nothing_is_defined() {
    let bench = Bench { checkpoint_interval: Duration::from_millis(20), ..Bench::new() };
    let (catalog, _) = bench.open();
    bench.commit(&catalog, &one_of_each());
    assert!(catalog.settle(LIMIT));
    // Samples go by.
    bench.journal.skip_past(Seq(5_000));
    catalog.seen(Seq(5_000));
    // The cursor moves first, then it is told.
    wait_for(|| catalog.checkpoint() == Seq(5_000));
    assert_eq!(bench.journal.cursors().0, Seq(5_000));
}

#[test]
fn the_audit_trail_is_paged_newest_first() {
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    let entries: Vec<_> = (0..25).map(|n| audit(&format!("s{n}"))).collect();
    bench.commit(&catalog, &entries);
    let page = catalog.audit(None, 10).unwrap();
    assert_eq!(page.len(), 10);
    assert_eq!(page[0].entry.subject, "s24");
    let page = catalog.audit(Some(page[9].seq), 100).unwrap();
    assert_eq!((page.len(), page[0].entry.subject.as_str()), (15, "s14"));
    assert_eq!(page[14].entry.from.as_deref(), Some("10.0.0.7"));
}

#[test]
fn damage_at_run_time_is_healed_without_a_restart() {
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    bench.commit(&catalog, &one_of_each());
    assert!(catalog.settle(LIMIT));
    let db = Connection::open(bench.config().path).unwrap();
    db.execute_batch("DROP TABLE tags").unwrap();
    drop(db);
    bench.commit(&catalog, &[tag(5, "press/p")]);
    assert!(catalog.settle(LIMIT));
    assert!(bench.issues.is_open(ISSUE_REBUILT));
    catalog.close();
    assert_eq!(state(&bench.open().1.definitions), state(&bench.journal.changes()));
}

#[test]
fn a_snapshot_that_fills_the_journal_gives_way_and_comes_again() {
    let bench = Bench::new();
    let state = one_of_each();
    bench.journal.define(&state);
    let snapshotter = snapshotter(&bench, state);
    snapshotter.write().unwrap();
    assert!(!snapshotter.is_due(0));
    let end = bench.journal.durable();
    // When the file holds everything up to here, the snapshot is given up and the next is due
    snapshotter.give_way(end).unwrap();
    assert_eq!(bench.journal.cursors().1, end);
    assert!(snapshotter.is_due(0));
    snapshotter.write().unwrap();
    assert!(!snapshotter.is_due(0));
    // It never lets go what is not durable yet
    snapshotter.give_way(Seq(1_000_000)).unwrap();
    assert_eq!(bench.journal.cursors().1, bench.journal.durable());
}

#[test]
fn snapshots_are_due_by_bytes_and_when_there_is_none() {
    let bench = Bench::new();
    let snapshotter = snapshotter(&bench, one_of_each());
    assert!(snapshotter.tick(0).unwrap(), "there is none");
    assert!(!snapshotter.tick(999).unwrap());
    assert!(snapshotter.tick(1_000).unwrap());
    assert!(!snapshotter.tick(1_999).unwrap());
    let restarted = Snapshotter::new(
        bench.journal.clone(),
        Arc::new(Fixed(Vec::new())),
        bench.clock.clone(),
        1_000,
        1_500,
    );
    assert!(restarted.is_due(0), "the segments at the start count");
    assert!(bench.journal.changes().is_empty(), "a follower sees no change in a snapshot");
}

#[test]
fn records_that_cannot_be_read_are_left_out() {
    let bench = Bench::new();
    let mut records = millrace_journal::RecordBuf::new();
    records.push(&[99, 1, 2]);
    records.push(&[2, b'{']);
    records.push(&[3, 1]);
    records.push(&[4]);
    records.push(&[]);
    bench.journal.append(&mut records).unwrap();
    bench.journal.define(&[tag(1, "good")]);
    let (_, loaded) = bench.open();
    assert_eq!(loaded.definitions.len(), 1);
}

/// Copies the catalog's files as they lie, as a kill leaves them.
fn kill_and_copy(bench: Bench, damage: impl Fn(&Path)) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    for name in ["catalog.db", "catalog.db-wal"] {
        std::fs::copy(bench.folder.path().join(name), folder.path().join(name)).unwrap();
    }
    damage(folder.path());
    Bench { folder, ..bench }
}

#[test]
fn a_kill_loses_nothing_whatever_becomes_of_the_file_beside() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 3] = [
        ("none", |_| {}),
        ("the write-ahead file is garbage", |folder| {
            let beside = folder.join("catalog.db-wal");
            std::fs::File::create(beside).unwrap().write_all(&[0xa5; 50_000]).unwrap();
        }),
        ("the write-ahead file alone is left", |folder| {
            std::fs::remove_file(folder.join("catalog.db")).unwrap();
        }),
    ];
    for (name, damage) in damages {
        let bench = Bench::new();
        let (catalog, _) = bench.open();
        bench.commit(&catalog, &one_of_each());
        assert!(catalog.settle(LIMIT));
        bench.commit(&catalog, &[client(2, Some(Timestamp(5)))]);
        assert!(catalog.settle(LIMIT));
        let bench = kill_and_copy(bench, damage);
        drop(catalog);
        let (_, loaded) = bench.open();
        assert_eq!(state(&loaded.definitions), state(&bench.journal.changes()), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn the_files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    bench.commit(&catalog, &one_of_each());
    assert!(catalog.settle(LIMIT));
    for name in ["catalog.db", "catalog.db-wal", "catalog.db-shm"] {
        let mode = std::fs::metadata(bench.folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
    }
}

#[test]
fn older_revisions_are_in_the_file_alone_and_only_so_many() {
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    let deployed = |revision, previous| {
        let (workspace, at, by) = (WorkspaceNumber(1), Timestamp(4), "local".to_owned());
        let note = String::new();
        let pipeline = 3;
        Definition::Deployment(Deployment { pipeline, workspace, revision, previous, at, by, note })
    };
    bench.commit(&catalog, &[revision(1, "{1}"), revision(2, "{2}"), deployed(Some(2), Some(1))]);
    for number in 3..=60 {
        bench.commit(&catalog, &[revision(number, &format!("{{{number}}}"))]);
    }
    // Fifty behind the last one, and what runs and what ran before whatever their age.
    let kept = catalog.revisions(3, None, 1_000).unwrap();
    let numbers: Vec<u32> = kept.iter().map(|line| line.revision).collect();
    let expected: Vec<u32> = (11..=60).rev().chain([2, 1]).collect();
    assert_eq!(numbers, expected);
    assert_eq!((kept[0].note.as_str(), kept[0].author.as_str()), ("new", "user:anna"));
    let page = catalog.revisions(3, Some(12), 2).unwrap();
    assert_eq!(page.iter().map(|line| line.revision).collect::<Vec<_>>(), [11, 2]);
    assert_eq!(&*catalog.revision(3, 30).unwrap().unwrap().document, "{30}");
    assert_eq!(catalog.revision(3, 10).unwrap(), None);
    drop(catalog);
    // A start loads what matters now.
    let (catalog, loaded) = bench.open();
    let pipelines = crate::Pipelines::default();
    loaded.definitions.iter().for_each(|definition| pipelines.apply(definition));
    let pipeline = pipelines.get(3).unwrap();
    let held: Vec<u32> = pipeline.revisions().map(|row| row.revision).collect();
    assert_eq!(held, [1, 2, 60]);
    assert_eq!(pipeline.deployed().unwrap().revision, 2);
    let removed = PipelineRemoved {
        pipeline: 3,
        workspace: WorkspaceNumber(1),
        name: "oee".into(),
        at: Timestamp(5),
        by: "local".into(),
    };
    bench.commit(&catalog, &[Definition::PipelineRemoved(removed)]);
    assert!(catalog.revisions(3, None, 9).unwrap().is_empty());
    drop(catalog);
    let (_, loaded) = bench.open();
    assert!(loaded.definitions.is_empty(), "{:?}", loaded.definitions);
}

#[test]
fn a_snapshot_of_long_documents_rebuilds_a_lost_file() {
    let bench = Bench::new();
    let (catalog, _) = bench.open();
    let long = format!("{{\"x\":\"{}\"}}", "\\\"".repeat(1_000_000));
    let definitions = [revision(1, &long), tag(4, "press/t"), revision(2, "{}")];
    bench.commit(&catalog, &definitions);
    let pipelines = crate::Pipelines::default();
    definitions.iter().for_each(|definition| pipelines.apply(definition));
    let mut all = pipelines.definitions();
    // Both are held: the long one is what runs.
    let runs = Deployment {
        pipeline: 3,
        workspace: WorkspaceNumber(1),
        revision: Some(1),
        previous: None,
        at: Timestamp(4),
        by: "local".into(),
        note: String::new(),
    };
    all.extend([Definition::Deployment(runs), revision(1, &long), tag(4, "press/t")]);
    let before = bench.journal.durable();
    snapshotter(&bench, all.clone()).write().unwrap();
    catalog.close();
    bench.journal.recycle_through(before);
    std::fs::remove_file(bench.config().path).unwrap();
    let (_, loaded) = bench.open();
    assert!(loaded.rebuilt.is_some());
    assert_eq!(state(&loaded.definitions), state(&all));
}
