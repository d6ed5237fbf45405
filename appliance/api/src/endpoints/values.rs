//! Single values of a topic: the last that were refused, and one that a person publishes.

use super::{find_tag, find_workspace};
use crate::error::{ApiError, Result};
use crate::extract::{Body, Caller, Params, Segments};
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use millrace_contract::v1;
use millrace_model::topic;
use serde::Deserialize;
use utoipa::IntoParams;

/// Which topic.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TopicParams {
    /// The path below the workspace.
    path: String,
}

/// The last values that were refused on this path since the start, newest first; the path need not
/// have a tag.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/refusals", tag = "tags", security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), TopicParams),
    responses((status = 200, description = "In one page.", body = v1::Page<v1::RefusedValue>))
)]
pub(crate) async fn refusals(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Params(params): Params<TopicParams>,
) -> Result<Json<v1::Page<v1::RefusedValue>>> {
    let workspace = find_workspace(&api, &caller.principal, &name)?;
    topic::check_path(&params.path)
        .map_err(|error| ApiError::bad_parameter("path", format!("Not a path: {error}.")))?;
    let items = api.backend().refusals(workspace, &params.path);
    Ok(Json(v1::Page { items, next: None }))
}

/// Publishes a value on a tag, as a device would: through admission and the journal. Who did it
/// stands in the audit trail, in the same commit.
#[utoipa::path(
    post, path = "/api/v1/workspaces/{workspace}/value", tag = "tags", security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), TopicParams),
    request_body = v1::TestValue,
    responses((status = 200, description = "Stored, or refused with the reason.", body = v1::TestVerdict))
)]
pub(crate) async fn publish(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Params(params): Params<TopicParams>,
    Body(value): Body<v1::TestValue>,
) -> Result<Json<v1::TestVerdict>> {
    let workspace = find_workspace(&api, &caller.principal, &name)?;
    find_tag(&api, &caller.principal, workspace, &params.path)?;
    let actor = caller.actor();
    Ok(Json(api.backend().publish(workspace, params.path, value.payload, actor).await?))
}
