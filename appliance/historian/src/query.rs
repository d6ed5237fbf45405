//! Answering from memtables and parts as if they were one.
//!
//! **Invariants**: answers are sorted by (source time, seq); of values with the same source time
//! given by the device only the latest is answered; what cannot be read is said, never guessed.

mod last;
mod merge;
mod range;
mod raw;
mod snapshot;

pub(crate) use last::{last, last_many};
pub(crate) use merge::Merge;
pub(crate) use range::range;
pub(crate) use raw::raw;
