//! Appending, reading, recycling and closing with nothing going wrong.

use super::*;
use crate::{AppendError, Error, RealDisk, State};

#[test]
fn reads_back_what_was_committed_and_nothing_else() {
    let disk = ForgetfulDisk::new(1);
    let mut rig = Rig::open(Arc::new(disk.clone()));
    rig.append(&[record(1, 40), record(2, 8)]);
    assert_eq!(rig.journal.durable(), Seq(0));
    assert_eq!(rig.all(), []);
    assert!(rig.writer.step());
    assert_eq!(rig.journal.durable(), Seq(2));
    rig.append(&[record(3, 9)]);
    let two = [(Seq(1), record(1, 40)), (Seq(2), record(2, 8))];
    assert_eq!(rig.all(), two);
    assert_eq!(*rig.seen.lock(), two);
    // What was appended and not committed is gone after a crash, and its seq is free.
    disk.crash_hard();
    drop(rig);
    let mut rig = Rig::open(Arc::new(disk));
    assert_eq!(rig.report.issues, Vec::<String>::new());
    assert_eq!((rig.report.first_seq, rig.report.last_seq), (Seq(1), Seq(2)));
    assert_eq!(rig.all(), two);
    assert_eq!(rig.commit(b"again"), Seq(3));
}

#[test]
fn a_reader_follows_the_live_end_and_starts_inside_a_frame() {
    let mut rig = Rig::open(Arc::new(ForgetfulDisk::new(1)));
    let mut reader = rig.journal.reader(Seq(1));
    assert!(reader.next().expect("nothing yet").is_none());
    rig.append(&[record(1, 8), record(2, 8), record(3, 8)]);
    assert!(rig.writer.step());
    let batch = reader.next().expect("readable").expect("a frame");
    assert_eq!((batch.first, batch.count, batch.last()), (Seq(2), 2, Seq(3)));
    assert_eq!(batch.records().map(|(seq, _)| seq.0).collect::<Vec<_>>(), [2, 3]);
    assert!(reader.next().expect("caught up").is_none());
    rig.commit(b"more");
    assert_eq!(reader.next().expect("readable").expect("a frame").first, Seq(4));
}

#[test]
fn the_note_of_each_frame_is_kept() {
    let notes = Arc::new(std::sync::atomic::AtomicU64::new(7));
    let note = Arc::clone(&notes);
    let config = Config {
        note: Some(Arc::new(move || note.fetch_add(1, std::sync::atomic::Ordering::SeqCst))),
        ..config()
    };
    let mut rig = Rig::open_with(config, Arc::new(ForgetfulDisk::new(1)));
    rig.commit(b"a");
    rig.commit(b"b");
    let mut reader = rig.journal.reader(Seq::ZERO);
    assert_eq!(reader.next().expect("readable").expect("a frame").note, 7);
    assert_eq!(reader.next().expect("readable").expect("a frame").note, 8);
}

#[test]
fn goes_through_many_segments_and_recycles_what_all_cursors_passed() {
    let disk = ForgetfulDisk::new(1);
    let mut rig = Rig::open(Arc::new(disk.clone()));
    let slow = rig.journal.register_cursor("slow");
    let fast = rig.journal.register_cursor("fast");
    for number in 1..=400 {
        let seq = rig.commit(&record(number, 5000));
        assert_eq!(seq, Seq(number));
        fast.checkpoint(seq).expect("durable");
        if number % 5 == 0 {
            slow.checkpoint(Seq(number - 4)).expect("durable");
        }
        rig.keep();
    }
    // Far more was written than the files hold, and there are no more files than allowed.
    assert!(segments(&disk).len() as u64 <= SEGMENTS);
    let stats = rig.journal.stats();
    assert!(stats.written_bytes > 2 * SEGMENTS * SEGMENT_BYTES);
    assert!(stats.oldest > Seq(300));
    let kept = read_all(&rig.journal, slow.position());
    assert_eq!(kept.len() as u64, 400 - slow.position().0);
    assert!(kept.iter().all(|(seq, bytes)| *bytes == record(seq.0, 5000)));
    // And again after a restart, where stale frames must not come back.
    drop(rig);
    let rig = Rig::open(Arc::new(disk));
    assert_eq!(rig.report.issues, Vec::<String>::new());
    let all = rig.all();
    assert_eq!(all.last().map(|(seq, _)| *seq), Some(Seq(400)));
    assert!(all.windows(2).all(|pair| pair[0].0.next() == pair[1].0));
    assert!(all.iter().all(|(seq, bytes)| *bytes == record(seq.0, 5000)));
}

