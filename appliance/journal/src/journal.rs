//! The journal as its users see it.

use crate::config::Config;
use crate::cursor::Cursor;
use crate::disk::Disk;
use crate::error::{AppendError, Result};
use crate::follower::Follower;
use crate::group_commit::{Queue, Registration};
use crate::reader::Reader;
use crate::record_buf::RecordBuf;
use crate::recovery::Recovery;
use crate::seq::{Seq, SeqRange};
use crate::status::{Stats, Status};
use std::sync::Arc;
use std::task::Waker;

/// The durable journal. Clones are the same journal.
#[derive(Clone, Debug)]
pub struct Journal {
    queue: Arc<Queue>,
}

impl Journal {
    /// Opens or makes a journal. Damage is reported, not fatal.
    ///
    /// # Errors
    /// A setting out of range, or a folder that cannot be made or listed.
    pub fn open(config: Config, disk: Arc<dyn Disk>) -> Result<(Self, Recovery)> {
        config.check()?;
        drop(disk);
        let queue = Arc::new(Queue::new(config.queue_bytes_max(), Seq::ZERO, Seq(1)));
        Ok((Self { queue }, Recovery::default()))
    }

    /// Starts the writer. Register all cursors before.
    pub fn start(&self, follower: Box<dyn Follower>) {
        drop(follower);
    }

    /// Queues all records of the buffer for one commit and clears it; leaves it untouched on error.
    ///
    /// # Errors
    /// `Full`, `Closed`, `TooLarge`.
    pub fn append(
        &self,
        buf: &mut RecordBuf,
        waiter: Option<(&Waker, &mut Registration)>,
    ) -> Result<SeqRange, AppendError> {
        self.queue.append(buf, waiter)
    }

    /// Highest seq that is durable and that the follower has seen.
    #[must_use]
    pub fn durable(&self) -> Seq {
        self.queue.durable()
    }

    /// Wakes once when `Full` has passed.
    pub fn wait_for_space(&self, waker: &Waker) {
        self.queue.wait_for_space(waker);
    }

    /// Appends and waits for the commit.
    ///
    /// # Errors
    /// `Closed`, `TooLarge`.
    pub async fn append_durable(&self, buf: &mut RecordBuf) -> Result<SeqRange, AppendError> {
        std::future::ready(self.append(buf, None)).await
    }

    /// Appends and waits for the commit on this thread.
    ///
    /// # Errors
    /// `Closed`, `TooLarge`.
    pub fn append_durable_blocking(&self, buf: &mut RecordBuf) -> Result<SeqRange, AppendError> {
        self.append(buf, None)
    }

    /// Reads durable records after a seq.
    #[must_use]
    pub fn reader(&self, _after: Seq) -> Reader {
        Reader {}
    }

    /// A durable named position; segments below the lowest are recycled.
    #[must_use]
    pub fn register_cursor(&self, _name: &'static str) -> Cursor {
        Cursor {}
    }

    /// Gives no seq at or below this one. For owners who know of higher seqs than the journal
    /// after a loss; before the first append.
    pub fn skip_past(&self, seq: Seq) {
        self.queue.skip_past(seq);
    }

    /// Whether nothing can be committed at the moment.
    #[must_use]
    pub fn is_degraded(&self) -> bool {
        false
    }

    /// The state with its reasons.
    #[must_use]
    pub fn status(&self) -> Status {
        Status::default()
    }

    /// Numbers.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::default()
    }

    /// Commits what is queued, saves the cursors and ends the threads.
    pub fn close(&self) {
        self.queue.close();
    }
}
