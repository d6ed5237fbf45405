//! What can go wrong with a request.

use millrace_contract::v1::{ErrorCode, ErrorDetail};
use thiserror::Error;

/// A request's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a request has no answer, or a negative one.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The appliance refused; its code, sentence and field say why.
    #[error("{} ({})", .detail.message, .detail.code)]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What the appliance says.
        detail: ErrorDetail,
    },
    /// Something that is not the appliance, or not this version of it, answered.
    #[error("the answer (HTTP {status}) is none of a Millrace appliance of this version")]
    Foreign {
        /// The HTTP status.
        status: u16,
        /// Why it cannot be read.
        #[source]
        source: Option<serde_json::Error>,
    },
    /// An answer is larger than a client should hold.
    #[error("the answer is larger than {bytes_max} bytes")]
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// The appliance cannot be reached, or the connection broke off.
    #[error("the appliance cannot be reached")]
    Transport(#[from] reqwest::Error),
    /// The answer cannot be written where it should go.
    #[error("the answer cannot be written")]
    Write(#[source] std::io::Error),
    /// The token has characters that no token has.
    #[error("the token is not valid")]
    TokenInvalid,
}

impl Error {
    /// The appliance's code, if it was the appliance that refused.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { detail, .. } => Some(detail.code),
            _ => None,
        }
    }
}
