//! The catalog's thread: waits, takes everything, writes it in one transaction, moves the cursor.
//!
//! **Invariants**: what was taken and could not be written is marked as missed before anything
//! newer is taken; the thread ends only when told.

use crate::catalog::open::{
    ISSUE_CANNOT_WRITE, PrepareError, fill, prepare, raise_cannot_write, replace,
};
use crate::catalog::{Queue, Shared, Surroundings};
use crate::marks::Marks;
use crate::rebuild::decode;
use crate::source::Take;
use crate::store::{Store, StoreError};
use millrace_journal::Seq;
use millrace_model::{Definition, Record};
use std::ops::ControlFlow;
use std::time::Duration;

/// Changes of one transaction while reading the journal again.
const GROUP_MAX: usize = 10_000;
/// Bytes of one transaction while reading the journal again: pipelines' documents are long.
const GROUP_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Runs until `stop`.
pub(crate) fn run(shared: &Shared, around: Surroundings, store: Option<Store>) {
    let mut worker = Worker { around, store };
    loop {
        let task = take(shared, worker.around.config.checkpoint_interval);
        let result = worker.perform(&task);
        match &result {
            Ok(done) => {
                if done.transactions > 0 {
                    worker.release(done.stored);
                }
                worker.around.issues.clear(ISSUE_CANNOT_WRITE);
            }
            Err(error) => raise_cannot_write(&worker.around, &error.to_string()),
        }
        let is_last = settle(shared, &task, &result);
        if is_last {
            return;
        }
        let config = &worker.around.config;
        let wait = if result.is_ok() { config.group_interval } else { config.retry_interval };
        // Without progress there is something to wait for that no hurry brings.
        let may_hurry = result.is_ok_and(|done| done.transactions > 0 || done.stored >= task.seen);
        pace(shared, wait, may_hurry);
    }
}

/// What is to be done.
struct Task {
    waiting: Vec<(Seq, Definition)>,
    stored: Seq,
    seen: Seq,
    missed: Option<Seq>,
    stop: bool,
}

struct Done {
    stored: Seq,
    transactions: u64,
}

/// Waits for work, or until the checkpoint is due to move.
fn take(shared: &Shared, limit: Duration) -> Task {
    let mut queue = shared.queue.lock();
    let is_idle = |queue: &mut Queue| {
        queue.waiting.is_empty() && queue.missed.is_none() && !queue.hurry && !queue.stop
    };
    let _timed_out = shared.work.wait_while_for(&mut queue, is_idle, limit);
    queue.hurry = false;
    Task {
        waiting: std::mem::take(&mut queue.waiting),
        stored: queue.stored,
        seen: queue.seen,
        missed: queue.missed,
        stop: queue.stop,
    }
}

/// Writes the outcome into the queue; whether the thread is to end.
fn settle(shared: &Shared, task: &Task, result: &Result<Done, PrepareError>) -> bool {
    let mut queue = shared.queue.lock();
    match result {
        Ok(done) => {
            queue.transactions += done.transactions;
            queue.stored = queue.stored.max(done.stored);
            if queue.missed.is_some_and(|missed| missed <= done.stored) {
                queue.missed = None;
            }
        }
        Err(_) => {
            // Everything from the checkpoint on is read again, so nothing need be kept.
            let last = task.waiting.last().map(|(seq, _)| *seq);
            let newer = queue.waiting.last().map(|(seq, _)| *seq);
            queue.waiting = Vec::new();
            queue.missed = queue.missed.max(last).max(newer);
        }
    }
    shared.moved.notify_all();
    task.stop
}

/// Lets more changes come together; after a failure, waits for the next attempt.
fn pace(shared: &Shared, limit: Duration, may_hurry: bool) {
    let mut queue = shared.queue.lock();
    let holds = |queue: &mut Queue| !(queue.stop || may_hurry && queue.hurry);
    let _timed_out = shared.work.wait_while_for(&mut queue, holds, limit);
}

struct Worker {
    around: Surroundings,
    store: Option<Store>,
}

