//! Webhooks: a request from outside starts a run of a pipeline.
//!
//! The address is `/hooks/<workspace>/<path>`, where a pipeline's `http` trigger names the path.
//! Whoever calls must know the trigger's secret: as the header that the trigger names, or as
//! `X-Millrace-Signature: sha256=<hex>` (`X-Hub-Signature-256` is as good), the HMAC-SHA-256 of the
//! body under the secret. Secrets are compared in constant time.
//!
//! **Invariants**: no run starts without the secret; the secret's header reaches no pipeline; a
//! trigger whose secret is not there lets nobody in.

use crate::backend::{Hook, HookAnswer, HookCall, RunId};
use crate::convert::Workspaces;
use crate::error::{ApiError, Result};
use crate::extract::read_body;
use crate::state::Api;
use axum::Json;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use millrace_contract::v1::ErrorCode;
use ring::{digest, hmac};
use serde_json::json;

/// Headers that carry a signature of the body.
const SIGNATURES: [&str; 2] = ["x-millrace-signature", "x-hub-signature-256"];
/// Headers that are as good as the secret, so no pipeline sees them.
const HIDDEN: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "x-millrace-secret"];
/// Longest `Bearer` or other secret that is looked at.
const SECRET_BYTES_MAX: usize = 32 * 1024;

/// Starts a run of the pipeline whose `http` trigger has this path. With its secret only: as the
/// header that the trigger names, or as an HMAC of the body.
#[utoipa::path(
    method(get, post, put, patch, delete), path = "/hooks/{workspace}/{path}", tag = "hooks",
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("path" = String, Path, description = "The trigger's path; may hold slashes."),
    ),
    responses(
        (status = 200, description = "What the run gave, where the trigger answers with that."),
        (status = 202, description = "The run is durable: `{\"run\": \"<id>\"}`."),
        (status = 500, description = "The run failed."),
        (status = 504, description = "The run goes on; the trigger's time to answer is over."),
    )
)]
pub(crate) async fn call(
    State(api): State<Api>,
    crate::extract::Segments((workspace, path)): crate::extract::Segments<(String, String)>,
    request: Request,
) -> Result<Response> {
    let nothing = || ApiError::not_found("There is no webhook at this address.");
    let number = Workspaces::of(api.backend()).number(&workspace).ok_or_else(nothing)?;
    let hook = api.backend().pipelines().hook(number, &path)?.ok_or_else(nothing)?;
    let (parts, body) = request.into_parts();
    let method = parts.method.as_str().to_owned();
    // What cannot be right is refused before its body is read.
    let bare = bare_secret(&parts.headers, &hook.secret_header);
    let signature = signature(&parts.headers);
    if bare.is_none() && signature.is_none() {
        return Err(ApiError::unauthorized());
    }
    let secret = hook.secret.as_deref().filter(|secret| !secret.is_empty());
    let secret = secret.ok_or_else(ApiError::unauthorized)?;
    if bare.is_some_and(|given| !is_same(given, secret)) {
        return Err(ApiError::unauthorized());
    }
    let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri)
        .map_err(|_| ApiError::new(ErrorCode::BadRequest, "The parameters cannot be read."))?;
    let body = read_body(Request::new(body), hook.body_bytes_max).await?;
    if bare.is_none() && !signature.is_some_and(|given| is_signed(&body, secret, given)) {
        return Err(ApiError::unauthorized());
    }
    if !hook.methods.contains(&method) {
        return Ok(wrong_method(&hook));
    }
    let headers = shown_headers(&parts.headers, &hook.secret_header);
    let call = HookCall { method, path, query: query.0, headers, body };
    Ok(answer(api.backend().pipelines().call_hook(hook, call).await?))
}

/// The secret as the trigger's header carries it.
fn bare_secret<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let text = headers.get(name).or_else(|| headers.get("x-millrace-secret"))?.to_str().ok()?;
    let text = match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
        _ => text,
    };
    (text.len() <= SECRET_BYTES_MAX).then_some(text)
}

