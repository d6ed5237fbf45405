//! The journal as the gate needs it; tests put a list in its place.

use millrace_journal::{AppendError, Journal, RecordBuf, Registration, SeqRange};
use std::task::Waker;

/// Takes records for the next commit.
pub trait Append: Send + Sync {
    /// Appends all records of `records` to one commit and clears it; on an error it is untouched.
    ///
    /// # Errors
    /// The journal takes no more now, or never again.
    fn append(
        &self,
        records: &mut RecordBuf,
        waiter: (&Waker, &mut Registration),
    ) -> Result<SeqRange, AppendError>;

    /// Calls the waker once the journal takes more.
    fn wait_for_space(&self, waker: &Waker);
}

impl Append for Journal {
    fn append(
        &self,
        records: &mut RecordBuf,
        waiter: (&Waker, &mut Registration),
    ) -> Result<SeqRange, AppendError> {
        Journal::append(self, records, Some(waiter))
    }

    fn wait_for_space(&self, waker: &Waker) {
        Journal::wait_for_space(self, waker);
    }
}