impl Worker {
    fn perform(&mut self, task: &Task) -> Result<Done, PrepareError> {
        let (mut store, stored, missed) = match self.store.take() {
            Some(store) => (store, task.stored, task.missed),
            None => {
                // Whatever file is there now: all that it lacks is in the journal.
                let prepared = prepare(&self.around)?;
                (prepared.store, prepared.checkpoint, task.missed.or(Some(task.seen)))
            }
        };
        let result = match missed {
            Some(missed) => self.read_again(&mut store, stored, missed),
            None if task.seen > stored || !task.waiting.is_empty() => {
                write_queued(&mut store, task).map_err(PrepareError::from)
            }
            None => Ok(Done { stored, transactions: 0 }),
        };
        match result {
            Err(PrepareError::Store(StoreError::Damaged(reason))) => {
                // The connection must be closed before the file is moved.
                drop(store);
                let mut prepared = replace(&self.around, &reason)?;
                // The journal may not have announced yet what waits here.
                let done = write_queued(&mut prepared.store, task);
                self.store = Some(prepared.store);
                Ok(Done { stored: prepared.checkpoint, ..done? })
            }
            other => {
                self.store = Some(store);
                other
            }
        }
    }

    /// Reads the changes after the checkpoint from the journal and writes them in groups.
    fn read_again(
        &self,
        store: &mut Store,
        stored: Seq,
        missed: Seq,
    ) -> Result<Done, PrepareError> {
        let source = self.around.source.as_ref();
        let (marks, group) = (Marks::default(), Vec::new());
        let done = Done { stored, transactions: 0 };
        let mut rereader =
            Rereader { store, marks, group, group_bytes: 0, done, missed, failed: None };
        let report = source.read(stored, &mut rereader)?;
        if let Some(error) = rereader.failed {
            return Err(error.into());
        }
        let mut done = rereader.done;
        for place in &report.damaged {
            tracing::error!(place, "The journal is damaged where changes were to be read again.");
        }
        if report.overrun.is_some_and(|oldest| oldest > stored.next()) {
            let why = "changes that were not stored yet have left the journal";
            let path = store.path().to_owned();
            let prepared = fill(&self.around, Store::open(&path)?, why)?;
            done.stored = prepared.checkpoint;
        }
        Ok(done)
    }

    fn release(&self, stored: Seq) {
        // A rebuilt file may already hold what the follower has not announced yet.
        let seq = stored.min(self.around.source.durable());
        if let Err(error) = self.around.source.release_catalog(seq) {
            tracing::warn!(%seq, "The catalog's cursor was not moved: {error}.");
        }
    }
}

/// One transaction for everything that waits. Changes of a commit that was not seen whole may be
/// among them; the checkpoint is before it then.
fn write_queued(store: &mut Store, task: &Task) -> Result<Done, StoreError> {
    store.write(&task.waiting, task.seen)?;
    Ok(Done { stored: task.seen, transactions: 1 })
}

struct Rereader<'a> {
    store: &'a mut Store,
    marks: Marks,
    group: Vec<(Seq, Definition)>,
    group_bytes: usize,
    done: Done,
    missed: Seq,
    failed: Option<StoreError>,
}

impl Take for Rereader<'_> {
    fn record(&mut self, seq: Seq, bytes: &[u8]) {
        let Ok(record) = Record::decode(bytes) else { return };
        if self.marks.is_change(&record)
            && let Record::Definition(json) = record
        {
            self.group_bytes += json.len();
            self.group.extend(decode(seq, json).map(|definition| (seq, definition)));
        }
    }

    fn commit_end(&mut self, last: Seq) -> ControlFlow<()> {
        self.marks = Marks::default();
        let is_end = last >= self.missed;
        if !is_end && self.group.len() < GROUP_MAX && self.group_bytes < GROUP_BYTES_MAX {
            return ControlFlow::Continue(());
        }
        match self.store.write(&self.group, last) {
            Ok(()) => {
                self.group.clear();
                self.group_bytes = 0;
                self.done.stored = last;
                self.done.transactions += 1;
            }
            Err(error) => {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
        }
        if is_end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
