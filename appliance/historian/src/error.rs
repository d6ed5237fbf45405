//! What can go wrong, with the facts.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the historian could not do what was asked.
#[derive(Debug, Error)]
pub enum Error {
    /// The operating system said no.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// Verb.
        action: &'static str,
        /// File or folder.
        path: PathBuf,
        /// Its answer.
        source: io::Error,
    },
    /// A part is not what was written.
    #[error("part {part} is damaged: {what}")]
    Damaged {
        /// Its name.
        part: String,
        /// What does not fit.
        what: String,
    },
    /// A part is not there any more, because its time has come.
    #[error("part {part} was removed")]
    Removed {
        /// Its name.
        part: String,
    },
    /// A query that cannot be answered as it stands.
    #[error("{field} must {must}")]
    Query {
        /// Which field.
        field: &'static str,
        /// The rule.
        must: &'static str,
    },
    /// Writing a part's content failed.
    #[error("cannot encode a part: {0}")]
    Encode(String),
    /// Sealing does not get through.
    #[error("cannot seal: {reason}")]
    CannotSeal {
        /// The last failure.
        reason: String,
    },
    /// The historian is closed.
    #[error("the historian is closed")]
    Closed,
}

impl Error {
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn damaged(part: &str, what: impl ToString) -> Self {
        Self::Damaged { part: part.to_owned(), what: what.to_string() }
    }
}

/// The whole chain in one line, for issues and logs.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
