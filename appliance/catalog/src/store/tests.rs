//! Tests of the SQLite file itself.

use super::*;
use millrace_model::{AuditEntry, Definition, Timestamp};

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("catalog.db")).unwrap();
    (folder, store)
}

fn setting(name: &str, value: String) -> (Seq, Definition) {
    (Seq(1), Definition::Setting { name: name.into(), value })
}

fn entry(seq: u64) -> (Seq, Definition) {
    let text = || "x".to_owned();
    let (who, action, subject) = (text(), text(), text());
    let entry = AuditEntry { at: Timestamp(1), who, action, subject, from: None };
    (Seq(seq), Definition::Audit(entry))
}

#[test]
fn a_full_disk_leaves_the_old_state_and_is_no_damage() {
    let (_folder, mut store) = store();
    store.write(&[setting("a", "old".into())], Seq(1)).unwrap();
    // SQLite's own limit of pages gives the same answer as ENOSPC.
    let pages: u32 =
        store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    let limit = |store: &Store, pages: u32| {
        let sql = format!("PRAGMA max_page_count = {pages}");
        store.connection.query_row(&sql, [], |_| Ok(())).unwrap();
    };
    limit(&store, pages);
    let group = [setting("a", "new".into()), setting("b", "x".repeat(100_000))];
    let refused = store.write(&group, Seq(2)).unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused}");
    assert_eq!(store.checkpoint().unwrap(), Some(Seq(1)));
    let old = Definition::Setting { name: "a".into(), value: "old".into() };
    assert_eq!(store.load().unwrap(), [old]);
    limit(&store, pages + 1_000);
    store.write(&group, Seq(2)).unwrap();
    assert_eq!(store.load().unwrap().len(), 2);
}

#[test]
fn writing_a_group_twice_changes_nothing_and_the_checkpoint_never_goes_back() {
    let (_folder, mut store) = store();
    let group = [setting("a", "1".into()), entry(7)];
    store.write(&group, Seq(9)).unwrap();
    store.write(&group, Seq(8)).unwrap();
    assert_eq!(store.checkpoint().unwrap(), Some(Seq(9)));
    assert_eq!(store.load().unwrap().len(), 1);
    assert_eq!(read_audit(store.path(), None, 9).unwrap().len(), 1);
}

#[test]
fn the_audit_trail_is_trimmed_to_its_limit() {
    let (_folder, mut store) = store();
    store.audit_rows_max = 2_000;
    let count = 3_500;
    let group: Vec<_> = (1..=count).map(entry).collect();
    store.write(&group, Seq(count)).unwrap();
    let sql = "SELECT count(*), min(seq) FROM audit";
    let (rows, first): (i64, i64) =
        store.connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!((rows, first), (2_000, 1_501));
}

#[test]
fn an_open_survives_garbage_of_any_length() {
    use std::io::Write as _;
    let folder = tempfile::tempdir().unwrap();
    for length in [1usize, 15, 16, 100, 4_096, 70_000] {
        let path = folder.path().join(format!("{length}.db"));
        std::fs::File::create(&path).unwrap().write_all(&vec![0xa5; length]).unwrap();
        match Store::open(&path) {
            // SQLite takes a file without a whole header for an empty one; it was never filled.
            Ok(store) => assert_eq!((store.checkpoint().unwrap(), length < 100), (None, true)),
            Err(refused) => {
                assert!(matches!(refused, StoreError::Damaged(_)), "{length}: {refused}");
            }
        }
    }
}
