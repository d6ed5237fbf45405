//! Workspaces and tags.

use super::{find_tag, find_workspace, page_limit};
use crate::backend::{LevelQuery, TagQuery};
use crate::convert;
use crate::cursor;
use crate::error::Result;
use crate::extract::{Body, Caller, Params, Segments};
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use millrace_contract::v1;
use serde::Deserialize;
use utoipa::IntoParams;

/// The workspaces that the caller may see.
#[utoipa::path(
    get, path = "/api/v1/workspaces", tag = "tags", security(("bearer" = [])),
    responses((status = 200, description = "By number.", body = v1::Page<v1::Workspace>))
)]
pub(crate) async fn workspaces(
    State(api): State<Api>,
    caller: Caller,
) -> Json<v1::Page<v1::Workspace>> {
    let all = api.backend().workspaces();
    let seen = all.iter().filter(|workspace| caller.principal.sees_workspace(workspace.number));
    Json(v1::Page { items: seen.map(convert::workspace).collect(), next: None })
}

/// Which tags to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TagsParams {
    /// The path begins with this text.
    #[serde(default)]
    prefix: String,
    /// The path, unit or description contains this text, letter case aside.
    #[serde(default)]
    search: String,
    /// The `next` of the page before.
    after: Option<String>,
    /// 1 to 1,000; 100 when absent.
    limit: Option<usize>,
}

/// The tags that the caller may read, in the order of paths.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/tags", tag = "tags", security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), TagsParams),
    responses((status = 200, description = "A page.", body = v1::Page<v1::Tag>))
)]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Params(params): Params<TagsParams>,
) -> Result<Json<v1::Page<v1::Tag>>> {
    let workspace = find_workspace(&api, &caller.principal, &name)?;
    let after = cursor::name(params.after.as_deref())?;
    let page = api.backend().tags(&TagQuery {
        workspace,
        prefix: &params.prefix,
        search: &params.search,
        after: after.as_deref(),
        limit: page_limit(params.limit)?,
        visible: &|path| caller.principal.reads(workspace, path),
    });
    let next = page.items.last().filter(|_| page.more).map(|tag| cursor::of_name(&tag.path));
    let items = page.items.iter().map(|tag| convert::tag(tag, &name)).collect();
    Ok(Json(v1::Page { items, next }))
}

/// Which levels to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LevelsParams {
    /// The branch's path below the workspace, without a slash at its end; absent = the root.
    #[serde(default)]
    branch: String,
    /// The `next` of the page before.
    after: Option<String>,
    /// 1 to 1,000; 100 when absent.
    limit: Option<usize>,
}

/// What stands directly below a branch of the tree of topics.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/levels", tag = "tags",
    security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), LevelsParams),
    responses((status = 200, description = "By name.", body = v1::Page<v1::Level>))
)]
pub(crate) async fn levels(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Params(params): Params<LevelsParams>,
) -> Result<Json<v1::Page<v1::Level>>> {
    let workspace = find_workspace(&api, &caller.principal, &name)?;
    let after = cursor::name(params.after.as_deref())?;
    let mut branch = params.branch;
    if !branch.is_empty() {
        branch.push('/');
    }
    let page = api.backend().levels(&LevelQuery {
        workspace,
        branch: &branch,
        after: after.as_deref(),
        limit: page_limit(params.limit)?,
    });
    let last = page.items.last().filter(|_| page.more);
    let next = last.map(|level| cursor::of_name(&level.key(&branch)));
    let items = page.items.into_iter().map(|level| convert::level(level, &branch, &name)).collect();
    Ok(Json(v1::Page { items, next }))
}

/// Which tag.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PathParams {
    /// The tag's path below the workspace.
    path: String,
}

/// One tag.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/tag", tag = "tags", security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), PathParams),
    responses((status = 200, description = "The tag.", body = v1::Tag))
)]
pub(crate) async fn get(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Params(params): Params<PathParams>,
) -> Result<Json<v1::Tag>> {
    let workspace = find_workspace(&api, &caller.principal, &name)?;
    let tag = find_tag(&api, &caller.principal, workspace, &params.path)?;
    Ok(Json(convert::tag(&tag, &name)))
}

/// Creates a tag before its first value.
#[utoipa::path(
    post, path = "/api/v1/workspaces/{workspace}/tags", tag = "tags", security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name.")),
    request_body = v1::NewTag,
    responses((status = 201, description = "Created.", body = v1::Tag))
)]
pub(crate) async fn create(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Body(new): Body<v1::NewTag>,
) -> Result<(StatusCode, Json<v1::Tag>)> {
    let workspace = find_workspace(&api, &caller.principal, &name)?;
    let new = convert::new_tag(new, workspace)?;
    let tag = api.backend().create_tag(new, caller.actor()).await?;
    Ok((StatusCode::CREATED, Json(convert::tag(&tag, &name))))
}

/// Changes a tag; what the body leaves out stays.
#[utoipa::path(
    patch, path = "/api/v1/workspaces/{workspace}/tag", tag = "tags", security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), PathParams),
    request_body = v1::TagChange,
    responses((status = 200, description = "The tag as it is now.", body = v1::Tag))
)]
pub(crate) async fn update(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Params(params): Params<PathParams>,
    Body(change): Body<v1::TagChange>,
) -> Result<Json<v1::Tag>> {
    let workspace = find_workspace(&api, &caller.principal, &name)?;
    find_tag(&api, &caller.principal, workspace, &params.path)?;
    let change = convert::tag_change(change)?;
    let actor = caller.actor();
    let tag = api.backend().update_tag(workspace, params.path, change, actor).await?;
    Ok(Json(convert::tag(&tag, &name)))
}
