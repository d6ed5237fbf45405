//! Collects the state from the journal alone, for a catalog file that is lost.
//!
//! Reads from the oldest record: the latest complete snapshot, and on top of it every change
//! after that snapshot's beginning. One pass, bounded by the definitions themselves.
//!
//! **Invariants**: an incomplete snapshot is as if it were not there; audit entries are taken
//! wherever they stand, since snapshots do not repeat them.

use crate::marks::{LAST_CHUNK, Marks, split};
use crate::source::{ReadReport, Source, Take};
use millrace_journal::{Error, Seq};
use millrace_model::{Definition, Record};
use std::ops::ControlFlow;

/// The state as the journal tells it.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// In the order in which they are to be applied.
    pub(crate) definitions: Vec<(Seq, Definition)>,
    /// Up to where the journal was read.
    pub(crate) last: Seq,
    /// Whether there was a complete snapshot or the journal reaches back to its first record.
    pub(crate) is_complete: bool,
    /// What could not be read.
    pub(crate) report: ReadReport,
}

/// Reads the whole journal.
///
/// # Errors
/// When the operating system does not give it.
pub(crate) fn collect(source: &dyn Source) -> Result<Collected, Error> {
    let mut collector = Collector::default();
    let report = source.read(Seq::ZERO, &mut collector)?;
    let has_start = collector.oldest.is_none_or(|oldest| oldest == Seq(1));
    let has_snapshot = collector.complete.is_some();
    let mut definitions = collector.complete.map_or_else(Vec::new, |found| found.definitions);
    definitions.extend(collector.changes);
    Ok(Collected {
        definitions,
        last: collector.last,
        is_complete: (has_snapshot || has_start) && report.damaged.is_empty(),
        report,
    })
}

/// Decodes the JSON of a definition record; what cannot be read is logged and left out.
pub(crate) fn decode(seq: Seq, json: &[u8]) -> Option<Definition> {
    match Definition::decode(json) {
        Ok(definition) => Some(definition),
        Err(error) => {
            tracing::error!(%seq, %error, "Left out a definition that cannot be read.");
            None
        }
    }
}

#[derive(Debug)]
struct Candidate {
    number: u64,
    begin: Seq,
    definitions: Vec<(Seq, Definition)>,
}

#[derive(Debug, Default)]
struct Collector {
    marks: Marks,
    oldest: Option<Seq>,
    last: Seq,
    changes: Vec<(Seq, Definition)>,
    open: Option<Candidate>,
    /// How many definitions `open` had before this chunk.
    before_chunk: usize,
    complete: Option<Candidate>,
}

impl Collector {
    fn begin(&mut self, seq: Seq, id: u64) {
        let (number, chunk) = split(id);
        // A clock that went back may have given a torn snapshot's number again.
        if chunk == 0 || self.open.as_ref().is_none_or(|open| open.number != number) {
            self.open = Some(Candidate { number, begin: seq, definitions: Vec::new() });
        }
        self.before_chunk = self.open.as_ref().map_or(0, |open| open.definitions.len());
    }

    fn end(&mut self, id: u64, count: u32) {
        let (number, chunk) = split(id);
        let Some(open) = self.open.take().filter(|open| open.number == number) else { return };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if chunk != LAST_CHUNK {
            // A chunk with a definition missing or unreadable spoils its snapshot.
            if open.definitions.len() - self.before_chunk == count {
                self.open = Some(open);
            }
        } else if open.definitions.len() == count {
            self.changes.retain(|(seq, definition)| {
                *seq > open.begin || matches!(definition, Definition::Audit(_))
            });
            self.complete = Some(open);
        }
    }
}

impl Take for Collector {
    fn record(&mut self, seq: Seq, bytes: &[u8]) {
        self.oldest.get_or_insert(seq);
        let Ok(record) = Record::decode(bytes) else { return };
        let is_change = self.marks.is_change(&record);
        match record {
            Record::SnapshotBegin { id } => self.begin(seq, id),
            Record::SnapshotEnd { id, count } => self.end(id, count),
            Record::Definition(json) => {
                let Some(definition) = decode(seq, json) else { return };
                if is_change {
                    self.changes.push((seq, definition));
                } else if let Some(open) = &mut self.open {
                    open.definitions.push((seq, definition));
                }
            }
            _ => {}
        }
    }

    fn commit_end(&mut self, last: Seq) -> ControlFlow<()> {
        self.last = last;
        self.marks = Marks::default();
        ControlFlow::Continue(())
    }
}
