//! Sizing: the stored plan, the load beside it, and measuring what this machine costs.

use crate::error::Result;
use crate::extract::{Body, Caller};
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use millrace_contract::v1;
use serde_json::Value;

/// The plan that the box compares its load with.
#[utoipa::path(
    get, path = "/api/v1/sizing/plan", tag = "sizing", security(("bearer" = [])),
    responses((status = 200, description = "The plan.", body = v1::StoredPlan))
)]
pub(crate) async fn plan(State(api): State<Api>, _caller: Caller) -> Result<Json<v1::StoredPlan>> {
    Ok(Json(api.backend().sizing().plan()?))
}

/// Stores a plan in the place of the one before.
#[utoipa::path(
    put, path = "/api/v1/sizing/plan", tag = "sizing", security(("bearer" = [])),
    request_body = v1::NewPlan,
    responses((status = 200, description = "The plan as stored.", body = v1::StoredPlan))
)]
pub(crate) async fn set_plan(
    State(api): State<Api>,
    caller: Caller,
    Body(new): Body<v1::NewPlan>,
) -> Result<Json<v1::StoredPlan>> {
    Ok(Json(api.backend().sizing().set_plan(new.plan, caller.actor()).await?))
}

/// Removes the stored plan; its issues go with it.
#[utoipa::path(
    delete, path = "/api/v1/sizing/plan", tag = "sizing", security(("bearer" = [])),
    responses((status = 204, description = "Removed."))
)]
pub(crate) async fn clear_plan(State(api): State<Api>, caller: Caller) -> Result<StatusCode> {
    api.backend().sizing().clear_plan(caller.actor()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The stored plan beside the load of the last minute.
#[utoipa::path(
    get, path = "/api/v1/sizing/comparison", tag = "sizing", security(("bearer" = [])),
    responses((status = 200, description = "At this moment.", body = v1::PlanComparison))
)]
pub(crate) async fn comparison(
    State(api): State<Api>,
    _caller: Caller,
) -> Result<Json<v1::PlanComparison>> {
    Ok(Json(api.backend().sizing().comparison()?))
}

/// The costs that a calibration has measured on this machine, as docs/operate/sizing.md describes
/// them.
#[utoipa::path(
    get, path = "/api/v1/sizing/profile", tag = "sizing", security(("bearer" = [])),
    responses((status = 200, description = "The profile.", body = Value))
)]
pub(crate) async fn profile(State(api): State<Api>, _caller: Caller) -> Result<Json<Value>> {
    Ok(Json(api.query(|backend| Ok(backend.sizing().profile()?)).await?))
}

/// How the last calibration stands.
#[utoipa::path(
    get, path = "/api/v1/sizing/calibration", tag = "sizing", security(("bearer" = [])),
    responses((status = 200, description = "At this moment.", body = v1::Calibration))
)]
pub(crate) async fn calibration(State(api): State<Api>, _caller: Caller) -> Json<v1::Calibration> {
    Json(api.backend().sizing().calibration())
}

/// Starts measuring what this machine costs, beside production, for about three minutes.
#[utoipa::path(
    post, path = "/api/v1/sizing/calibration", tag = "sizing", security(("bearer" = [])),
    responses((status = 202, description = "It runs.", body = v1::Calibration))
)]
pub(crate) async fn start_calibration(
    State(api): State<Api>,
    caller: Caller,
) -> Result<(StatusCode, Json<v1::Calibration>)> {
    let by = caller.actor();
    let started = api.query(move |backend| Ok(backend.sizing().start_calibration(&by)?)).await?;
    Ok((StatusCode::ACCEPTED, Json(started)))
}

/// Cancels the calibration that runs; it cleans up after itself.
#[utoipa::path(
    delete, path = "/api/v1/sizing/calibration", tag = "sizing", security(("bearer" = [])),
    responses((status = 200, description = "It is told to stop.", body = v1::Calibration))
)]
pub(crate) async fn cancel_calibration(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<v1::Calibration>> {
    let by = caller.actor();
    Ok(Json(api.query(move |backend| Ok(backend.sizing().cancel_calibration(&by)?)).await?))
}
