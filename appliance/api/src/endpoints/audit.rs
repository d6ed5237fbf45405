//! The audit trail.

use super::page_limit;
use crate::convert;
use crate::cursor;
use crate::error::Result;
use crate::extract::{Caller, Params};
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use millrace_contract::v1;
use serde::Deserialize;
use utoipa::IntoParams;

/// Where a page starts and how long it is.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditParams {
    /// The `next` of the page before.
    after: Option<String>,
    /// 1 to 1,000; 100 when absent.
    limit: Option<usize>,
}

/// The audit trail, newest first.
#[utoipa::path(
    get, path = "/api/v1/audit", tag = "people", security(("bearer" = [])), params(AuditParams),
    responses((status = 200, description = "A page.", body = v1::Page<v1::AuditEntry>))
)]
pub(crate) async fn list(
    State(api): State<Api>,
    _caller: Caller,
    Params(params): Params<AuditParams>,
) -> Result<Json<v1::Page<v1::AuditEntry>>> {
    let before = cursor::number(params.after.as_deref())?;
    let limit = page_limit(params.limit)?;
    let page = api.query(move |backend| Ok(backend.audit(before, limit)?)).await?;
    let next = page.items.last().filter(|_| page.more).map(|line| cursor::of_number(line.number));
    let items = page.items.into_iter().map(|line| convert::audit_entry(line.entry)).collect();
    Ok(Json(v1::Page { items, next }))
}
