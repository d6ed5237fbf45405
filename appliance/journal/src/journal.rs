//! The journal as its users see it.

use crate::config::Config;
use crate::core::Core;
use crate::cursor::Cursor;
use crate::disk::{Disk, ReadOnly};
use crate::error::{AppendError, Result};
use crate::follower::Follower;
use crate::group_commit::Registration;
use crate::health::chain;
use crate::keeper::Keeper;
use crate::reader::Reader;
use crate::record_buf::RecordBuf;
use crate::recovery::{self, Recovery};
use crate::seq::{Seq, SeqRange};
use crate::status::{Stats, Status};
use crate::wait::{block_on, poll_append_durable};
use crate::writer::{Tail, Writer, panic_text};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::thread::{self, JoinHandle};
use tracing::error;

/// The durable journal. Clones are the same journal; it closes with the last one.
#[derive(Clone)]
pub struct Journal {
    shared: Arc<Shared>,
}

struct Shared {
    core: Arc<Core>,
    threads: Mutex<Threads>,
}

enum Threads {
    /// Where the writer will go on.
    Idle(Option<Tail>),
    Running {
        writer: Option<JoinHandle<()>>,
        keeper: Option<JoinHandle<()>>,
    },
    Ended,
}

impl Journal {
    /// Opens or makes a journal. Damage is reported, not fatal.
    ///
    /// # Errors
    /// A setting out of range, or a folder that cannot be made or listed.
    pub fn open(config: Config, disk: Arc<dyn Disk>) -> Result<(Self, Recovery)> {
        let (core, tail, report) = recovery::open(config, disk)?;
        let threads = Mutex::new(Threads::Idle(tail));
        Ok((Self { shared: Arc::new(Shared { core: Arc::new(core), threads }) }, report))
    }

    /// Reads everything as `open` does, and changes nothing: for a look at the files of a journal
    /// that nobody has open. What would be set aside or copied is reported as not done.
    ///
    /// # Errors
    /// As `open`.
    pub fn inspect(config: Config, disk: Arc<dyn Disk>) -> Result<Recovery> {
        let (_, _, report) = recovery::open(config, Arc::new(ReadOnly(disk)))?;
        Ok(report)
    }

    /// Starts the threads. Read what was there and register all cursors before: from now on
    /// segments below the lowest registered cursor are recycled. A second call changes nothing.
    /// A follower that keeps a clone of the journal keeps it from closing by itself.
    pub fn start(&self, follower: Box<dyn Follower>) {
        let mut threads = self.shared.threads.lock();
        let tail = match &mut *threads {
            Threads::Idle(tail) => tail.take(),
            Threads::Running { .. } | Threads::Ended => {
                error!("The journal was started twice.");
                return;
            }
        };
        let core = &self.shared.core;
        let keeper = Keeper::new(Arc::clone(core));
        // What all cursors have passed must be ready before the writer asks for it.
        keeper.recycle();
        let writer = Writer::new(Arc::clone(core), follower, tail);
        let keeper = spawn("journal-keeper", core, move || keeper.run());
        let writer = spawn("journal-writer", core, move || writer.run());
        core.signal.raise();
        *threads = Threads::Running { writer, keeper };
    }

    /// Queues all records of the buffer for one commit and clears it; leaves it untouched on
    /// error. The waker is called once when the commit is durable, however many appends of the
    /// same registration went into it.
    ///
    /// # Errors
    /// `Full`, `Closed`, `TooLarge`.
    pub fn append(
        &self,
        buf: &mut RecordBuf,
        waiter: Option<(&Waker, &mut Registration)>,
    ) -> Result<SeqRange, AppendError> {
        self.shared.core.queue.append(buf, waiter)
    }

    /// Highest seq that is durable and that the follower has seen.
    #[must_use]
    pub fn durable(&self) -> Seq {
        self.shared.core.queue.durable()
    }

    /// Wakes once when `Full` has passed, or the journal has closed.
    pub fn wait_for_space(&self, waker: &Waker) {
        self.shared.core.queue.wait_for_space(waker);
    }

    /// Calls `hook` after each commit, on the writer's thread, when all that waited for it have
    /// been woken. It must be short. There is one hook: the first that is given stays.
    pub fn after_commits(&self, hook: Box<dyn Fn() + Send + Sync>) {
        self.shared.core.queue.after_commits(hook);
    }

    /// Appends, waiting for room, and waits for the commit. For writers off the hot path.
    ///
    /// # Errors
    /// `Closed`, `TooLarge`.
    pub async fn append_durable(&self, buf: &mut RecordBuf) -> Result<SeqRange, AppendError> {
        let mut range = None;
        let queue = &self.shared.core.queue;
        std::future::poll_fn(|cx| poll_append_durable(queue, buf, &mut range, cx)).await
    }

