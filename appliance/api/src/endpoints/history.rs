//! Last values and ranges for charts.

use super::{find_tag, find_workspace, page_limit};
use crate::backend::{RangeQuery, TagQuery};
use crate::convert;
use crate::cursor;
use crate::error::{ApiError, Result};
use crate::extract::{Caller, Params, Segments};
use crate::limits::{PATHS_MAX, POINTS_DEFAULT, POINTS_MAX};
use crate::query_time;
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use millrace_contract::v1;
use millrace_model::{Filter, Tag, TagId, WorkspaceNumber};
use serde::Deserialize;
use utoipa::IntoParams;

/// Which last values.
#[derive(Default, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "describes the parameters; they are read as pairs, since path repeats"
)]
pub(crate) struct LastParams {
    /// The tags' paths, up to 100: `path=a&path=b`.
    path: Option<Vec<String>>,
    /// Instead of paths: a filter, `press-4/#`, answered page by page.
    filter: Option<String>,
    /// With a filter: the `next` of the page before.
    after: Option<String>,
    /// With a filter: 1 to 1,000; 100 when absent.
    limit: Option<usize>,
}

/// The last value of each tag asked for.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/last", tag = "history", security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), LastParams),
    responses((status = 200, description = "In the order asked.", body = v1::Page<v1::LastValue>))
)]
pub(crate) async fn last(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Params(pairs): Params<Vec<(String, String)>>,
) -> Result<Json<v1::Page<v1::LastValue>>> {
    let workspace = find_workspace(&api, &caller.principal, &name)?;
    let all = |wanted: &str| {
        let found = pairs.iter().filter(|(field, _)| field == wanted);
        found.map(|(_, value)| value.as_str()).collect::<Vec<_>>()
    };
    let paths = all("path");
    let filters = all("filter");
    let (tags, next) = match (filters.as_slice(), paths.as_slice()) {
        ([], []) => return Err(ApiError::bad_parameter("path", "Give a path or a filter.")),
        ([], paths) if paths.len() > PATHS_MAX => {
            let message = format!("At most {PATHS_MAX} paths; use a filter for more.");
            return Err(ApiError::bad_parameter("path", message));
        }
        ([], paths) => {
            let find = |path: &&str| find_tag(&api, &caller.principal, workspace, path);
            (paths.iter().map(find).collect::<Result<Vec<_>>>()?, None)
        }
        ([filter], []) => {
            let after = all("after").first().copied();
            let limit = all("limit").first().map(|text| text.parse());
            let limit = limit
                .transpose()
                .map_err(|_| ApiError::bad_parameter("limit", "The limit is not a number."))?;
            matching(&api, &caller, workspace, filter, (after, limit))?
        }
        _ => return Err(ApiError::bad_parameter("filter", "Give paths or one filter.")),
    };
    let ids: Vec<TagId> = tags.iter().map(|tag| tag.id).collect();
    let samples = api.query(move |backend| Ok(backend.last(&ids)?)).await?;
    let item = |(tag, sample): (Tag, Option<crate::backend::Sample>)| v1::LastValue {
        path: tag.path,
        unit: tag.unit,
        sample: sample.as_ref().map(convert::sample),
    };
    let items = tags.into_iter().zip(samples).map(item).collect();
    Ok(Json(v1::Page { items, next }))
}

fn matching(
    api: &Api,
    caller: &Caller,
    workspace: WorkspaceNumber,
    filter: &str,
    (after, limit): (Option<&str>, Option<usize>),
) -> Result<(Vec<Tag>, Option<String>)> {
    let filter = Filter::new(filter)
        .map_err(|error| ApiError::bad_parameter("filter", format!("{error}.")))?;
    let after = cursor::name(after)?;
    // What stands before the first wildcard narrows the walk; `a/#` matches `a` too.
    let literal = filter.as_str().split(['+', '#']).next().unwrap_or_default();
    let prefix = if filter.as_str() == literal { literal } else { literal.trim_end_matches('/') };
    let page = api.backend().tags(&TagQuery {
        workspace,
        prefix,
        search: "",
        after: after.as_deref(),
        limit: page_limit(limit)?,
        visible: &|path| filter.matches(path) && caller.principal.reads(workspace, path),
    });
    let next = page.items.last().filter(|_| page.more).map(|tag| cursor::of_name(&tag.path));
    Ok((page.items, next))
}

/// Which range.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RangeParams {
    /// The tag's path.
    path: String,
    /// Source time from here, included: RFC 3339, epoch number, `now`, `-1h`; `-1h` when absent.
    from: Option<String>,
    /// Source time to here, not included; `now` when absent.
    to: Option<String>,
    /// Intervals of equal length, 1 to 10,000; 500 when absent.
    points: Option<usize>,
}

/// A tag's values condensed for a chart: count, min, max, first, last per interval.
#[utoipa::path(
    get, path = "/api/v1/workspaces/{workspace}/range", tag = "history",
    security(("bearer" = [])),
    params(("workspace" = String, Path, description = "The workspace's name."), RangeParams),
    responses((status = 200, description = "Intervals that have samples.", body = v1::Range))
)]
pub(crate) async fn range(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Params(params): Params<RangeParams>,
) -> Result<Json<v1::Range>> {
    let workspace = find_workspace(&api, &caller.principal, &name)?;
    let tag = find_tag(&api, &caller.principal, workspace, &params.path)?;
    let now = api.backend().now();
    let from = query_time::parse("from", params.from.as_deref().unwrap_or("-1h"), now)?;
    let to = query_time::parse("to", params.to.as_deref().unwrap_or("now"), now)?;
    if from >= to {
        return Err(ApiError::bad_parameter("from", "The range ends before it starts."));
    }
    let points = params.points.unwrap_or(POINTS_DEFAULT);
    if !(1..=POINTS_MAX).contains(&points) {
        return Err(ApiError::bad_parameter("points", format!("Give 1 to {POINTS_MAX}.")));
    }
    let query = RangeQuery { tag: tag.id, from, to, points };
    let found = api.query(move |backend| Ok(backend.range(&query)?)).await?;
    Ok(Json(v1::Range {
        from: convert::time(from),
        to: convert::time(to),
        buckets: found.items.iter().map(convert::bucket).collect(),
        incomplete: found.incomplete,
    }))
}
