//! How near everything that has a limit is to it.
//!
//! **Invariants**
//! - The mark on each bar is where the appliance raises an issue.

use super::Told;
use crate::context::Studio;
use crate::locale::Locale;
use crate::words::{Language, Message, settings, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Badge, Freshness, Meter, Panel, Priority};

const NAMES: &[(&str, Message)] = &[
    ("broker.clients_max", settings::LIMIT_CLIENTS),
    ("admission.tags_max", settings::LIMIT_TAGS),
    ("journal.bytes_max_mib", settings::LIMIT_JOURNAL),
    ("pipelines.queue_mib_max", settings::LIMIT_QUEUE),
    ("pipelines.parked_max", settings::LIMIT_PARKED),
    ("pipelines.parked_mib_max", settings::LIMIT_PARKED_BYTES),
    ("pipelines.parked_share_percent", settings::LIMIT_SHARE),
    ("state_bytes_max", settings::LIMIT_STATE),
    ("runs.bytes_max_mib", settings::LIMIT_RUNS),
];

/// The panel.
#[component]
pub(super) fn Limits(told: Told, freshness: Signal<Freshness>) -> impl IntoView {
    let age = move || match freshness.get() {
        Freshness::Fresh => String::new(),
        Freshness::Stale(age) => age,
    };
    let settings_of = move || {
        told.with(|told| {
            let limits = told.as_ref().map(|told| told.limits.as_slice()).unwrap_or_default();
            limits.iter().map(|limit| limit.setting.clone()).collect::<Vec<_>>()
        })
    };
    let near = Memo::new(move |_| {
        told.with(|told| told.as_ref().map_or(0.8, |told| f64::from(told.near_percent) / 100.0))
    });
    view! {
        <Panel title=t(settings::LIMITS) aside=move || view! { <span class="muted">{age}</span> }>
            <div class="limits">
                <For each=settings_of key=Clone::clone children=move |setting| view! { <Line setting told near/> }/>
            </div>
        </Panel>
    }
}

#[component]
fn Line(setting: String, told: Told, near: Memo<f64>) -> impl IntoView {
    let language = Studio::here().language;
    let key = setting.clone();
    let limit = Memo::new(move |_| {
        told.with(|told| told.as_ref()?.limits.iter().find(|one| one.setting == key).cloned())
    });
    let name = Signal::derive(move || {
        limit.with(|limit| limit.as_ref().map(|limit| name_of(language, limit)).unwrap_or_default())
    });
    let share = Signal::derive(move || limit.with(|limit| limit.as_ref().and_then(share_of)));
    let text = move || {
        limit.with(|limit| limit.as_ref().map(|limit| used(language, limit)).unwrap_or_default())
    };
    let is_near = Memo::new(move |_| share.get().is_some_and(|share| share >= near.get()));
    view! {
        <div class="limit">
            <span class="limit-name">{name}</span>
            <span class="figures limit-used">
                <Show when=move || is_near.get()>
                    <Badge priority=Priority::Two label=t(settings::NEAR)/>" "{t(settings::NEAR)}" "
                </Show>
                {text}
            </span>
            <Meter label=name share limit=near.get_untracked()/>
            <code class="muted limit-setting">{setting}</code>
        </div>
    }
}

fn name_of(language: Language, limit: &v1::Limit) -> String {
    let known = NAMES.iter().find(|(setting, _)| *setting == limit.setting);
    known.map_or_else(|| limit.what.clone(), |(_, message)| language.say(*message))
}

/// The share that is used; `None` where there is no limit.
#[expect(clippy::cast_precision_loss, reason = "a bar of a few hundred pixels")]
fn share_of(limit: &v1::Limit) -> Option<f64> {
    (limit.most > 0).then(|| limit.used as f64 / limit.most as f64)
}

fn used(language: Language, limit: &v1::Limit) -> String {
    let locale = language.locale();
    let used = amount(locale, limit.used, limit.unit);
    if limit.most == 0 {
        return language.say_with(settings::NO_LIMIT, &[("used", &used)]);
    }
    let most = amount(locale, limit.most, limit.unit);
    language.say_with(settings::USED_OF, &[("used", &used), ("most", &most)])
}

fn amount(locale: Locale, number: u64, unit: v1::LimitUnit) -> String {
    match unit {
        v1::LimitUnit::Count => locale.integer(i128::from(number)),
        v1::LimitUnit::Percent => format!("{} %", locale.integer(i128::from(number))),
        v1::LimitUnit::Bytes => {
            let (number, unit) = locale.bytes(number);
            format!("{number} {unit}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_their_unit_and_a_limit_of_nothing_is_none() {
        assert_eq!(amount(Locale::German, 250_000, v1::LimitUnit::Count), "250.000");
        assert_eq!(amount(Locale::English, 2_147_483_648, v1::LimitUnit::Bytes), "2.15 GB");
        assert_eq!(amount(Locale::English, 7, v1::LimitUnit::Percent), "7 %");
        let limit = |used, most| v1::Limit {
            setting: "x".to_owned(),
            what: "x".to_owned(),
            used,
            most,
            unit: v1::LimitUnit::Count,
        };
        assert_eq!(share_of(&limit(1, 4)), Some(0.25));
        assert_eq!(share_of(&limit(1, 0)), None);
    }
}
