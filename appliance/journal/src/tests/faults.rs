//! Writes, syncs, renames and space that fail: nothing announced is lost, and it recovers without
//! a restart.

use super::*;
use crate::disk::testing::{Fault, FaultyDisk};
use crate::{AppendError, State};

fn faulty() -> (FaultyDisk, ForgetfulDisk) {
    let disk = ForgetfulDisk::new(1);
    (FaultyDisk::new(Arc::new(disk.clone())), disk)
}

/// A life of a journal over several segments, with checkpoints; answers up to where it announced.
/// Steps that do not get through are tried again, as the writer's thread would.
fn life(disk: &FaultyDisk, durability: Durability) -> Seq {
    let config = Config { durability, ..config() };
    let open = || Journal::open(config.clone(), Arc::new(disk.clone()));
    // A folder that cannot be made is the one thing that may stop a start.
    let (journal, _) = open().or_else(|_| open()).expect("the second attempt");
    let seen = Seen::default();
    let writer = journal.writer(Box::new(Witness(Arc::clone(&seen))));
    let mut rig = Rig { journal, writer, seen, report: Recovery::default() };
    let cursor = rig.journal.register_cursor("test");
    let mut keeper = crate::keeper::Keeper::new(Arc::clone(rig.journal.core()));
    for number in 1..=24 {
        rig.append(&[record(number, 5000)]);
        let mut attempts = 0;
        while !rig.writer.step() {
            attempts += 1;
            assert!(attempts < 5, "one fault does not last: {:?}", rig.journal.status());
        }
        assert_eq!(rig.journal.durable(), Seq(number));
        if number == 16 {
            cursor.checkpoint(Seq(10)).expect("durable");
            keeper.turn();
        }
    }
    assert_eq!(rig.journal.status().state, State::Normal);
    let all = read_all(&rig.journal, Seq(10));
    assert_eq!(all.len(), 14, "readable in the same life");
    let durable = rig.journal.durable();
    drop(rig);
    durable
}

fn fails_at_each_operation(fault: Fault) {
    for n in 1.. {
        let (disk, forgetful) = faulty();
        disk.fail_at(n, fault, false);
        let durable = life(&disk, Durability::Sync);
        let was_hit = disk.failed() > 0;
        disk.heal();
        forgetful.crash_hard();
        let mut rig = Rig::open(Arc::new(forgetful));
        let all = read_all(&rig.journal, Seq(10));
        let expected: Vec<_> = (11..=durable.0).map(|n| (Seq(n), record(n, 5000))).collect();
        assert!(all == expected, "{fault:?} at {n}: {:?}", rig.report);
        assert_eq!(rig.report.issues, Vec::<String>::new(), "{fault:?} at {n}");
        assert_eq!(rig.commit(b"next"), durable.next());
        if !was_hit {
            assert!(n > 50, "the life has more operations than {n}");
            return;
        }
    }
}

#[test]
fn survives_an_error_at_each_operation() {
    fails_at_each_operation(Fault::Error);
}

#[test]
fn survives_a_short_write_at_each_operation() {
    fails_at_each_operation(Fault::ShortWrite);
}

#[test]
fn survives_an_error_after_each_operation() {
    fails_at_each_operation(Fault::DoneButError);
}

#[test]
fn a_failed_file_is_never_written_again() {
    let (disk, forgetful) = faulty();
    let mut rig = Rig::open(Arc::new(disk.clone()));
    rig.commit(b"one");
    let before = segments(&forgetful);
    disk.fail_at(1, Fault::ShortWrite, false);
    rig.commit(b"two");
    let sealed = forgetful.content(&before[0]).expect("still there");
    rig.commit(b"three");
    assert_eq!(forgetful.content(&before[0]), Some(sealed));
    assert_eq!(segments(&forgetful).len(), 2);
    let status = rig.journal.status();
    assert_eq!(status.state, State::Normal);
    assert!(status.last_fault.is_some_and(|fault| fault.contains("segment-0001")));
}

