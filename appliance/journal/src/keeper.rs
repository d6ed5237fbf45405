//! The journal's second thread: saves cursors, recycles segments, makes the next one ready.
//!
//! All of it may take its time; the writer must never wait for it unless there is no segment at
//! all. The keeper sleeps until it is signalled, and has a timer only while something is owed.
//!
//! **Invariants**
//! - Segments are recycled by saved positions only.
//! - Cursors are saved at most once a second, at once when the writer waits for a segment.
//! - What fails is tried again a second later, and is no reason to stop the writer.

use crate::core::Core;
use crate::health::chain;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Between two saves, and before another attempt.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Flags {
    raised: bool,
    closing: bool,
}

/// Wakes the keeper.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    flags: Mutex<Flags>,
    changed: Condvar,
}

impl Signal {
    pub(crate) fn raise(&self) {
        let was_raised = std::mem::replace(&mut self.flags.lock().raised, true);
        if !was_raised {
            self.changed.notify_one();
        }
    }

    pub(crate) fn close(&self) {
        self.flags.lock().closing = true;
        self.changed.notify_one();
    }

    /// Waits for the signal or the time; answers whether to go on.
    fn wait(&self, due: Option<Instant>) -> bool {
        let mut flags = self.flags.lock();
        while !flags.raised && !flags.closing {
            match due {
                None => self.changed.wait(&mut flags),
                Some(due) if self.changed.wait_until(&mut flags, due).timed_out() => break,
                Some(_) => {}
            }
        }
        flags.raised = false;
        !flags.closing
    }
}

pub(crate) struct Keeper {
    core: Arc<Core>,
    saved_at: Option<Instant>,
    retry_at: Option<Instant>,
}

impl Keeper {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core, saved_at: None, retry_at: None }
    }

    pub(crate) fn run(mut self) {
        loop {
            let due = self.turn();
            if !self.core.signal.wait(due) {
                return;
            }
        }
    }

    /// Does what is to be done; answers when to come again without a signal.
    pub(crate) fn turn(&mut self) -> Option<Instant> {
        let now = Instant::now();
        let save_due = self.save_when_due(now);
        self.recycle();
        let make_due = self.make_ready(now);
        [save_due, make_due].into_iter().flatten().min()
    }

    fn save_when_due(&mut self, now: Instant) -> Option<Instant> {
        let core = &self.core;
        if !core.cursors.is_dirty() {
            return None;
        }
        let due = self.saved_at.map(|at| at + PAUSE).filter(|due| *due > now);
        if due.is_some() && !core.health.is_full_by_reader() {
            return due;
        }
        self.saved_at = Some(now);
        let saved = core.cursors.save();
        core.health.cursor_fault(saved.as_ref().err().map(|error| chain(error)));
        saved.is_err().then_some(now + PAUSE)
    }

    pub(crate) fn recycle(&self) {
        if let Some((_, lowest)) = self.core.cursors.lowest()
            && self.core.pool.recycle(lowest) > 0
        {
            self.core.queue.nudge();
        }
    }

    fn make_ready(&mut self, now: Instant) -> Option<Instant> {
        let core = &self.core;
        if !core.wants_segment.load(Ordering::Acquire) {
            return None;
        }
        if let Some(retry_at) = self.retry_at.filter(|retry_at| *retry_at > now) {
            return Some(retry_at);
        }
        match core.pool.prepare() {
            Ok(()) => {
                core.wants_segment.store(false, Ordering::Release);
                core.health.segment_fault(None);
                self.retry_at = None;
                core.queue.nudge();
            }
            Err(error) => {
                core.health.segment_fault(Some(chain(&error)));
                self.retry_at = Some(Instant::now() + PAUSE);
            }
        }
        self.retry_at
    }
}
