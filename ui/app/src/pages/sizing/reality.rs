//! Plan against reality: what the appliance's stored plan says beside the load of the last minute.
//!
//! **Invariants**
//! - Without a stored plan it says how to store one; without two looks there is a dash, no zero.

use super::desk::Desk;
use crate::poll::poll;
use crate::words::{Language, sizing, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Badge, Empty, Panel, Priority};
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(5);

/// Plan against reality.
#[component]
pub(super) fn Reality() -> impl IntoView {
    let desk = Desk::here();
    let studio = desk.studio();
    let language = studio.language;
    let compared = poll(&studio, PERIOD, |api| async move {
        match api.get::<v1::PlanComparison>(&["sizing", "comparison"], &[]).await {
            Ok(comparison) => Ok(Some(comparison)),
            Err(fault) if fault.code() == Some(v1::ErrorCode::NotFound) => Ok(None),
            Err(fault) => Err(fault),
        }
    });
    Effect::new(move |_| {
        if desk.stored.get() > 0 {
            compared.refresh();
        }
    });
    let body = move || {
        if let Some(fault) = compared.fault.get() {
            return view! { <p class="sizing-aside muted">{fault.text(language)}</p> }.into_any();
        }
        match compared.value.get() {
            None => view! { <p class="sizing-aside muted">{t(sizing::ASKING)}</p> }.into_any(),
            Some(None) => {
                view! { <Empty title=t(sizing::NO_STORED) next=t(sizing::NO_STORED_NEXT)/> }
                    .into_any()
            }
            Some(Some(comparison)) => table(language, &comparison),
        }
    };
    let age =
        move || view! { <span class="muted">{move || stale(&compared.freshness.get())}</span> };
    view! { <Panel title=t(sizing::REALITY) aside=age>{body}</Panel> }
}

fn stale(freshness: &millrace_kit::Freshness) -> String {
    match freshness {
        millrace_kit::Freshness::Fresh => String::new(),
        millrace_kit::Freshness::Stale(age) => age.clone(),
    }
}

fn table(language: Language, comparison: &v1::PlanComparison) -> AnyView {
    let locale = language.locale();
    let row = |item: &v1::PlanItem| {
        let what = match item.name.as_str() {
            "values_per_s" => language.say(sizing::REAL_VALUES),
            "runs_per_s" => language.say(sizing::REAL_RUNS),
            "devices" => language.say(sizing::REAL_DEVICES),
            "topics" => language.say(sizing::REAL_TOPICS),
            _ => item.what.clone(),
        };
        let minutes = locale.number(item.over_s / 60.0, 0);
        let over =
            (item.over_s > 0.0).then(|| language.say_with(sizing::OVER_FOR, &[("n", &minutes)]));
        let badge = item.exceeded.then(|| {
            view! { <Badge priority=Priority::Three label=t(sizing::EXCEEDED)/> " " }
        });
        view! {
            <tr>
                <th>{what}</th>
                <td>{locale.amount(item.planned)}</td>
                <td>{item.now.map_or_else(|| "–".to_owned(), |now| locale.amount(now))}</td>
                <td>{badge} {over}</td>
            </tr>
        }
    };
    let seconds = locale.number(comparison.seconds, 0);
    view! {
        <p class="sizing-aside muted">
            {comparison.plan.clone()} " · " {language.say_with(sizing::OVER_SECONDS, &[("n", &seconds)])}
        </p>
        <table class="sizing-table">
            <thead><tr>
                <th></th><th>{t(sizing::PLANNED)}</th><th>{t(sizing::NOW)}</th><th></th>
            </tr></thead>
            <tbody>{comparison.items.iter().map(row).collect_view()}</tbody>
        </table>
    }
    .into_any()
}
