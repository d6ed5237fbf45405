//! The position of a record in the journal.
//!
//! **Invariants**: the first record is 1; 0 means "nothing yet"; a seq is never reused.

use std::fmt;

/// The position of a record. 0 is before the first record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

impl Seq {
    /// Before the first record.
    pub const ZERO: Self = Self(0);

    /// No journal gets here: at a billion records a second it would take a century. Whatever
    /// claims a higher seq is damaged, and arithmetic below it cannot overflow.
    pub(crate) const MAX: Self = Self(1 << 62);

    /// The position after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The seqs that one append was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeqRange {
    /// The first of them.
    pub first: Seq,
    /// How many.
    pub count: u32,
}

impl SeqRange {
    /// The last of them; the seq before `first` if there are none.
    #[must_use]
    pub const fn last(self) -> Seq {
        Seq(self.first.0.saturating_add(self.count as u64).saturating_sub(1))
    }
}
