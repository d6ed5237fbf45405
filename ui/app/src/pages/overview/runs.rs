//! Runs of pipelines by lane, and who used the most CPU.
//!
//! **Invariants**
//! - All three lanes are always shown, in the order in which they are served.

use super::snapshot::{Pair, Snapshot};
use crate::words::{Language, Message, overview, t};
use leptos::prelude::*;
use millrace_kit::{Freshness, Panel, Value};

/// What is asked of the appliance for this panel.
pub(super) const MEASURES: &[&str] = &[
    "engine_queue_pending",
    "engine_queue_running",
    "engine_queue_wait_seconds",
    "engine_queue_taken_runs",
    "engine_parked_runs",
    "engine_runs_shed",
    "engine_runs_failed",
    "pipeline_cpu_seconds",
];

const LANES: [(&str, Message); 3] =
    [("high", overview::LANE_HIGH), ("normal", overview::LANE_NORMAL), ("low", overview::LANE_LOW)];

type Moments = Signal<Option<(Snapshot, Snapshot)>>;

/// Runs by lane.
#[component]
pub(super) fn Runs(
    /// The moment before and the moment now.
    moments: Moments,
    /// Whether they are of now.
    freshness: Signal<Freshness>,
) -> impl IntoView {
    let heads = [
        overview::LANE,
        overview::WAITING,
        overview::COMPUTING,
        overview::TAKEN,
        overview::MEAN_WAIT,
    ];
    let heads = heads.map(|head| view! { <th scope="col">{t(head)}</th> });
    let lanes = LANES.map(|(lane, name)| view! { <Lane lane name moments freshness/> });
    view! {
        <Panel title=t(overview::RUNS)>
            <table class="lanes">
                <thead><tr>{heads.into_iter().collect_view()}</tr></thead>
                <tbody>{lanes.into_iter().collect_view()}</tbody>
            </table>
            <Sums moments freshness/>
        </Panel>
    }
}

#[component]
fn Lane(
    lane: &'static str,
    name: Message,
    moments: Moments,
    freshness: Signal<Freshness>,
) -> impl IntoView {
    let cell = move |digits: usize, unit: &'static str, of: Figure| {
        view! { <td>{shown(moments, freshness, digits, unit, move |pair| of(pair, lane))}</td> }
    };
    view! {
        <tr>
            <th scope="row">{t(name)}</th>
            {cell(0, "", |pair, lane| pair.now.one("engine_queue_pending", lane))}
            {cell(0, "", |pair, lane| pair.now.one("engine_queue_running", lane))}
            {cell(1, "/s", |pair, lane| pair.rate_of("engine_queue_taken_runs", lane))}
            {cell(2, "ms", |pair, lane| {
                let mean = pair.mean_of("engine_queue_wait_seconds", "engine_queue_taken_runs", lane);
                mean.map(|seconds| seconds * 1_000.0)
            })}
        </tr>
    }
}

type Figure = fn(Pair<'_>, &'static str) -> Option<f64>;

/// A number out of the two moments.
fn shown(
    moments: Moments,
    freshness: Signal<Freshness>,
    digits: usize,
    unit: &'static str,
    of: impl Fn(Pair<'_>) -> Option<f64> + Send + Sync + 'static,
) -> impl IntoView {
    let language = Language::here();
    let text = Signal::derive(move || {
        let number = moments.with(|moments| {
            let (before, now) = moments.as_ref()?;
            of(Pair { before, now })
        });
        number.map(|number| language.locale().number(number, digits))
    });
    view! { <Value text unit=unit.to_owned() freshness/> }
}

#[component]
fn Sums(moments: Moments, freshness: Signal<Freshness>) -> impl IntoView {
    let language = Language::here();
    let heaviest = move || {
        let heaviest = moments.with(|moments| {
            let (before, now) = moments.as_ref()?;
            Some(Pair { before, now }.heaviest("pipeline_cpu_seconds"))
        });
        let line = |(name, share): (String, f64)| {
            let share = language.locale().number(share * 100.0, 1);
            view! { <li><span>{name}</span><span class="figures">{share} " % CPU"</span></li> }
        };
        let heaviest = heaviest.unwrap_or_default();
        if heaviest.is_empty() {
            return view! { <p class="muted">{t(overview::NO_HEAVIEST)}</p> }.into_any();
        }
        view! { <ol>{heaviest.into_iter().map(line).collect_view()}</ol> }.into_any()
    };
    let sum = move |label: Message, name: &'static str| {
        view! {
            <span class="balance-part">
                <span class="figure-label">{t(label)}</span>
                {shown(moments, freshness, 0, "", move |pair| pair.now.sum(name))}
            </span>
        }
    };
    view! {
        <div class="balance">
            {sum(overview::PARKED, "engine_parked_runs")}
            {sum(overview::SHED, "engine_runs_shed")}
            {sum(overview::FAILED, "engine_runs_failed")}
        </div>
        <div class="heaviest">
            <h3>{t(overview::HEAVIEST)}</h3>
            {heaviest}
        </div>
    }
}
