//! `POST /oauth/token`: OAuth 2 client credentials (RFC 6749, 4.4).
//!
//! The client's id and secret come as HTTP Basic (form-encoded first, RFC 6749, 2.3.1) or in the
//! form body, never both and never in the address. Errors have the standard's own form.

use crate::backend::Fault;
use crate::error::retry_after_seconds;
use crate::extract::{Peer, has_media_type, read_body};
use crate::limits::BODY_BYTES_MAX;
use crate::state::Api;
use axum::Json;
use axum::extract::{Form, FromRequest as _, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use millrace_contract::v1::{OAuthError, OAuthToken};
use std::time::Duration;

/// Longest id or secret that is looked at.
const CREDENTIAL_BYTES_MAX: usize = 512;

enum Refused {
    InvalidRequest(&'static str),
    InvalidClient,
    UnsupportedGrantType,
    Unauthorized(String),
    Later(StatusCode, Duration),
    Internal(String),
}

struct Credentials {
    id: String,
    secret: String,
}

/// Gives an access token for a client's id and secret.
#[utoipa::path(
    post, path = "/oauth/token", tag = "sign-in",
    request_body(
        content = String, content_type = "application/x-www-form-urlencoded",
        description = "`grant_type=client_credentials`, with `client_id` and `client_secret` \
                       here or as HTTP Basic."
    ),
    responses(
        (status = 200, description = "A token.", body = OAuthToken),
        (status = 400, description = "`invalid_request`, `unsupported_grant_type`.", body = OAuthError),
        (status = 401, description = "`invalid_client`.", body = OAuthError),
        (status = 429, description = "Too many failed attempts.", body = OAuthError),
    )
)]
pub(crate) async fn token(State(api): State<Api>, peer: Peer, request: Request) -> Response {
    match give(&api, &peer, request).await {
        Ok(token) => no_store((StatusCode::OK, Json(token)).into_response()),
        Err(refused) => no_store(answer(refused)),
    }
}

async fn give(api: &Api, peer: &Peer, request: Request) -> Result<OAuthToken, Refused> {
    let headers = request.headers().clone();
    if !has_media_type(&headers, "application/x-www-form-urlencoded") {
        return Err(Refused::InvalidRequest("The body must be a form."));
    }
    let bytes = read_body(request, BODY_BYTES_MAX)
        .await
        .map_err(|_| Refused::InvalidRequest("The body is too large."))?;
    let fields = read_form(bytes).await?;
    let grant_type =
        one(&fields, "grant_type")?.ok_or(Refused::InvalidRequest("grant_type is missing."))?;
    let credentials = find_credentials(&headers, &fields)?;
    if grant_type != "client_credentials" {
        return Err(Refused::UnsupportedGrantType);
    }
    let from = peer.remote.ip().to_canonical();
    let backend = api.backend();
    match backend.client_credentials(&credentials.id, &credentials.secret, from) {
        Ok(token) => Ok(OAuthToken {
            access_token: token.access_token,
            token_type: "Bearer".to_owned(),
            expires_in: token.expires_in.as_secs(),
        }),
        Err(Fault::Forbidden(message)) => Err(Refused::Unauthorized(message)),
        Err(Fault::RateLimited { retry_after }) => {
            Err(Refused::Later(StatusCode::TOO_MANY_REQUESTS, retry_after))
        }
        Err(Fault::Unavailable(_)) => {
            Err(Refused::Later(StatusCode::SERVICE_UNAVAILABLE, Duration::from_secs(1)))
        }
        Err(Fault::Internal(what)) => Err(Refused::Internal(what)),
        Err(_) => Err(Refused::InvalidClient),
    }
}

async fn read_form(bytes: bytes::Bytes) -> Result<Vec<(String, String)>, Refused> {
    let request = Request::builder()
        .method("POST")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(bytes.into());
    let request = request.map_err(|_| Refused::InvalidRequest("The form cannot be read."))?;
    let form = Form::<Vec<(String, String)>>::from_request(request, &()).await;
    form.map(|form| form.0).map_err(|_| Refused::InvalidRequest("The form cannot be read."))
}

/// A field that may stand at most once (RFC 6749, 3.2); empty counts as absent.
fn one<'a>(fields: &'a [(String, String)], name: &str) -> Result<Option<&'a str>, Refused> {
    let mut found = fields.iter().filter(|(field, _)| field == name).map(|(_, value)| value);
    let first = found.next().map(String::as_str).filter(|value| !value.is_empty());
    match found.next() {
        Some(_) => Err(Refused::InvalidRequest("A field stands twice.")),
        None => Ok(first),
    }
}

fn find_credentials(
    headers: &HeaderMap,
    fields: &[(String, String)],
) -> Result<Credentials, Refused> {
    let in_body = (one(fields, "client_id")?, one(fields, "client_secret")?);
    let credentials = match (headers.get(header::AUTHORIZATION), in_body) {
        (Some(_), (_, Some(_))) => {
            return Err(Refused::InvalidRequest("Sign in by header or by body, not by both."));
        }
        (Some(value), (id, None)) => {
            let basic = read_basic(value).ok_or(Refused::InvalidClient)?;
            if id.is_some_and(|id| id != basic.id) {
                return Err(Refused::InvalidRequest("client_id differs from the header's."));
            }
            basic
        }
        (None, (Some(id), Some(secret))) => {
            Credentials { id: id.to_owned(), secret: secret.to_owned() }
        }
        (None, _) => return Err(Refused::InvalidClient),
    };
    let longest = credentials.id.len().max(credentials.secret.len());
    if longest > CREDENTIAL_BYTES_MAX { Err(Refused::InvalidClient) } else { Ok(credentials) }
}

fn read_basic(value: &HeaderValue) -> Option<Credentials> {
    let (scheme, encoded) = value.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some(Credentials { id: form_decode(id)?, secret: form_decode(secret)? })
}

/// Undoes form encoding of one value.
fn form_decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let high = char::from(bytes.next()?).to_digit(16)?;
                let low = char::from(bytes.next()?).to_digit(16)?;
                u8::try_from(high * 16 + low).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(out).ok()
}

fn answer(refused: Refused) -> Response {
    let body = |error: &str, description: &str| {
        Json(OAuthError { error: error.to_owned(), error_description: description.to_owned() })
    };
    match refused {
        Refused::InvalidRequest(why) => {
            (StatusCode::BAD_REQUEST, body("invalid_request", why)).into_response()
        }
        Refused::UnsupportedGrantType => {
            let why = "Only client_credentials is supported.";
            (StatusCode::BAD_REQUEST, body("unsupported_grant_type", why)).into_response()
        }
        Refused::Unauthorized(why) => {
            (StatusCode::BAD_REQUEST, body("unauthorized_client", &why)).into_response()
        }
        Refused::InvalidClient => {
            let challenge = [(header::WWW_AUTHENTICATE, "Basic realm=\"millrace\"")];
            let why = "The client id or secret is not right.";
            (StatusCode::UNAUTHORIZED, challenge, body("invalid_client", why)).into_response()
        }
        Refused::Later(status, wait) => {
            let later = [(header::RETRY_AFTER, retry_after_seconds(wait))];
            let why = "Not now; come again later.";
            (status, later, body("temporarily_unavailable", why)).into_response()
        }
        Refused::Internal(what) => crate::error::ApiError::internal(&what).into_response(),
    }
}

fn no_store(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    response
}
