//! Why a call was not answered: a code of a closed list and a sentence for a person.
//!
//! **Invariants**: the sentence holds no secret, and text that came from an appliance is data: the
//! page shows it as text.

use crate::trust::Fingerprint;
use millrace_contract::v1::{ErrorCode, ErrorDetail};
use serde::Serialize;
use std::fmt;
use thiserror::Error;

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultCode {
    /// The call's own fault: a field is not allowed.
    Invalid,
    /// There is no such profile, pipeline, stream or window.
    NotFound,
    /// The appliance cannot be reached now.
    Offline,
    /// The appliance's certificate has not been accepted yet.
    NotTrusted,
    /// The appliance shows another certificate than the one that was pinned.
    CertificateChanged,
    /// Nobody is signed in at this appliance, or the session is over.
    SignedOut,
    /// The appliance refused; `refusal` has its own words.
    Refused,
    /// Something that is no Millrace appliance of a known version answered.
    Foreign,
    /// The appliance has a newer revision than the one that the call names.
    MovedOn,
    /// Something is larger, or more, than allowed.
    TooLarge,
    /// The system's keyring does not work.
    Vault,
    /// A file cannot be read or written.
    Storage,
    /// The page was opened again elsewhere in the same window.
    Replaced,
}

/// A negative answer.
#[derive(Clone, Debug, Error, Serialize)]
pub struct Fault {
    /// For programs.
    pub code: FaultCode,
    /// For people.
    pub message: String,
    /// The field of the call at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<&'static str>,
    /// What the appliance said, when it was the appliance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Box<ErrorDetail>>,
    /// The certificate that was shown, when it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presented: Option<Fingerprint>,
}

/// A call's result.
pub(crate) type Result<T> = std::result::Result<T, Fault>;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Fault {
    pub(crate) fn new(code: FaultCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), field: None, refusal: None, presented: None }
    }

    pub(crate) fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self { field: Some(field), ..Self::new(FaultCode::Invalid, message) }
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(FaultCode::NotFound, message)
    }

    pub(crate) fn offline(message: impl Into<String>) -> Self {
        Self::new(FaultCode::Offline, message)
    }

    pub(crate) fn signed_out() -> Self {
        Self::new(FaultCode::SignedOut, "Nobody is signed in at this appliance.")
    }

    pub(crate) fn refused(detail: ErrorDetail) -> Self {
        let message = detail.message.clone();
        Self { refusal: Some(Box::new(detail)), ..Self::new(FaultCode::Refused, message) }
    }

    /// Whether the appliance refused with this code.
    pub(crate) fn is_refusal_of(&self, code: ErrorCode) -> bool {
        self.refusal.as_ref().is_some_and(|detail| detail.code == code)
    }
}
