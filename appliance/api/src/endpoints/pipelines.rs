//! Pipelines: documents in and out, revisions, what runs.

use super::{find_workspace, page_limit};
use crate::backend::{DocumentText, InWorkspace, NewDocument, PipelinePlace, Which};
use crate::cursor;
use crate::document;
use crate::error::{ApiError, Result};
use crate::extract::{Caller, LongBody, OptionalBody, Params, Segments};
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use millrace_contract::v1;
use serde::Deserialize;
use utoipa::IntoParams;

/// The workspace of an address, if the caller may see it.
pub(super) fn in_workspace(api: &Api, caller: &Caller, name: String) -> Result<InWorkspace> {
    let number = find_workspace(api, &caller.principal, &name)?;
    Ok(InWorkspace { number, name })
}

/// The pipeline of an address; whether there is one is the backend's to say.
pub(super) fn place(
    api: &Api,
    caller: &Caller,
    (workspace, name): (String, String),
) -> Result<PipelinePlace> {
    Ok(PipelinePlace { workspace: in_workspace(api, caller, workspace)?, name })
}

/// Where a page starts and how long it is.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageParams {
    /// The `next` of the page before.
    pub(super) after: Option<String>,
    /// 1 to 1,000; 100 when absent.
    pub(super) limit: Option<usize>,
}

/// The pipelines of a workspace, in the order of names.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/pipelines", tag = "pipelines",
    security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), PageParams),
    responses((status = 200, description = "A page.", body = v1::Page<v1::Pipeline>))
)]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Segments(workspace): Segments<String>,
    Params(params): Params<PageParams>,
) -> Result<Json<v1::Page<v1::Pipeline>>> {
    let workspace = in_workspace(&api, &caller, workspace)?;
    let after = cursor::name(params.after.as_deref())?;
    let limit = page_limit(params.limit)?;
    let page = api.backend().pipelines().pipelines(&workspace, after.as_deref(), limit)?;
    let next = page.items.last().filter(|_| page.more).map(|row| cursor::of_name(&row.name));
    Ok(Json(v1::Page { items: page.items, next }))
}

/// A pipeline as it is now.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/pipelines/{name}", tag = "pipelines",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
    ),
    responses((status = 200, description = "The pipeline.", body = v1::Pipeline))
)]
pub(crate) async fn get(
    State(api): State<Api>,
    caller: Caller,
    Segments(names): Segments<(String, String)>,
) -> Result<Json<v1::Pipeline>> {
    let place = place(&api, &caller, names)?;
    Ok(Json(api.backend().pipelines().pipeline(&place)?))
}

/// Stores a document as the next revision; the first one makes the pipeline. What runs goes on
/// running until a revision is deployed. A document with faults is answered 422 with all of them.
#[utoipa::path(
    put, path = "/api/v1/workspaces/{workspace}/pipelines/{name}", tag = "pipelines",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
    ),
    request_body = v1::NewRevision,
    responses(
        (status = 200, description = "It is the last revision already.", body = v1::SavedRevision),
        (status = 201, description = "Stored as a new revision.", body = v1::SavedRevision),
    )
)]
pub(crate) async fn put(
    State(api): State<Api>,
    caller: Caller,
    Segments(names): Segments<(String, String)>,
    LongBody(new): LongBody<v1::NewRevision>,
) -> Result<(StatusCode, Json<v1::SavedRevision>)> {
    let place = place(&api, &caller, names)?;
    let checked = place.clone();
    let judged = api
        .computing(move |backend| {
            document::judge(&new.document, &checked.name, |document, known| {
                Ok(backend.pipelines().check(&checked, document, known)?)
            })
        })
        .await?;
    let (note, expected, name) = (new.note, new.expected, place.name.clone());
    let document = NewDocument { document: judged.document, text: judged.text, note, expected };
    let (revision, unchanged) =
        api.backend().pipelines().save(place, document, caller.actor()).await?;
    let status = if unchanged { StatusCode::OK } else { StatusCode::CREATED };
    let saved = v1::SavedRevision { name, revision, unchanged, warnings: judged.warnings };
    Ok((status, Json(saved)))
}

/// Removes a pipeline and all its revisions. One that runs is not removed: 409.
#[utoipa::path(
    delete, path = "/api/v1/workspaces/{workspace}/pipelines/{name}", tag = "pipelines",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
    ),
    responses((status = 204, description = "Removed."))
)]
pub(crate) async fn remove(
    State(api): State<Api>,
    caller: Caller,
    Segments(names): Segments<(String, String)>,
) -> Result<StatusCode> {
    let place = place(&api, &caller, names)?;
    api.backend().pipelines().remove(place, caller.actor()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The revisions of a pipeline, newest first; the last fifty are kept.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/revisions", tag = "pipelines",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
        PageParams,
    ),
    responses((status = 200, description = "A page.", body = v1::Page<v1::Revision>))
)]
pub(crate) async fn revisions(
    State(api): State<Api>,
    caller: Caller,
    Segments(names): Segments<(String, String)>,
    Params(params): Params<PageParams>,
) -> Result<Json<v1::Page<v1::Revision>>> {
    let place = place(&api, &caller, names)?;
    let before = cursor::number(params.after.as_deref())?.map(u32::try_from);
    let before = before.transpose().unwrap_or(Some(0));
    let limit = page_limit(params.limit)?;
    let page =
        api.query(move |backend| Ok(backend.pipelines().revisions(&place, before, limit)?)).await?;
    let last = page.items.last().filter(|_| page.more);
    let next = last.map(|row| cursor::of_number(u64::from(row.revision)));
    Ok(Json(v1::Page { items: page.items, next }))
}

