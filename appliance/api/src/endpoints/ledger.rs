//! The ledger.

use super::limit;
use crate::backend::PrincipalKind;
use crate::convert;
use crate::cursor;
use crate::error::Result;
use crate::extract::{Caller, Params};
use crate::limits::{LEDGER_PAGE_MAX, PAGE_MAX};
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use millrace_contract::v1;
use serde::Deserialize;
use utoipa::IntoParams;

/// Where the page of clients starts and how long it is.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LedgerParams {
    /// The `next` of the page before.
    after: Option<String>,
    /// 1 to 10,000; 1,000 when absent.
    limit: Option<usize>,
}

/// The ledger in total and by client; an API client sees its own counts alone.
#[utoipa::path(
    get, path = "/api/v1/ledger", tag = "system", security(("bearer" = [])), params(LedgerParams),
    responses((status = 200, description = "The ledger.", body = v1::Ledger))
)]
pub(crate) async fn get(
    State(api): State<Api>,
    caller: Caller,
    Params(params): Params<LedgerParams>,
) -> Result<Json<v1::Ledger>> {
    let limit = limit(params.limit, PAGE_MAX, LEDGER_PAGE_MAX)?;
    let after = cursor::name(params.after.as_deref())?;
    let mut ledger = api.backend().ledger();
    if let PrincipalKind::Client(client) = &caller.principal.kind {
        ledger.clients.retain(|row| row.number == client.number);
        ledger.total = ledger.clients.first().map(|row| row.counts.clone()).unwrap_or_default();
    }
    let mut rows = ledger
        .clients
        .into_iter()
        .filter(|row| after.as_ref().is_none_or(|after| row.id > *after))
        .peekable();
    let clients: Vec<_> = rows
        .by_ref()
        .take(limit)
        .map(|row| v1::ClientLedger { counts: convert::counts(&row.counts), id: row.id })
        .collect();
    let last = clients.last().filter(|_| rows.peek().is_some());
    let next = last.map(|row| cursor::of_name(&row.id));
    Ok(Json(v1::Ledger { total: convert::counts(&ledger.total), clients, next }))
}
