//! The box itself: what it is, whether it works, what it does now.

use crate::convert;
use crate::error::{ApiError, Result};
use crate::extract::{Caller, Params, Peer, bearer};
use crate::limits::MEASURE_NAMES_MAX;
use crate::openapi;
use crate::state::Api;
use crate::web;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use millrace_contract::v1;
use serde::Deserialize;
use utoipa::IntoParams;

/// The studio, for whoever opens the address in a browser; its other files and pages are no part
/// of this API.
#[utoipa::path(
    get, path = "/", tag = "system",
    responses((status = 200, description = "The page.", body = String, content_type = "text/html"))
)]
pub(crate) async fn root(State(api): State<Api>, headers: HeaderMap) -> Response {
    web::root(&api, &headers).await
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

/// Which figures.
#[derive(Deserialize, IntoParams)]
pub(crate) struct MeasureQuery {
    /// Their names with commas between them: `stored_values,engine_queue_pending`.
    names: String,
}

/// Figures of `/metrics` by name, for whoever shows a few of them often.
#[utoipa::path(
    get, path = "/api/v1/measures", tag = "system", security(("bearer" = [])),
    params(MeasureQuery),
    responses((status = 200, description = "At this moment.", body = v1::Measures))
)]
pub(crate) async fn measures(
    State(api): State<Api>,
    _caller: Caller,
    Params(query): Params<MeasureQuery>,
) -> Result<Json<v1::Measures>> {
    let names: Vec<&str> = query.names.split(',').map(str::trim).collect();
    if names.len() > MEASURE_NAMES_MAX {
        let message = format!("At most {MEASURE_NAMES_MAX} names at once.");
        return Err(ApiError::bad_parameter("names", message));
    }
    let backend = api.backend();
    let measures = backend.measures(&|name| names.contains(&name));
    let items = measures.into_iter().filter_map(convert::measure).collect();
    Ok(Json(v1::Measures { at: convert::time(backend.now()), items }))
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

/// What the box is, where it listens with which certificate, how near it is to its limits, and
/// what its next start would do differently: the configuration file is read again for that.
#[utoipa::path(
    get, path = "/api/v1/system", tag = "system", security(("bearer" = [])),
    responses((status = 200, description = "At this moment.", body = v1::System))
)]
pub(crate) async fn system(State(api): State<Api>, _caller: Caller) -> Result<Json<v1::System>> {
    let told = api
        .query(|backend| Ok(convert::system(backend.system(), backend.version(), backend.now())));
    Ok(Json(told.await?))
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
