//! Writes the whole state into the journal now and then.
//!
//! Segments are recycled, so the record that once defined a tag vanishes; without repetition a
//! lost catalog file could not be rebuilt. A snapshot is due whenever the journal has grown by
//! so many bytes since the last, and soon after a start when there is none.
//!
//! **Invariants**: the cursor `snapshot` stands before the latest complete snapshot, so it is
//! never recycled before a newer one is complete; the state is read after chunk 0 is durable, so
//! each change is in the state or behind chunk 0, or both.

use crate::marks::{LAST_CHUNK, join};
use crate::source::Source;
use millrace_journal::{AppendError, Error, RecordBuf, Seq};
use millrace_model::time::NANOS_PER_MILLI;
use millrace_model::{Definition, Record};
use millrace_supervisor::Clock;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use thiserror::Error as ThisError;

/// Bytes of one chunk: small beside the journal's queue, so that values pass between chunks.
const CHUNK_BYTES_MAX: usize = 64 * 1024;

/// Gives the whole state: workspaces, tags, settings, clients, people, pipelines, secrets. No
/// audit entries.
pub trait Definitions: Send + Sync {
    /// The state as applied up to now.
    fn all(&self) -> Vec<Definition>;
}

/// Why a snapshot was not written; the one before stays in force.
#[derive(Debug, ThisError)]
pub enum SnapshotError {
    /// The journal did not take it.
    #[error("cannot append a snapshot to the journal")]
    Append(#[from] AppendError),
    /// The cursor did not move.
    #[error("cannot move the snapshot's cursor")]
    Cursor(#[from] Error),
    /// More chunks than a snapshot can have.
    #[error("the state is too large for a snapshot")]
    TooLarge,
}

/// Writes snapshots when they are due.
pub struct Snapshotter {
    source: Arc<dyn Source>,
    definitions: Arc<dyn Definitions>,
    clock: Arc<dyn Clock>,
    every_bytes: u64,
    state: Mutex<State>,
}

struct State {
    /// `written_bytes` of the journal at the last snapshot.
    written_at_last: u64,
    /// Bytes that the journal held at the start, not counted in `written_bytes`.
    held_at_start: u64,
    has_one: bool,
    last_number: u64,
}

impl fmt::Debug for Snapshotter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshotter")
            .field("every_bytes", &self.every_bytes)
            .finish_non_exhaustive()
    }
}

impl Snapshotter {
    /// `every_bytes` is at most a quarter of the journal; `held_bytes` is what its live segments
    /// hold at the start.
    #[must_use]
    pub fn new(
        source: Arc<dyn Source>,
        definitions: Arc<dyn Definitions>,
        clock: Arc<dyn Clock>,
        every_bytes: u64,
        held_bytes: u64,
    ) -> Self {
        let has_one = source.snapshot_position() > Seq::ZERO;
        let state =
            State { written_at_last: 0, held_at_start: held_bytes, has_one, last_number: 0 };
        Self { source, definitions, clock, every_bytes, state: Mutex::new(state) }
    }

    /// Whether one is due when the journal has written so many bytes since it was opened.
    #[must_use]
    pub fn is_due(&self, written_bytes: u64) -> bool {
        let state = self.state.lock();
        let grown = written_bytes.saturating_sub(state.written_at_last);
        !state.has_one || grown.saturating_add(state.held_at_start) >= self.every_bytes
    }

    /// Writes one if it is due; whether it did. Waits for the journal: called about once a
    /// second from a thread of its own.
    ///
    /// # Errors
    /// What the journal said. The next call tries again.
    pub fn tick(&self, written_bytes: u64) -> Result<bool, SnapshotError> {
        if !self.is_due(written_bytes) {
            return Ok(false);
        }
        self.write()?;
        let mut state = self.state.lock();
        state.written_at_last = written_bytes;
        state.held_at_start = 0;
        Ok(true)
    }

