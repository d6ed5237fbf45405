//! The batch that all appends share, and how the writer takes it.
//!
//! Appending is one short lock and one copy. The writer swaps the whole batch for an empty one
//! and commits it without the lock, so that appends never wait for a disk. Two batches go round;
//! in the steady state nothing is allocated. A connection puts its waker into a batch once, however
//! many values it appends, and is woken once for all of them.
//!
//! **Invariants**
//! - Seqs are given in the order in which records stand in the batch.
//! - Queued and in-flight bytes together never exceed the limit.
//! - The lock is never held over a write, a sync, the follower or a wake.
//! - A waker is called after `durable` has moved, or after the journal has closed.

use crate::error::AppendError;
use crate::frame::FRAME_HEAD_BYTES;
use crate::record_buf::RecordBuf;
use crate::seq::{Seq, SeqRange};
use parking_lot::{Condvar, Mutex};
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// Tasks that wait for room: more than there are connections.
const WAITERS_MAX: usize = 16_384;
/// A task that asks twice is among the last few; looking at all would cost each of many waiters.
const WAITERS_COMPARED: usize = 8;

/// Remembers in which batch a waker was already put. One for each waiting task and journal.
#[derive(Debug, Default)]
pub struct Registration {
    batch: u64,
}

/// Records that become one frame. The frame's head has its place in front already.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    pub(crate) first: Seq,
    pub(crate) count: u32,
    wakers: Vec<Waker>,
}

impl Batch {
    pub(crate) fn new() -> Self {
        let mut batch = Self { bytes: Vec::new(), first: Seq::ZERO, count: 0, wakers: Vec::new() };
        batch.clear();
        batch
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.resize(FRAME_HEAD_BYTES, 0);
        self.count = 0;
        self.wakers.clear();
    }

    pub(crate) fn body_bytes(&self) -> usize {
        self.bytes.len() - FRAME_HEAD_BYTES
    }

    pub(crate) fn last(&self) -> Seq {
        SeqRange { first: self.first, count: self.count }.last()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Takes no more; what is queued is still committed.
    Closing,
    /// The writer has gone: what is not durable now never will be.
    Closed,
}

#[derive(Debug)]
struct Inner {
    batch: Batch,
    /// The batch's number, from 1; 0 in a [`Registration`] means none.
    number: u64,
    next: Seq,
    in_flight_bytes: usize,
    writer_waits: bool,
    is_nudged: bool,
    phase: Phase,
    space_waiters: Vec<Waker>,
    durable_waiters: Vec<Waker>,
    /// Since when an append has been refused for want of room, and how long that was before.
    stalled_since: Option<Instant>,
    stalled: Duration,
}

/// What the writer shall do next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The batch was taken.
    Commit,
    /// Nothing to commit before the time that was given.
    Due,
    /// Closing, and nothing is queued.
    Finish,
}

