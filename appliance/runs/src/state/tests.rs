//! Stories of the lasting state on a real file.

use super::*;
use crate::file::PlainFiles;
use millrace_model::Timestamp;
use millrace_supervisor::TestClock;
use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use tempfile::TempDir;

struct World {
    folder: TempDir,
    issues: Arc<Issues>,
    clock: Arc<TestClock>,
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(TestClock::new(Timestamp(1_800_000_000_000_000_000)));
        let issues = Arc::new(Issues::new(clock.clone()));
        Self { folder: tempfile::tempdir().expect("a folder"), issues, clock }
    }

    fn store(&self) -> StateStore {
        let names: Names = Arc::new(|number| (number == 7).then(|| "oee-line-3".to_owned()));
        let config = Config::new(self.folder.path(), names);
        let (issues, clock) = (self.issues.clone(), self.clock.clone());
        StateStore::new(config, Arc::new(PlainFiles), issues, clock)
    }

    fn overwrite(&self, position: u64, bytes: &[u8]) {
        let path = self.folder.path().join("state.db");
        let mut file = fs::OpenOptions::new().write(true).open(path).expect("the file");
        file.seek(SeekFrom::Start(position)).expect("a place");
        file.write_all(bytes).expect("written");
    }

    fn text_of(&self, key: &str) -> String {
        let list = self.issues.list();
        let found = list.iter().find(|issue| issue.key == key);
        found.map(|issue| issue.what.clone()).unwrap_or_default()
    }
}

fn step(pipeline: u32, key: &str) -> Scope {
    Scope::Step { pipeline, step: "count".to_owned(), key: key.to_owned() }
}

fn set(scope: Scope, json: &str) -> Change {
    Change { scope, json: Some(json.to_owned()) }
}

fn entry(scope: Scope, json: &str) -> Entry {
    Entry { scope, json: json.to_owned() }
}

fn variable(name: &str) -> Scope {
    Scope::Variable { workspace: 2, name: name.to_owned() }
}

#[test]
fn what_was_stored_is_loaded_with_its_seq() {
    let world = World::new();
    let store = world.store();
    assert_eq!(store.load().expect("a new file"), Loaded::default());
    let changes =
        [set(step(7, "n"), "41"), set(variable("shift"), "\"früh\""), set(step(8, "n"), "1")];
    assert_eq!(store.store(&changes, 100).expect("stored"), Stored::default());
    let gone = Change { scope: step(8, "n"), json: None };
    store.store(&[set(step(7, "n"), "42"), gone], 120).expect("stored");
    drop(store);
    let mut loaded = world.store().load().expect("loaded");
    loaded.entries.sort_by(|a, b| a.json.cmp(&b.json));
    let expected = vec![entry(variable("shift"), "\"früh\""), entry(step(7, "n"), "42")];
    assert_eq!(loaded, Loaded { entries: expected, through: 120, lost: None });
}

#[test]
fn the_seq_moves_without_changes_and_never_back() {
    let world = World::new();
    let store = world.store();
    store.store(&[], 50).expect("stored");
    store.store(&[], 40).expect("stored");
    assert_eq!(store.load().expect("loaded").through, 50);
}

#[test]
fn what_is_over_a_limit_is_refused_alone() {
    let world = World::new();
    let mut store = world.store();
    store.total_bytes_max = 1_000;
    let long = "1".repeat(ENTRY_BYTES_MAX + 1);
    let changes = [
        set(step(1, "long"), &long),
        set(step(1, "a"), &"2".repeat(600)),
        set(step(1, "b"), &"3".repeat(600)),
        set(step(1, "c"), "4"),
    ];
    let stored = store.store(&changes, 9).expect("stored");
    let limits: Vec<_> =
        stored.refused.iter().map(|over| (&over.scope, over.limit_bytes)).collect();
    let entry_limit = ENTRY_BYTES_MAX as u64;
    assert_eq!(limits, [(&step(1, "long"), entry_limit), (&step(1, "b"), 1_000)]);
    assert!(world.issues.is_open(ISSUE_REFUSED));
    // Room that is freed can be used, and a smaller value always fits.
    let gone = Change { scope: step(1, "a"), json: None };
    let stored = store.store(&[gone, set(step(1, "b"), &"3".repeat(600))], 10).expect("stored");
    assert!(stored.refused.is_empty(), "{stored:?}");
    let text = world.text_of(ISSUE_REFUSED);
    assert!(text.starts_with("1 entries"), "the long one is still not stored: {text}");
    let short = set(step(1, "long"), "1");
    store.store(&[short], 11).expect("stored");
    assert!(!world.issues.is_open(ISSUE_REFUSED), "now all are");
    let held = store.held.lock().table.as_ref().map(Table::bytes);
    assert_eq!(held, Some(600 + 6 + 1 + 6 + 1 + 9), "the sum is that of the rows");
    drop(store);
    let store = world.store();
    store.load().expect("loaded");
    assert_eq!(store.held.lock().table.as_ref().map(Table::bytes), held, "also after a start");
}

