//! All about one topic: its value now, the last hour, what is set, who may write and read it.
//!
//! **Invariants**
//! - What is shown of a topic is asked for when it is chosen, and again when it was changed here.

use super::edit::Edit;
use super::refusals::{Refusals, refusals};
use super::test_value::TestValue;
use super::values::TopicValue;
use super::who::Who;
use super::{Place, WORKSPACE};
use crate::context::Studio;
use crate::poll::poll;
use crate::words::{Language, Message, namespace, overview, sizing, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Notice, Panel, Priority, Sparkline, Toasts};
use millrace_model::Timestamp;
use std::time::Duration;

/// Points of the small trend.
const POINTS: usize = 96;
/// How often the small trend is asked for.
const TREND_PERIOD: Duration = Duration::from_secs(10);
/// How often what is set is asked for.
const PERIOD: Duration = Duration::from_secs(15);

/// All about one topic.
#[component]
pub(super) fn Details(
    /// Its path.
    path: String,
) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let place: Place = expect_context();
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    let asked = path.clone();
    let tag = poll(&studio, PERIOD, move |api| {
        let path = asked.clone();
        async move {
            let address = ["workspaces", WORKSPACE, "tag"];
            api.get::<v1::Tag>(&address, &[("path", &path)]).await
        }
    });
    let unit = Signal::derive(move || {
        tag.value.with(|tag| tag.as_ref().map(|tag| tag.unit.clone()).unwrap_or_default())
    });
    let (editing, testing) = (RwSignal::new(false), RwSignal::new(false));
    let (refused, tested) = (refusals(&studio, path.clone()), path.clone());
    let may = studio.sessions.may(v1::Role::Engineer);
    let off = Signal::derive(move || {
        if !may {
            return Some(language.say(overview::NEEDS_ENGINEER));
        }
        tag.value.with(Option::is_none).then(|| language.say(namespace::LOADING))
    });
    let fault = Signal::derive(move || {
        tag.fault.with(|fault| fault.as_ref().map(|fault| fault.text(language))).unwrap_or_default()
    });
    let trends = format!("/trends?topic={}", js_sys::encode_uri_component(&path));
    let facts = move || tag.value.get().map(|tag| facts(&Studio::here(), &tag));
    let changed = move |()| {
        tag.refresh();
        place.changed.update(|count| *count += 1);
    };
    view! {
        <Panel title=name>
            <div class="topic">
                <p class="topic-path"><code>{path.clone()}</code></p>
                <TopicValue path=path.clone() values=place.values unit large=true/>
                <LastHour path=path.clone()/>
                <div class="form-actions">
                    <Copy path=path.clone()/>
                    <Button on_press=move |()| editing.set(true) off_because=off>{t(namespace::EDIT)}</Button>
                    <Button on_press=move |()| testing.set(true) off_because=off>{t(namespace::PUBLISH)}</Button>
                    <a href=trends>{t(namespace::SHOW_TREND)}</a>
                </div>
                <Show when=move || fault.with(|fault| !fault.is_empty())>
                    <Notice priority=Priority::Three title=t(namespace::NOT_LOADED) text=fault/>
                </Show>
                {facts}
                <Who path=path.clone()/>
                <Refusals list=refused/>
                <p class="muted">{t(namespace::NOT_AVAILABLE)}</p>
            </div>
        </Panel>
        <Edit tag=tag.value open=editing on_changed=changed/>
        <TestValue path=tested open=testing on_done=move |()| refused.refresh()/>
    }
}

/// Copies the whole topic, as a device or subscriber writes it.
#[component]
fn Copy(path: String) -> impl IntoView {
    let studio = StoredValue::new(Studio::here());
    let toasts: Toasts = expect_context();
    let path = StoredValue::new(path);
    let copy = move |()| {
        leptos::task::spawn_local(async move {
            let (studio, path) = (studio.get_value(), path.get_value());
            let settings = studio.api.get::<v1::Page<v1::ConfigEntry>>(&["config"], &[]).await;
            let root = settings.ok().and_then(|page| {
                let found = page.items.into_iter().find(|entry| entry.key == "broker.root");
                found.map(|entry| entry.value.trim_matches('"').to_owned())
            });
            let root = root.unwrap_or_else(|| "mr/v1".to_owned());
            let topic = format!("{root}/{WORKSPACE}/{path}");
            let language = studio.language;
            if studio.host.copy_text(&topic).await {
                toasts.good(language.say_with(namespace::COPIED, &[("topic", &topic)]));
            } else {
                let text = language.say_with(namespace::NOT_COPIED, &[("topic", &topic)]);
                toasts.bad(Priority::Three, text);
            }
        });
    };
    view! { <Button on_press=copy>{t(namespace::COPY)}</Button> }
}

