//! What can go wrong, with the facts.

use crate::seq::Seq;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an append was not taken. The buffer is untouched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AppendError {
    /// So much waits for its commit that no more is taken: try again after `wait_for_space`.
    #[error("the journal's queue is full")]
    Full,
    /// The journal is closed, or its follower failed.
    #[error("the journal is closed")]
    Closed,
    /// One append can never be larger than this.
    #[error("an append of {bytes} bytes is above the limit of {limit_bytes}")]
    TooLarge {
        /// What was asked.
        bytes: usize,
        /// What fits.
        limit_bytes: usize,
    },
}

/// Why something other than an append failed.
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
    /// A setting outside its range.
    #[error("{setting} must {must}")]
    Config {
        /// Which.
        setting: &'static str,
        /// The rule.
        must: &'static str,
    },
    /// A frame that was good when the journal was opened is not good now. The next call goes on
    /// behind it.
    #[error("segment {segment} is damaged at byte {position}: {bytes} bytes are passed over")]
    Damaged {
        /// File name.
        segment: String,
        /// Where.
        position: u64,
        /// How much is passed over.
        bytes: u64,
    },
    /// The records after this seq were recycled; the next call goes on at the oldest there is.
    #[error("records after {after} are gone: the oldest is {oldest}")]
    Overrun {
        /// Where the reader stood.
        after: Seq,
        /// Where it goes on.
        oldest: Seq,
    },
    /// A checkpoint above what is durable.
    #[error("cursor {name} cannot be at {wanted}: durable up to {durable}")]
    CheckpointAhead {
        /// Whose.
        name: &'static str,
        /// What was asked.
        wanted: Seq,
        /// What is there.
        durable: Seq,
    },
}

impl Error {
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
