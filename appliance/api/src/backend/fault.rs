//! Why the appliance did not do what was asked.

use millrace_contract::v1::DocumentFault;
use std::time::Duration;
use thiserror::Error;

/// A negative answer; the API turns it into a status, a code and a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The token, or the pair of name and secret, is not good. Says nothing of why.
    #[error("not signed in")]
    Unauthorized,
    /// The caller may not do this.
    #[error("{0}")]
    Forbidden(String),
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// It exists already, or its state does not allow this.
    #[error("{0}")]
    Conflict(String),
    /// A field's value is not allowed.
    #[error("{message}")]
    Invalid {
        /// The field, as a path.
        field: String,
        /// What is wrong with it.
        message: String,
    },
    /// A pipeline's document cannot be stored or run; all its faults.
    #[error("the document has {} faults", .0.len())]
    Document(Vec<DocumentFault>),
    /// Too many attempts.
    #[error("too many attempts")]
    RateLimited {
        /// When to come again.
        retry_after: Duration,
    },
    /// Passing trouble: the journal is degraded, the box is starting or stopping.
    #[error("{0}")]
    Unavailable(String),
    /// Not built in this version.
    #[error("{0}")]
    NotSupported(String),
    /// A fault of the appliance; the text goes to the log, not to the caller.
    #[error("{0}")]
    Internal(String),
}
