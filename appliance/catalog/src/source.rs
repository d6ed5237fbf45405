//! What the catalog needs of the journal: to read it again, to append snapshots, two cursors.
//!
//! A trait, so that tests hold the catalog against a journal in memory; [`JournalSource`] is the
//! real one.
//!
//! **Invariants**: records come in order, each commit whole; what could not be read is reported,
//! never left out in silence.

use millrace_journal::{AppendError, Cursor, Error, Journal, RecordBuf, Seq, SeqRange};
use std::ops::ControlFlow;

/// Takes what is read.
pub trait Take {
    /// One record.
    fn record(&mut self, seq: Seq, bytes: &[u8]);
    /// All records of a commit were given. `Break` ends the reading here.
    fn commit_end(&mut self, last: Seq) -> ControlFlow<()>;
}

/// What could not be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// Damaged places that were passed over, as sentences.
    pub damaged: Vec<String>,
    /// The records from `after` on were recycled; reading went on at this oldest one.
    pub overrun: Option<Seq>,
}

/// The journal as the catalog sees it.
pub trait Source: Send + Sync {
    /// Highest seq that is durable and seen by the follower.
    fn durable(&self) -> Seq;
    /// Reads the durable records after a seq.
    ///
    /// # Errors
    /// When the operating system does not give them.
    fn read(&self, after: Seq, take: &mut dyn Take) -> Result<ReadReport, Error>;
    /// Appends and waits for the commit.
    ///
    /// # Errors
    /// When the journal is closed.
    fn append(&self, records: &mut RecordBuf) -> Result<SeqRange, AppendError>;
    /// Gives no seq at or below this one.
    fn skip_past(&self, seq: Seq);
    /// The catalog is durable up to here.
    ///
    /// # Errors
    /// When the position is above what is durable.
    fn release_catalog(&self, seq: Seq) -> Result<(), Error>;
    /// Everything up to here is in a complete snapshot after it.
    ///
    /// # Errors
    /// When the position is above what is durable.
    fn release_snapshot(&self, seq: Seq) -> Result<(), Error>;
    /// Where the latest complete snapshot begins; zero if there is none.
    fn snapshot_position(&self) -> Seq;
}

/// The real journal with the catalog's two cursors.
#[derive(Debug, Clone)]
pub struct JournalSource {
    journal: Journal,
    catalog: Cursor,
    snapshot: Cursor,
}

impl JournalSource {
    /// Registers the cursors `catalog` and `snapshot`: before the journal is started.
    #[must_use]
    pub fn new(journal: &Journal) -> Self {
        Self {
            journal: journal.clone(),
            catalog: journal.register_cursor("catalog"),
            snapshot: journal.register_cursor("snapshot"),
        }
    }
}

impl Source for JournalSource {
    fn durable(&self) -> Seq {
        self.journal.durable()
    }

    fn read(&self, after: Seq, take: &mut dyn Take) -> Result<ReadReport, Error> {
        let mut reader = self.journal.reader(after);
        let mut report = ReadReport::default();
        loop {
            let batch = match reader.next() {
                Ok(Some(batch)) => batch,
                Ok(None) => return Ok(report),
                // The reader goes on behind what it could not give.
                Err(error @ Error::Damaged { .. }) => {
                    report.damaged.push(error.to_string());
                    continue;
                }
                Err(Error::Overrun { oldest, .. }) => {
                    report.overrun = Some(oldest);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let last = SeqRange { first: batch.first, count: batch.count }.last();
            for (seq, bytes) in batch.records() {
                // A reader may begin inside of a commit.
                if seq > after {
                    take.record(seq, bytes);
                }
            }
            if take.commit_end(last).is_break() {
                return Ok(report);
            }
        }
    }

    fn append(&self, records: &mut RecordBuf) -> Result<SeqRange, AppendError> {
        self.journal.append_durable_blocking(records)
    }

    fn skip_past(&self, seq: Seq) {
        self.journal.skip_past(seq);
    }

    fn release_catalog(&self, seq: Seq) -> Result<(), Error> {
        self.catalog.checkpoint(seq)
    }

    fn release_snapshot(&self, seq: Seq) -> Result<(), Error> {
        self.snapshot.checkpoint(seq)
    }

    fn snapshot_position(&self) -> Seq {
        self.snapshot.position()
    }
}

#[cfg(test)]
pub(crate) mod testing;