    /// The same, blocking this thread; never on an async pool, nor on the follower's thread.
    ///
    /// # Errors
    /// `Closed`, `TooLarge`.
    pub fn append_durable_blocking(&self, buf: &mut RecordBuf) -> Result<SeqRange, AppendError> {
        let mut range = None;
        let queue = &self.shared.core.queue;
        block_on(|cx| poll_append_durable(queue, buf, &mut range, cx))
    }

    /// Reads durable records after a seq; from the oldest if that is gone.
    #[must_use]
    pub fn reader(&self, after: Seq) -> Reader {
        Reader::new(Arc::clone(&self.shared.core), after)
    }

    /// A durable named position; segments below the lowest are recycled. A new one stands at 0.
    #[must_use]
    pub fn register_cursor(&self, name: &'static str) -> Cursor {
        Cursor::new(Arc::clone(&self.shared.core), name)
    }

    /// Gives no seq at or below this one. For an owner who knows of higher seqs than the journal
    /// does after a loss; before the first append.
    pub fn skip_past(&self, seq: Seq) {
        self.shared.core.queue.skip_past(seq);
    }

    /// Whether nothing can be committed because of a fault.
    #[must_use]
    pub fn is_degraded(&self) -> bool {
        self.shared.core.health.is_degraded()
    }

    /// The state with its reasons, for the issue list.
    #[must_use]
    pub fn status(&self) -> Status {
        self.shared.core.health.status()
    }

    /// Numbers for the metrics.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let core = &self.shared.core;
        let health = &core.health;
        let (segments_live, segments_free) = core.pool.counts();
        let durable = core.queue.durable();
        Stats {
            oldest: core.pool.oldest().unwrap_or(durable.next()),
            durable,
            appended: core.queue.appended(),
            commits: health.commits.load(Ordering::Relaxed),
            records: health.records.load(Ordering::Relaxed),
            written_bytes: health.written_bytes.load(Ordering::Relaxed),
            syncs: health.syncs.load(Ordering::Relaxed),
            faults: health.faults.load(Ordering::Relaxed),
            queued_bytes: core.queue.queued_bytes(),
            segments_live,
            segments_free,
            last_commit_micros: health.last_commit_micros.load(Ordering::Relaxed),
            commit_times: health.commit_times.read(),
            stalled: core.queue.stalled(),
        }
    }

    /// The registered cursors and where they stand: `durable` less this is a reader's lag.
    #[must_use]
    pub fn cursors(&self) -> Vec<(&'static str, Seq)> {
        self.shared.core.cursors.all()
    }

    /// Takes no more, commits what is queued (one attempt if the disk fails), saves the cursors
    /// and ends the threads. Readers stay usable.
    pub fn close(&self) {
        self.shared.close();
    }

    #[cfg(test)]
    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.shared.core
    }

    /// The writer without its thread, for tests that take each step themselves.
    #[cfg(test)]
    pub(crate) fn writer(&self, follower: Box<dyn Follower>) -> Writer {
        let tail = match std::mem::replace(&mut *self.shared.threads.lock(), Threads::Ended) {
            Threads::Idle(tail) => tail,
            Threads::Running { .. } | Threads::Ended => panic!("the writer was taken"),
        };
        Writer::new(Arc::clone(&self.shared.core), follower, tail)
    }
}

impl Shared {
    fn close(&self) {
        self.core.queue.close();
        // The lock is held over the joins, so that a second `close` returns when all has ended.
        let mut threads = self.threads.lock();
        let before = std::mem::replace(&mut *threads, Threads::Ended);
        if let Threads::Running { writer, keeper } = before {
            // First the writer, which may need the keeper for its last commit.
            writer.into_iter().for_each(join);
            self.core.signal.close();
            self.core.pool.hurry();
            keeper.into_iter().for_each(join);
        }
        if self.core.cursors.is_dirty() {
            let saved = self.core.cursors.save();
            self.core.health.cursor_fault(saved.err().map(|error| chain(&error)));
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("stats", &self.stats()).finish()
    }
}

fn join(thread: JoinHandle<()>) {
    // The follower may hold the last handle: a thread cannot wait for itself.
    if thread.thread().id() != thread::current().id()
        && let Err(panic) = thread.join()
    {
        error!(reason = panic_text(panic.as_ref()), "A thread of the journal failed.");
    }
}

fn spawn(
    name: &str,
    core: &Arc<Core>,
    run: impl FnOnce() + Send + 'static,
) -> Option<JoinHandle<()>> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(run);
    if let Err(error) = &spawned {
        // Dropping the writer closes the queue, so nobody waits in vain.
        core.health.broken(format!("the thread {name} cannot be started: {error}"));
    }
    spawned.ok()
}