fn signature(headers: &HeaderMap) -> Option<&str> {
    let found = SIGNATURES.iter().find_map(|name| headers.get(*name))?;
    found.to_str().ok()?.strip_prefix("sha256=")
}

/// Compares digests, so that neither place nor length of a difference shows in the time.
fn is_same(given: &str, secret: &str) -> bool {
    let of = |text: &str| digest::digest(&digest::SHA256, text.as_bytes());
    let key = hmac::Key::new(hmac::HMAC_SHA256, of(secret).as_ref());
    let expected = hmac::sign(&key, of(secret).as_ref());
    hmac::verify(&key, of(given).as_ref(), expected.as_ref()).is_ok()
}

fn is_signed(body: &[u8], secret: &str, signature: &str) -> bool {
    let Some(signature) = from_hex(signature) else { return false };
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    hmac::verify(&key, body, &signature).is_ok()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 2 * digest::SHA256_OUTPUT_LEN || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let digits = text.as_bytes().chunks_exact(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// What the pipeline sees of the headers; values that are no text are left out.
fn shown_headers(headers: &HeaderMap, secret_header: &str) -> Vec<(String, String)> {
    let is_hidden = |name: &str| name == secret_header || HIDDEN.contains(&name);
    let shown = headers.iter().filter(|(name, _)| !is_hidden(name.as_str()));
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    shown.filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?))).collect()
}

fn wrong_method(hook: &Hook) -> Response {
    let message = "This webhook does not take this method.";
    let mut response = ApiError::new(ErrorCode::MethodNotAllowed, message).into_response();
    if let Ok(methods) = HeaderValue::from_str(&hook.methods.join(", ")) {
        response.headers_mut().insert(header::ALLOW, methods);
    }
    response
}

fn answer(answer: HookAnswer) -> Response {
    let told = |status: StatusCode, run: RunId, error: Option<(&str, String)>| {
        let mut body = json!({ "run": run.to_string() });
        if let (Some((code, message)), Some(fields)) = (error, body.as_object_mut()) {
            fields.insert("error".to_owned(), json!({ "code": code, "message": message }));
        }
        (status, Json(body)).into_response()
    };
    match answer {
        HookAnswer::Started(run) => told(StatusCode::ACCEPTED, run, None),
        HookAnswer::Result(run, None) => told(StatusCode::OK, run, None),
        HookAnswer::Result(run, Some(text)) => {
            let kind = [(header::CONTENT_TYPE, "application/json")];
            let mut response = (kind, text).into_response();
            if let Ok(run) = HeaderValue::from_str(&run.to_string()) {
                response.headers_mut().insert("millrace-run", run);
            }
            response
        }
        HookAnswer::Failed(run, message) => {
            told(StatusCode::INTERNAL_SERVER_ERROR, run, Some(("run_failed", message)))
        }
        HookAnswer::StillRunning(run) => {
            let message = "The run goes on; its result is not known yet.".to_owned();
            told(StatusCode::GATEWAY_TIMEOUT, run, Some(("timed_out", message)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_whole_body_under_the_secret() {
        // RFC 4231, test case 2.
        let (body, secret) = (b"what do ya want for nothing?", "Jefe");
        let right = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert!(is_signed(body, secret, right));
        assert!(is_signed(body, secret, &right.to_uppercase()));
        assert!(!is_signed(b"what do ya want for nothing", secret, right));
        assert!(!is_signed(body, "jefe", right));
        for bad in
            ["", "5b", "+bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec384", "ü"]
        {
            assert!(!is_signed(body, secret, bad), "{bad}");
        }
    }

    #[test]
    fn secrets_are_the_same_or_not() {
        assert!(is_same("hunter2", "hunter2"));
        for other in ["", "hunter", "hunter2 ", "Hunter2"] {
            assert!(!is_same(other, "hunter2"), "{other}");
        }
    }
}
