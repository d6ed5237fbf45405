//! Single records of the engine into the journal: requests of runs, dropped and carried ones.

use millrace_engine::{Records, RecordsFault};
use millrace_journal::{AppendError, Journal, RecordBuf, SeqRange};
use millrace_model::Record;

/// The journal, for the engine.
pub(in crate::wiring) struct Lines(pub(in crate::wiring) Journal);

impl Records for Lines {
    fn append(&self, records: &[Record<'_>]) -> Result<SeqRange, RecordsFault> {
        let mut buf = RecordBuf::new();
        for record in records {
            buf.push_with(|out| record.encode(out));
        }
        self.0.append(&mut buf, None).map_err(|error| match error {
            AppendError::Full | AppendError::TooLarge { .. } => RecordsFault::Full,
            AppendError::Closed => RecordsFault::Closed,
        })
    }
}