/// One revision with its document.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/revisions/{revision}",
    tag = "pipelines", security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
        ("revision" = String, Path, description = "A number, `latest` or `deployed`."),
    ),
    responses((status = 200, description = "The revision.", body = v1::StoredRevision))
)]
pub(crate) async fn revision(
    State(api): State<Api>,
    caller: Caller,
    Segments((workspace, name, which)): Segments<(String, String, String)>,
) -> Result<Json<v1::StoredRevision>> {
    let place = place(&api, &caller, (workspace, name))?;
    let which = read_which("revision", Some(&which))?;
    let DocumentText { revision, text } = document_of(&api, place, which).await?;
    Ok(Json(v1::StoredRevision { revision, document: document::stored_json(&text)? }))
}

/// Which revision to write out.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportParams {
    /// A number, `latest` or `deployed`; `latest` when absent.
    revision: Option<String>,
}

/// The document as a file for git: in a stable order, without secrets.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/export", tag = "pipelines",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
        ExportParams,
    ),
    responses((status = 200, description = "The document.", body = serde_json::Value))
)]
pub(crate) async fn export(
    State(api): State<Api>,
    caller: Caller,
    Segments(names): Segments<(String, String)>,
    Params(params): Params<ExportParams>,
) -> Result<Response> {
    let place = place(&api, &caller, names)?;
    let which = read_which("revision", params.revision.as_deref())?;
    let found = document_of(&api, place, which).await?;
    let text = document::stored(&found.text)?.to_text();
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// Which two documents to compare.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DiffParams {
    /// The one before: a number, `latest` or `deployed`; `deployed` when absent.
    from: Option<String>,
    /// The one after; `latest` when absent.
    to: Option<String>,
}

/// What is different between two revisions.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/diff", tag = "pipelines",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
        DiffParams,
    ),
    responses((status = 200, description = "The differences.", body = v1::PipelineDiff))
)]
pub(crate) async fn diff(
    State(api): State<Api>,
    caller: Caller,
    Segments(names): Segments<(String, String)>,
    Params(params): Params<DiffParams>,
) -> Result<Json<v1::PipelineDiff>> {
    let place = place(&api, &caller, names)?;
    let from = read_which("from", Some(params.from.as_deref().unwrap_or("deployed")))?;
    let to = read_which("to", params.to.as_deref())?;
    let from = document_of(&api, place.clone(), from).await?;
    let to = document_of(&api, place, to).await?;
    let documents = (document::stored(&from.text)?, document::stored(&to.text)?);
    let (before, after) = (&documents.0, &documents.1);
    let numbers = (from.revision.revision, to.revision.revision);
    Ok(Json(document::diff((numbers.0, before), (numbers.1, after))?))
}

/// Lets a revision run, at once and as a whole: what ran before stops where the new one starts.
/// The answer says what runs now. A document with faults is answered 422 with all of them, and what
/// ran goes on.
#[utoipa::path(
    post, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/deploy", tag = "pipelines",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
    ),
    request_body = v1::NewDeployment,
    responses((status = 200, description = "What runs now.", body = v1::Running))
)]
pub(crate) async fn deploy(
    State(api): State<Api>,
    caller: Caller,
    Segments(names): Segments<(String, String)>,
    OptionalBody(new): OptionalBody<v1::NewDeployment>,
) -> Result<Json<v1::Running>> {
    let place = place(&api, &caller, names)?;
    let which = new.revision.map_or(Which::Latest, Which::Revision);
    let running = api.backend().pipelines().deploy(place, which, new.note, caller.actor());
    Ok(Json(running.await?))
}

/// Stops a pipeline. It stays stopped over restarts.
#[utoipa::path(
    post, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/undeploy", tag = "pipelines",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
    ),
    request_body = v1::Note,
    responses((status = 200, description = "What runs now: nothing.", body = v1::Running))
)]
pub(crate) async fn undeploy(
    State(api): State<Api>,
    caller: Caller,
    Segments(names): Segments<(String, String)>,
    OptionalBody(note): OptionalBody<v1::Note>,
) -> Result<Json<v1::Running>> {
    let place = place(&api, &caller, names)?;
    let running = api.backend().pipelines().undeploy(place, note.note, caller.actor());
    Ok(Json(running.await?))
}

/// Lets the revision run again that ran before the present one.
#[utoipa::path(
    post, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/rollback", tag = "pipelines",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
    ),
    request_body = v1::Note,
    responses((status = 200, description = "What runs now.", body = v1::Running))
)]
pub(crate) async fn roll_back(
    State(api): State<Api>,
    caller: Caller,
    Segments(names): Segments<(String, String)>,
    OptionalBody(note): OptionalBody<v1::Note>,
) -> Result<Json<v1::Running>> {
    let place = place(&api, &caller, names)?;
    let running = api.backend().pipelines().roll_back(place, note.note, caller.actor());
    Ok(Json(running.await?))
}

/// One of a pipeline's documents, read where it may take time.
pub(super) async fn document_of(
    api: &Api,
    place: PipelinePlace,
    which: Which,
) -> Result<DocumentText> {
    api.query(move |backend| Ok(backend.pipelines().document(&place, which)?)).await
}

fn read_which(field: &str, text: Option<&str>) -> Result<Which> {
    match text {
        None | Some("latest") => Ok(Which::Latest),
        Some("deployed") => Ok(Which::Deployed),
        Some(text) => text.parse().map(Which::Revision).map_err(|_| {
            ApiError::bad_parameter(field, "Give a revision's number, `latest` or `deployed`.")
        }),
    }
}
