//! What endpoints take out of a request: the peer, the caller, the body, the parameters.
//!
//! Axum's own extractors answer plain text when something is wrong; these answer the contract's
//! error body, with the field at fault where there is one.

use crate::backend::{Actor, Principal};
use crate::error::ApiError;
use crate::limits::{BODY_BYTES_MAX, LONG_BODY_BYTES_MAX};
use axum::body::to_bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use millrace_contract::v1::ErrorCode;
use serde::de::DeserializeOwned;
use std::net::SocketAddr;

/// The two ends of the connection that a request came on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The peer's address.
    pub remote: SocketAddr,
    /// Our address on this connection.
    pub local: SocketAddr,
    /// Whether the connection is encrypted.
    pub tls: bool,
}

impl Peer {
    /// Whether the request was made on the box itself. One that says it was forwarded was not:
    /// a proxy on the box speaks for somebody else.
    pub(crate) fn is_on_the_box(&self, headers: &HeaderMap) -> bool {
        let forwarded = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];
        self.remote.ip().to_canonical().is_loopback()
            && !forwarded.iter().any(|name| headers.contains_key(*name))
    }
}

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        let peer = parts.extensions.get::<Self>().copied();
        let missing = || ApiError::internal("a request came without its peer").into_response();
        peer.ok_or_else(missing)
    }
}

/// The principal that `authorize` found, with the peer.
pub(crate) struct Caller {
    pub(crate) principal: Principal,
    pub(crate) peer: Peer,
}

impl Caller {
    pub(crate) fn actor(&self) -> Actor {
        Actor { who: self.principal.name.clone(), from: self.peer.remote.ip().to_canonical() }
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let peer = Peer::from_request_parts(parts, state).await;
        let principal = parts.extensions.get::<Principal>().cloned();
        match (principal, peer) {
            (Some(principal), Ok(peer)) => Ok(Self { principal, peer }),
            _ => Err(ApiError::unauthorized()),
        }
    }
}

/// The token of an `Authorization: Bearer` header (RFC 6750, 2.1).
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = text.split_once(' ')?;
    let token = token.trim();
    let fits = !token.is_empty() && token.len() <= crate::limits::TOKEN_BYTES_MAX;
    (scheme.eq_ignore_ascii_case("bearer") && fits).then_some(token)
}

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        if !has_media_type(request.headers(), "application/json") {
            let message = "The body must be application/json.";
            return Err(ApiError::new(ErrorCode::UnsupportedMediaType, message));
        }
        let bytes = read_body(request, BODY_BYTES_MAX).await?;
        read_json(&bytes).map(Self)
    }
}

/// A JSON body that may hold a pipeline's document.
pub(crate) struct LongBody<T>(pub(crate) T);

impl<S: Sync, T: DeserializeOwned> FromRequest<S> for LongBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        if !has_media_type(request.headers(), "application/json") {
            let message = "The body must be application/json.";
            return Err(ApiError::new(ErrorCode::UnsupportedMediaType, message));
        }
        let bytes = read_body(request, LONG_BODY_BYTES_MAX).await?;
        read_json(&bytes).map(Self)
    }
}

/// A JSON body that may be left out, and may hold a pipeline's document.
pub(crate) struct OptionalBody<T>(pub(crate) T);

impl<S: Sync, T: DeserializeOwned + Default> FromRequest<S> for OptionalBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let is_json = has_media_type(request.headers(), "application/json");
        let bytes = read_body(request, LONG_BODY_BYTES_MAX).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        if !is_json {
            let message = "The body must be application/json.";
            return Err(ApiError::new(ErrorCode::UnsupportedMediaType, message));
        }
        read_json(&bytes).map(Self)
    }
}

/// Reads a JSON body, with the field at fault when it does not fit.
pub(crate) fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        if inner.is_data() {
            let field = if path == "." { String::new() } else { path };
            ApiError::invalid(field, format!("The body does not fit: {inner}."))
        } else {
            ApiError::new(ErrorCode::BadRequest, format!("The body is not JSON: {inner}."))
        }
    })?;
    reader.end().map_err(|_| {
        ApiError::new(ErrorCode::BadRequest, "The body has more after its JSON value.")
    })?;
    Ok(value)
}

/// Whether the content type is this one, parameters aside.
pub(crate) fn has_media_type(headers: &HeaderMap, expected: &str) -> bool {
    let text = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = text.and_then(|text| text.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case(expected))
}

/// Reads the whole body, up to the limit.
pub(crate) async fn read_body(
    request: Request,
    bytes_max: usize,
) -> Result<bytes::Bytes, ApiError> {
    to_bytes(request.into_body(), bytes_max).await.map_err(|error| {
        let source = std::error::Error::source(&error);
        if source.is_some_and(|source| source.to_string().contains("length limit")) {
            let message = format!("The body is larger than {bytes_max} bytes.");
            ApiError::new(ErrorCode::TooLarge, message)
        } else {
            ApiError::new(ErrorCode::BadRequest, "The body broke off.")
        }
    })
}

/// Query parameters.
pub(crate) struct Params<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(error) => {
                let message = format!("The parameters cannot be read: {}.", error.body_text());
                Err(ApiError::new(ErrorCode::BadRequest, message))
            }
        }
    }
}

/// Path parameters.
pub(crate) struct Segments<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Segments<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(value)) => Ok(Self(value)),
            Err(_) => Err(ApiError::new(ErrorCode::BadRequest, "The address is not valid.")),
        }
    }
}
