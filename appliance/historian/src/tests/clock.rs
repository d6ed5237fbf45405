//! Retention by time, and clocks that cannot be trusted.

use super::rig::{DAY, HOUR, Rig, SECOND, START};
use millrace_model::{Retention, Timestamp};
use std::time::Duration;

fn hours(count: u64) -> Duration {
    Duration::from_secs(count * 3_600)
}

#[test]
fn each_class_leaves_on_time_and_as_whole_files() {
    let mut rig = Rig::new();
    for (tag, class) in (1u32..).zip(Retention::ALL) {
        rig.tags.set(tag, class);
        rig.float(tag, START, 1.0);
        rig.float(tag, START + HOUR - SECOND, 2.0);
    }
    rig.seal();
    assert_eq!(rig.part_files().len(), 5);
    let present = |rig: &Rig| (1..6).map(|tag| rig.raw(tag).len()).collect::<Vec<_>>();
    // A sample of the file's first second is kept until its last one is old enough.
    let steps = [
        (24, [2, 2, 2, 2, 2]),
        (2, [0, 2, 2, 2, 2]),
        (6 * 24, [0, 0, 2, 2, 2]),
        (7 * 24, [0, 0, 0, 2, 2]),
        (18 * 24, [0, 0, 0, 0, 2]),
        (5_000 * 24, [0, 0, 0, 0, 2]),
    ];
    for (step, expected) in steps {
        rig.clock.advance(hours(step));
        rig.history().look_after();
        assert_eq!(present(&rig), expected, "after {step} more hours");
    }
    assert_eq!(rig.part_files().len(), 1);
    rig.restart();
    assert_eq!(present(&rig), [0, 0, 0, 0, 2]);
}

#[test]
fn old_data_lives_as_long_as_its_class_says() {
    let mut rig = Rig::new();
    rig.tags.set(1, Retention::Days14);
    rig.float(1, START - 10 * DAY, 1.0);
    rig.seal();
    rig.history().look_after();
    assert_eq!(rig.raw(1).len(), 1);
    rig.clock.advance(hours(3 * 24));
    rig.history().look_after();
    assert_eq!(rig.raw(1).len(), 1);
    rig.clock.advance(hours(26));
    rig.history().look_after();
    assert_eq!(rig.raw(1).len(), 0);
}

#[test]
fn a_timestamp_in_2100_takes_nothing_with_it() {
    let mut rig = Rig::new();
    let far = Timestamp::from_rfc3339("2100-01-01T00:00:00Z").expect("a time").0;
    rig.float(1, far, 1.0);
    rig.float(2, START, 2.0);
    rig.seal();
    rig.history().look_after();
    rig.restart();
    rig.history().look_after();
    assert_eq!((rig.raw(1).len(), rig.raw(2).len()), (1, 1));
    // Values of now, which lie before it, are not late for long and lose nothing.
    rig.float(1, START + SECOND, 3.0);
    rig.seal();
    assert_eq!(rig.raw(1).len(), 2);
    assert_eq!(rig.raw(2).len(), 1);
}

#[test]
fn a_clock_sixty_days_ahead_removes_nothing() {
    let mut rig = Rig::new();
    rig.float(1, START, 1.0);
    rig.seal();
    // It jumps while the box runs
    rig.clock.jump_to(Timestamp(START + 60 * DAY));
    rig.history().look_after();
    assert_eq!(rig.raw(1).len(), 1);
    assert!(rig.issues.is_open("clock-in-doubt"));
    // It is that far ahead when the box starts
    rig.restart();
    rig.history().look_after();
    assert_eq!(rig.raw(1).len(), 1);
    assert!(rig.issues.is_open("clock-in-doubt"));
    // It agrees again
    rig.clock.jump_to(Timestamp(START + HOUR / 2));
    rig.history().look_after();
    assert!(!rig.issues.is_open("clock-in-doubt"));
    assert_eq!(rig.raw(1).len(), 1);
    // Or a person says that it is right
    rig.clock.jump_to(Timestamp(START + 60 * DAY));
    rig.history().look_after();
    assert_eq!(rig.raw(1).len(), 1);
    rig.history().confirm_clock();
    assert!(!rig.issues.is_open("clock-in-doubt"));
    assert_eq!(rig.raw(1).len(), 0);
}

#[test]
fn a_clock_that_goes_back_removes_nothing_and_alarms_nobody() {
    let mut rig = Rig::new();
    rig.float(1, START, 1.0);
    rig.seal();
    rig.clock.jump_to(Timestamp(START - 30 * DAY));
    rig.history().look_after();
    rig.clock.jump_to(Timestamp(START + 10 * SECOND));
    rig.history().look_after();
    assert_eq!(rig.issues.list(), []);
    assert_eq!(rig.raw(1).len(), 1);
}

#[test]
fn an_idle_box_is_believed_after_days_without_values() {
    let mut rig = Rig::new();
    rig.float(1, START, 1.0);
    rig.seal();
    for _ in 0..72 {
        rig.clock.advance(hours(1) + Duration::from_secs(1));
        rig.history().look_after();
    }
    rig.restart();
    rig.history().look_after();
    assert_eq!(rig.issues.list(), []);
}

#[test]
fn a_new_class_counts_for_what_is_sealed_from_then_on() {
    let mut rig = Rig::new();
    rig.float(1, START, 1.0);
    rig.seal();
    rig.tags.set(1, Retention::Days32);
    rig.float(1, START + SECOND, 2.0);
    rig.seal();
    rig.assert_is_oracle();
    rig.clock.advance(hours(27));
    rig.history().look_after();
    let values: Vec<_> = rig.raw(1).iter().map(|sample| sample.source_time.0).collect();
    assert_eq!(values, [START + SECOND]);
}
