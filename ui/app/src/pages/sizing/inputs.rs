//! The inputs: the plan's groups with their fields, and the machine.
//!
//! **Invariants**
//! - Each key press is a new estimate; there is no button that computes.
//! - What is wrong with a field stands at it.

use super::desk::Desk;
use super::entries::{Entry, Group, Part, machine};
use super::sheet::Row;
use crate::typed;
use crate::words::{Message, sizing, t};
use leptos::prelude::*;
use millrace_kit::id::{focus, unique};
use millrace_kit::{Button, Choice, Field, FieldKind, Panel, Select, Toggle, Weight};
use millrace_sizing::plan::{
    DeviceGroup, Machine, OpcUaGroup, PipelineGroup, RouteGroup, SubscriberGroup,
};

/// The left side of the page.
#[component]
pub(super) fn Inputs() -> impl IntoView {
    let desk = Desk::here();
    let name = RwSignal::new(desk.sheet.with_untracked(|sheet| sheet.name.clone()));
    follow(name, move |name| desk.sheet.update(|sheet| sheet.name = name));
    // Another plan brings another name.
    Effect::new(move |_| {
        let now = desk.sheet.with(|sheet| sheet.name.clone());
        if name.with_untracked(|name| *name != now) {
            name.set(now);
        }
    });
    view! {
        <div class="sizing-inputs">
            <Field
                label=t(sizing::PLAN_NAME)
                value=name
                fault=Signal::derive(move || desk.fault_at("name"))
            />
            {groups::<DeviceGroup>(desk)}
            {groups::<PipelineGroup>(desk)}
            {groups::<SubscriberGroup>(desk)}
            {groups::<OpcUaGroup>(desk)}
            {groups::<RouteGroup>(desk)}
            <TheMachine/>
        </div>
    }
}

/// All groups of a kind.
fn groups<T: Group>(desk: Desk) -> impl IntoView {
    let ids = Memo::new(move |_| {
        desk.sheet.with(|sheet| T::rows(sheet).iter().map(|row| row.id).collect::<Vec<_>>())
    });
    let place = unique("groups");
    let add = move |()| {
        desk.sheet.update(|sheet| {
            let id = sheet.number();
            T::rows_mut(sheet).push(Row { id, group: T::fresh() });
            desk.added.set(Some(id));
        });
    };
    let around = place.clone();
    let remove = Callback::new(move |id: u64| {
        desk.sheet.update(|sheet| T::rows_mut(sheet).retain(|row| row.id != id));
        // The button that was pressed is gone: the keyboard goes on at the kind.
        let _gone = focus(&around);
    });
    let build = move |id: u64| one::<T>(desk, id, remove);
    view! {
        <Panel
            title=t(T::TITLE)
            aside=move || view! { <Button weight=Weight::Quiet on_press=add>"+ " {t(T::ADD)}</Button> }
        >
            <div class="sizing-groups" id=place tabindex="-1">
                <For each=move || ids.get() key=|id| *id children=build/>
            </div>
        </Panel>
    }
}

/// One group: its name, what it takes, its fields.
fn one<T: Group>(desk: Desk, id: u64, remove: Callback<u64>) -> impl IntoView {
    let name = Memo::new(move |_| {
        desk.sheet.with(|sheet| T::find(sheet, id).map(|group| group.name().to_owned()))
    });
    let shown_name = move || name.get().unwrap_or_default();
    let cost = move || {
        let at = desk.sheet.with(|sheet| T::rows(sheet).iter().position(|row| row.id == id))?;
        let found = desk.shown.get()?;
        let item = found.cpu.items.iter().filter(|item| item.part == T::PART).nth(at)?;
        let language = desk.studio().language;
        let locale = language.locale();
        let cores = item.cores.map_or_else(|| "–".to_owned(), |cores| locale.number(cores, 3));
        let values = [("cores", cores), ("rate", locale.amount(item.per_s))];
        Some(
            language
                .say_with(sizing::GROUP_COST, &values.each_ref().map(|(n, v)| (*n, v.as_str()))),
        )
    };
    view! {
        <div class="sizing-group" role="group" aria-label=shown_name>
            <div class="sizing-group-head">
                <strong>{shown_name}</strong>
                <span class="muted figures">{cost}</span>
                <Button weight=Weight::Quiet on_press=move |()| remove.run(id)>
                    {t(sizing::REMOVE)} <span class="visually-hidden">" " {shown_name}</span>
                </Button>
            </div>
            {fields::<T>(desk, id)}
        </div>
    }
}

/// The fields of a part.
fn fields<T: Part>(desk: Desk, id: u64) -> impl IntoView {
    let fields = T::ENTRIES.iter().map(|entry| field::<T>(desk, id, entry)).collect_view();
    view! { <div class="sizing-fields">{fields}</div> }
}

