//! A fault of a plan or a profile: where it is, and a sentence that says what to do.

use serde::{Deserialize, Serialize};

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{at}: {sentence}")]
pub struct Problem {
    /// The field, as a path in the document: `devices[0].interval_ms`.
    pub at: String,
    /// What is wrong and what would be right.
    pub sentence: String,
}

impl Problem {
    /// A fault at a field.
    pub(crate) fn new(at: impl Into<String>, sentence: impl Into<String>) -> Self {
        Self { at: at.into(), sentence: sentence.into() }
    }
}
