//! One value in the memtable: 40 bytes.
//!
//! **Invariants**: `bits` is the scalar, or the place of the text; nothing here owns memory.

use millrace_model::Kind;

/// The device gave the source time.
pub(crate) const FLAG_SOURCE_TIME: u8 = 1;
/// A part may hold a value of this source time: looked up when sealing.
pub(crate) const FLAG_UNRESOLVED: u8 = 2;

/// A row.
#[derive(Clone, Copy, Default)]
pub(crate) struct Row {
    pub(crate) time: i64,
    pub(crate) receive: i64,
    pub(crate) bits: u64,
    pub(crate) quality: u32,
    pub(crate) client: u32,
    pub(crate) seq_delta: u32,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
}

const _: () = assert!(size_of::<Row>() == 40, "the memtable's budget counts on 40 bytes");

impl Row {
    pub(crate) fn kind(&self) -> Kind {
        Kind::from_code(self.kind).unwrap_or(Kind::Null)
    }

    pub(crate) fn has_source_time(&self) -> bool {
        self.flags & FLAG_SOURCE_TIME != 0
    }
}
