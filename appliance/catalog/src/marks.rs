//! The marks around a snapshot's definitions, and what they tell apart.
//!
//! A snapshot is written in chunks while the box goes on. Each chunk is one append, so its records
//! stand together: begin mark, definitions, end mark with their count. The marks' id is
//! `snapshot number << 16 | chunk`; chunk 0 is empty and is durable before the state is read;
//! chunk 65,535 is empty too and its end mark carries the count of all. So a definition between
//! marks is a *repetition* of a state that may be older than a change just before it.
//!
//! **Invariants**: a repetition is never applied by a follower: it could bring a revoked client
//! back; only a rebuild uses it, beneath every change after chunk 0.

use millrace_model::Record;

/// Chunk number of the closing marks.
pub(crate) const LAST_CHUNK: u64 = 0xffff;
const CHUNK_BITS: u32 = 16;

/// Splits a mark's id into the snapshot's number and the chunk.
pub(crate) fn split(id: u64) -> (u64, u64) {
    (id >> CHUNK_BITS, id & LAST_CHUNK)
}

/// The id of a mark.
pub(crate) fn join(number: u64, chunk: u64) -> u64 {
    number << CHUNK_BITS | chunk & LAST_CHUNK
}

/// Tells changes from a snapshot's repetitions. A fresh one for each commit: an append never
/// spans two, so a mark that was lost to damage spoils no more than its own commit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    inside: bool,
}

impl Marks {
    /// Shown every record of a commit in order; whether this one is a change of a definition to be applied.
    pub fn is_change(&mut self, record: &Record<'_>) -> bool {
        match record {
            Record::SnapshotBegin { .. } => self.inside = true,
            Record::SnapshotEnd { .. } => self.inside = false,
            Record::Definition(_) => return !self.inside,
            _ => {}
        }
        false
    }
}
