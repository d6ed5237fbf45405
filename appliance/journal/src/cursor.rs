//! Named durable positions.

use crate::error::Result;
use crate::seq::Seq;

/// A named position below which its owner needs no records.
#[derive(Debug, Clone)]
pub struct Cursor {}

impl Cursor {
    /// The owner has durably taken over everything up to here.
    ///
    /// # Errors
    /// If this is above what is durable.
    pub fn checkpoint(&self, _seq: Seq) -> Result<()> {
        Ok(())
    }

    /// The highest checkpoint.
    #[must_use]
    pub fn position(&self) -> Seq {
        Seq::ZERO
    }
}
