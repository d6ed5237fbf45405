//! Trying pipelines without the plant: test cases, rehearsals over recorded history, single steps.

use super::pipelines::{document_of, place};
use crate::backend::{
    BoxFuture, Fault, PipelinePlace, Rehearsal, RehearsalProgress, StepInput, StepTrial, Trial,
    Which,
};
use crate::document;
use crate::error::{ApiError, Result};
use crate::extract::{Caller, LongBody, OptionalBody, Segments};
use crate::limits::{EFFECTS_SHOWN_MAX, PROGRESS_INTERVAL, TEST_CASES_MAX};
use crate::query_time;
use crate::state::Api;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use millrace_contract::v1;
use millrace_flow::Document;
use millrace_model::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Interval, MissedTickBehavior, interval};

/// Runs test cases: those of the document, or others. Everything outside is recorded, not done.
#[utoipa::path(
    post, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/test", tag = "trials",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
    ),
    request_body = v1::TestRequest,
    responses((status = 200, description = "Case by case.", body = v1::TestReport))
)]
pub(crate) async fn test(
    State(api): State<Api>,
    caller: Caller,
    Segments(names): Segments<(String, String)>,
    OptionalBody(request): OptionalBody<v1::TestRequest>,
) -> Result<Json<v1::TestReport>> {
    let place = place(&api, &caller, names)?;
    let document = chosen(&api, &place, request.revision, request.document).await?;
    let mut document = Document::clone(&document);
    if let Some(cases) = request.cases {
        document.cases =
            serde_path_to_error::deserialize(Value::Array(cases)).map_err(|error| {
                let field = format!("cases{}", error.path());
                ApiError::invalid(field, format!("No test case: {}.", error.inner()))
            })?;
    }
    if let Some(unknown) =
        request.only.iter().find(|name| !document.cases.iter().any(|case| case.name == **name))
    {
        return Err(ApiError::invalid("only", format!("There is no case '{unknown}'.")));
    }
    if !request.only.is_empty() {
        document.cases.retain(|case| request.only.contains(&case.name));
    }
    if document.cases.len() > TEST_CASES_MAX {
        let message = format!("At most {TEST_CASES_MAX} cases at once.");
        return Err(ApiError::invalid("cases", message));
    }
    let trial = Trial { place, document: Arc::new(document) };
    let cases = api.backend().pipelines().test(trial).await?;
    let passed = cases.iter().filter(|case| case.passed).count() as u64;
    Ok(Json(v1::TestReport { passed, failed: cases.len() as u64 - passed, cases }))
}