/// The failed sync had got through: the same records then stand in two segments.
#[test]
fn a_frame_that_was_written_again_is_read_once() {
    let (disk, forgetful) = faulty();
    let mut rig = Rig::open(Arc::new(disk.clone()));
    rig.commit(b"one");
    rig.append(&[b"two".to_vec(), b"three".to_vec()]);
    disk.fail_at(2, Fault::DoneButError, false);
    assert!(rig.writer.step());
    rig.commit(b"four");
    let texts = ["one", "two", "three", "four"];
    let expected: Vec<_> = (1..).map(Seq).zip(texts.map(|text| text.as_bytes().to_vec())).collect();
    assert_eq!(rig.all(), expected);
    drop(rig);
    let rig = Rig::open(Arc::new(forgetful));
    assert_eq!(rig.all(), expected);
    assert_eq!(rig.report.issues, Vec::<String>::new());
}

#[test]
fn acknowledges_nothing_while_degraded_and_recovers_when_the_disk_does() {
    let (disk, forgetful) = faulty();
    let mut rig = Rig::open(Arc::new(disk.clone()));
    rig.commit(b"before");
    disk.set_full(true);
    rig.append(&[b"during".to_vec()]);
    for _ in 0..3 {
        assert!(!rig.writer.step());
        assert!(rig.journal.is_degraded());
        assert_eq!(rig.journal.durable(), Seq(1));
    }
    let status = rig.journal.status();
    let State::Degraded { reason, .. } = status.state else { panic!("not {status:?}") };
    assert!(reason.contains("no space left"), "{reason}");
    // Reading goes on, and appending until the queue is full.
    assert_eq!(rig.all(), [(Seq(1), b"before".to_vec())]);
    let mut taken = 0;
    while rig.try_append(&[record(taken, 1000)]).is_ok() {
        taken += 1;
    }
    assert_eq!(rig.try_append(&[record(0, 1000)]), Err(AppendError::Full));
    disk.set_full(false);
    while rig.journal.durable() < Seq(2 + taken) {
        assert!(rig.writer.step());
    }
    assert!(!rig.journal.is_degraded());
    forgetful.crash_hard();
    drop(rig);
    assert_eq!(Rig::open(Arc::new(forgetful)).all().len() as u64, 2 + taken);
}

#[test]
fn a_disk_too_full_for_a_new_segment_still_recycles() {
    let (disk, _) = faulty();
    let mut rig = Rig::open(Arc::new(disk.clone()));
    let cursor = rig.journal.register_cursor("test");
    rig.keep();
    for number in 1..=12 {
        rig.commit(&record(number, 9000));
    }
    disk.set_growth_full(true);
    let mut number = 12;
    let stuck = loop {
        number += 1;
        rig.append(&[record(number, 9000)]);
        if !rig.writer.step() {
            break number;
        }
    };
    assert!(rig.journal.is_degraded());
    cursor.checkpoint(Seq(10)).expect("durable");
    rig.keep();
    assert!(rig.writer.step(), "the recycled segment is enough");
    assert_eq!(rig.journal.durable(), Seq(stuck));
    assert!(!rig.journal.is_degraded());
}

#[test]
fn attempts_on_a_failing_disk_do_not_use_up_the_segments() {
    let (disk, forgetful) = faulty();
    let mut rig = Rig::open(Arc::new(disk.clone()));
    rig.commit(b"before");
    rig.append(&[b"during".to_vec()]);
    for syncs in [true, false] {
        disk.fail_syncs(syncs);
        disk.set_full(!syncs);
        for _ in 0..3 * SEGMENTS {
            assert!(!rig.writer.step());
        }
    }
    disk.heal();
    assert!(rig.writer.step());
    assert!(segments(&forgetful).len() <= 2);
}

#[test]
fn with_interval_durability_a_sync_follows() {
    let (disk, forgetful) = faulty();
    let config = Config { durability: Durability::Interval(Duration::from_millis(20)), ..config() };
    let (journal, _) = Journal::open(config, Arc::new(disk)).expect("opens");
    journal.start(Box::new(Witness(Seen::default())));
    let mut buf = RecordBuf::new();
    for number in 1..=50 {
        buf.push(&record(number, 100));
        journal.append_durable_blocking(&mut buf).expect("open");
    }
    assert!(journal.stats().syncs < 50, "not one for each commit");
    let limit = std::time::Instant::now() + Duration::from_secs(5);
    let synced = |disk: &ForgetfulDisk| {
        let disk = disk.clone();
        disk.synced_copy(7)
    };
    while Rig::open(Arc::new(synced(&forgetful))).all().len() < 50 {
        assert!(std::time::Instant::now() < limit, "the sync never came");
        std::thread::yield_now();
    }
    journal.close();
}

