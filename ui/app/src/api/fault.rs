//! Why a request did not give what was asked for.
//!
//! **Invariants**
//! - The appliance's own sentence is always shown; nothing is turned into "an error occurred".

use crate::host::Unreachable;
use crate::words::{Language, faults};
use millrace_contract::v1::{ErrorCode, ErrorDetail};
use thiserror::Error;

/// Why a request did not give what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
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
    },
    /// There was no answer.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// What should be sent cannot be written as JSON.
    #[error("the request cannot be written")]
    Unsent,
}

impl Fault {
    /// Whether there was no answer at all: the frame tells that for the whole page.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }

    /// The appliance's code, if it was the appliance that refused.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { detail, .. } => Some(detail.code),
            _ => None,
        }
    }

    /// The field at fault, as the appliance names it.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Refused { detail, .. } => detail.field.as_deref(),
            _ => None,
        }
    }

    /// For the person, in the language's words. (The appliance's own sentence is English.)
    #[must_use]
    pub fn text(&self, language: Language) -> String {
        match self {
            Self::Refused { detail, .. } if detail.code == ErrorCode::Forbidden => {
                language.say_with(faults::FORBIDDEN, &[("why", &detail.message)])
            }
            Self::Refused { detail, .. } => detail.message.clone(),
            Self::Foreign { status } => {
                language.say_with(faults::FOREIGN, &[("status", &status.to_string())])
            }
            Self::Unreachable(Unreachable::NoConnection) => language.say(faults::NO_CONNECTION),
            Self::Unreachable(Unreachable::TimedOut) => language.say(faults::TIMED_OUT),
            Self::Unreachable(Unreachable::TooLarge) => language.say(faults::TOO_LARGE),
            Self::Unsent => language.say(faults::UNSENT),
        }
    }
}
