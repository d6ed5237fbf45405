//! Views of trends that a person keeps: of the person alone, on the appliance.

use super::session::own_name;
use crate::convert;
use crate::error::{ApiError, Result};
use crate::extract::{Body, Caller, Segments};
use crate::limits::VIEW_TOPICS_MAX;
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use millrace_contract::v1;
use millrace_model::topic;

/// Longest window of a view: a hundred years.
const SECONDS_MAX: f64 = 100.0 * 366.0 * 86_400.0;

/// The views of whoever is signed in.
#[utoipa::path(
    get, path = "/api/v1/views", tag = "views", security(("bearer" = [])),
    responses((status = 200, description = "By name, in one page.", body = v1::Page<v1::TrendView>))
)]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<v1::Page<v1::TrendView>>> {
    let items = api.backend().views(own_name(&caller.principal)?);
    Ok(Json(v1::Page { items, next: None }))
}

/// Keeps a view under a name, in the place of the one before.
#[utoipa::path(
    put, path = "/api/v1/views/{name}", tag = "views", security(("bearer" = [])),
    params(("name" = String, Path, description = "The view's name.")),
    request_body = v1::NewTrendView,
    responses((status = 200, description = "The view.", body = v1::TrendView))
)]
pub(crate) async fn keep(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Body(new): Body<v1::NewTrendView>,
) -> Result<Json<v1::TrendView>> {
    let person = own_name(&caller.principal)?;
    let name = convert::name("name", &name)?;
    let v1::NewTrendView { topics, seconds } = new;
    if topics.is_empty() || topics.len() > VIEW_TOPICS_MAX {
        let message = format!("A view has 1 to {VIEW_TOPICS_MAX} topics.");
        return Err(ApiError::invalid("topics", message));
    }
    for (at, path) in topics.iter().enumerate() {
        topic::check_path(path).map_err(|error| {
            ApiError::invalid(format!("topics[{at}]"), format!("Not a path: {error}."))
        })?;
    }
    if !(seconds > 0.0 && seconds <= SECONDS_MAX) {
        return Err(ApiError::invalid("seconds", "A window has a length, of 100 years at most."));
    }
    let view = v1::TrendView { name, topics, seconds };
    Ok(Json(api.backend().keep_view(person, view, caller.actor()).await?))
}

/// Forgets a view.
#[utoipa::path(
    delete, path = "/api/v1/views/{name}", tag = "views", security(("bearer" = [])),
    params(("name" = String, Path, description = "The view's name.")),
    responses((status = 204, description = "Forgotten."))
)]
pub(crate) async fn remove(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
) -> Result<StatusCode> {
    let person = own_name(&caller.principal)?;
    api.backend().remove_view(person, &name, caller.actor()).await?;
    Ok(StatusCode::NO_CONTENT)
}