/// Feeds recorded history through a document and through the deployed revision, with everything
/// outside recorded, and tells what it would have done and where the two differ. The answer is one
/// JSON object a line, `RehearsalEvent`: the progress, at the end the report. Closing the
/// connection ends the rehearsal.
#[utoipa::path(
    post, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/rehearse", tag = "trials",
    security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
    ),
    request_body = v1::RehearsalRequest,
    responses((
        status = 200, description = "One `RehearsalEvent` a line.",
        body = v1::RehearsalEvent, content_type = "application/x-ndjson",
    ))
)]
pub(crate) async fn rehearse(
    State(api): State<Api>,
    caller: Caller,
    Segments(names): Segments<(String, String)>,
    LongBody(request): LongBody<v1::RehearsalRequest>,
) -> Result<Response> {
    let place = place(&api, &caller, names)?;
    let now = api.backend().now();
    let from = query_time::parse("from", &request.from, now)?;
    let to = query_time::parse("to", &request.to, now)?;
    if from >= to {
        return Err(ApiError::invalid("to", "The end of the time range is not after its start."));
    }
    let document = chosen(&api, &place, request.revision, request.document).await?;
    let Ok(permit) = api.rehearsals().try_acquire_owned() else {
        let message = "Another rehearsal runs; try again when it is over.";
        return Err(Fault::Unavailable(message.to_owned()).into());
    };
    let (told, progress) = watch::channel(RehearsalProgress { values: 0, at: from });
    let rehearsal = Rehearsal { place, document, from, to, shown_max: EFFECTS_SHOWN_MAX };
    let on_progress = Arc::new(move |now: RehearsalProgress| {
        told.send_replace(now);
    });
    let work = api.backend().pipelines().rehearse(rehearsal, on_progress);
    let mut ticks = interval(PROGRESS_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let telling = Telling { work, progress, ticks, from, to, _permit: permit };
    let lines = stream::unfold(Some(telling), async |telling| {
        let mut telling = telling?;
        let (event, is_last) = telling.next().await;
        let mut line = serde_json::to_vec(&event).unwrap_or_default();
        line.push(b'\n');
        let line = Ok::<_, Infallible>(Bytes::from(line));
        Some((line, (!is_last).then_some(telling)))
    });
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((kind, Body::from_stream(lines)).into_response())
}

/// A rehearsal under way, told line by line; dropping it ends the work.
struct Telling {
    work: BoxFuture<std::result::Result<v1::RehearsalReport, Fault>>,
    progress: watch::Receiver<RehearsalProgress>,
    ticks: Interval,
    from: Timestamp,
    to: Timestamp,
    _permit: OwnedSemaphorePermit,
}

impl Telling {
    async fn next(&mut self) -> (v1::RehearsalEvent, bool) {
        tokio::select! {
            biased;
            result = &mut self.work => {
                let event = match result {
                    Ok(report) => v1::RehearsalEvent::Report(Box::new(report)),
                    Err(fault) => v1::RehearsalEvent::Failed(ApiError::from(fault).detail()),
                };
                (event, true)
            }
            _ = self.ticks.tick() => {
                let RehearsalProgress { values, at } = *self.progress.borrow();
                let done = share(self.from, self.to, at);
                let at = at.to_rfc3339();
                (v1::RehearsalEvent::Progress { values, at, done }, false)
            }
        }
    }
}

/// Which part of the way from one time to another a third one is.
#[expect(clippy::cast_precision_loss, reason = "a share for the eye")]
fn share(from: Timestamp, to: Timestamp, at: Timestamp) -> f64 {
    let whole = to.nanos_since(from).max(1) as f64;
    (at.nanos_since(from) as f64 / whole).clamp(0.0, 1.0)
}

/// Executes one step: on a given input, on a tag's last value, or with the steps before it.
#[utoipa::path(
    post, path = "/api/v1/workspaces/{workspace}/pipelines/{name}/steps/{step}/test",
    tag = "trials", security(("bearer" = [])),
    params(
        ("workspace" = String, Path, description = "The workspace's name."),
        ("name" = String, Path, description = "The pipeline's name."),
        ("step" = String, Path, description = "The step's id."),
    ),
    request_body = v1::StepTestRequest,
    responses((status = 200, description = "What it gave.", body = v1::StepTestReport))
)]
pub(crate) async fn test_step(
    State(api): State<Api>,
    caller: Caller,
    Segments((workspace, name, step)): Segments<(String, String, String)>,
    OptionalBody(request): OptionalBody<v1::StepTestRequest>,
) -> Result<Json<v1::StepTestReport>> {
    let place = place(&api, &caller, (workspace, name))?;
    let document = chosen(&api, &place, request.revision, request.document).await?;
    let is_there = |step: &str| document.steps.contains_key(step);
    if !is_there(&step) {
        return Err(ApiError::not_found(format!("The document has no step '{step}'.")));
    }
    if let Some(unknown) = request.pinned.keys().find(|step| !is_there(step)) {
        let message = format!("The document has no step '{unknown}'.");
        return Err(ApiError::invalid("pinned", message));
    }
    let input = match (request.live, request.upstream) {
        (Some(_), Some(_)) => {
            return Err(ApiError::invalid("live", "Give `live` or `upstream`, not both."));
        }
        (Some(path), None) if request.input.is_some() => {
            let message = format!("Give `input` or `live` ('{path}'), not both.");
            return Err(ApiError::invalid("input", message));
        }
        (Some(path), None) => StepInput::Live(path),
        (None, Some(trigger)) if !is_there(&trigger) => {
            let message = format!("The document has no step '{trigger}'.");
            return Err(ApiError::invalid("upstream", message));
        }
        (None, Some(trigger)) => {
            StepInput::Upstream { trigger, datum: request.input.unwrap_or_default() }
        }
        (None, None) => StepInput::Given(request.input.unwrap_or_default()),
    };
    let pinned = request.pinned.into_iter().collect();
    let trial = StepTrial { place, document, step, input, pinned };
    Ok(Json(api.backend().pipelines().test_step(trial).await?))
}

/// The document that a request names: one of its own, or a stored one.
async fn chosen(
    api: &Api,
    place: &PipelinePlace,
    revision: Option<u32>,
    given: Option<Box<RawValue>>,
) -> Result<Arc<Document>> {
    let Some(text) = given else {
        let which = revision.map_or(Which::Latest, Which::Revision);
        let found = document_of(api, place.clone(), which).await?;
        return Ok(Arc::new(document::stored(&found.text)?));
    };
    if revision.is_some() {
        let message = "Give `document` or `revision`, not both.";
        return Err(ApiError::invalid("revision", message));
    }
    let name = place.name.clone();
    // What only the engine finds is found when it is tried.
    let only_rules = |_: &Document, _: &[_]| Ok(Vec::new());
    let judged = api.computing(move |_| document::judge(&text, &name, only_rules)).await?;
    Ok(judged.document)
}
