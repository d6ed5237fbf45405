//! The journal as a whole, on disks that forget, fail and are damaged.

mod basics;
mod damage;
mod faults;
mod model;

use crate::disk::testing::ForgetfulDisk;
use crate::writer::Writer;
use crate::{Committed, Config, Disk, Durability, Follower, Journal, RecordBuf, Recovery};
use crate::{Seq, SeqRange};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const DIR: &str = "/journal";
const SEGMENT_BYTES: u64 = 64 << 10;
const SEGMENTS: u64 = 6;

fn config() -> Config {
    Config {
        segment_bytes: SEGMENT_BYTES,
        bytes_max: SEGMENTS * SEGMENT_BYTES,
        batch_bytes_max: 20 << 10,
        commit_interval: Duration::ZERO,
        durability: Durability::Sync,
        ..Config::new(DIR)
    }
}

type Seen = Arc<Mutex<Vec<(Seq, Vec<u8>)>>>;

/// Remembers what it was shown.
struct Witness(Seen);

impl Follower for Witness {
    fn committed(&mut self, batch: &Committed<'_>) {
        let mut seen = self.0.lock();
        seen.extend(batch.records().map(|(seq, record)| (seq, record.to_vec())));
    }
}

/// A journal whose writer is stepped by the test.
struct Rig {
    journal: Journal,
    writer: Writer,
    seen: Seen,
    report: Recovery,
}

impl Rig {
    fn open(disk: Arc<dyn Disk>) -> Self {
        Self::open_with(config(), disk)
    }

    fn open_with(config: Config, disk: Arc<dyn Disk>) -> Self {
        let (journal, report) = Journal::open(config, disk).expect("a journal always opens");
        let seen = Seen::default();
        let writer = journal.writer(Box::new(Witness(Arc::clone(&seen))));
        Self { journal, writer, seen, report }
    }

    fn append(&self, records: &[Vec<u8>]) -> SeqRange {
        self.try_append(records).expect("there is room")
    }

    fn try_append(&self, records: &[Vec<u8>]) -> Result<SeqRange, crate::AppendError> {
        let mut buf = RecordBuf::new();
        records.iter().for_each(|record| buf.push(record));
        self.journal.append(&mut buf, None)
    }

    /// Appends one record and commits it.
    fn commit(&mut self, record: &[u8]) -> Seq {
        let range = self.append(&[record.to_vec()]);
        assert!(self.writer.step(), "the commit gets through");
        range.first
    }

    fn all(&self) -> Vec<(Seq, Vec<u8>)> {
        read_all(&self.journal, Seq::ZERO)
    }

    /// What the keeper would do now.
    fn keep(&self) {
        self.journal.core().cursors.save().expect("the disk works");
        crate::keeper::Keeper::new(Arc::clone(self.journal.core())).turn();
    }
}

fn read_all(journal: &Journal, after: Seq) -> Vec<(Seq, Vec<u8>)> {
    let mut reader = journal.reader(after);
    let mut all = Vec::new();
    while let Some(batch) = reader.next().expect("what recovery left is readable") {
        all.extend(batch.records().map(|(seq, record)| (seq, record.to_vec())));
    }
    all
}

/// A record that says which it is.
fn record(number: u64, bytes: usize) -> Vec<u8> {
    let mut record = number.to_le_bytes().to_vec();
    record.resize(bytes.max(8), number as u8);
    record
}

fn segments(disk: &ForgetfulDisk) -> Vec<PathBuf> {
    let is_segment = |path: &PathBuf| path.extension().is_some_and(|end| end == "journal");
    disk.files().into_iter().filter(is_segment).collect()
}
