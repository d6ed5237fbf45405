//! The box itself: what it is, whether it works, what it does now.

use crate::convert;
use crate::error::{ApiError, Result};
use crate::extract::{Caller, Peer, bearer};
use crate::openapi;
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use millrace_contract::v1;

/// A page for whoever opens the address in a browser.
#[utoipa::path(
    get, path = "/", tag = "system",
    responses((status = 200, description = "What this is.", body = String, content_type = "text/html"))
)]
pub(crate) async fn root(State(api): State<Api>) -> Response {
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Millrace</title>\
         <h1>Millrace {version}</h1>\
         <p>This is the HTTP API of a Millrace appliance. Its description is at \
         <a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a>, its health at \
         <a href=\"/health/ready\">/health/ready</a>, and the documentation in the folder docs \
         of the source.</p>\
         <p>There is no user interface here yet: the studio comes in a later version. Until then \
         use the command line, <code>millrace help</code>.</p></html>",
        version = escape(api.backend().version()),
    );
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Any other address.
pub(crate) async fn nothing_here() -> ApiError {
    ApiError::not_found("There is nothing at this address.")
}

/// Whether the process answers.
#[utoipa::path(
    get, path = "/health/live", tag = "system",
    responses((status = 200, description = "It does.", body = v1::Health))
)]
pub(crate) async fn live() -> Json<v1::Health> {
    Json(v1::Health { status: v1::HealthStatus::Live, parts: None })
}

/// Whether the box takes values and makes them durable. The parts are told on the box itself or
/// to a good token.
#[utoipa::path(
    get, path = "/health/ready", tag = "system",
    responses(
        (status = 200, description = "It does.", body = v1::Health),
        (status = 503, description = "It does not.", body = v1::Health),
    )
)]
pub(crate) async fn ready(State(api): State<Api>, peer: Peer, headers: HeaderMap) -> Response {
    let has_token = || bearer(&headers).is_some_and(|token| api.backend().principal(token).is_ok());
    let with_details = peer.is_on_the_box(&headers) || has_token();
    let health = convert::health(api.backend().health(), with_details);
    let status = match health.status {
        v1::HealthStatus::NotReady => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    };
    (status, Json(health)).into_response()
}

/// All metrics, for Prometheus. Off the box a token is needed.
#[utoipa::path(
    get, path = "/metrics", tag = "system", security((), ("bearer" = [])),
    responses((status = 200, description = "Prometheus text.", body = String, content_type = "text/plain"))
)]
pub(crate) async fn metrics(State(api): State<Api>) -> Response {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], api.backend().metrics_text()).into_response()
}

/// What runs.
#[utoipa::path(
    get, path = "/api/v1/version", tag = "system",
    responses((status = 200, description = "The version.", body = v1::Version))
)]
pub(crate) async fn version(State(api): State<Api>) -> Json<v1::Version> {
    let version = api.backend().version().to_owned();
    Json(v1::Version { product: "millrace".to_owned(), version, api: "v1".to_owned() })
}

/// The box at a glance.
#[utoipa::path(
    get, path = "/api/v1/overview", tag = "system", security(("bearer" = [])),
    responses((status = 200, description = "At this moment.", body = v1::Overview))
)]
pub(crate) async fn overview(State(api): State<Api>, _caller: Caller) -> Json<v1::Overview> {
    let backend = api.backend();
    Json(convert::overview(&backend.overview(), backend.now()))
}

/// The settings in force, without secrets.
#[utoipa::path(
    get, path = "/api/v1/config", tag = "system", security(("bearer" = [])),
    responses((status = 200, description = "As in the file.", body = v1::Page<v1::ConfigEntry>))
)]
pub(crate) async fn config(
    State(api): State<Api>,
    _caller: Caller,
) -> Json<v1::Page<v1::ConfigEntry>> {
    let entries = api.backend().config_effective();
    Json(v1::Page { items: entries.into_iter().map(convert::config_entry).collect(), next: None })
}

/// This description.
#[utoipa::path(
    get, path = "/api/v1/openapi.json", tag = "system",
    responses((status = 200, description = "OpenAPI 3.1.", body = String, content_type = "application/json"))
)]
pub(crate) async fn openapi() -> Result<Response> {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    Ok((kind, openapi::document()).into_response())
}
