//! The catalog as its users see it: opened once, fed by the follower, asked for the audit trail.
//!
//! The follower hands over each change after its commit; a thread of its own writes everything
//! that waits in one transaction ([`worker`]). The queue is bounded and never blocks: when it
//! overflows, or a write fails, it is dropped and the thread reads the journal again from its
//! checkpoint. The journal is the queue.
//!
//! **Invariants**
//! - The journal's cursor `catalog` moves only after the transaction with that checkpoint.
//! - Whatever is wrong with the file, memory is loaded and the box starts.
//! - A start reads the journal from the file's checkpoint, so no change is ever missing.

#[cfg(test)]
mod journal_tests;
#[cfg(test)]
mod model_tests;
mod open;
#[cfg(test)]
mod tests;
mod worker;

use crate::source::Source;
use crate::store::{self, AuditLine, RevisionLine, StoreError};
use millrace_journal::{Disk, Seq};
use millrace_model::{Definition, PipelineRevision};
use millrace_supervisor::{Clock, Issues};
use parking_lot::{Condvar, Mutex};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Default of [`Config::queue_max`]: about 10 MB for tags as plants have them, and twice the first
/// values of one client.
const QUEUE_MAX: usize = 20_000;
/// How long a reader of the file waits for what is not yet written.
const SETTLE_WAIT: Duration = Duration::from_secs(1);

/// Settings of the catalog.
#[derive(Clone, Debug)]
pub struct Config {
    /// The SQLite file.
    pub path: PathBuf,
    /// Where damaged files are moved to.
    pub quarantine: PathBuf,
    /// Changes that wait for the thread; more are read again from the journal.
    pub queue_max: usize,
    /// Shortest time between two transactions, so that many first values share one.
    pub group_interval: Duration,
    /// Time between two attempts while the file cannot be written.
    pub retry_interval: Duration,
    /// Time after which the checkpoint is moved though nothing was defined.
    pub checkpoint_interval: Duration,
}

impl Config {
    /// The appliance's settings for a data folder.
    #[must_use]
    pub fn new(data: &std::path::Path) -> Self {
        Self {
            path: data.join("catalog.db"),
            quarantine: data.join("quarantine"),
            queue_max: QUEUE_MAX,
            group_interval: Duration::from_millis(100),
            retry_interval: Duration::from_secs(1),
            checkpoint_interval: Duration::from_secs(10),
        }
    }
}

/// Why the catalog cannot be opened or asked.
#[derive(Debug, Error)]
pub enum Error {
    /// A later version of the product wrote the file.
    #[error("{} has format {found}, this version knows up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// The journal cannot be read.
    #[error("cannot read the journal")]
    Journal(#[from] millrace_journal::Error),
    /// The thread cannot be started.
    #[error("cannot start the catalog's thread")]
    Thread(#[from] std::io::Error),
    /// The file cannot be read at the moment.
    #[error("cannot read {}: {reason}", path.display())]
    Unavailable {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        reason: String,
    },
}

/// What a start finds.
#[derive(Debug)]
pub struct Loaded {
    /// The whole state in an order in which it is to be applied; a later one replaces an earlier.
    pub definitions: Vec<Definition>,
    /// Up to which record the file holds everything.
    pub checkpoint: Seq,
    /// Why the state was collected from the journal instead of the file.
    pub rebuilt: Option<String>,
}

/// Keeps the definitions in SQLite.
pub struct Catalog {
    shared: Arc<Shared>,
    path: PathBuf,
    queue_max: usize,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog").field("path", &self.path).finish_non_exhaustive()
    }
}

/// What the parts of the appliance give the catalog.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) config: Config,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) source: Arc<dyn Source>,
    pub(crate) issues: Arc<Issues>,
    pub(crate) clock: Arc<dyn Clock>,
}

#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) queue: Mutex<Queue>,
    /// The thread has something to do.
    pub(crate) work: Condvar,
    /// `stored` has moved.
    pub(crate) moved: Condvar,
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) waiting: Vec<(Seq, Definition)>,
    /// The last record that the follower has seen.
    pub(crate) seen: Seq,
    /// Up to where the file holds everything.
    pub(crate) stored: Seq,
    /// The last change that was not queued and must be read from the journal.
    pub(crate) missed: Option<Seq>,
    /// Somebody waits: do not hold back for a larger group.
    pub(crate) hurry: bool,
    pub(crate) stop: bool,
    pub(crate) transactions: u64,
}

