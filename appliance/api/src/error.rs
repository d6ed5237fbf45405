//! Negative answers: a code, a sentence, the field at fault; and how faults become them.
//!
//! **Invariants**: the text of an internal fault goes to the log only; 401 always says the same.

use crate::backend::Fault;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use millrace_contract::v1::{DocumentFault, ErrorBody, ErrorCode, ErrorDetail};
use std::time::Duration;

/// A negative answer.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    pub(crate) code: ErrorCode,
    message: String,
    field: Option<String>,
    faults: Vec<DocumentFault>,
    retry_after: Option<Duration>,
}

pub(crate) type Result<T> = std::result::Result<T, ApiError>;

impl ApiError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let (field, faults, retry_after) = (None, Vec::new(), None);
        Self { code, message: message.into(), field, faults, retry_after }
    }

    /// A parameter that cannot be read.
    pub(crate) fn bad_parameter(field: &str, message: impl Into<String>) -> Self {
        Self::new(ErrorCode::BadRequest, message).at(field)
    }

    /// A field whose value is not allowed.
    pub(crate) fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Invalid, message).at(field)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Forbidden, message)
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(ErrorCode::Unauthorized, "Sign in: a valid bearer token is needed.")
    }

    /// The constant answer to a failed login or claim.
    pub(crate) fn sign_in_failed() -> Self {
        Self::new(ErrorCode::Unauthorized, "The name, password or code is not right.")
    }

    pub(crate) fn rate_limited(retry_after: Duration) -> Self {
        let mut error = Self::new(ErrorCode::RateLimited, "Too many attempts; come again later.");
        error.retry_after = Some(retry_after);
        error
    }

    /// Logs what happened and answers without details.
    pub(crate) fn internal(what: &str) -> Self {
        tracing::error!(what, "An API request failed inside the appliance.");
        Self::new(ErrorCode::Internal, "The appliance failed to do this; its log tells why.")
    }

    /// A document with its faults; the sentence tells the first.
    pub(crate) fn document(faults: Vec<DocumentFault>) -> Self {
        let message = match faults.first() {
            None => "The document has faults.".to_owned(),
            Some(first) => {
                let step = first.step.as_ref().map(|step| format!("step '{step}', "));
                let field = first.field.as_ref().map(|field| format!("'{field}': "));
                let place = format!("{}{}", step.unwrap_or_default(), field.unwrap_or_default());
                let more = faults.len() - 1;
                let more = if more == 0 { String::new() } else { format!(" ({more} more)") };
                format!("The document has faults: {place}{}{more}", first.message)
            }
        };
        let mut error = Self::invalid("document", message);
        error.faults = faults;
        error
    }

    pub(crate) fn at(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    pub(crate) fn detail(self) -> ErrorDetail {
        let Self { code, message, field, faults, .. } = self;
        ErrorDetail { code, message, field, faults }
    }
}

impl From<Fault> for ApiError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Unauthorized => Self::unauthorized(),
            Fault::Forbidden(message) => Self::new(ErrorCode::Forbidden, message),
            Fault::NotFound(message) => Self::new(ErrorCode::NotFound, message),
            Fault::Conflict(message) => Self::new(ErrorCode::Conflict, message),
            Fault::Invalid { field, message } => Self::invalid(field, message),
            Fault::Document(faults) => Self::document(faults),
            Fault::RateLimited { retry_after } => Self::rate_limited(retry_after),
            Fault::Unavailable(message) => {
                let mut error = Self::new(ErrorCode::Unavailable, message);
                error.retry_after = Some(Duration::from_secs(1));
                error
            }
            Fault::NotSupported(message) => Self::new(ErrorCode::NotSupported, message),
            Fault::Internal(what) => Self::internal(&what),
        }
    }
}

/// `Retry-After` in whole seconds, rounded up, at least 1.
pub(crate) fn retry_after_seconds(wait: Duration) -> HeaderValue {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    HeaderValue::from(seconds.max(1))
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status())
            .expect("every code's status is a valid number, see its test");
        let (code, retry_after) = (self.code, self.retry_after);
        let mut response = (status, Json(ErrorBody { error: self.detail() })).into_response();
        if code == ErrorCode::Unauthorized {
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        if let Some(wait) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, retry_after_seconds(wait));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_becomes_its_status() {
        for code in ErrorCode::ALL {
            let response = ApiError::new(code, "x").into_response();
            assert_eq!(response.status().as_u16(), code.status());
        }
    }

    #[test]
    fn waits_are_rounded_up_to_seconds() {
        assert_eq!(retry_after_seconds(Duration::ZERO), "1");
        assert_eq!(retry_after_seconds(Duration::from_millis(2_001)), "3");
    }
}
