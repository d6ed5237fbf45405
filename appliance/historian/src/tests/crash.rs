//! Dying at each step of a seal, and starting again.

use super::rig::{DAY, HOUR, Rig, SECOND, START};
use millrace_journal::disk::testing::Fault;
use std::path::Path;

/// Values of two hours, so that a seal writes two parts.
fn some_history(rig: &mut Rig, from: i64) {
    for number in 0..30i64 {
        let time = START - from * 100 * SECOND - number * HOUR / 20;
        rig.float(1, time, number as f64);
        rig.record(2, (time, time), 0, false, millrace_model::Value::Int(number));
    }
}

#[test]
fn a_crash_at_each_step_of_a_seal_loses_and_doubles_nothing() {
    for fault in [Fault::Error, Fault::ShortWrite, Fault::DoneButError] {
        for step in 1.. {
            // Given a sealed history and values in memory
            let mut rig = Rig::new();
            some_history(&mut rig, 0);
            rig.seal();
            some_history(&mut rig, 1);
            // When the disk fails at this step of the next seal, for good, and power fails
            rig.faulty.fail_at(step, fault, true);
            let result = rig.history().seal_now();
            rig.assert_is_oracle();
            rig.stop();
            rig.disk.crash();
            rig.faulty.heal();
            // Then the journal brings back what was not sealed
            rig.restart();
            rig.assert_is_oracle();
            rig.close_and_open();
            rig.assert_is_oracle();
            assert_eq!(rig.history().verify().damaged, []);
            if result.is_ok() {
                assert!(step > 10, "a seal has many steps");
                break;
            }
        }
    }
}

#[test]
fn a_crash_before_the_cursor_doubles_nothing() {
    let mut rig = Rig::new();
    some_history(&mut rig, 0);
    rig.seal();
    rig.cursor.set(0);
    let opened = rig.restart();
    assert_eq!(opened.checkpoint.0, rig.last_seq(), "the manifest knows better");
    rig.assert_is_oracle();
}

#[test]
fn three_starts_without_writes_change_nothing() {
    let mut rig = Rig::new();
    some_history(&mut rig, 0);
    rig.close_and_open();
    let files = rig.part_files();
    let stats = rig.history().stats();
    for _ in 0..3 {
        rig.close_and_open();
        assert_eq!(rig.part_files(), files);
        let again = rig.history().stats();
        assert_eq!((again.parts, again.part_rows), (stats.parts, stats.part_rows));
    }
    rig.assert_is_oracle();
}

#[test]
fn a_manifest_in_any_state_is_made_anew_from_the_parts() {
    let current = Path::new("/history/manifest.json");
    let previous = Path::new("/history/manifest.previous.json");
    let mut rig = Rig::new();
    some_history(&mut rig, 0);
    rig.seal();
    some_history(&mut rig, 1);
    rig.seal();
    let good = rig.disk.content(current).expect("is there");
    let mut flipped = good.clone();
    flipped[20] ^= 4;
    let torn = good[..good.len() / 2].to_vec();
    for bytes in [Vec::new(), vec![0; 11], vec![0; 4096], flipped, torn, b"{}\ncrc32c 0\n".to_vec()]
    {
        for is_alone in [false, true] {
            rig.stop();
            rig.disk.put(current, &bytes);
            if is_alone {
                rig.disk.take(previous);
            }
            let opened = rig.restart();
            assert!(opened.is_rebuilt);
            assert!(rig.issues.is_open("historian-manifest-rebuilt"));
            assert_eq!(opened.quarantined, Vec::<String>::new());
            rig.assert_is_oracle();
        }
    }
    rig.stop();
    rig.disk.take(current);
    rig.disk.take(previous);
    assert!(rig.restart().is_rebuilt);
    rig.assert_is_oracle();
    assert!(!rig.close_and_open().is_rebuilt, "the manifest made anew is a good one");
}

#[test]
fn without_a_manifest_parts_ahead_of_the_cursor_come_again_from_the_journal() {
    let mut rig = Rig::new();
    some_history(&mut rig, 0);
    rig.seal();
    let position = rig.last_seq();
    some_history(&mut rig, 1);
    rig.seal();
    rig.stop();
    rig.cursor.set(position);
    rig.disk.take(Path::new("/history/manifest.json"));
    rig.disk.take(Path::new("/history/manifest.previous.json"));
    let opened = rig.restart();
    assert_eq!(opened.checkpoint.0, position);
    assert!(!opened.quarantined.is_empty());
    assert!(rig.issues.is_open("historian-quarantined"));
    rig.assert_is_oracle();
}

#[test]
fn files_that_no_manifest_names_are_set_aside_not_deleted() {
    let mut rig = Rig::new();
    some_history(&mut rig, 0);
    rig.seal();
    rig.stop();
    let stray = Path::new("/history/parts/1d/20261130T14-000000ff-00000000.parquet");
    rig.disk.put(stray, b"not a part");
    rig.disk.put(Path::new("/history/parts/7d/x.new"), b"unfinished");
    let opened = rig.restart();
    assert_eq!(opened.quarantined, ["1d/20261130T14-000000ff-00000000.parquet"]);
    let kept = Path::new("/history/quarantine/1d-20261130T14-000000ff-00000000.parquet");
    assert_eq!(rig.disk.content(kept).as_deref(), Some(b"not a part".as_slice()));
    rig.assert_is_oracle();
}

#[test]
fn a_journal_that_began_anew_hides_nothing() {
    // Given history up to seq 60, and a journal that was removed with its cursor
    let mut rig = Rig::new();
    some_history(&mut rig, 0);
    rig.close_and_open();
    let before = rig.raw(1).len();
    rig.stop();
    rig.records.clear();
    rig.cursor.set(0);
    let opened = rig.restart();
    assert_eq!(opened.checkpoint.0, 0);
    assert!(rig.issues.is_open("historian-journal-behind"));
    // When new values get the same seqs again and the box crashes
    rig.float(1, START + DAY, 5.0);
    rig.float(1, START, -1.0);
    rig.restart();
    // Then they are there beside the old ones, and the newer of two at one time wins
    let samples = rig.raw(1);
    assert_eq!(samples.len(), before + 1);
    assert!(samples.iter().any(|sample| sample.value == millrace_model::Value::Float(-1.0)));
    rig.close_and_open();
    assert_eq!(rig.raw(1), samples);
}
