//! Secrets and variables of a workspace. A secret's value goes in and never comes out.

use super::page_limit;
use super::pipelines::{PageParams, in_workspace};
use crate::cursor;
use crate::error::{ApiError, Result};
use crate::extract::{Body, Caller, Params, Segments};
use crate::limits::{NAME_BYTES_MAX, SECRET_BYTES_MAX};
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use millrace_contract::v1;

/// The secrets of a workspace by name, without their values.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/secrets", tag = "secrets",
    security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), PageParams),
    responses((status = 200, description = "A page.", body = v1::Page<v1::Secret>))
)]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Segments(workspace): Segments<String>,
    Params(params): Params<PageParams>,
) -> Result<Json<v1::Page<v1::Secret>>> {
    let workspace = in_workspace(&api, &caller, workspace)?;
    let after = cursor::name(params.after.as_deref())?;
    let limit = page_limit(params.limit)?;
    let page = api.backend().pipelines().secrets(&workspace, after.as_deref(), limit)?;
    let next = page.items.last().filter(|_| page.more).map(|row| cursor::of_name(&row.name));
    Ok(Json(v1::Page { items: page.items, next }))
}

/// Sets a secret. Steps that use it take the new value from their next execution on.
#[utoipa::path(
    put, path = "/api/v1/workspaces/{workspace}/secrets/{name}", tag = "secrets",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The secret's name."),
    ),
    request_body = v1::NewSecret,
    responses((status = 200, description = "The secret, without its value.", body = v1::Secret))
)]
pub(crate) async fn set(
    State(api): State<Api>,
    caller: Caller,
    Segments((workspace, name)): Segments<(String, String)>,
    Body(new): Body<v1::NewSecret>,
) -> Result<Json<v1::Secret>> {
    let workspace = in_workspace(&api, &caller, workspace)?;
    check_name(&name)?;
    if !(1..=SECRET_BYTES_MAX).contains(&new.value.len()) {
        let message = format!("A secret has 1 to {SECRET_BYTES_MAX} bytes.");
        return Err(ApiError::invalid("value", message));
    }
    let actor = caller.actor();
    let set = api.backend().pipelines().set_secret(workspace, name, new.value, actor).await?;
    Ok(Json(set))
}

/// Removes a secret. Steps that use it fail from their next execution on.
#[utoipa::path(
    delete, path = "/api/v1/workspaces/{workspace}/secrets/{name}", tag = "secrets",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The secret's name."),
    ),
    responses((status = 204, description = "Removed."))
)]
pub(crate) async fn remove(
    State(api): State<Api>,
    caller: Caller,
    Segments((workspace, name)): Segments<(String, String)>,
) -> Result<StatusCode> {
    let workspace = in_workspace(&api, &caller, workspace)?;
    api.backend().pipelines().remove_secret(workspace, name, caller.actor()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The variables of a workspace by name: what its pipelines remember.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/variables", tag = "secrets",
    security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), PageParams),
    responses((status = 200, description = "A page.", body = v1::Page<v1::Variable>))
)]
pub(crate) async fn variables(
    State(api): State<Api>,
    caller: Caller,
    Segments(workspace): Segments<String>,
    Params(params): Params<PageParams>,
) -> Result<Json<v1::Page<v1::Variable>>> {
    let workspace = in_workspace(&api, &caller, workspace)?;
    let after = cursor::name(params.after.as_deref())?;
    let limit = page_limit(params.limit)?;
    let page = api.backend().pipelines().variables(&workspace, after.as_deref(), limit)?;
    let next = page.items.last().filter(|_| page.more).map(|row| cursor::of_name(&row.name));
    Ok(Json(v1::Page { items: page.items, next }))
}

/// One variable.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/variables/{name}", tag = "secrets",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The variable's name."),
    ),
    responses((status = 200, description = "The variable.", body = v1::Variable))
)]
pub(crate) async fn variable(
    State(api): State<Api>,
    caller: Caller,
    Segments((workspace, name)): Segments<(String, String)>,
) -> Result<Json<v1::Variable>> {
    let workspace = in_workspace(&api, &caller, workspace)?;
    Ok(Json(api.backend().pipelines().variable(&workspace, &name)?))
}

/// Sets a variable.
#[utoipa::path(
    put, path = "/api/v1/workspaces/{workspace}/variables/{name}", tag = "secrets",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The variable's name."),
    ),
    request_body = v1::NewVariable,
    responses((status = 204, description = "Set."))
)]
pub(crate) async fn set_variable(
    State(api): State<Api>,
    caller: Caller,
    Segments((workspace, name)): Segments<(String, String)>,
    Body(new): Body<v1::NewVariable>,
) -> Result<StatusCode> {
    let workspace = in_workspace(&api, &caller, workspace)?;
    check_name(&name)?;
    let value = Some(new.value);
    api.backend().pipelines().set_variable(workspace, name, value, caller.actor()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a variable.
#[utoipa::path(
    delete, path = "/api/v1/workspaces/{workspace}/variables/{name}", tag = "secrets",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The variable's name."),
    ),
    responses((status = 204, description = "Removed."))
)]
pub(crate) async fn remove_variable(
    State(api): State<Api>,
    caller: Caller,
    Segments((workspace, name)): Segments<(String, String)>,
) -> Result<StatusCode> {
    let workspace = in_workspace(&api, &caller, workspace)?;
    api.backend().pipelines().set_variable(workspace, name, None, caller.actor()).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn check_name(name: &str) -> Result<()> {
    crate::convert::name("name", name)?;
    debug_assert!(name.len() <= NAME_BYTES_MAX, "checked just now");
    Ok(())
}
