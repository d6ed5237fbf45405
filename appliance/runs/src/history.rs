//! The run history as its users see it: workers hand over what ended, people ask what ran.
//!
//! [`History::finished`] counts a run and says whether it is to be kept: every failure, every run
//! that a person started, and of the others one a second and pipeline. [`History::keep`] queues
//! it. A thread of its own writes what waits in one transaction a second ([`worker`]).
//!
//! **Invariants**
//! - Neither ever waits for the disk. A full queue drops successful runs first, oldest first;
//!   a failure is dropped only when nothing else is left to drop. Drops are counted and raise an
//!   issue.
//! - Whatever is wrong with the file, the box runs: a damaged file is set aside and a new one
//!   begun, a full disk is waited out.
//! - Questions see every run handed over before them (within [`SETTLE_WAIT`]).

mod chunk;
mod query;
mod store;
mod tally;
#[cfg(test)]
mod tests;
mod worker;

pub use query::{Kept, Page, Query};
pub use tally::{Counts, Finish};

use crate::file::{Files, StoreError, open_to_read};
use crate::run::Run;
use millrace_model::Timestamp;
use millrace_supervisor::{Clock, Issues, Measure};
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use thiserror::Error;

/// How long a question waits for what is not yet written.
const SETTLE_WAIT: Duration = Duration::from_secs(1);

/// Settings of the history.
#[derive(Clone, Debug)]
pub struct Config {
    /// The SQLite file.
    pub path: PathBuf,
    /// Where damaged files are moved to.
    pub quarantine: PathBuf,
    /// How long runs are kept.
    pub retention: Duration,
    /// Most bytes of the file; the oldest runs go first.
    pub bytes_max: u64,
    /// Most memory of runs that wait to be written.
    pub queue_bytes_max: usize,
    /// Shortest time between two transactions, so that many runs share one.
    pub group_interval: Duration,
    /// Time between two attempts while the file cannot be written.
    pub retry_interval: Duration,
    /// Time after which counts are written.
    pub counts_interval: Duration,
}

impl Config {
    /// The appliance's settings for a data folder.
    #[must_use]
    pub fn new(data: &Path) -> Self {
        Self {
            path: data.join("runs.db"),
            quarantine: data.join("quarantine"),
            retention: Duration::from_hours(24),
            bytes_max: 512 * 1024 * 1024,
            queue_bytes_max: 32 * 1024 * 1024,
            group_interval: Duration::from_secs(1),
            retry_interval: Duration::from_secs(1),
            counts_interval: Duration::from_mins(1),
        }
    }
}

/// The history cannot be read at the moment.
#[derive(Debug, Error)]
#[error("cannot read {}: {reason}", path.display())]
pub struct QueryError {
    /// The file.
    pub path: PathBuf,
    /// What SQLite says.
    pub reason: String,
}

/// The history's thread cannot be started.
#[derive(Debug, Error)]
#[error("cannot start the run history's thread")]
pub struct ThreadError(#[from] std::io::Error);

/// What the history did since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Runs written.
    pub kept: u64,
    /// Runs left out by the rule of one a second.
    pub thinned: u64,
    /// Successful and skipped runs that there was no room for.
    pub dropped_quiet: u64,
    /// Failed and manual runs that there was no room for.
    pub dropped_notable: u64,
    /// Runs that wait.
    pub queued: u64,
    /// Memory of them.
    pub queued_bytes: u64,
    /// Bytes of the file that hold something.
    pub file_bytes: u64,
    /// Transactions.
    pub transactions: u64,
}

/// Keeps what ran.
pub struct History {
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    path: PathBuf,
    queue_bytes_max: usize,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").field("path", &self.path).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// The thread has something to do.
    work: Condvar,
    /// Something was written or given up.
    moved: Condvar,
    tallies: tally::Tallies,
    /// Held while counts go from memory to the file, so that a question sees each once.
    counting: Mutex<()>,
    kept: AtomicU64,
    thinned: AtomicU64,
    dropped_quiet: AtomicU64,
    dropped_notable: AtomicU64,
    file_bytes: AtomicU64,
    transactions: AtomicU64,
    /// Pages that the file may have, as if the disk were full; 0 is no limit.
    #[cfg(test)]
    pages_max: std::sync::atomic::AtomicU32,
}

type Waiting = VecDeque<(u64, Run)>;

