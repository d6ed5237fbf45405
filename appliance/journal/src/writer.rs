//! The one thread that writes segments.
//!
//! It takes the whole batch, puts it into one frame, writes the frame with one positioned write,
//! syncs, lets the follower see the records, and announces them. Two commits start at least
//! `commit_interval` apart; after a longer pause, or when a sync takes longer, the next starts at
//! once.
//!
//! When a write or a sync fails, that file is finished: the segment ends at its last durable
//! frame, and the same batch goes to a fresh segment. If that fails too the journal is degraded:
//! it acknowledges nothing, refuses nothing until its queue is full, and tries again each second.
//!
//! **Invariants**
//! - After a failure nothing more is written to that file in this life.
//! - The order is: write, sync, follower, readers' limit, `durable`, wakes.
//! - A batch is committed whole or not at all, and before any later one.

use crate::config::Durability;
use crate::core::Core;
use crate::follower::{Committed, Follower};
use crate::frame::{FRAME_HEAD_BYTES, padded, seal};
use crate::group_commit::{Batch, Turn};
use crate::health::chain;
use crate::pool::{NoSegment, Pool};
use crate::segment::Segment;
use crate::seq::SeqRange;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Between two attempts while nothing can be committed.
const RETRY: Duration = Duration::from_secs(1);

/// Where the next frame goes.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) segment: Arc<Segment>,
    pub(crate) position: u64,
}

pub(crate) struct Writer {
    core: Arc<Core>,
    follower: Box<dyn Follower>,
    tail: Option<Tail>,
    batch: Batch,
    body_bytes: usize,
    note: u64,
    started_at: Option<Instant>,
    /// With interval durability: the oldest write that is not synced.
    unsynced_since: Option<Instant>,
}

impl Writer {
    pub(crate) fn new(core: Arc<Core>, follower: Box<dyn Follower>, tail: Option<Tail>) -> Self {
        Self {
            core,
            follower,
            tail,
            batch: Batch::new(),
            body_bytes: 0,
            note: 0,
            started_at: None,
            unsynced_since: None,
        }
    }

    pub(crate) fn run(mut self) {
        loop {
            let earliest = self.started_at.map(|at| at + self.core.config.commit_interval);
            let due = self.sync_due();
            match self.core.queue.take(&mut self.batch, earliest, due) {
                Turn::Commit => {
                    self.begin();
                    if !self.commit_patiently() {
                        return;
                    }
                }
                Turn::Due => {}
                Turn::Finish => break,
            }
            if self.sync_due().is_some_and(|due| due <= Instant::now()) {
                self.sync_interval();
            }
        }
        self.sync_interval();
    }

    /// A batch was taken.
    pub(crate) fn begin(&mut self) {
        self.started_at = Some(Instant::now());
        self.body_bytes = self.batch.body_bytes();
        self.note = self.core.config.note.as_ref().map_or(0, |note| note());
    }

    fn commit_patiently(&mut self) -> bool {
        while !self.commit() {
            // Closing makes one attempt and no more: nobody was told that these are durable.
            if self.core.queue.is_closing() {
                return false;
            }
            self.core.queue.pause(RETRY);
        }
        self.announce()
    }

    /// Tries the newest segment and, if that fails, a fresh one. Answers whether it is durable.
    pub(crate) fn commit(&mut self) -> bool {
        for _ in 0..2 {
            match self.attempt() {
                Ok(()) => {
                    self.core.health.normal();
                    return true;
                }
                Err(NoSegment::AllInUse) => {
                    self.core.health.full_by_reader(self.core.cursors.lowest());
                    // The keeper saves cursors at once while somebody waits for them.
                    self.core.signal.raise();
                    return false;
                }
                Err(NoSegment::Fault(error)) => self.core.health.fault(chain(&error)),
            }
        }
        self.core.health.degraded();
        false
    }

    fn attempt(&mut self) -> Result<(), NoSegment> {
        let padded_bytes = padded((FRAME_HEAD_BYTES + self.body_bytes) as u64);
        let has_room =
            |tail: &Tail| tail.position + padded_bytes <= tail.segment.header.frames_end();
        let tail = match self.tail.take().filter(has_room) {
            Some(tail) => tail,
            None => self.fresh_tail()?,
        };
        let range = SeqRange { first: self.batch.first, count: self.batch.count };
        let id = &tail.segment.header.id;
        seal(&mut self.batch.bytes, self.body_bytes, id, range, self.note);
        let is_sync = self.core.config.durability == Durability::Sync;
        let mut written = tail.segment.file.write_all_at(&self.batch.bytes, tail.position);
        if is_sync && written.is_ok() {
            self.core.health.syncs.fetch_add(1, Ordering::Relaxed);
            written = tail.segment.file.sync_data();
        }
        if let Err(source) = written {
            let path = self.core.pool.path(tail.segment.slot);
            self.give_up(&tail);
            let action = "commit to";
            return Err(NoSegment::Fault(crate::Error::Io { action, path, source }));
        }
        if !is_sync && self.unsynced_since.is_none() {
            self.unsynced_since = Some(Instant::now());
        }
        self.tail = Some(Tail { position: tail.position + padded_bytes, ..tail });
        Ok(())
    }