#[test]
fn a_stuck_reader_fills_the_journal_until_it_moves() {
    let mut rig = Rig::open(Arc::new(ForgetfulDisk::new(1)));
    let stuck = rig.journal.register_cursor("stuck");
    let mut number = 0;
    // Fill every segment, then the queue.
    loop {
        match rig.try_append(&[record(number + 1, 9000)]) {
            Ok(_) => number += 1,
            Err(error) => {
                assert_eq!(error, AppendError::Full);
                break;
            }
        }
        rig.writer.step();
    }
    let status = rig.journal.status();
    let State::FullByReader { cursor, position, .. } = status.state else {
        panic!("not {status:?}");
    };
    assert_eq!((cursor, position), (Some("stuck"), Seq(0)));
    assert!(!rig.journal.is_degraded(), "nothing is wrong with the disk");
    assert!(!rig.writer.step(), "still no segment");
    // It moves: no restart is needed, and nothing was lost meanwhile.
    stuck.checkpoint(Seq(10)).expect("durable");
    rig.keep();
    while !(rig.writer.step() && rig.journal.durable() == Seq(number)) {
        stuck.checkpoint(rig.journal.durable()).expect("durable");
        rig.keep();
    }
    assert_eq!(rig.journal.status().state, State::Normal);
    let seen: Vec<_> = rig.seen.lock().iter().map(|(seq, _)| seq.0).collect();
    assert_eq!(seen, (1..=number).collect::<Vec<_>>());
}

#[test]
fn cursors_survive_restarts_and_never_move_back() {
    let disk = ForgetfulDisk::new(1);
    let mut rig = Rig::open(Arc::new(disk.clone()));
    let cursor = rig.journal.register_cursor("historian");
    for number in 1..=5 {
        rig.commit(&record(number, 8));
    }
    cursor.checkpoint(Seq(3)).expect("durable");
    cursor.checkpoint(Seq(2)).expect("ignored");
    assert_eq!(cursor.position(), Seq(3));
    let ahead = cursor.checkpoint(Seq(6)).expect_err("not durable");
    assert!(matches!(ahead, Error::CheckpointAhead { name: "historian", .. }), "{ahead}");
    rig.keep();
    disk.crash_hard();
    for _ in 0..3 {
        let rig = Rig::open(Arc::new(disk.clone()));
        assert_eq!(rig.report.issues, Vec::<String>::new());
        assert_eq!(rig.journal.register_cursor("historian").position(), Seq(3));
        assert_eq!(read_all(&rig.journal, Seq(3)).len(), 2);
    }
}

#[test]
fn an_append_larger_than_a_frame_is_refused_for_good() {
    let rig = Rig::open(Arc::new(ForgetfulDisk::new(1)));
    let refused = rig.try_append(&[record(1, 70_000)]);
    assert!(
        matches!(refused, Err(AppendError::TooLarge { limit_bytes: 20_480, .. })),
        "{refused:?}"
    );
}

