//! Live values on wires: what left a trigger last, and what reached a tag.
//!
//! A wire behind a `uns.subscribe` shows the last value that one of its filters matched; a wire into
//! a `uns.publish` with a plain path shows the last value of that tag. The appliance tells nothing
//! about other wires, and nothing is shown there.
//!
//! **Invariants**
//! - Labels move at most five times a second, and stand still while frozen.
//! - What is stale is told to be stale, with its age.

use super::desk::Desk;
use leptos::prelude::*;
use millrace_editor::label::{Label, Traffic};
use millrace_editor::scene::LinkKind;
use millrace_editor::view::LinkView;
use millrace_flow::Document;
use millrace_model::Filter;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// At most so often are labels drawn.
const PERIOD: Duration = Duration::from_millis(200);
/// Most filters that are listened to.
const FILTERS_MAX: usize = 50;

/// What is watched: a filter, and the steps whose wires show what it matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Watched {
    /// Filter, step, and whether the values leave the step (or reach it).
    pub(super) all: Vec<(String, String, bool)>,
}

/// What of a document can be watched.
pub(super) fn watched(document: &Document) -> Watched {
    let mut watched = Watched::default();
    for (id, step) in &document.steps {
        let texts: Vec<&str> = match step.kind.as_str() {
            "uns.subscribe" => {
                let filters = step.fields.get("filters").and_then(Value::as_array);
                filters.into_iter().flatten().filter_map(Value::as_str).collect()
            }
            "uns.publish" => step.fields.get("path").and_then(Value::as_str).into_iter().collect(),
            _ => continue,
        };
        let is_trigger = step.kind == "uns.subscribe";
        let plain = texts.into_iter().filter(|text| !text.contains("{{") && !text.is_empty());
        watched.all.extend(plain.map(|text| (text.to_owned(), id.clone(), is_trigger)));
    }
    watched.all.truncate(FILTERS_MAX);
    watched
}

/// The labels of the wires that are seen.
#[expect(clippy::too_many_lines, reason = "one piece of markup, with what it listens to")]
#[component]
pub(super) fn Labels(links: Signal<Arc<BTreeMap<String, LinkView>>>) -> impl IntoView {
    let desk = Desk::here();
    let studio = desk.studio();
    let traffic = StoredValue::new(BTreeMap::<(String, bool), (Traffic, u64)>::new());
    let shown = RwSignal::new(BTreeMap::<(String, bool), Label>::new());
    let what = Memo::new(move |_| {
        desk.version.track();
        desk.editor.with_untracked(|editor| watched(editor.document()))
    });
    let clock = studio.clock;
    let live = studio.live.clone();
    let subscription = StoredValue::new_local(None);
    Effect::new(move |_| {
        let watched = what.get();
        let filters: Vec<String> =
            watched.all.iter().map(|(filter, _, _)| filter.clone()).collect();
        let workspace = desk.at.with_value(|at| at.workspace.clone());
        if filters.is_empty() {
            return subscription.set_value(None);
        }
        let wanted: Vec<(Filter, String, bool)> = watched
            .all
            .into_iter()
            .filter_map(|(filter, step, leaves)| Some((Filter::new(&filter).ok()?, step, leaves)))
            .collect();
        let held = live.subscribe(&workspace, &filters, move |values| {
            let now = now_ms(clock.now_untracked());
            traffic.try_update_value(|traffic| {
                for value in values {
                    let datum = serde_json::from_str(&value.value).unwrap_or(Value::Null);
                    for (filter, step, leaves) in &wanted {
                        if filter.matches(&value.path) {
                            let (traffic, count) =
                                traffic.entry((step.clone(), *leaves)).or_default();
                            *count += 1;
                            traffic.saw(now, datum.clone());
                            traffic.counted(now, *count);
                        }
                    }
                }
            });
        });
        subscription.set_value(Some(held));
    });
    let ticking = set_interval_with_handle(
        move || {
            if desk.is_frozen.try_get_untracked() != Some(false) {
                return;
            }
            let now = now_ms(clock.now_untracked());
            let labels = traffic.try_with_value(|traffic| {
                let all = traffic.iter();
                all.filter_map(|(key, (of, _))| Some((key.clone(), of.label(now)?)))
                    .collect::<BTreeMap<_, _>>()
            });
            if let Some(labels) = labels
                && shown.try_with_untracked(|shown| *shown != labels) == Some(true)
            {
                shown.set(labels);
            }
        },
        PERIOD,
    )
    .ok();
    on_cleanup(move || {
        if let Some(ticking) = ticking {
            ticking.clear();
        }
    });
    move || {
        let labels = shown.get();
        links.with(|links| {
            let drawn = links.values().filter_map(|link| {
                let LinkKind::Wire(wire) = &link.kind else { return None };
                let of = |step: &String, leaves| labels.get(&(step.clone(), leaves));
                let label = of(&wire.from, true).or_else(|| of(&wire.to, false))?;
                let at = link.curve.middle();
                let class = if label.is_stale { "wire-label wire-stale" } else { "wire-label" };
                Some(view! { <text class=class x=at.x y={at.y - 6.0}>{told(label)}</text> })
            });
            drawn.collect_view()
        })
    }
}

fn told(label: &Label) -> String {
    let mut text = label.value.clone();
    if let Some(rate) = label.rate.filter(|rate| *rate > 0.05 && !label.is_stale) {
        text.push_str(&format!(" · {rate:.1}/s"));
    }
    if let Some(age) = label.age_ms.filter(|age| *age > 2_000) {
        text.push_str(&format!(" · {} s", age / 1_000));
    }
    text
}

fn now_ms(now: millrace_model::Timestamp) -> u64 {
    u64::try_from(now.split_millis().0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_appliance_can_tell_is_watched() {
        let text = r#"{"millrace": 1, "name": "p", "steps": {
            "in": {"kind": "uns.subscribe", "fields": {"filters": ["press/+/t", "x"]}},
            "out": {"kind": "uns.publish", "fields": {"path": "derived/t"}},
            "each": {"kind": "uns.publish", "fields": {"path": "derived/{{ $item.id }}"}},
            "map": {"kind": "map"}}}"#;
        let watched = watched(&Document::parse(text).unwrap());
        let told: Vec<_> =
            watched.all.iter().map(|(f, s, l)| (f.as_str(), s.as_str(), *l)).collect();
        assert_eq!(
            told,
            [("press/+/t", "in", true), ("x", "in", true), ("derived/t", "out", false)]
        );
    }
}
