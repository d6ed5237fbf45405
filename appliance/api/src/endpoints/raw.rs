//! Raw history: samples as they were stored, page by page as JSON or as one CSV stream.
//!
//! A CSV answer reads its next page only when the one before has gone out, so that it holds two
//! pages at most however long it is. When a page fails, the stream breaks off without its end
//! mark: a half file never looks whole. A part that is known to be damaged is told by a header; one
//! that turns out so while the answer is under way breaks it off too.

use super::{find_tag, find_workspace, limit};
use crate::backend::{RawQuery, Sample, SamplePosition};
use crate::convert;
use crate::csv;
use crate::cursor;
use crate::error::{ApiError, Result};
use crate::extract::{Caller, Params, Segments};
use crate::limits::{
    CSV_PAGE_BYTES, CSV_PAGE_SAMPLES, SAMPLES_BYTES_MAX, SAMPLES_DEFAULT, SAMPLES_MAX,
};
use crate::query_time;
use crate::state::Api;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use millrace_contract::v1;
use serde::{Deserialize, Serialize, Serializer};
use std::io;
use utoipa::{IntoParams, ToSchema};

/// The header of a CSV answer from which a damaged or missing part is left out.
const INCOMPLETE: &str = "millrace-incomplete";

/// Which samples.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RawParams {
    /// The tag's path.
    path: String,
    /// Source time from here, included: RFC 3339, epoch number, `now`, `-1h`; `-1h` when absent.
    from: Option<String>,
    /// Source time to here, not included; `now` when absent. Give it for values from the future.
    to: Option<String>,
    /// The `next` of the page before; give the same `from` and `to` with it.
    after: Option<String>,
    /// JSON: samples of the page, 1 to 100,000; 1,000 when absent. CSV: lines in all, any number;
    /// everything when absent.
    limit: Option<usize>,
    /// `json` (default) or `csv`.
    #[serde(default)]
    #[param(inline)]
    format: Format,
}

#[derive(Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    #[default]
    Json,
    Csv,
}

/// A tag's samples in the order of source time.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/raw", tag = "history", security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), RawParams),
    responses((
        status = 200, description = "A page, or with `format=csv` all of it.",
        content((v1::SamplePage = "application/json"), (String = "text/csv")),
        headers(("millrace-incomplete" = String, description = "`true` with CSV when a damaged or missing part may have held more; else absent.")),
    ))
)]
pub(crate) async fn raw(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Params(params): Params<RawParams>,
) -> Result<Response> {
    let workspace = find_workspace(&api, &caller.principal, &name)?;
    let tag = find_tag(&api, &caller.principal, workspace, &params.path)?;
    let now = api.backend().now();
    let from = query_time::parse("from", params.from.as_deref().unwrap_or("-1h"), now)?;
    let to = query_time::parse("to", params.to.as_deref().unwrap_or("now"), now)?;
    if from > to {
        return Err(ApiError::bad_parameter("from", "The range ends before it starts."));
    }
    let after = cursor::sample(params.after.as_deref())?;
    let query = RawQuery { tag: tag.id, from, to, after, limit: 0, bytes_max: 0 };
    match params.format {
        Format::Json => json_page(&api, query, params.limit).await,
        Format::Csv => csv_stream(api, query, params.limit).await,
    }
}

async fn json_page(api: &Api, mut query: RawQuery, asked: Option<usize>) -> Result<Response> {
    query.limit = limit(asked, SAMPLES_DEFAULT, SAMPLES_MAX)?;
    query.bytes_max = SAMPLES_BYTES_MAX;
    let text = api
        .query(move |backend| {
            let page = backend.raw(&query)?;
            let last = page.samples.last().filter(|_| page.more);
            let next = last.map(|last| cursor::of_sample(position(last)));
            let items = Samples(&page.samples);
            serde_json::to_vec(&SamplePage { items, next, incomplete: page.incomplete })
                .map_err(|error| ApiError::internal(&format!("a page is not JSON: {error}")))
        })
        .await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// `v1::SamplePage` that converts each sample as it is written, since a page may have 100,000.
#[derive(Serialize)]
struct SamplePage<'a> {
    items: Samples<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    incomplete: bool,
}

struct Samples<'a>(&'a [Sample]);

impl Serialize for Samples<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(convert::sample))
    }
}

fn position(sample: &Sample) -> SamplePosition {
    SamplePosition { source_time: sample.source_time, seq: sample.seq }
}

/// What is left of a CSV answer.
struct Rest {
    api: Api,
    query: RawQuery,
    lines_left: usize,
    is_first: bool,
    /// What the header says; `true` once a page said so.
    incomplete: bool,
}

async fn csv_stream(api: Api, query: RawQuery, asked: Option<usize>) -> Result<Response> {
    let mut query = query;
    query.bytes_max = CSV_PAGE_BYTES;
    let lines_left = asked.unwrap_or(usize::MAX);
    let rest = Rest { api, query, lines_left, is_first: true, incomplete: false };
    // The first page is read before the answer starts, so that its faults have their status.
    let Turn { text: first, incomplete, rest } = next_page(rest, csv::HEAD.to_owned()).await?;
    let head = stream::iter([Ok::<_, io::Error>(first)]);
    let tail = stream::try_unfold(rest, async |rest| match rest {
        None => Ok(None),
        Some(rest) => match next_page(rest, String::new()).await {
            Ok(Turn { text, rest, .. }) => Ok(Some((text, rest))),
            Err(error) => Err(io::Error::other(error.detail().message)),
        },
    });
    let body = Body::from_stream(futures_util::StreamExt::chain(head, tail));
    let kind = [(header::CONTENT_TYPE, "text/csv; charset=utf-8; header=present")];
    let mut response = (kind, body).into_response();
    if incomplete {
        response.headers_mut().insert(INCOMPLETE, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// A page as text, and what comes after it.
struct Turn {
    text: Bytes,
    incomplete: bool,
    rest: Option<Rest>,
}

async fn next_page(mut rest: Rest, mut text: String) -> Result<Turn> {
    rest.query.limit = rest.lines_left.min(CSV_PAGE_SAMPLES);
    if rest.query.limit == 0 {
        return Ok(Turn { text: text.into(), incomplete: rest.incomplete, rest: None });
    }
    let query = rest.query.clone();
    let (text, read, after, incomplete) = rest
        .api
        .query(move |backend| {
            let page = backend.raw(&query)?;
            page.samples.iter().for_each(|sample| csv::write_line(sample, &mut text));
            let after = page.samples.last().filter(|_| page.more).map(position);
            Ok((text, page.samples.len(), after, page.incomplete))
        })
        .await?;
    if incomplete && !rest.incomplete && !rest.is_first {
        return Err(ApiError::internal("a part turned out to be damaged half way"));
    }
    rest.is_first = false;
    rest.incomplete |= incomplete;
    rest.lines_left = rest.lines_left.saturating_sub(read);
    let goes_on = after.is_some() && rest.lines_left > 0;
    rest.query.after = after;
    Ok(Turn { text: text.into(), incomplete: rest.incomplete, rest: goes_on.then_some(rest) })
}