#[test]
fn a_damaged_file_starts_empty_and_the_issue_names_who_lost_state() {
    let world = World::new();
    let store = world.store();
    let long = "5".repeat(9_000);
    let changes: Vec<_> =
        (0..40).map(|number| set(step(7 + number / 20, &format!("k{number}")), &long)).collect();
    store.store(&changes, 100).expect("stored");
    drop(store);
    // Given a page in the middle that is overwritten
    world.overwrite(16 * 1024 * 4, &[0xa5; 16 * 1024]);
    let store = world.store();
    let loaded = store.load().expect("it starts");
    assert_eq!((loaded.entries.len(), loaded.through), (0, 0));
    assert!(loaded.lost.is_some());
    let text = world.text_of(ISSUE_LOST);
    assert!(text.contains("oee-line-3"), "by name: {text}");
    assert!(fs::read_dir(world.folder.path().join("quarantine")).expect("a folder").count() > 0);
    // And it goes on
    store.store(&changes[..1], 200).expect("stored");
    assert_eq!(world.store().load().expect("loaded").through, 200);
}

#[test]
fn a_flipped_bit_in_a_value_loses_that_value_alone() {
    let world = World::new();
    let store = world.store();
    store.store(&[set(step(7, "n"), "[1234567]"), set(step(8, "n"), "2")], 10).expect("stored");
    drop(store);
    let bytes = fs::read(world.folder.path().join("state.db")).expect("the file");
    let place = bytes.windows(9).position(|window| window == b"[1234567]").expect("in the file");
    world.overwrite(place as u64 + 3, b"9");
    let loaded = world.store().load().expect("loaded");
    assert_eq!(loaded.entries, [entry(step(8, "n"), "2")]);
    assert_eq!(loaded.through, 10);
    assert!(world.text_of(ISSUE_LOST).contains("oee-line-3"));
}

#[test]
fn damage_met_while_running_is_mended_from_memory() {
    let world = World::new();
    let store = world.store();
    store.load().expect("a new file");
    let long = "5".repeat(9_000);
    let all: Vec<_> = (0..40).map(|number| set(step(7, &format!("k{number}")), &long)).collect();
    store.store(&all, 100).expect("stored");
    // Given a file that is overwritten while the box runs
    store.held.lock().table = None;
    for page in 1..20 {
        world.overwrite(16 * 1024 * page, &[0xa5; 16 * 1024]);
    }
    // When something is stored
    let gone = Change { scope: step(7, "k0"), json: None };
    let stored = store.store(&[set(step(7, "k3"), "6"), gone], 150).expect("stored");
    // Then everything is in a new file and nothing is lost
    assert!(stored.is_rewritten && world.issues.is_open(ISSUE_REWRITTEN));
    drop(store);
    let loaded = world.store().load().expect("loaded");
    assert_eq!((loaded.entries.len(), loaded.through), (39, 150));
    assert!(loaded.entries.contains(&entry(step(7, "k3"), "6")));
    assert!(!world.issues.is_open(ISSUE_LOST));
}

#[test]
fn a_file_of_a_later_version_is_refused_and_left_as_it_is() {
    let world = World::new();
    let path = world.folder.path().join("state.db");
    let newer = rusqlite::Connection::open(&path).expect("a file");
    newer.pragma_update(None, "user_version", 9).expect("set");
    drop(newer);
    let error = world.store().load().expect_err("refused");
    assert!(matches!(error, StateError::Newer { found: 9, known: 1, .. }), "{error}");
    assert!(path.exists());
}

#[test]
fn a_file_that_cannot_be_written_raises_an_issue_until_it_can() {
    let world = World::new();
    let path = world.folder.path().join("state.db");
    fs::create_dir(&path).expect("a folder in its place");
    let store = world.store();
    store.store(&[set(step(1, "a"), "1")], 5).expect_err("no file");
    assert!(world.issues.is_open(ISSUE_CANNOT_WRITE));
    fs::remove_dir(&path).expect("removed");
    store.store(&[set(step(1, "a"), "1")], 5).expect("stored");
    assert!(!world.issues.is_open(ISSUE_CANNOT_WRITE));
}

#[test]
fn a_file_that_was_deleted_by_hand_is_told() {
    let world = World::new();
    let open = |is_expected: bool| {
        let names: Names = Arc::new(|_| None);
        let config = Config { is_expected, ..Config::new(world.folder.path(), names) };
        let (issues, clock) = (world.issues.clone(), world.clock.clone());
        StateStore::new(config, Arc::new(PlainFiles), issues, clock)
    };
    // Given a first start, which makes the file, and a second one
    open(false).load().expect("a new file");
    let again = open(true).load().expect("the same file");
    assert_eq!((again.lost, world.issues.is_open(ISSUE_LOST)), (None, false));
    // When somebody deletes it
    fs::remove_file(world.folder.path().join("state.db")).expect("removed");
    // Then the next start says that state begins empty, and why
    let lost = open(true).load().expect("a new file").lost.expect("told");
    assert!(lost.contains("state.db is not there"), "{lost}");
    assert_eq!(world.text_of(ISSUE_LOST), lost);
}