#[test]
fn the_threads_recover_by_themselves() {
    let (disk, _) = faulty();
    let (journal, _) = Journal::open(config(), Arc::new(disk.clone())).expect("opens");
    journal.start(Box::new(Witness(Seen::default())));
    let mut buf = RecordBuf::new();
    buf.push(b"before");
    journal.append_durable_blocking(&mut buf).expect("open");
    disk.set_full(true);
    buf.push(b"during");
    let range = journal.append(&mut buf, None).expect("room");
    let limit = std::time::Instant::now() + Duration::from_secs(10);
    while !journal.is_degraded() {
        assert!(std::time::Instant::now() < limit, "it notices");
        std::thread::yield_now();
    }
    assert_eq!(journal.durable(), Seq(1));
    disk.set_full(false);
    buf.push(b"after");
    let after = journal.append_durable_blocking(&mut buf).expect("open");
    assert_eq!(after.first, range.last().next());
    assert!(!journal.is_degraded());
    assert_eq!(read_all(&journal, Seq::ZERO).len(), 3);
}

#[test]
fn interval_durability_also_survives_a_fault_in_the_same_life() {
    for n in (5..60).step_by(5) {
        let (disk, _) = faulty();
        disk.fail_at(n, Fault::Error, false);
        assert_eq!(life(&disk, Durability::Interval(Duration::ZERO)), Seq(24));
    }
}

/// As on a folder that became read-only.
#[test]
fn a_disk_that_cannot_be_written_is_read_and_recovers() {
    let (disk, _) = faulty();
    let mut rig = Rig::open(Arc::new(disk.clone()));
    rig.commit(b"one");
    drop(rig);
    disk.set_full(true);
    disk.fail_syncs(true);
    let mut rig = Rig::open(Arc::new(disk.clone()));
    assert!(rig.report.issues.iter().any(|issue| issue.contains("cannot be synced")));
    assert_eq!(rig.all(), [(Seq(1), b"one".to_vec())]);
    rig.append(&[b"two".to_vec()]);
    assert!(!rig.writer.step());
    assert!(rig.journal.is_degraded());
    disk.heal();
    assert!(rig.writer.step());
    assert_eq!(rig.journal.durable(), Seq(2));
}

/// A cursor that cannot be saved holds its segments, and is saved when the disk allows.
#[test]
fn cursors_that_cannot_be_saved_keep_their_segments() {
    let (disk, forgetful) = faulty();
    let mut rig = Rig::open(Arc::new(disk.clone()));
    let cursor = rig.journal.register_cursor("test");
    let mut keeper = crate::keeper::Keeper::new(Arc::clone(rig.journal.core()));
    for number in 1..=20 {
        rig.commit(&record(number, 9000));
    }
    let live = rig.journal.stats().segments_live;
    disk.fail_syncs(true);
    cursor.checkpoint(Seq(20)).expect("durable");
    assert!(keeper.turn().is_some(), "it comes again");
    assert!(rig.journal.status().cursor_fault.is_some());
    assert_eq!(rig.journal.stats().segments_live, live);
    disk.heal();
    rig.keep();
    assert!(rig.journal.stats().segments_live < live);
    forgetful.crash_hard();
    drop(rig);
    let rig = Rig::open(Arc::new(forgetful));
    assert_eq!(rig.journal.register_cursor("test").position(), Seq(20));
}

/// Its header got through and its first frame did not: it must not stay as a used-up segment.
#[test]
fn a_fresh_segment_whose_first_frame_fails_goes_away() {
    let (disk, forgetful) = faulty();
    let mut rig = Rig::open(Arc::new(disk.clone()));
    rig.append(&[b"one".to_vec()]);
    let before = disk.operations();
    // Make: create, fill, sync, rename, sync the folder. Begin: two headers, sync. Then the frame.
    disk.fail_at(9, Fault::ShortWrite, false);
    assert!(rig.writer.step());
    assert!(disk.operations() > before + 9);
    assert!(rig.journal.status().last_fault.is_some_and(|fault| fault.contains("commit to")));
    assert_eq!(segments(&forgetful).len(), 1);
    assert_eq!(rig.journal.stats().segments_live, 1);
    assert_eq!(rig.all(), [(Seq(1), b"one".to_vec())]);
}
