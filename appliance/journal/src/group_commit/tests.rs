//! The shared batch without a disk: who is woken, when, and what is refused.

use super::*;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;

#[derive(Default)]
struct Counted(AtomicUsize);

impl Wake for Counted {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn records(count: usize, bytes: usize) -> RecordBuf {
    let mut buf = RecordBuf::new();
    for _ in 0..count {
        buf.push(&vec![7; bytes]);
    }
    buf
}

fn commit(queue: &Queue) {
    let mut batch = Batch::new();
    assert_eq!(queue.take(&mut batch, None, None), Turn::Commit);
    queue.done(&mut batch);
}

#[test]
fn gives_seqs_in_order_and_wakes_each_waiter_once_a_batch() {
    let queue = Queue::new(1000, Seq(0), Seq(1));
    let counted = Arc::new(Counted::default());
    let waker = Waker::from(Arc::clone(&counted));
    let mut registration = Registration::default();
    for round in 1..=3 {
        for first in [round * 4 - 3, round * 4 - 1] {
            let range =
                queue.append(&mut records(2, 10), Some((&waker, &mut registration))).expect("room");
            assert_eq!(range, SeqRange { first: Seq(first as u64), count: 2 });
        }
        assert_eq!(counted.0.load(Ordering::SeqCst), round - 1);
        commit(&queue);
        assert_eq!(counted.0.load(Ordering::SeqCst), round);
        assert_eq!(queue.durable(), Seq(round as u64 * 4));
    }
}

#[test]
fn is_full_by_bytes_and_tells_when_there_is_room() {
    let queue = Queue::new(100, Seq(0), Seq(1));
    let counted = Arc::new(Counted::default());
    let waker = Waker::from(Arc::clone(&counted));
    queue.append(&mut records(2, 30), None).expect("room");
    let mut more = records(1, 40);
    assert_eq!(queue.append(&mut more, None), Err(AppendError::Full));
    assert_eq!(more.count(), 1, "a refused buffer is untouched");
    queue.wait_for_space(&waker);
    queue.wait_for_space(&waker);
    // In flight still counts.
    let mut batch = Batch::new();
    assert_eq!(queue.take(&mut batch, None, None), Turn::Commit);
    assert_eq!(queue.append(&mut more, None), Err(AppendError::Full));
    assert_eq!(counted.0.load(Ordering::SeqCst), 0);
    queue.done(&mut batch);
    assert_eq!(counted.0.load(Ordering::SeqCst), 1);
    queue.append(&mut more, None).expect("room again");
    assert!(more.is_empty());
}

#[test]
fn refuses_what_can_never_fit() {
    let queue = Queue::new(100, Seq(0), Seq(1));
    let refused = queue.append(&mut records(1, 100), None);
    assert_eq!(refused, Err(AppendError::TooLarge { bytes: 104, limit_bytes: 100 }));
}

#[test]
fn closing_refuses_appends_and_keeps_what_is_queued() {
    let queue = Queue::new(100, Seq(0), Seq(1));
    queue.append(&mut records(1, 1), None).expect("open");
    queue.close();
    assert_eq!(queue.append(&mut records(1, 1), None), Err(AppendError::Closed));
    commit(&queue);
    assert_eq!(queue.take(&mut Batch::new(), None, None), Turn::Finish);
    assert_eq!(queue.durable(), Seq(1));
}

#[test]
fn the_time_is_counted_in_which_there_was_no_room() {
    let queue = Queue::new(100, Seq(0), Seq(1));
    queue.append(&mut records(1, 80), None).expect("room");
    assert_eq!(queue.stalled(), Duration::ZERO, "nobody was refused yet");
    for _ in 0..2 {
        let refused = queue.append(&mut records(1, 80), None);
        assert!(matches!(refused, Err(AppendError::Full)), "{refused:?}");
    }
    let began = Instant::now();
    while queue.stalled() < Duration::from_millis(2) {
        assert!(began.elapsed() < Duration::from_secs(10), "it is counted while it lasts");
        std::thread::yield_now();
    }
    commit(&queue);
    let stalled = queue.stalled();
    assert!(stalled >= Duration::from_millis(2));
    queue.append(&mut records(1, 80), None).expect("room again");
    assert_eq!(queue.stalled(), stalled, "over since the commit");
}

#[test]
fn who_waits_for_a_commit_learns_of_the_end() {
    let queue = Queue::new(100, Seq(0), Seq(1));
    let counted = Arc::new(Counted::default());
    let waker = Waker::from(Arc::clone(&counted));
    queue.append(&mut records(1, 1), None).expect("open");
    assert_eq!(queue.poll_durable(Seq(1), &waker), Poll::Pending);
    queue.finish(&mut Batch::new());
    assert_eq!(counted.0.load(Ordering::SeqCst), 1);
    assert_eq!(queue.poll_durable(Seq(1), &waker), Poll::Ready(Err(AppendError::Closed)));
}

#[test]
fn an_idle_writer_is_woken_by_the_first_append() {
    let queue = Arc::new(Queue::new(100, Seq(0), Seq(1)));
    let writer = std::thread::spawn({
        let queue = Arc::clone(&queue);
        move || commit(&queue)
    });
    queue.append(&mut records(1, 1), None).expect("room");
    writer.join().expect("the writer commits");
    assert_eq!(queue.durable(), Seq(1));
}

#[test]
fn a_commit_waits_for_its_earliest_start() {
    let queue = Queue::new(100, Seq(0), Seq(1));
    queue.append(&mut records(1, 1), None).expect("room");
    let earliest = Instant::now() + Duration::from_millis(20);
    assert_eq!(queue.take(&mut Batch::new(), Some(earliest), None), Turn::Commit);
    assert!(Instant::now() >= earliest);
    assert_eq!(queue.take(&mut Batch::new(), None, Some(Instant::now())), Turn::Due);
}

#[test]
fn waiters_without_end_are_woken_rather_than_kept() {
    let queue = Queue::new(100, Seq(0), Seq(1));
    queue.append(&mut records(1, 80), None).expect("room");
    let counted = Arc::new(Counted::default());
    for _ in 0..=WAITERS_MAX {
        // Each time another task, as far as can be told.
        let task = Arc::clone(&counted);
        queue.wait_for_space(&Waker::from(Arc::new(Relay(task))));
    }
    assert_eq!(counted.0.load(Ordering::SeqCst), WAITERS_MAX);
    assert_eq!(queue.inner.lock().space_waiters.len(), 1);
}

struct Relay(Arc<Counted>);

impl Wake for Relay {
    fn wake(self: Arc<Self>) {
        Arc::clone(&self.0).wake();
    }
}
