//! Ledger records: the counts of all clients, journalled every few seconds, so that a start needs
//! only the records behind the last one.
//!
//! A task asks for counts; the journal's thread takes them right after it has applied a batch,
//! with that batch's last seq; the task appends them. Records behind that seq are applied again
//! at the next start, so a cursor keeps them in the journal.

use millrace_admission::Ledger;
use millrace_journal::{Cursor, Journal, RecordBuf, Seq};
use millrace_model::Record;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Time between two ledger records while values come in.
pub(super) const INTERVAL: Duration = Duration::from_secs(10);

/// Where the two threads meet.
#[derive(Debug, Default)]
pub(super) struct LedgerSnapshot {
    is_wanted: AtomicBool,
    /// Values received when counts were last taken: without new ones there is nothing to write.
    received: AtomicU64,
    taken: Mutex<Option<(Seq, Vec<u8>)>>,
}

impl LedgerSnapshot {
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