#[derive(Debug, Default)]
struct Queue {
    quiet: Waiting,
    notable: Waiting,
    /// Memory of both and of what the thread has in hand, less what it has to give up of that.
    bytes: usize,
    /// Of what the thread has in hand: quiet runs that may still be given up.
    in_hand_bytes: usize,
    /// What the thread has to give up of them if it cannot write them.
    owed_bytes: usize,
    /// Number of the last run that was queued.
    last: u64,
    /// Everything up to here is written or given up.
    settled: u64,
    /// A question waits: do not hold back for a larger group.
    hurry: bool,
    /// A reader met damage.
    suspect: bool,
    stop: bool,
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.quiet.is_empty() && self.notable.is_empty()
    }

    /// Makes room by giving up waiting quiet runs, the oldest first. A notable run takes the room of
    /// quiet ones that the thread has in hand too: if it cannot write them, it gives them up.
    fn make_room(&mut self, needed: usize, bytes_max: usize, is_notable: bool) -> u64 {
        let mut dropped = 0;
        while self.bytes.saturating_add(needed) > bytes_max {
            let Some((_, run)) = self.quiet.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(run.size_bytes());
            dropped += 1;
        }
        let over = self.bytes.saturating_add(needed).saturating_sub(bytes_max);
        if is_notable && over <= self.in_hand_bytes {
            self.in_hand_bytes -= over;
            self.owed_bytes += over;
            self.bytes = self.bytes.saturating_sub(over);
        }
        dropped
    }

    /// What the thread had in hand is written.
    fn written(&mut self, bytes: usize) {
        let owed = std::mem::take(&mut self.owed_bytes);
        self.bytes = self.bytes.saturating_sub(bytes.saturating_sub(owed));
        self.in_hand_bytes = 0;
    }

    /// What the thread had in hand is not written: it waits again, less the oldest quiet runs whose
    /// room was taken meanwhile. How many were given up.
    fn give_back(&mut self, quiet: Vec<(u64, Run)>, notable: Vec<(u64, Run)>) -> u64 {
        let owed = std::mem::take(&mut self.owed_bytes);
        self.in_hand_bytes = 0;
        let (mut freed, mut dropped) = (0, 0);
        let mut kept = Vec::with_capacity(quiet.len());
        for entry in quiet {
            if freed < owed {
                freed += entry.1.size_bytes();
                dropped += 1;
            } else {
                kept.push(entry);
            }
        }
        self.bytes = self.bytes.saturating_sub(freed.saturating_sub(owed));
        for entry in kept.into_iter().rev() {
            self.quiet.push_front(entry);
        }
        for entry in notable.into_iter().rev() {
            self.notable.push_front(entry);
        }
        dropped
    }
}

impl History {
    /// Opens or makes the file and starts the thread. A file that cannot be used now is tried
    /// again by the thread.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn open(
        config: Config,
        files: Arc<dyn Files>,
        issues: Arc<Issues>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ThreadError> {
        let (path, queue_bytes_max) = (config.path.clone(), config.queue_bytes_max);
        let shared = Arc::new(Shared::default());
        let mut worker = worker::Worker::new(config, files, issues, Arc::clone(&clock));
        // Here rather than in the thread, so that numbers go on where they ended.
        worker.begin(&shared);
        let for_thread = Arc::clone(&shared);
        let thread = millrace_supervisor::spawn::thread("runs", move || worker.run(&for_thread))?;
        let thread = Mutex::new(Some(thread));
        Ok(Self { shared, clock, path, queue_bytes_max, thread })
    }

    /// Counts a run that ended; whether it is to be handed over with [`History::keep`].
    pub fn finished(&self, finish: &Finish) -> bool {
        let is_wanted = self.shared.tallies.finish(finish, self.clock.monotonic().as_secs());
        if !is_wanted {
            self.shared.thinned.fetch_add(1, Ordering::Relaxed);
        }
        is_wanted
    }

    /// Hands over a run. Never waits.
    pub fn keep(&self, mut run: Run) {
        run.bound();
        let size = run.size_bytes();
        let is_notable = run.is_notable();
        let mut queue = self.shared.queue.lock();
        // Only a notable run pushes others out; a quiet one that finds no room is itself given up,
        // unless older quiet ones can go instead.
        let dropped = queue.make_room(size, self.queue_bytes_max, is_notable);
        self.shared.dropped_quiet.fetch_add(dropped, Ordering::Relaxed);
        if queue.bytes.saturating_add(size) > self.queue_bytes_max {
            let counter =
                if is_notable { &self.shared.dropped_notable } else { &self.shared.dropped_quiet };
            counter.fetch_add(1, Ordering::Relaxed);
            return;
        }
        queue.last += 1;
        queue.bytes += size;
        let entry = (queue.last, run);
        let was_empty = queue.is_empty();
        if is_notable {
            queue.notable.push_back(entry);
        } else {
            queue.quiet.push_back(entry);
        }
        if was_empty || queue.bytes > self.queue_bytes_max / 2 {
            self.shared.work.notify_one();
        }
    }

