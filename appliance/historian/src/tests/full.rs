//! A full disk, a read-only disk, a full memory: devices wait, nothing is lost, it recovers.

use super::rig::{DAY, HOUR, Rig, SECOND, START};
use millrace_journal::Seq;
use millrace_model::{Retention, TagId};
use std::time::Duration;

#[test]
fn a_full_disk_stops_sealing_and_nothing_else() {
    let mut rig = Rig::new();
    for number in 0..100i64 {
        rig.float(1, START + number * SECOND, 1.0);
    }
    rig.faulty.set_full(true);
    let refused = rig.history().seal_now();
    assert!(matches!(refused, Err(crate::Error::CannotSeal { .. })));
    assert!(rig.issues.is_open("historian-cannot-seal"));
    for number in 100..1_100i64 {
        rig.float(1, START + number * SECOND, 2.0);
    }
    rig.assert_is_oracle();
    // When space is there again, it goes on by itself.
    rig.faulty.heal();
    rig.seal();
    assert!(!rig.issues.is_open("historian-cannot-seal"));
    rig.assert_is_oracle();
    rig.restart();
    rig.assert_is_oracle();
    assert_eq!(rig.history().stats().memory_rows, 0);
}

#[test]
fn recovers_by_itself_and_then_lets_the_intake_go_on() {
    // Given a memtable of some thousand rows and a disk that takes nothing
    let mut rig = Rig::new();
    rig.stop();
    rig.config.memtable_bytes = 200_000;
    rig.open();
    rig.faulty.set_full(true);
    let mut number = 0i64;
    while rig.history().stats().sealing_bytes == 0 || rig.history().stats().active_bytes < 200_000 {
        rig.float(1, START + number * SECOND, 1.0);
        number += 1;
    }
    // When one more value comes, it waits; when there is space again it goes on
    let faulty = rig.faulty.clone();
    let healer = millrace_supervisor::spawn::thread("healer", move || faulty.heal());
    rig.float(1, START + number * SECOND, 1.0);
    healer.expect("starts").join().expect("ends");
    rig.assert_is_oracle();
    assert!(rig.history().stats().seals > 0);
}

#[test]
fn says_while_it_holds_the_journal_back() {
    let mut rig = Rig::new();
    rig.stop();
    rig.config.memtable_bytes = 100_000;
    rig.open();
    rig.faulty.set_full(true);
    let mut number = 0i64;
    while rig.history().stats().active_bytes < 100_000 || rig.history().stats().sealing_bytes == 0 {
        rig.float(1, START + number * SECOND, 1.0);
        number += 1;
    }
    assert!(!rig.history().is_holding_back());
    let faulty = rig.faulty.clone();
    let (history, intake) = rig.both();
    std::thread::scope(|scope| {
        scope.spawn(|| drop(intake.lock()));
        for _ in 0..400 {
            if history.is_holding_back() {
                break;
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        assert!(history.is_holding_back());
        faulty.heal();
    });
    assert!(!history.is_holding_back());
}

#[test]
fn closing_with_a_full_disk_and_a_full_memory_ends() {
    let mut rig = Rig::new();
    rig.stop();
    rig.config.memtable_bytes = 100_000;
    rig.open();
    rig.faulty.set_full(true);
    let mut number = 0i64;
    while rig.history().stats().active_bytes < 100_000 || rig.history().stats().sealing_bytes == 0 {
        rig.float(1, START + number * SECOND, 1.0);
        number += 1;
    }
    // The journal's thread is let go before it is joined.
    rig.history().release();
    rig.float(1, START + number * SECOND, 1.0);
    assert!(matches!(rig.history().close(), Err(crate::Error::CannotSeal { .. })));
    rig.faulty.heal();
    rig.restart();
    rig.assert_is_oracle();
}

#[test]
fn retention_frees_space_while_the_disk_is_full() {
    let mut rig = Rig::new();
    rig.float(1, START, 1.0);
    rig.seal();
    assert_eq!(rig.part_files().len(), 1);
    rig.faulty.set_full(true);
    rig.clock.advance(Duration::from_secs(26 * 3_600));
    rig.history().look_after();
    assert_eq!(rig.part_files().len(), 0);
    // A crash now finds a manifest that names a part which is not there: its time had come.
    rig.stop();
    rig.faulty.heal();
    rig.restart();
    assert_eq!(rig.issues.list(), []);
    assert_eq!(rig.raw(1), []);
}

#[test]
fn keep_has_a_byte_budget_and_loses_its_oldest_files() {
    let mut rig = Rig::new();
    rig.tags.set(1, Retention::Keep);
    rig.stop();
    rig.config.keep_bytes_max = 30_000;
    rig.open();
    for day in 0..30i64 {
        for number in 0..100i64 {
            rig.float(1, START - 900 * DAY + day * DAY + number * SECOND, number as f64 / 7.0);
        }
        rig.float(2, START + day * SECOND, 1.0);
        rig.seal();
        rig.history().look_after();
    }
    let samples = rig.raw(1);
    let stats = rig.history().stats();
    assert!(stats.removed_parts > 0);
    assert!(rig.issues.is_open("historian-keep-nearly-full"));
    let kept: u64 = rig
        .part_files()
        .iter()
        .filter(|(path, _)| path.starts_with("/history/parts/keep"))
        .map(|(_, length)| length)
        .sum();
    assert!(kept <= 30_000, "{kept} bytes");
    assert_eq!(samples.len() % 100, 0, "whole files only");
    let last = samples.last().expect("the newest stay").source_time.0;
    assert_eq!(last, START - 900 * DAY + 29 * DAY + 99 * SECOND);
    assert_eq!(rig.raw(2).len(), 30, "other classes are untouched");
}

#[test]
fn seals_by_age_and_moves_the_cursor_over_batches_without_samples() {
    let mut rig = Rig::new();
    rig.stop();
    rig.config.seal_age = Duration::from_secs(600);
    rig.open();
    rig.float(1, START, 1.0);
    let wait_for = |rig: &Rig, what: &str, done: &dyn Fn(&Rig) -> bool| {
        for _ in 0..400 {
            if done(rig) {
                return;
            }
            rig.clock.advance(Duration::from_secs(300));
            std::thread::park_timeout(Duration::from_millis(20));
        }
        panic!("{what}");
    };
    wait_for(&rig, "sealed by age", &|rig| rig.history().stats().parts == 1);
    rig.intake().lock().done(Seq(50));
    wait_for(&rig, "the cursor follows", &|rig| {
        use crate::Checkpoint;
        rig.cursor.position() == Seq(50)
    });
    assert_eq!(rig.history().last(TagId(1)).map(|sample| sample.source_time.0), Some(START));
    let _hour = HOUR;
}
