//! Reads durable records in order.

use crate::error::Result;
use crate::record_buf::Records;
use crate::seq::Seq;

/// Reads durable records in order, from a seq on.
#[derive(Debug)]
pub struct Reader {}

/// The records of one frame, borrowed from the reader.
#[derive(Debug)]
pub struct Batch<'a> {
    /// Seq of the first record.
    pub first: Seq,
    /// How many.
    pub count: u32,
    /// The frame's note.
    pub note: u64,
    body: &'a [u8],
}

impl<'a> Batch<'a> {
    /// The records in order.
    pub fn records(&self) -> Records<'a> {
        Records::new(self.first, self.body)
    }
}

impl Reader {
    /// The next frame; `None` when caught up: ask again after a commit.
    ///
    /// # Errors
    /// If a frame is damaged or was recycled; the next call goes on behind it.
    pub fn next(&mut self) -> Result<Option<Batch<'_>>> {
        Ok(None)
    }
}
