//! Runs: start them, list them, look into one, run one again, cancel one.

use super::page_limit;
use super::pipelines::place;
use crate::backend::{ManualRun, RunId, RunQuery};
use crate::cursor;
use crate::error::{ApiError, Result};
use crate::extract::{Caller, OptionalBody, Params, Segments};
use crate::limits::RUN_WAIT_MAX;
use crate::query_time;
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use millrace_contract::v1;
use serde::Deserialize;
use std::time::Duration;
use utoipa::IntoParams;

/// Starts a run by hand. It is durable when this is answered.
#[utoipa::path(
    post, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/trigger", tag = "runs",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
    ),
    request_body = v1::NewRun,
    responses((status = 202, description = "It runs, or has ended.", body = v1::StartedRun))
)]
pub(crate) async fn trigger(
    State(api): State<Api>,
    caller: Caller,
    Segments(names): Segments<(String, String)>,
    OptionalBody(new): OptionalBody<v1::NewRun>,
) -> Result<(StatusCode, Json<v1::StartedRun>)> {
    let place = place(&api, &caller, names)?;
    if new.input.as_ref().is_some_and(|input| !input.is_object()) {
        return Err(ApiError::invalid("input", "The input of a run is an object."));
    }
    let wait = new.wait_ms.map(Duration::from_millis);
    if wait.is_some_and(|wait| wait > RUN_WAIT_MAX) {
        let message = format!("Wait {} ms at most.", RUN_WAIT_MAX.as_millis());
        return Err(ApiError::invalid("wait_ms", message));
    }
    let run = ManualRun { trigger: new.trigger, input: new.input, wait };
    let started = api.backend().pipelines().trigger(place, run, caller.actor()).await?;
    Ok((StatusCode::ACCEPTED, Json(started)))
}

/// Which runs.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunsParams {
    /// Only those with this status, or with one of several, comma-separated; `canceled` is taken for
    /// `stopped`.
    status: Option<String>,
    /// Begun at this time or later: RFC 3339, a date, an epoch number, or back from now: `-1h`.
    from: Option<String>,
    /// Begun before this time.
    to: Option<String>,
    /// The `next` of the page before.
    after: Option<String>,
    /// 1 to 1,000; 100 when absent.
    limit: Option<usize>,
}

/// Runs of a pipeline, newest first: those that have not ended, and of the others every failure,
/// every run by hand, and one successful run a second, for a day.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/runs", tag = "runs",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
        RunsParams,
    ),
    responses((status = 200, description = "A page.", body = v1::Page<v1::Run>))
)]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Segments(names): Segments<(String, String)>,
    Params(params): Params<RunsParams>,
) -> Result<Json<v1::Page<v1::Run>>> {
    let place = place(&api, &caller, names)?;
    let now = api.backend().now();
    let time = |field: &str, text: Option<String>| {
        text.map(|text| query_time::parse(field, &text, now)).transpose()
    };
    let query = RunQuery {
        place,
        statuses: statuses(params.status.as_deref().unwrap_or_default())?,
        from: time("from", params.from)?,
        to: time("to", params.to)?,
        before: cursor::number(params.after.as_deref())?,
        limit: page_limit(params.limit)?,
    };
    let page = api.query(move |backend| Ok(backend.pipelines().runs(&query)?)).await?;
    Ok(Json(v1::Page { items: page.runs, next: page.next.map(cursor::of_number) }))
}

fn statuses(text: &str) -> Result<Vec<v1::RunStatus>> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    let read = |word: &str| {
        // Its verb is `cancel`, so this is what people look for.
        let name = if word == "canceled" { v1::RunStatus::Stopped.name() } else { word };
        v1::RunStatus::from_name(name).ok_or_else(|| {
            let known: Vec<_> = v1::RunStatus::ALL.iter().map(|status| status.name()).collect();
            let message =
                format!("'{word}' is none of {} (or canceled, for stopped).", known.join(", "));
            ApiError::bad_parameter("status", message)
        })
    };
    words.map(read).collect()
}

/// One run with all that is kept of it; of one that has not ended, its steps so far.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/runs/{run}", tag = "runs",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
        ("run" = String, Path, description = "The run's id."),
    ),
    responses((status = 200, description = "The run.", body = v1::RunDetail))
)]
pub(crate) async fn get(
    State(api): State<Api>,
    caller: Caller,
    Segments((workspace, name, run)): Segments<(String, String, String)>,
) -> Result<Json<v1::RunDetail>> {
    let place = place(&api, &caller, (workspace, name))?;
    let id = run_id(&run)?;
    let run = api.query(move |backend| Ok(backend.pipelines().run(&place, id)?)).await?;
    Ok(Json(run))
}

/// Starts a run with the same input, through the revision that is deployed now.
#[utoipa::path(
    post, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/runs/{run}/again", tag = "runs",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
        ("run" = String, Path, description = "The run's id."),
    ),
    responses((status = 202, description = "The new run.", body = v1::StartedRun))
)]
pub(crate) async fn again(
    State(api): State<Api>,
    caller: Caller,
    Segments((workspace, name, run)): Segments<(String, String, String)>,
) -> Result<(StatusCode, Json<v1::StartedRun>)> {
    let place = place(&api, &caller, (workspace, name))?;
    let id = run_id(&run)?;
    let started = api.backend().pipelines().run_again(place, id, caller.actor()).await?;
    Ok((StatusCode::ACCEPTED, Json(started)))
}

/// Cancels a run that has not ended. It ends as `stopped`, with an entry in the history.
#[utoipa::path(
    post, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/runs/{run}/cancel", tag = "runs",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
        ("run" = String, Path, description = "The run's id."),
    ),
    responses((status = 202, description = "It ends.", body = v1::CanceledRun))
)]
pub(crate) async fn cancel(
    State(api): State<Api>,
    caller: Caller,
    Segments((workspace, name, run)): Segments<(String, String, String)>,
) -> Result<(StatusCode, Json<v1::CanceledRun>)> {
    let place = place(&api, &caller, (workspace, name))?;
    let id = run_id(&run)?;
    let canceled = api.backend().pipelines().cancel_run(place, id, caller.actor()).await?;
    Ok((StatusCode::ACCEPTED, Json(canceled)))
}

fn run_id(text: &str) -> Result<RunId> {
    text.parse().map_err(|()| {
        ApiError::bad_parameter("run", "A run's id is two numbers with a hyphen, such as 7-1234.")
    })
}
