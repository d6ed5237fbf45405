//! Opening a journal whatever state it is in.

use crate::seq::Seq;
use std::path::PathBuf;

/// What was found when the journal was opened.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    /// Oldest record that is there; above `last_seq` if there is none.
    pub first_seq: Seq,
    /// Highest record that is there.
    pub last_seq: Seq,
    /// Damage, each as a sentence for a person. Empty after a clean stop and after a plain crash.
    pub issues: Vec<String>,
    /// What an operator need not act on (a torn tail that was cut).
    pub notes: Vec<String>,
    /// Files with what could not be used.
    pub quarantined: Vec<PathBuf>,
    /// Segments with records.
    pub segments: usize,
}