fn field<T: Part>(desk: Desk, id: u64, entry: &'static Entry<T>) -> AnyView {
    let read = move |sheet: &super::sheet::Sheet| T::find(sheet, id).cloned();
    let Some(now) = desk.sheet.with_untracked(read) else { return ().into_any() };
    let fault = move |field: &'static str| {
        Signal::derive(move || {
            let path = desk.sheet.with(|sheet| T::path(sheet, id))?;
            desk.fault_at(&format!("{path}.{field}"))
        })
    };
    match entry {
        Entry::Text { field, label, get, set } => {
            let value = RwSignal::new(get(&now).to_owned());
            follow(value, move |text| desk.change::<T>(id, |part| set(part, text)));
            let autofocus = desk.added.get_untracked() == Some(id);
            view! {
                <div class="sizing-name">
                    <Field label=t(*label) value fault=fault(field) autofocus/>
                </div>
            }
            .into_any()
        }
        Entry::Number { field, label, unit, optional, when, get, set } => {
            let value = number_text(desk, get(&now), *optional, move |number| {
                desk.change::<T>(id, |part| set(part, number));
            });
            // The field is built anew when it comes into sight: with what the plan has then.
            let again = move || {
                let now = desk.sheet.with_untracked(|sheet| T::find(sheet, id).and_then(get));
                if let Some(number) = now {
                    let locale = desk.studio().language.0.get_untracked();
                    value.set(typed::written(locale, number));
                }
            };
            let shown =
                Memo::new(move |_| desk.sheet.with(|sheet| T::find(sheet, id).is_some_and(when)));
            view! {
                <Show when=move || shown.get()>
                    {again()}
                    <Field label=t(*label) value kind=FieldKind::Number fault=fault(field) unit=(*unit).to_owned()/>
                </Show>
            }
            .into_any()
        }
        Entry::Choice { label, choices, get, set, .. } => {
            let value = RwSignal::new(get(&now).to_owned());
            follow(value, move |key| desk.change::<T>(id, |part| set(part, &key)));
            view! { <Select label=t(*label) value choices=said(desk, *choices)/> }.into_any()
        }
        Entry::Switch { label, get, set } => {
            let value = RwSignal::new(get(&now));
            follow(value, move |on| desk.change::<T>(id, |part| set(part, on)));
            view! { <div class="sizing-switch"><Toggle label=t(*label) value/></div> }.into_any()
        }
    }
}

fn said(desk: Desk, choices: fn() -> Vec<(&'static str, Message)>) -> Signal<Vec<Choice>> {
    let language = desk.studio().language;
    Signal::derive(move || {
        choices().into_iter().map(|(key, text)| Choice::new(key, language.say(text))).collect()
    })
}

/// The text of a number's field: what is typed becomes a number, and another language writes it anew.
pub(super) fn number_text(
    desk: Desk,
    now: Option<f64>,
    optional: bool,
    set: impl Fn(Option<f64>) + 'static,
) -> RwSignal<String> {
    let language = desk.studio().language;
    let first = now.map(|number| typed::written(language.0.get_untracked(), number));
    let value = RwSignal::new(first.unwrap_or_default());
    let latest = StoredValue::new(now);
    follow(value, move |text| {
        let number = if optional && text.trim().is_empty() {
            None
        } else {
            // Not a number is what the plan's own check has a sentence for.
            Some(typed::read(language.0.get_untracked(), &text).unwrap_or(f64::NAN))
        };
        latest.set_value(number);
        set(number);
    });
    Effect::new(move |before: Option<crate::locale::Locale>| {
        let locale = language.0.get();
        let number = latest.get_value().filter(|number| number.is_finite());
        if before.is_some_and(|before| before != locale)
            && let Some(number) = number
        {
            value.set(typed::written(locale, number));
        }
        locale
    });
    value
}

/// Calls when a value has changed, but not for the first one.
pub(crate) fn follow<V>(value: RwSignal<V>, act: impl Fn(V) + 'static)
where
    V: Clone + PartialEq + Send + Sync + 'static,
{
    Effect::new(move |before: Option<V>| {
        let now = value.get();
        if before.is_some_and(|before| before != now) {
            untrack(|| act(now.clone()));
        }
        now
    });
}

/// The machine that the plan is meant for, or none.
#[component]
fn TheMachine() -> impl IntoView {
    let desk = Desk::here();
    let named = Memo::new(move |_| desk.sheet.with(|sheet| sheet.machine.is_some()));
    let turn = move |()| {
        desk.sheet.update(|sheet| {
            sheet.machine = if sheet.machine.is_some() { None } else { Some(machine()) };
        });
    };
    let text = move || {
        let word = if named.get() { sizing::NO_MACHINE } else { sizing::NAME_MACHINE };
        desk.studio().language.say(word)
    };
    view! {
        <Panel
            title=t(sizing::MACHINE)
            aside=move || view! { <Button weight=Weight::Quiet on_press=turn>{text}</Button> }
        >
            <div class="sizing-groups">
                // A plan from a file brings another machine: its fields are built anew.
                {move || {
                    desk.loaded.get();
                    named.get().then(|| view! { <div class="sizing-group">{fields::<Machine>(desk, 0)}</div> })
                }}
                <Show when=move || !named.get()>
                    <p class="muted sizing-aside">{t(sizing::NO_MACHINE_TEXT)}</p>
                </Show>
            </div>
        </Panel>
    }
}
