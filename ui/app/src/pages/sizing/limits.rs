//! The product's limits against what the plan needs of each, and what they are set to.
//!
//! **Invariants**
//! - What has to be raised stands first, with the setting's name and a value that leaves room.
//! - An empty field is the default; what stands in it goes into the plan.

use super::desk::Desk;
use super::inputs::number_text;
use super::phrase;
use crate::typed;
use crate::words::{sizing, t};
use leptos::prelude::*;
use millrace_kit::{Badge, Button, Field, FieldKind, Panel, Priority, Weight};
use millrace_sizing::estimate::{Check, State};

/// The limits.
#[component]
pub(super) fn Limits() -> impl IntoView {
    let desk = Desk::here();
    let language = desk.studio().language;
    let all = RwSignal::new(false);
    let checks = Memo::new(move |_| {
        let mut checks = desk.shown.get().map(|found| found.checks.clone()).unwrap_or_default();
        checks.sort_by_key(|check| match check.state {
            State::Reached => 0,
            State::Near => 1,
            State::Good | State::Unknown => 2,
        });
        checks
    });
    let keys = move || {
        let is_told = |check: &&Check| {
            all.get() || check.is_set || matches!(check.state, State::Reached | State::Near)
        };
        // Fields are built anew with another plan and another profile, not with another figure.
        let version = (desk.loaded.get(), desk.profile_name.get());
        checks.with(|checks| {
            let told = checks.iter().filter(is_told);
            told.map(|check| (check.setting.clone(), version.clone())).collect::<Vec<_>>()
        })
    };
    let text = move || {
        let raise =
            checks.with(|checks| checks.iter().filter(|one| one.state == State::Reached).count());
        let near =
            checks.with(|checks| checks.iter().filter(|one| one.state == State::Near).count());
        let (raise, near) = (raise.to_string(), near.to_string());
        language.say_with(sizing::LIMITS_COUNT, &[("raise", &raise), ("near", &near)])
    };
    let word =
        move || language.say(if all.get() { sizing::LIMITS_FEWER } else { sizing::LIMITS_ALL });
    view! {
        <Panel
            title=t(sizing::LIMITS)
            aside=move || view! {
                <Button weight=Weight::Quiet on_press=move |()| all.update(|all| *all = !*all)>{word}</Button>
            }
        >
            <p class="muted sizing-aside">{text}</p>
            <ul class="sizing-limits">
                <For
                    each=keys
                    key=Clone::clone
                    children=move |(setting, _)| view! { <Limit setting checks/> }
                />
            </ul>
        </Panel>
    }
}

#[component]
fn Limit(setting: String, checks: Memo<Vec<Check>>) -> impl IntoView {
    let desk = Desk::here();
    let language = desk.studio().language;
    let name = StoredValue::new(setting);
    let check = Memo::new(move |_| {
        checks.with(|all| {
            name.with_value(|name| all.iter().find(|one| one.setting == *name).cloned())
        })
    });
    let set = move |number: Option<f64>| {
        desk.sheet.update(|sheet| {
            let name = name.get_value();
            match number {
                Some(number) => sheet.settings.insert(name, number),
                None => sheet.settings.remove(&name),
            };
        });
    };
    let now = name
        .with_value(|name| desk.sheet.with_untracked(|sheet| sheet.settings.get(name).copied()));
    let value = number_text(desk, now, true, set);
    let what = move || {
        desk.profile.with(|profile| {
            let limit = name.with_value(|name| profile.as_ref()?.limit(name));
            limit.map(|limit| language.say(phrase::measure(limit.measure))).unwrap_or_default()
        })
    };
    let needed = move || {
        let check = check.get()?;
        let locale = language.locale();
        let number = check.needed.map_or_else(|| "–".to_owned(), |needed| locale.amount(needed));
        let limit = locale.amount(check.limit);
        let values = [("needed", number.as_str()), ("limit", &limit), ("unit", &check.unit)];
        Some(language.say_with(sizing::NEEDED_OF, &values).trim_end().to_owned())
    };
    let sign = move || {
        let state = check.get()?.state;
        let priority = match state {
            State::Reached => Priority::Two,
            State::Near => Priority::Three,
            State::Good | State::Unknown => return None,
        };
        let label = t(phrase::state(state));
        Some(view! { <Badge priority label/> " " <strong>{label}</strong> })
    };
    let aim = move || {
        let check = check.get()?;
        let needed =
            check.needed.filter(|_| matches!(check.state, State::Reached | State::Near))?;
        Some(phrase::raised(needed))
    };
    let raise = move || {
        aim().map(|aim| {
            let locale = language.locale();
            let text = language.say_with(sizing::SET_TO, &[("value", &locale.amount(aim))]);
            let write = move |()| value.set(typed::written(locale, aim));
            view! { <Button on_press=write>{text}</Button> }
        })
    };
    let fault = Signal::derive(move || {
        name.with_value(|name| desk.fault_at(&format!("settings.\"{name}\"")))
    });
    view! {
        <li class="sizing-limit">
            <div class="sizing-limit-text">
                <p><code>{name.get_value()}</code> " " {sign}</p>
                <p class="muted">{what} " · " <span class="figures">{needed}</span></p>
            </div>
            <div class="sizing-limit-field">
                <Field label=t(sizing::SET_IN_PLAN) value kind=FieldKind::Number fault/>
                {raise}
            </div>
        </li>
    }
}
