//! Errors: a closed list of codes, a sentence for people, and the field at fault.

use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// What went wrong, for programs. The list is closed: a new code comes with a new API version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// 400: the request cannot be read (syntax, a parameter that is no number or time).
    BadRequest,
    /// 401: no token, or one that is unknown, expired or revoked; or a wrong name or password.
    Unauthorized,
    /// 403: the token is good but may not do this.
    Forbidden,
    /// 403: the `Host` or `Origin` header is not one that this box answers to.
    HostNotAllowed,
    /// 404: there is no such thing.
    NotFound,
    /// 405: the address exists, but not with this method.
    MethodNotAllowed,
    /// 408: the request or its answer took too long.
    TimedOut,
    /// 409: it exists already, or its state does not allow this.
    Conflict,
    /// 413: the body is larger than allowed.
    TooLarge,
    /// 415: the body is not `application/json`.
    UnsupportedMediaType,
    /// 422: a field's value is not allowed; `field` tells which.
    Invalid,
    /// 429: too many attempts or requests; `Retry-After` tells when to come again.
    RateLimited,
    /// 500: a fault of the appliance; its log has the details.
    Internal,
    /// 501: not built in this version.
    NotSupported,
    /// 503: passing trouble (the journal is degraded, the box is stopping); try again.
    Unavailable,
}

impl ErrorCode {
    /// All codes.
    pub const ALL: [Self; 15] = [
        Self::BadRequest,
        Self::Unauthorized,
        Self::Forbidden,
        Self::HostNotAllowed,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::TimedOut,
        Self::Conflict,
        Self::TooLarge,
        Self::UnsupportedMediaType,
        Self::Invalid,
        Self::RateLimited,
        Self::Internal,
        Self::NotSupported,
        Self::Unavailable,
    ];

    /// The HTTP status that goes with it.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden | Self::HostNotAllowed => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::TimedOut => 408,
            Self::Conflict => 409,
            Self::TooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::Invalid => 422,
            Self::RateLimited => 429,
            Self::Internal => 500,
            Self::NotSupported => 501,
            Self::Unavailable => 503,
        }
    }

    /// Its name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BadRequest => "bad_request",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::HostNotAllowed => "host_not_allowed",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::TimedOut => "timed_out",
            Self::Conflict => "conflict",
            Self::TooLarge => "too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::Invalid => "invalid",
            Self::RateLimited => "rate_limited",
            Self::Internal => "internal",
            Self::NotSupported => "not_supported",
            Self::Unavailable => "unavailable",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The body of every answer that is not a success (`/oauth/token` answers as RFC 6749 asks).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// The error.
    pub error: ErrorDetail,
}

/// One error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorDetail {
    /// For programs.
    pub code: ErrorCode,
    /// For people; its wording may change.
    pub message: String,
    /// The field or parameter at fault, as a path: `publish[0]`, `schema.min`, `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Everything that is wrong with a pipeline's document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<crate::v1::pipeline::DocumentFault>,
}

/// The body of an error of `/oauth/token` (RFC 6749, 5.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OAuthError {
    /// `invalid_request`, `invalid_client`, `unauthorized_client`, `unsupported_grant_type`, or
    /// `temporarily_unavailable`.
    pub error: String,
    /// For people.
    pub error_description: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_on_the_wire() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_string(&code).unwrap(), format!("\"{code}\""));
        }
    }
}
