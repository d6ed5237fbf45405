//! Ledger records: the counts of all clients, journalled every few seconds, so that a start needs
//! only the records behind the last one.
//!
//! A task asks for counts; the journal's thread takes them right after it has applied a batch,
//! with that batch's last seq; the task appends them. Records behind that seq are applied again
//! at the next start, so a cursor keeps them in the journal. When the journal is full because of
//! that very cursor, there is no room for the record: the counts go to the file `ledger.json`.
//!
//! **Invariants**: the cursor moves only after its counts are durable, in the journal or in the
//! file; of the two the one that reaches further counts.

use anyhow::Context as _;
use millrace_admission::Ledger;
use millrace_journal::{Cursor, Disk as _, Journal, RealDisk, RecordBuf, Seq};
use millrace_model::Record;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Time between two ledger records while values come in.
pub(super) const INTERVAL: Duration = Duration::from_secs(10);
const FILE: &str = "ledger.json";
/// The ledger of as many clients as it can have.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Where the two threads meet.
#[derive(Debug)]
pub(super) struct LedgerSnapshot {
    file: PathBuf,
    is_wanted: AtomicBool,
    /// Values received when counts were last taken: without new ones there is nothing to write.
    received: AtomicU64,
    taken: Mutex<Option<(Seq, Vec<u8>)>>,
}

impl LedgerSnapshot {
    /// `data` is the data folder.
    pub(super) fn new(data: &Path) -> Self {
        Self {
            file: data.join(FILE),
            is_wanted: AtomicBool::new(false),
            received: AtomicU64::new(0),
            taken: Mutex::new(None),
        }
    }

    /// While the journal's thread waits for a reader: saves the counts in the file and
    /// moves the cursor.
    ///
    /// # Errors
    /// When the file cannot be written, or a commit got through meanwhile.
    pub(super) fn save_aside(
        &self,
        ledger: &Ledger,
        journal: &Journal,
        cursor: &Cursor,
    ) -> anyhow::Result<()> {
        let through = journal.durable();
        if cursor.position() >= through {
            return Ok(());
        }
        let json = ledger.to_record_json(through.0);
        // Then they would not belong together; and then there is room for a record again.
        anyhow::ensure!(journal.durable() == through, "a commit got through meanwhile");
        RealDisk.durable_write(&self.file, &json).context("write ledger.json")?;
        cursor.checkpoint(through).context("move the ledger's cursor")
    }

    /// The counts that were saved in the file, if any.
    pub(super) fn saved_aside(data: &Path) -> Option<Vec<u8>> {
        RealDisk.read(&data.join(FILE), FILE_BYTES_MAX).ok()
    }

    /// On the journal's thread: takes the counts if somebody wants them.
    pub(super) fn offer(&self, ledger: &Ledger, through: Seq) {
        if self.is_wanted.swap(false, Ordering::AcqRel) {
            self.received.store(ledger.received_total(), Ordering::Release);
            *self.taken.lock() = Some((through, ledger.to_record_json(through.0)));
        }
    }

    /// Asks for counts at the next commit and journals those that were taken since the last call.
    ///
    /// # Errors
    /// When the journal is closed.
    pub(super) async fn turn(
        &self,
        ledger: &Ledger,
        journal: &Journal,
        cursor: &Cursor,
    ) -> Result<(), millrace_journal::AppendError> {
        let taken = self.taken.lock().take();
        if let Some((through, json)) = taken {
            let mut buf = RecordBuf::new();
            buf.push_with(|out| Record::Ledger(&json).encode(out));
            journal.append_durable(&mut buf).await?;
            if let Err(error) = cursor.checkpoint(through) {
                tracing::warn!("The ledger's cursor was not moved: {error}.");
            }
        }
        if ledger.received_total() != self.received.load(Ordering::Acquire) {
            self.is_wanted.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// At a clean stop, after the last value: counts that are complete.
    ///
    /// # Errors
    /// When the journal is closed.
    pub(super) async fn last(
        &self,
        ledger: &Ledger,
        journal: &Journal,
        cursor: &Cursor,
    ) -> Result<(), millrace_journal::AppendError> {
        let through = journal.durable();
        let json = ledger.to_record_json(through.0);
        *self.taken.lock() = Some((through, json));
        self.turn(ledger, journal, cursor).await
    }
}
