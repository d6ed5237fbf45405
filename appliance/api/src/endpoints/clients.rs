//! API clients: list, create (secrets once), other rights, renew, revoke.

use super::{no_workspace, page_limit};
use crate::backend::CreatedClient;
use crate::convert::{self, Workspaces};
use crate::cursor;
use crate::error::{ApiError, Result};
use crate::extract::{Body, Caller, Params, Segments};
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use millrace_contract::v1;
use serde::Deserialize;
use utoipa::IntoParams;

/// Where a page starts and how long it is.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageParams {
    /// The `next` of the page before.
    after: Option<String>,
    /// 1 to 1,000; 100 when absent.
    limit: Option<usize>,
}

/// The clients, revoked ones among them, in the order of ids.
#[utoipa::path(
    get, path = "/api/v1/clients", tag = "clients", security(("bearer" = [])), params(PageParams),
    responses((status = 200, description = "A page.", body = v1::Page<v1::Client>))
)]
pub(crate) async fn list(
    State(api): State<Api>,
    _caller: Caller,
    Params(params): Params<PageParams>,
) -> Result<Json<v1::Page<v1::Client>>> {
    let after = cursor::name(params.after.as_deref())?;
    let page = api.backend().clients(after.as_deref(), page_limit(params.limit)?);
    let workspaces = Workspaces::of(api.backend());
    let last = page.items.last().filter(|_| page.more);
    let next = last.map(|client| cursor::of_name(&client.id));
    let items = page.items.iter().map(|client| convert::client(client, &workspaces)).collect();
    Ok(Json(v1::Page { items, next }))
}

/// One client.
#[utoipa::path(
    get, path = "/api/v1/clients/{id}", tag = "clients", security(("bearer" = [])),
    params(("id" = String, Path, description = "The client's id.")),
    responses((status = 200, description = "The client.", body = v1::Client))
)]
pub(crate) async fn get(
    State(api): State<Api>,
    _caller: Caller,
    Segments(id): Segments<String>,
) -> Result<Json<v1::Client>> {
    let found = api.backend().client(&id);
    let client = found.ok_or_else(|| ApiError::not_found("There is no such client."))?;
    Ok(Json(convert::client(&client, &Workspaces::of(api.backend()))))
}

/// Creates clients, all or none. Their secrets are in this answer and nowhere else.
#[utoipa::path(
    post, path = "/api/v1/clients", tag = "clients", security(("bearer" = [])),
    request_body = v1::NewClients,
    responses((status = 201, description = "Created.", body = v1::ClientsCreated))
)]
pub(crate) async fn create(
    State(api): State<Api>,
    caller: Caller,
    Body(new): Body<v1::NewClients>,
) -> Result<(StatusCode, Json<v1::ClientsCreated>)> {
    let workspaces = Workspaces::of(api.backend());
    let workspace = workspaces
        .number(&new.workspace)
        .ok_or_else(|| ApiError::invalid("workspace", no_workspace(&new.workspace)))?;
    let new = convert::new_clients(&new, workspace)?;
    let created = api.backend().create_clients(new, caller.actor()).await?;
    let clients = created.into_iter().map(|created| outward(created, &workspaces)).collect();
    Ok((StatusCode::CREATED, Json(v1::ClientsCreated { clients })))
}

/// Revokes a client: cuts it off and refuses its tokens at once, for good.
#[utoipa::path(
    delete, path = "/api/v1/clients/{id}", tag = "clients", security(("bearer" = [])),
    params(("id" = String, Path, description = "The client's id.")),
    responses((status = 200, description = "The revoked client.", body = v1::Client))
)]
pub(crate) async fn revoke(
    State(api): State<Api>,
    caller: Caller,
    Segments(id): Segments<String>,
) -> Result<Json<v1::Client>> {
    let client = api.backend().revoke_client(id, caller.actor()).await?;
    Ok(Json(convert::client(&client, &Workspaces::of(api.backend()))))
}

/// Gives a client a new secret, in this answer and nowhere else. The old one is refused and the
/// client's connections are cut at once; tokens that it has fetched are good until they expire.
#[utoipa::path(
    post, path = "/api/v1/clients/{id}/renew", tag = "clients", security(("bearer" = [])),
    params(("id" = String, Path, description = "The client's id.")),
    responses((status = 200, description = "The client with its new secret.", body = v1::CreatedClient))
)]
pub(crate) async fn renew(
    State(api): State<Api>,
    caller: Caller,
    Segments(id): Segments<String>,
) -> Result<Json<v1::CreatedClient>> {
    let renewed = api.backend().renew_client(id, caller.actor()).await?;
    Ok(Json(outward(renewed, &Workspaces::of(api.backend()))))
}

/// Gives a client other rights in the place of those of now; it keeps its secret. Its connections
/// are cut, and it comes back under the new rights.
#[utoipa::path(
    put, path = "/api/v1/clients/{id}/rights", tag = "clients", security(("bearer" = [])),
    params(("id" = String, Path, description = "The client's id.")),
    request_body = v1::ClientRights,
    responses((status = 200, description = "The client as it is now.", body = v1::Client))
)]
pub(crate) async fn change_rights(
    State(api): State<Api>,
    caller: Caller,
    Segments(id): Segments<String>,
    Body(rights): Body<v1::ClientRights>,
) -> Result<Json<v1::Client>> {
    let rights = convert::client_rights(&rights)?;
    let client = api.backend().change_rights(id, rights, caller.actor()).await?;
    Ok(Json(convert::client(&client, &Workspaces::of(api.backend()))))
}

fn outward(created: CreatedClient, workspaces: &Workspaces) -> v1::CreatedClient {
    v1::CreatedClient {
        client: convert::client(&created.client, workspaces),
        secret: created.secret,
    }
}