/// The means of the last hour as a small trend.
#[component]
fn LastHour(path: String) -> impl IntoView {
    let studio = Studio::here();
    let range = poll(&studio, TREND_PERIOD, move |api| {
        let path = path.clone();
        async move {
            let points = POINTS.to_string();
            let query = [("path", path.as_str()), ("from", "-1h"), ("points", &points)];
            api.get::<v1::Range>(&["workspaces", WORKSPACE, "range"], &query).await
        }
    });
    let points = Signal::derive(move || {
        range.value.with(|range| range.as_ref().map(points).unwrap_or_default())
    });
    view! {
        <div class="topic-trend">
            <Sparkline points label=t(namespace::LAST_HOUR)/>
            <span class="muted">{t(namespace::LAST_HOUR)}</span>
        </div>
    }
}

/// The means of a range, evenly in time, with gaps where there was nothing.
fn points(range: &v1::Range) -> Vec<Option<f64>> {
    let time = |text: &str| Timestamp::from_rfc3339(text);
    let (Some(from), Some(to)) = (time(&range.from), time(&range.to)) else { return Vec::new() };
    let length = to.nanos_since(from).max(1);
    let mut points = vec![None; POINTS];
    for bucket in &range.buckets {
        let Some(start) = time(&bucket.start) else { continue };
        let at = i128::from(start.nanos_since(from)) * POINTS as i128 / i128::from(length);
        let slot = usize::try_from(at).ok().and_then(|at| points.get_mut(at));
        if let Some(slot) = slot {
            *slot = bucket.mean.or(bucket.last);
        }
    }
    points
}

fn facts(studio: &Studio, tag: &v1::Tag) -> impl IntoView + use<> {
    let language = studio.language;
    let created = Timestamp::from_rfc3339(&tag.created).map_or_else(
        || tag.created.clone(),
        |at| language.locale().date_time(at, studio.host.utc_offset_minutes(at)),
    );
    let or_dash = |text: &str| if text.is_empty() { "–".to_owned() } else { text.to_owned() };
    let rows: [(Message, String); 6] = [
        (namespace::DESCRIPTION, or_dash(&tag.description)),
        (namespace::UNIT, or_dash(&tag.unit)),
        (namespace::KIND, language.say(kind(tag.kind))),
        (namespace::RETENTION, language.say(retention(tag.retention))),
        (namespace::SCHEMA, schema(language, &tag.schema)),
        (namespace::CREATED, created),
    ];
    let row = |(label, text): (Message, String)| view! { <dt>{t(label)}</dt><dd>{text}</dd> };
    view! { <dl class="topic-facts">{rows.map(row).collect_view()}</dl> }
}

/// A kind in words.
pub(super) fn kind(kind: v1::Kind) -> Message {
    match kind {
        v1::Kind::Null => namespace::KIND_NULL,
        v1::Kind::Bool => namespace::KIND_BOOL,
        v1::Kind::Int => namespace::KIND_INT,
        v1::Kind::Uint => namespace::KIND_UINT,
        v1::Kind::Float => namespace::KIND_FLOAT,
        v1::Kind::Text => namespace::KIND_TEXT,
        v1::Kind::Json => namespace::KIND_JSON,
    }
}

/// A retention class in words.
pub(super) fn retention(retention: v1::Retention) -> Message {
    match retention {
        v1::Retention::Days1 => sizing::DAYS_1,
        v1::Retention::Days7 => sizing::DAYS_7,
        v1::Retention::Days14 => sizing::DAYS_14,
        v1::Retention::Days32 => sizing::DAYS_32,
        v1::Retention::Keep => sizing::KEEP,
    }
}

fn schema(language: Language, schema: &v1::Schema) -> String {
    let locale = language.locale();
    let mut parts = Vec::new();
    if !schema.kinds.is_empty() {
        let kinds: Vec<String> = schema.kinds.iter().map(|one| language.say(kind(*one))).collect();
        parts.push(kinds.join(", "));
    }
    match (schema.min, schema.max) {
        (None, None) => {}
        (min, max) => {
            let end =
                |end: Option<f64>| end.map_or_else(|| "…".to_owned(), |end| locale.amount(end));
            parts.push(format!("{} … {}", end(min), end(max)));
        }
    }
    if !schema.choices.is_empty() {
        parts.push(schema.choices.join(", "));
    }
    if parts.is_empty() {
        return language.say(namespace::SCHEMA_ANY);
    }
    let strict = if schema.strict { namespace::STRICT } else { namespace::SOFT };
    format!("{} · {}", parts.join(" · "), language.say(strict))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_becomes_even_points_with_gaps() {
        let bucket = |start: &str, mean| v1::Bucket {
            start: start.to_owned(),
            count: 1,
            min: None,
            max: None,
            first: None,
            last: Some(9.0),
            mean,
        };
        let range = v1::Range {
            from: "2026-11-30T12:00:00Z".to_owned(),
            to: "2026-11-30T13:36:00Z".to_owned(),
            buckets: vec![
                bucket("2026-11-30T12:00:00Z", Some(1.0)),
                bucket("2026-11-30T12:02:30Z", None),
                bucket("2027-11-30T12:00:00Z", Some(3.0)),
                bucket("nonsense", Some(3.0)),
            ],
            incomplete: false,
        };
        let points = points(&range);
        assert_eq!(points.len(), POINTS);
        assert_eq!(points.get(..4), Some(&[Some(1.0), None, Some(9.0), None][..]));
        assert!(points.iter().skip(3).all(Option::is_none));
    }
}