    /// Writes one now.
    ///
    /// # Errors
    /// What the journal said.
    pub fn write(&self) -> Result<(), SnapshotError> {
        let number = self.next_number();
        let mut writer = Writer::new(self.source.as_ref(), number);
        writer.close_chunk()?;
        let begin = writer.first;
        for definition in self.definitions.all() {
            if matches!(definition, Definition::Audit(_)) {
                continue;
            }
            writer.push(&definition)?;
        }
        writer.finish()?;
        if let Some(begin) = begin {
            self.source.release_snapshot(Seq(begin.0.saturating_sub(1)))?;
        }
        // After `give_way` its front may be recycled: then it is none.
        let is_kept = begin.is_none_or(|begin| self.source.snapshot_position() < begin);
        self.state.lock().has_one = is_kept;
        Ok(())
    }

    /// The journal is full and nothing but the latest snapshot keeps its oldest segment: lets that
    /// one go, as far as the catalog file holds everything (`stored`), and makes the next one due.
    /// Until that is complete a lost file cannot be rebuilt whole; without this there would be no
    /// room for the next one, ever.
    ///
    /// # Errors
    /// When the cursor does not move.
    pub fn give_way(&self, stored: Seq) -> Result<(), SnapshotError> {
        self.source.release_snapshot(stored.min(self.source.durable()))?;
        self.state.lock().has_one = false;
        Ok(())
    }

    fn next_number(&self) -> u64 {
        let now = u64::try_from(self.clock.now().0 / NANOS_PER_MILLI).unwrap_or(0);
        let mut state = self.state.lock();
        state.last_number = now.max(state.last_number.saturating_add(1));
        state.last_number
    }
}

struct Writer<'a> {
    source: &'a dyn Source,
    number: u64,
    chunk: u64,
    records: RecordBuf,
    in_chunk: u32,
    total: u32,
    first: Option<Seq>,
}

impl<'a> Writer<'a> {
    fn new(source: &'a dyn Source, number: u64) -> Self {
        let (chunk, in_chunk, total) = (0, 0, 0);
        let mut writer =
            Self { source, number, chunk, records: RecordBuf::new(), in_chunk, total, first: None };
        writer.mark_begin();
        writer
    }

    fn push(&mut self, definition: &Definition) -> Result<(), SnapshotError> {
        let json = definition.encode();
        // A long document does not share its append with others.
        if self.in_chunk > 0 && self.records.len_bytes() + json.len() > CHUNK_BYTES_MAX {
            self.close_chunk()?;
        }
        self.records.push_with(|out| Record::Definition(&json).encode(out));
        self.in_chunk += 1;
        self.total += 1;
        if self.records.len_bytes() >= CHUNK_BYTES_MAX { self.close_chunk() } else { Ok(()) }
    }

    fn mark_begin(&mut self) {
        let id = join(self.number, self.chunk);
        self.records.push_with(|out| Record::SnapshotBegin { id }.encode(out));
    }

    /// Appends the chunk with its end mark and begins the next.
    fn close_chunk(&mut self) -> Result<(), SnapshotError> {
        self.append(self.in_chunk)?;
        self.chunk += 1;
        if self.chunk >= LAST_CHUNK {
            return Err(SnapshotError::TooLarge);
        }
        self.mark_begin();
        Ok(())
    }

    fn finish(mut self) -> Result<(), SnapshotError> {
        self.append(self.in_chunk)?;
        self.chunk = LAST_CHUNK;
        self.mark_begin();
        self.append(self.total)
    }

    fn append(&mut self, count: u32) -> Result<(), SnapshotError> {
        let id = join(self.number, self.chunk);
        self.records.push_with(|out| Record::SnapshotEnd { id, count }.encode(out));
        let range = self.source.append(&mut self.records)?;
        self.first.get_or_insert(range.first);
        self.records.clear();
        self.in_chunk = 0;
        Ok(())
    }
}
