//! Many tags as one CSV file: out, and in with a preview.
//!
//! **Invariants**: nothing is written of a file with a fault, and nothing in a preview; what is
//! written is one commit.

use super::find_workspace;
use crate::backend::TagQuery;
use crate::convert;
use crate::error::{ApiError, Result};
use crate::extract::{Caller, Params, Segments, has_media_type, read_body, read_json};
use crate::limits::{PAGE_MAX, TAG_FILE_BYTES_MAX};
use crate::state::Api;
use crate::tag_file::{self, Plan};
use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use millrace_contract::v1;
use millrace_contract::v1::ErrorCode;
use millrace_model::WorkspaceNumber;
use serde::Deserialize;
use std::convert::Infallible;
use utoipa::IntoParams;

/// Which tags.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportParams {
    /// The path begins with this text.
    #[serde(default)]
    prefix: String,
    /// The path, unit or description contains this text, letter case aside.
    #[serde(default)]
    search: String,
}

/// What is set of tags, as CSV in the order of paths.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/tags.csv", tag = "tags",
    security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), ExportParams),
    responses((status = 200, description = "All of them.", content((String = "text/csv"))))
)]
pub(crate) async fn export(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Params(params): Params<ExportParams>,
) -> Result<Response> {
    let workspace = find_workspace(&api, &caller.principal, &name)?;
    let rest = Rest { api, workspace, name, params, after: None };
    let head = stream::iter([Ok::<_, Infallible>(Bytes::from(tag_file::head()))]);
    let tail = stream::try_unfold(Some(rest), async |rest| Ok(rest.map(next_page)));
    let body = Body::from_stream(futures_util::StreamExt::chain(head, tail));
    let kind = [(header::CONTENT_TYPE, "text/csv; charset=utf-8; header=present")];
    Ok((kind, body).into_response())
}

/// What is left of an answer.
struct Rest {
    api: Api,
    workspace: WorkspaceNumber,
    name: String,
    params: ExportParams,
    after: Option<String>,
}

fn next_page(mut rest: Rest) -> (Bytes, Option<Rest>) {
    let page = rest.api.backend().tags(&TagQuery {
        workspace: rest.workspace,
        prefix: &rest.params.prefix,
        search: &rest.params.search,
        after: rest.after.as_deref(),
        limit: PAGE_MAX,
        visible: &|_| true,
    });
    let mut text = String::new();
    for tag in &page.items {
        tag_file::write_line(&convert::tag(tag, &rest.name), &mut text);
    }
    rest.after = page.items.last().filter(|_| page.more).map(|tag| tag.path.clone());
    let goes_on = rest.after.is_some();
    (text.into(), goes_on.then_some(rest))
}

/// How to read a file.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportParams {
    /// `true`: tells what would change, and every fault; writes nothing.
    #[serde(default)]
    preview: bool,
}

/// Changes tags as a CSV file says: the columns of the export, `path` and any of the others.
#[utoipa::path(
    post, path = "/api/v1/workspaces/{workspace}/tags.csv", tag = "tags",
    security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), ImportParams),
    request_body(content((String = "text/csv"), (v1::TagFile = "application/json"))),
    responses((status = 200, description = "What changes, or has changed.", body = v1::TagImport))
)]
pub(crate) async fn import(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Params(params): Params<ImportParams>,
    request: Request,
) -> Result<Json<v1::TagImport>> {
    let workspace = find_workspace(&api, &caller.principal, &name)?;
    let bytes = read_file(request).await?;
    let plan = api.computing(move |backend| {
        let find = |path: &str| backend.tag(workspace, path).map(|tag| convert::tag(&tag, &name));
        Ok(tag_file::plan(find, &bytes))
    });
    let Plan { mut report, changes } = plan.await?;
    if params.preview {
        return Ok(Json(report));
    }
    if let Some(fault) = report.faults.first() {
        let message = format!("Line {}: {}", fault.line, fault.message);
        return Err(ApiError::invalid(fault.field.clone(), message));
    }
    if !changes.is_empty() {
        api.backend().update_tags(workspace, changes, caller.actor()).await?;
    }
    report.written = true;
    Ok(Json(report))
}

/// The file, as it is or as the text of a JSON body.
async fn read_file(request: Request) -> Result<Bytes> {
    let headers = request.headers();
    if has_media_type(headers, "text/csv") {
        return read_body(request, TAG_FILE_BYTES_MAX).await;
    }
    if !has_media_type(headers, "application/json") {
        let message = "The body must be text/csv, or application/json with a `text`.";
        return Err(ApiError::new(ErrorCode::UnsupportedMediaType, message));
    }
    // Each line end and quote is two bytes in JSON.
    let v1::TagFile { text } = read_json(&read_body(request, 2 * TAG_FILE_BYTES_MAX).await?)?;
    if text.len() > TAG_FILE_BYTES_MAX {
        let message = format!("The file is larger than {TAG_FILE_BYTES_MAX} bytes.");
        return Err(ApiError::new(ErrorCode::TooLarge, message));
    }
    Ok(text.into())
}