    fn fresh_tail(&mut self) -> Result<Tail, NoSegment> {
        self.sync_interval();
        let free = self.core.pool.acquire()?;
        let segment = self.core.pool.activate(free, self.batch.first).map_err(NoSegment::Fault)?;
        Ok(Tail { segment, position: Pool::frames_start() })
    }

    /// Nothing more goes to this file. If it holds nothing durable it goes away, so that attempts
    /// on a failing disk do not use up the segments.
    fn give_up(&mut self, tail: &Tail) {
        if tail.segment.is_empty() {
            self.unsynced_since = None;
            self.core.pool.discard(&tail.segment);
        } else if self.unsynced_since.take().is_some() {
            // The frames before are acknowledged and deserve their sync; it is the first after
            // them, not a repetition.
            self.sync_segment(&tail.segment);
        }
    }

    fn sync_due(&self) -> Option<Instant> {
        match self.core.config.durability {
            Durability::Sync => None,
            Durability::Interval(interval) => self.unsynced_since.map(|since| since + interval),
        }
    }

    fn sync_interval(&mut self) {
        if self.unsynced_since.take().is_none() {
            return;
        }
        // After an attempt took the tail away the newest live segment is the one to sync.
        let segment = match &self.tail {
            Some(tail) => Some(Arc::clone(&tail.segment)),
            None => self.core.pool.newest(),
        };
        if let Some(segment) = segment
            && !self.sync_segment(&segment)
        {
            self.tail = None;
        }
    }

    fn sync_segment(&self, segment: &Segment) -> bool {
        self.core.health.syncs.fetch_add(1, Ordering::Relaxed);
        match segment.file.sync_data() {
            Ok(()) => true,
            Err(error) => {
                self.core.health.fault(format!("cannot sync {}: {error}", segment.name()));
                false
            }
        }
    }

    /// The batch is durable: lets the follower see it, then tells everybody. Answers whether to
    /// go on.
    pub(crate) fn announce(&mut self) -> bool {
        let body = self.batch.bytes.get(FRAME_HEAD_BYTES..FRAME_HEAD_BYTES + self.body_bytes);
        let body = body.expect("the frame holds its body");
        let committed = Committed::new(self.batch.first, self.batch.count, self.note, body);
        let seen = catch_unwind(AssertUnwindSafe(|| self.follower.committed(&committed)));
        if let Err(panic) = seen {
            let said = panic_text(panic.as_ref());
            self.core.health.broken(format!("the follower of the journal failed: {said}"));
            return false;
        }
        let health = &self.core.health;
        health.commits.fetch_add(1, Ordering::Relaxed);
        health.records.fetch_add(u64::from(self.batch.count), Ordering::Relaxed);
        health.written_bytes.fetch_add(self.batch.bytes.len() as u64, Ordering::Relaxed);
        if let Some(took) = self.started_at.map(|at| at.elapsed()) {
            let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
            health.commit_times.add(took);
            health.last_commit_micros.store(micros, Ordering::Relaxed);
        }
        if let Some(tail) = &self.tail {
            tail.segment.advance(tail.position);
            // A quarter in, there is time enough to make the next one ready.
            if tail.position > tail.segment.header.segment_bytes / 4
                && self.core.pool.has_none_ready()
                && !self.core.wants_segment.swap(true, Ordering::AcqRel)
            {
                self.core.signal.raise();
            }
        }
        self.core.queue.done(&mut self.batch);
        true
    }

    /// One attempt at whatever is queued or still in hand, without waiting. Answers whether
    /// nothing is left over.
    #[cfg(test)]
    pub(crate) fn step(&mut self) -> bool {
        if self.batch.count == 0 {
            if self.core.queue.queued_bytes() == 0 {
                return true;
            }
            let turn = self.core.queue.take(&mut self.batch, None, None);
            assert_eq!(turn, Turn::Commit);
            self.begin();
        }
        self.commit() && self.announce()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // However this thread ends, nobody may wait for it forever.
        self.core.queue.finish(&mut self.batch);
    }
}

pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it gave no reason")
}