    /// Runs that fit a question, newest first: the later a run ended, the newer it is.
    ///
    /// # Errors
    /// When the file cannot be read at the moment.
    pub fn list(&self, query: &Query) -> Result<Page, QueryError> {
        let page = self.read(|connection| query::list(connection, query))?.unwrap_or_default();
        if page.damaged > 0 {
            self.suspect();
        }
        Ok(page)
    }

    /// The newest run of this id, with what its steps did; none if it was not kept.
    ///
    /// # Errors
    /// When the file cannot be read at the moment.
    pub fn find(&self, pipeline: u32, seq: u64) -> Result<Option<Kept>, QueryError> {
        Ok(self.read(|connection| query::find(connection, pipeline, seq))?.flatten())
    }

    /// What all runs were, kept or not, by pipeline, over the hours that hold `from` and `to`.
    ///
    /// # Errors
    /// When the file cannot be read at the moment.
    pub fn counts(
        &self,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<BTreeMap<u32, Counts>, QueryError> {
        let _counting = self.shared.counting.lock();
        let mut sum =
            self.read_now(|connection| query::counts(connection, from, to))?.unwrap_or_default();
        let hour = store::hour_of(self.clock.now());
        if (store::hour_of(from)..=store::hour_of(to)).contains(&hour) {
            tally::merge(&mut sum, &self.shared.tallies.look());
        }
        Ok(sum)
    }

    /// Waits until everything handed over so far is written or given up; `false` if the limit
    /// passed first.
    #[must_use]
    pub fn settle(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        let mut queue = self.shared.queue.lock();
        let target = queue.last;
        while queue.settled < target {
            queue.hurry = true;
            self.shared.work.notify_one();
            if self.shared.moved.wait_until(&mut queue, deadline).timed_out() {
                return queue.settled >= target;
            }
        }
        true
    }

    /// What it did since the start.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let (queued, queued_bytes) = {
            let queue = self.shared.queue.lock();
            ((queue.quiet.len() + queue.notable.len()) as u64, queue.bytes as u64)
        };
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            kept: read(&self.shared.kept),
            thinned: read(&self.shared.thinned),
            dropped_quiet: read(&self.shared.dropped_quiet),
            dropped_notable: read(&self.shared.dropped_notable),
            queued,
            queued_bytes,
            file_bytes: read(&self.shared.file_bytes),
            transactions: read(&self.shared.transactions),
        }
    }

    /// The same as figures for the registry.
    #[expect(clippy::cast_precision_loss, reason = "gauges are doubles")]
    pub fn measures(&self, out: &mut Vec<Measure>) {
        let stats = self.stats();
        let text = "Runs written to the run history";
        out.push(Measure::counter("run_history_kept_runs", text, stats.kept));
        let text = "Runs that the run history had no room for";
        for (kind, count) in
            [("successful", stats.dropped_quiet), ("failed_or_manual", stats.dropped_notable)]
        {
            let measure = Measure::counter("run_history_dropped_runs", text, count);
            out.push(measure.with_label("kind", kind));
        }
        let text = "Memory of runs that wait to be written";
        out.push(Measure::gauge("run_history_queued_bytes", text, stats.queued_bytes as f64));
        let text = "Bytes of the run history's file in use";
        out.push(Measure::gauge("run_history_file_bytes", text, stats.file_bytes as f64));
        let text = "Transactions of the run history";
        out.push(Measure::counter("run_history_transactions", text, stats.transactions));
    }

    /// Writes what waits, once, and ends the thread.
    pub fn close(&self) {
        self.shared.queue.lock().stop = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("The run history's thread had panicked.");
        }
    }

    fn read<T>(
        &self,
        question: impl FnOnce(&rusqlite::Connection) -> Result<T, StoreError>,
    ) -> Result<Option<T>, QueryError> {
        if !self.settle(SETTLE_WAIT) {
            tracing::debug!("The run history is read while newer runs are not written yet.");
        }
        self.read_now(question)
    }

    fn read_now<T>(
        &self,
        question: impl FnOnce(&rusqlite::Connection) -> Result<T, StoreError>,
    ) -> Result<Option<T>, QueryError> {
        let answer = open_to_read(&self.path)
            .and_then(|connection| connection.as_ref().map(question).transpose());
        answer.map_err(|error| {
            if matches!(error, StoreError::Damaged(_)) {
                self.suspect();
            }
            QueryError { path: self.path.clone(), reason: error.to_string() }
        })
    }

    /// Lets the thread check the file.
    fn suspect(&self) {
        self.shared.queue.lock().suspect = true;
        self.shared.work.notify_one();
    }
}

impl Drop for History {
    fn drop(&mut self) {
        self.close();
    }
}
