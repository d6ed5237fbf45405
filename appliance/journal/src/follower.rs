//! Who sees each commit first.
//!
//! **Invariants**: called on the writer's thread, after the sync, before `durable()` moves and
//! before anybody is woken; in seq order without a hole.

use crate::record_buf::Records;
use crate::seq::{Seq, SeqRange};

/// Sees every commit before it is announced. A panic here closes the journal.
pub trait Follower: Send {
    /// The records of one commit are durable.
    fn committed(&mut self, batch: &Committed<'_>);
}

/// One commit.
#[derive(Clone, Copy, Debug)]
pub struct Committed<'a> {
    /// Seq of the first record.
    pub first: Seq,
    /// How many records.
    pub count: u32,
    /// The frame's note.
    pub note: u64,
    body: &'a [u8],
}

impl<'a> Committed<'a> {
    pub(crate) const fn new(first: Seq, count: u32, note: u64, body: &'a [u8]) -> Self {
        Self { first, count, note, body }
    }

    /// Seq of the last record.
    #[must_use]
    pub const fn last(&self) -> Seq {
        SeqRange { first: self.first, count: self.count }.last()
    }

    /// The records in order.
    pub fn records(&self) -> Records<'a> {
        Records::new(self.first, self.body)
    }
}
