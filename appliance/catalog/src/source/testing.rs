//! A journal in memory, with the troubles of the real one: recycled segments, damage, closing.

use super::{ReadReport, Source, Take};
use crate::marks::Marks;
use millrace_journal::{AppendError, Error, RecordBuf, Seq, SeqRange};
use millrace_model::{Definition, Record};
use parking_lot::Mutex;

#[derive(Default)]
pub(crate) struct MemoryJournal {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Commits: first seq and the records.
    commits: Vec<(Seq, Vec<Vec<u8>>)>,
    next: u64,
    recycled: usize,
    catalog: Seq,
    snapshot: Seq,
    reads: usize,
    fail_appends_after: Option<usize>,
}

impl MemoryJournal {
    /// One commit with these definitions; their seqs.
    pub(crate) fn define(&self, definitions: &[Definition]) -> Vec<(Seq, Definition)> {
        let mut records = RecordBuf::new();
        for definition in definitions {
            records.push_with(|out| Record::Definition(&definition.encode()).encode(out));
        }
        let range = self.append(&mut records).unwrap();
        let seqs = (range.first.0..).map(Seq);
        seqs.zip(definitions.iter().cloned()).collect()
    }

    /// Removes the oldest commits up to this seq.
    pub(crate) fn recycle_through(&self, seq: Seq) {
        let mut inner = self.inner.lock();
        let count = inner.commits.iter().filter(|(first, _)| *first <= seq).count();
        inner.commits.drain(..count);
        inner.recycled += count;
    }

    /// Loses the commit that begins with this seq.
    pub(crate) fn lose(&self, first: Seq) {
        let mut inner = self.inner.lock();
        let before = inner.commits.len();
        inner.commits.retain(|commit| commit.0 != first);
        assert_eq!(inner.commits.len(), before - 1);
    }

    /// Lets so many more appends through and refuses the others; `None` lets all through.
    pub(crate) fn fail_appends_after(&self, count: Option<usize>) {
        self.inner.lock().fail_appends_after = count;
    }

    pub(crate) fn reads(&self) -> usize {
        self.inner.lock().reads
    }

    pub(crate) fn cursors(&self) -> (Seq, Seq) {
        let inner = self.inner.lock();
        (inner.catalog, inner.snapshot)
    }

    /// All changes as a follower sees them.
    pub(crate) fn changes(&self) -> Vec<Definition> {
        let mut marks = Marks::default();
        let inner = self.inner.lock();
        let records = inner.commits.iter().flat_map(|(_, records)| records);
        let mut changes = Vec::new();
        for bytes in records {
            let record = Record::decode(bytes).unwrap();
            if marks.is_change(&record)
                && let Record::Definition(json) = record
            {
                changes.push(Definition::decode(json).unwrap());
            }
        }
        changes
    }
}

impl Source for MemoryJournal {
    fn durable(&self) -> Seq {
        Seq(self.inner.lock().next)
    }

    fn read(&self, after: Seq, take: &mut dyn Take) -> Result<ReadReport, Error> {
        let mut inner = self.inner.lock();
        inner.reads += 1;
        let mut report = ReadReport::default();
        if inner.recycled > 0
            && let Some((oldest, _)) = inner.commits.first()
            && *oldest > after.next()
        {
            report.overrun = Some(*oldest);
        }
        for (first, records) in &inner.commits {
            let count = u32::try_from(records.len()).unwrap();
            let last = SeqRange { first: *first, count }.last();
            if last <= after {
                continue;
            }
            for (seq, record) in (first.0..).map(Seq).zip(records) {
                if seq > after {
                    take.record(seq, record);
                }
            }
            if take.commit_end(last).is_break() {
                break;
            }
        }
        Ok(report)
    }

    fn append(&self, records: &mut RecordBuf) -> Result<SeqRange, AppendError> {
        let mut inner = self.inner.lock();
        if let Some(left) = &mut inner.fail_appends_after {
            if *left == 0 {
                return Err(AppendError::Closed);
            }
            *left -= 1;
        }
        let first = Seq(inner.next + 1);
        let count = records.count();
        inner.next += u64::from(count);
        let bytes = records.iter().map(<[u8]>::to_vec).collect();
        inner.commits.push((first, bytes));
        records.clear();
        Ok(SeqRange { first, count })
    }

    fn skip_past(&self, seq: Seq) {
        let mut inner = self.inner.lock();
        inner.next = inner.next.max(seq.0);
    }

    fn release_catalog(&self, seq: Seq) -> Result<(), Error> {
        self.inner.lock().catalog = seq;
        Ok(())
    }

    fn release_snapshot(&self, seq: Seq) -> Result<(), Error> {
        self.inner.lock().snapshot = seq;
        Ok(())
    }

    fn snapshot_position(&self) -> Seq {
        self.inner.lock().snapshot
    }
}