pub(crate) struct Queue {
    durable: AtomicU64,
    limit_bytes: usize,
    inner: Mutex<Inner>,
    work: Condvar,
    after_commits: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl Queue {
    pub(crate) fn new(limit_bytes: usize, durable: Seq, next: Seq) -> Self {
        Self {
            durable: AtomicU64::new(durable.0),
            limit_bytes,
            inner: Mutex::new(Inner {
                batch: Batch::new(),
                number: 1,
                next,
                in_flight_bytes: 0,
                writer_waits: false,
                is_nudged: false,
                phase: Phase::Open,
                space_waiters: Vec::new(),
                durable_waiters: Vec::new(),
                stalled_since: None,
                stalled: Duration::ZERO,
            }),
            work: Condvar::new(),
            after_commits: OnceLock::new(),
        }
    }

    pub(crate) fn durable(&self) -> Seq {
        Seq(self.durable.load(Ordering::Acquire))
    }

    /// Highest seq given.
    pub(crate) fn appended(&self) -> Seq {
        Seq(self.inner.lock().next.0.saturating_sub(1))
    }

    pub(crate) fn queued_bytes(&self) -> usize {
        let inner = self.inner.lock();
        inner.batch.body_bytes() + inner.in_flight_bytes
    }

    /// How long appends were refused for want of room: each time from the first one refused to the
    /// next commit.
    pub(crate) fn stalled(&self) -> Duration {
        let inner = self.inner.lock();
        inner.stalled + inner.stalled_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    pub(crate) fn append(
        &self,
        buf: &mut RecordBuf,
        waiter: Option<(&Waker, &mut Registration)>,
    ) -> Result<SeqRange, AppendError> {
        let bytes = buf.len_bytes();
        if bytes > self.limit_bytes {
            return Err(AppendError::TooLarge { bytes, limit_bytes: self.limit_bytes });
        }
        let mut inner = self.inner.lock();
        if inner.phase != Phase::Open {
            return Err(AppendError::Closed);
        }
        let range = SeqRange { first: inner.next, count: buf.count() };
        if range.count == 0 {
            return Ok(range);
        }
        if inner.batch.body_bytes() + inner.in_flight_bytes + bytes > self.limit_bytes {
            inner.stalled_since.get_or_insert_with(Instant::now);
            return Err(AppendError::Full);
        }
        if inner.batch.count == 0 {
            inner.batch.first = range.first;
        }
        inner.batch.bytes.extend_from_slice(buf.as_bytes());
        // Cannot overflow: each record takes four bytes of a batch that is below 1 GiB.
        inner.batch.count += range.count;
        inner.next = range.last().next();
        if let Some((waker, registration)) = waiter
            && registration.batch != inner.number
        {
            registration.batch = inner.number;
            inner.batch.wakers.push(waker.clone());
        }
        let wake = std::mem::take(&mut inner.writer_waits);
        drop(inner);
        // Only an idle writer is woken: one that commits or sits out its interval looks by itself.
        if wake {
            self.work.notify_one();
        }
        buf.clear();
        Ok(range)
    }

    /// Wakes once when there is room again; at once if nothing is queued.
    pub(crate) fn wait_for_space(&self, waker: &Waker) {
        let mut inner = self.inner.lock();
        let used = inner.batch.body_bytes() + inner.in_flight_bytes;
        if used == 0 || inner.phase != Phase::Open {
            drop(inner);
            waker.wake_by_ref();
        } else {
            let too_many = add_waiter(&mut inner.space_waiters, waker);
            drop(inner);
            too_many.into_iter().for_each(Waker::wake);
        }
    }

    /// Whether a seq is durable; the waker is called when that may have changed.
    pub(crate) fn poll_durable(&self, seq: Seq, waker: &Waker) -> Poll<Result<(), AppendError>> {
        if self.durable() >= seq {
            return Poll::Ready(Ok(()));
        }
        // Asked again under the lock: `done` moves `durable` before it takes the waiters.
        let mut inner = self.inner.lock();
        if self.durable() >= seq {
            return Poll::Ready(Ok(()));
        }
        if inner.phase == Phase::Closed {
            return Poll::Ready(Err(AppendError::Closed));
        }
        let too_many = add_waiter(&mut inner.durable_waiters, waker);
        drop(inner);
        too_many.into_iter().for_each(Waker::wake);
        Poll::Pending
    }

    /// For the writer: waits for records and for `earliest`, then swaps the batch with `spare`,
    /// which must be clear. `due` ends the wait if nothing has come.
    pub(crate) fn take(
        &self,
        spare: &mut Batch,
        earliest: Option<Instant>,
        due: Option<Instant>,
    ) -> Turn {
        let mut inner = self.inner.lock();
        loop {
            let early = earliest.filter(|earliest| Instant::now() < *earliest);
            if let (Some(earliest), Phase::Open) = (early, inner.phase) {
                // First of all, and with `writer_waits` false, so that no append wakes us for
                // nothing before the time.
                self.work.wait_until(&mut inner, earliest);
                continue;
            }
            if inner.batch.count == 0 {
                if inner.phase != Phase::Open {
                    return Turn::Finish;
                }
                inner.writer_waits = true;
                match due {
                    None => self.work.wait(&mut inner),
                    Some(due) if self.work.wait_until(&mut inner, due).timed_out() => {
                        inner.writer_waits = false;
                        return if inner.batch.count == 0 { Turn::Due } else { continue };
                    }
                    Some(_) => {}
                }
                inner.writer_waits = false;
                continue;
            }
            std::mem::swap(&mut inner.batch, spare);
            inner.number += 1;
            inner.in_flight_bytes = spare.body_bytes();
            return Turn::Commit;
        }
    }

    /// For the writer: the batch is durable and the follower has seen it. Announces and wakes,
    /// then clears the batch for its next round.
    pub(crate) fn done(&self, batch: &mut Batch) {
        let last = batch.last();
        // At the durability boundary a wrong order must stop the writer, not be announced.
        assert!(last > self.durable(), "commits are announced in order");
        self.durable.store(last.0, Ordering::Release);
        for waker in batch.wakers.drain(..) {
            waker.wake();
        }
        let mut inner = self.inner.lock();
        inner.in_flight_bytes = 0;
        if let Some(since) = inner.stalled_since.take() {
            inner.stalled += since.elapsed();
        }
        let space = std::mem::take(&mut inner.space_waiters);
        let durable = std::mem::take(&mut inner.durable_waiters);
        drop(inner);
        space.into_iter().chain(durable).for_each(Waker::wake);
        if let Some(hook) = self.after_commits.get() {
            hook();
        }
        batch.clear();
    }

    /// Gives the hook that is called at the end of `done`; the first one stays.
    pub(crate) fn after_commits(&self, hook: Box<dyn Fn() + Send + Sync>) {
        let _second = self.after_commits.set(hook);
    }

    /// For the writer: waits before the next attempt; a nudge or closing ends the wait.
    pub(crate) fn pause(&self, limit: Duration) {
        let until = Instant::now() + limit;
        let mut inner = self.inner.lock();
        while inner.phase == Phase::Open && !std::mem::take(&mut inner.is_nudged) {
            if self.work.wait_until(&mut inner, until).timed_out() {
                break;
            }
        }
    }

    /// What the writer waits for may be there.
    pub(crate) fn nudge(&self) {
        self.inner.lock().is_nudged = true;
        self.work.notify_all();
    }

    /// Takes no more appends; the writer commits what is queued and finishes.
    pub(crate) fn close(&self) {
        let mut inner = self.inner.lock();
        if inner.phase == Phase::Open {
            inner.phase = Phase::Closing;
        }
        drop(inner);
        self.work.notify_all();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.inner.lock().phase != Phase::Open
    }

    /// The writer has gone: whoever waits learns it.
    pub(crate) fn finish(&self, batch: &mut Batch) {
        let mut inner = self.inner.lock();
        inner.phase = Phase::Closed;
        let mut wakers = std::mem::take(&mut inner.batch.wakers);
        wakers.append(&mut inner.space_waiters);
        wakers.append(&mut inner.durable_waiters);
        drop(inner);
        wakers.append(&mut batch.wakers);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Before the first append: gives no seq at or below this one.
    pub(crate) fn skip_past(&self, seq: Seq) {
        let mut inner = self.inner.lock();
        if inner.batch.count == 0 && inner.next <= seq {
            inner.next = seq.next();
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("durable", &self.durable()).finish_non_exhaustive()
    }
}

/// Adds a waiter that is not among the last few. Answers whom to wake because there are too many:
/// waking without need is allowed, growing without limit is not.
fn add_waiter(waiters: &mut Vec<Waker>, waker: &Waker) -> Vec<Waker> {
    if waiters.iter().rev().take(WAITERS_COMPARED).any(|known| known.will_wake(waker)) {
        return Vec::new();
    }
    let too_many = if waiters.len() < WAITERS_MAX { Vec::new() } else { std::mem::take(waiters) };
    waiters.push(waker.clone());
    too_many
}

#[cfg(test)]
mod tests;
