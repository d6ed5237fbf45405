//! Issues.

use crate::convert;
use crate::error::Result;
use crate::extract::{Caller, Segments};
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use millrace_contract::v1;

/// Open issues, in one page: the box holds 500 at most.
#[utoipa::path(
    get, path = "/api/v1/issues", tag = "system", security(("bearer" = [])),
    responses((status = 200, description = "Worst first.", body = v1::Page<v1::Issue>))
)]
pub(crate) async fn list(State(api): State<Api>, _caller: Caller) -> Json<v1::Page<v1::Issue>> {
    let items = api.backend().issues().into_iter().map(convert::issue).collect();
    Json(v1::Page { items, next: None })
}

/// Notes that the caller knows of an issue; it stays listed until its cause is gone.
#[utoipa::path(
    post, path = "/api/v1/issues/{key}/acknowledge", tag = "system", security(("bearer" = [])),
    params(("key" = String, Path, description = "The issue's key, percent-encoded.")),
    responses((status = 204, description = "Noted."))
)]
pub(crate) async fn acknowledge(
    State(api): State<Api>,
    caller: Caller,
    Segments(key): Segments<String>,
) -> Result<StatusCode> {
    api.backend().acknowledge_issue(&key, &caller.actor())?;
    Ok(StatusCode::NO_CONTENT)
}