#[test]
fn a_follower_that_panics_closes_the_journal_and_frees_who_waits() {
    struct Angry;
    impl Follower for Angry {
        fn committed(&mut self, _batch: &Committed<'_>) {
            panic!("on purpose");
        }
    }
    let disk: Arc<dyn Disk> = Arc::new(ForgetfulDisk::new(1));
    let (journal, _) = Journal::open(config(), Arc::clone(&disk)).expect("opens");
    journal.start(Box::new(Angry));
    let mut buf = RecordBuf::new();
    buf.push(b"kept");
    let answer = journal.append_durable_blocking(&mut buf);
    assert_eq!(answer, Err(AppendError::Closed));
    assert!(journal.is_degraded());
    let status = journal.status();
    let State::Broken { reason, .. } = status.state else { panic!("not {status:?}") };
    assert!(reason.contains("on purpose"), "{reason}");
    drop(journal);
    // It was durable, though never announced: a restart finds it.
    assert_eq!(Rig::open(disk).all(), [(Seq(1), b"kept".to_vec())]);
}

#[test]
fn real_threads_on_a_real_disk_keep_order_and_lose_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for durability in [Durability::Sync, Durability::Interval(Duration::from_millis(5))] {
        let config = Config { dir: folder.path().join("j"), durability, ..config() };
        let (journal, report) = Journal::open(config, Arc::new(RealDisk)).expect("opens");
        assert_eq!(report.issues, Vec::<String>::new());
        let before = journal.durable();
        let seen = Seen::default();
        let cursor = journal.register_cursor("test");
        journal.start(Box::new(Witness(Arc::clone(&seen))));
        std::thread::scope(|scope| {
            for task in 0..4u64 {
                let (journal, cursor) = (&journal, &cursor);
                scope.spawn(move || {
                    let mut buf = RecordBuf::new();
                    for number in 0..100 {
                        buf.push(&record(task * 1000 + number, 600));
                        let range = journal.append_durable_blocking(&mut buf).expect("open");
                        assert!(journal.durable() >= range.last());
                        cursor.checkpoint(range.last()).expect("durable");
                    }
                });
            }
        });
        journal.close();
        assert_eq!(journal.durable(), Seq(before.0 + 400));
        let seen = seen.lock();
        assert_eq!(seen.len(), 400);
        assert!(seen.windows(2).all(|pair| pair[0].0.next() == pair[1].0));
        for task in 0..4u64 {
            let own =
                seen.iter().map(|(_, bytes)| u64::from_le_bytes(bytes[..8].try_into().expect("8")));
            let own: Vec<_> = own.filter(|number| number / 1000 == task).collect();
            assert_eq!(own, (task * 1000..task * 1000 + 100).collect::<Vec<_>>());
        }
        let mut buf = RecordBuf::new();
        buf.push(b"late");
        assert_eq!(journal.append(&mut buf, None), Err(AppendError::Closed));
    }
}

#[test]
fn closing_commits_what_is_queued() {
    let disk: Arc<dyn Disk> = Arc::new(ForgetfulDisk::new(1));
    let config = Config { commit_interval: Duration::from_secs(60), ..config() };
    let (journal, _) = Journal::open(config, Arc::clone(&disk)).expect("opens");
    journal.start(Box::new(Witness(Seen::default())));
    let mut buf = RecordBuf::new();
    for number in 1..=3 {
        buf.push(&record(number, 8));
        journal.append(&mut buf, None).expect("open");
    }
    journal.close();
    assert_eq!(journal.durable(), Seq(3));
    drop(journal);
    assert_eq!(Rig::open(disk).all().len(), 3);
}

#[test]
fn refuses_settings_that_cannot_work() {
    let disk: Arc<dyn Disk> = Arc::new(ForgetfulDisk::new(1));
    for bad in [
        Config { segment_bytes: 5000, ..config() },
        Config { bytes_max: 2 * SEGMENT_BYTES, ..config() },
        Config { batch_bytes_max: 0, ..config() },
    ] {
        let refused = Journal::open(bad, Arc::clone(&disk)).map(drop);
        assert!(matches!(refused, Err(Error::Config { .. })), "{refused:?}");
    }
}