impl Catalog {
    /// Opens the file, or builds it anew from the journal, brings it up to the journal's end and
    /// starts the thread. Before the journal's follower is started.
    ///
    /// # Errors
    /// A file of a later version, a journal that cannot be read, no thread.
    pub fn open(
        config: Config,
        disk: Arc<dyn Disk>,
        source: Arc<dyn Source>,
        issues: Arc<Issues>,
        clock: Arc<dyn Clock>,
    ) -> Result<(Self, Loaded), Error> {
        let (path, queue_max) = (config.path.clone(), config.queue_max);
        let surroundings = Surroundings { config, disk, source, issues, clock };
        let opened = open::open(&surroundings)?;
        let shared = Arc::new(Shared::default());
        {
            let mut queue = shared.queue.lock();
            queue.stored = opened.loaded.checkpoint;
            queue.seen = surroundings.source.durable().max(queue.stored);
            queue.missed = opened.missed;
        }
        let for_thread = Arc::clone(&shared);
        let thread = millrace_supervisor::spawn::thread("catalog", move || {
            worker::run(&for_thread, surroundings, opened.store);
        })?;
        let thread = Mutex::new(Some(thread));
        Ok((Self { shared, path, queue_max, thread }, opened.loaded))
    }

    /// Hands over a change that was committed. Never waits for the disk.
    pub fn store(&self, seq: Seq, definition: Definition) {
        let mut queue = self.shared.queue.lock();
        if queue.missed.is_some() || queue.waiting.len() >= self.queue_max {
            queue.missed = Some(seq);
            queue.waiting = Vec::new();
        } else {
            queue.waiting.push((seq, definition));
        }
    }

    /// All changes of a commit up to here were handed over; called once for each commit.
    pub fn seen(&self, last: Seq) {
        let mut queue = self.shared.queue.lock();
        queue.seen = last;
        if !queue.waiting.is_empty() || queue.missed.is_some() {
            self.shared.work.notify_one();
        }
    }

    /// Up to which record the file holds everything.
    #[must_use]
    pub fn checkpoint(&self) -> Seq {
        self.shared.queue.lock().stored
    }

    /// Transactions since the start.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        self.shared.queue.lock().transactions
    }

    /// Waits until everything seen so far is in the file; `false` if the limit passed first.
    #[must_use]
    pub fn settle(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        let mut queue = self.shared.queue.lock();
        let target = queue.seen;
        while queue.stored < target {
            queue.hurry = true;
            self.shared.work.notify_one();
            if self.shared.moved.wait_until(&mut queue, deadline).timed_out() {
                return queue.stored >= target;
            }
        }
        true
    }

    /// The audit trail before a seq, newest first; waits shortly for entries on their way.
    ///
    /// # Errors
    /// When the file cannot be read at the moment.
    pub fn audit(&self, before: Option<Seq>, limit: usize) -> Result<Vec<AuditLine>, Error> {
        self.settle_shortly();
        store::read_audit(&self.path, before, limit).map_err(|error| self.unreadable(error))
    }

    /// The revisions of a pipeline below a number, newest first; waits shortly for those on their
    /// way.
    ///
    /// # Errors
    /// When the file cannot be read at the moment.
    pub fn revisions(
        &self,
        pipeline: u32,
        before: Option<u32>,
        limit: usize,
    ) -> Result<Vec<RevisionLine>, Error> {
        self.settle_shortly();
        store::read_revisions(&self.path, pipeline, before, limit)
            .map_err(|error| self.unreadable(error))
    }

    /// One revision of a pipeline with its document, as long as it is kept.
    ///
    /// # Errors
    /// When the file cannot be read at the moment.
    pub fn revision(
        &self,
        pipeline: u32,
        revision: u32,
    ) -> Result<Option<PipelineRevision>, Error> {
        self.settle_shortly();
        store::read_revision(&self.path, pipeline, revision).map_err(|error| self.unreadable(error))
    }

    fn settle_shortly(&self) {
        if !self.settle(SETTLE_WAIT) {
            tracing::debug!("The catalog file is read while newer entries are not stored yet.");
        }
    }

    fn unreadable(&self, error: StoreError) -> Error {
        let (path, reason) = (self.path.clone(), error.to_string());
        match error {
            StoreError::Newer { found, known } => Error::Newer { path, found, known },
            _ => Error::Unavailable { path, reason },
        }
    }

    /// Writes what waits, once, and ends the thread. After the journal was closed.
    pub fn close(&self) {
        self.shared.queue.lock().stop = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("The catalog's thread had panicked.");
        }
    }
}

impl Drop for Catalog {
    fn drop(&mut self) {
        self.close();
    }
}
