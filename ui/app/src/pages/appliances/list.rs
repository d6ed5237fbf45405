//! The list of appliances: open one, add one, search for one, forget one.

use super::Gate;
use crate::context::Studio;
use crate::host::desktop::Chosen;
use crate::pages::claim::Entrance;
use crate::pages::pipelines::OpenedFiles;
use crate::words::{appliances, t};
use leptos::prelude::*;
use millrace_kit::{Button, Empty, Field, Notice, Panel, Priority, Progress, Weight};
use serde::Deserialize;
use serde_json::json;

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Found {
    name: String,
    address: String,
    #[serde(default)]
    version: String,
    /// A rumor: the certificate itself is compared when a person connects.
    #[serde(default)]
    fingerprint: Option<String>,
}

/// The list, and the form for one more.
#[component]
pub(super) fn List(
    /// The gate.
    gate: Gate,
) -> impl IntoView {
    let (profiles, notices) = (gate.profiles, gate.notices);
    let rows = {
        let gate = gate.clone();
        move || {
            let gate = gate.clone();
            profiles
                .get()
                .into_iter()
                .map(|chosen| view! { <Row gate=gate.clone() chosen/> })
                .collect_view()
        }
    };
    view! {
        <Entrance title=appliances::TITLE>
            {move || notices.get().into_iter().map(|text| view! {
                <Notice priority=Priority::Two title=t(appliances::TITLE) text/>
            }).collect_view()}
            <OpenedFiles has_appliance=false/>
            <Show when=move || profiles.with(Vec::is_empty)>
                <Empty title=t(appliances::EMPTY) next=t(appliances::EMPTY_NEXT)/>
            </Show>
            <ul class="appliances">{rows}</ul>
            <Add gate/>
        </Entrance>
    }
}

#[component]
fn Row(gate: Gate, chosen: Chosen) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let (name, address, id) = (chosen.name.clone(), chosen.address.clone(), chosen.id.clone());
    let refused = RwSignal::new(None::<String>);
    let program = gate.program.clone();
    let forget = move |()| {
        let (program, call) =
            (program.clone(), json!({"call": "remove_profile", "profile": id.clone()}));
        leptos::task::spawn_local(async move {
            if let Err(why) = program.call(&call).await {
                refused.set(Some(why.message));
            }
        });
    };
    let text = {
        let name = name.clone();
        Signal::derive(move || language.say_with(appliances::FORGET, &[("name", &name)]))
    };
    view! {
        <li class="appliance">
            <div class="appliance-name">
                <strong>{name}</strong>
                <span class="muted">{address}</span>
                {move || refused.get().map(|why| view! { <span role="alert">{why}</span> })}
            </div>
            <Button on_press=forget weight=Weight::Quiet>{text}</Button>
            <Button on_press=move |()| gate.enter(&studio, chosen.clone()) weight=Weight::Primary>
                {t(appliances::OPEN)}
            </Button>
        </li>
    }
}

#[component]
fn Add(gate: Gate) -> impl IntoView {
    let text = || RwSignal::new(String::new());
    let (name, address) = (text(), text());
    let (name_fault, address_fault) = (RwSignal::new(None), RwSignal::new(None));
    let searching = RwSignal::new(false);
    let found = RwSignal::new(None::<Vec<Found>>);
    let program = gate.program.clone();
    let add = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let typed = address.get_untracked().trim().to_owned();
        let called = match name.get_untracked().trim() {
            "" => typed.clone(),
            called => called.to_owned(),
        };
        let call = json!({"call": "add_profile", "name": called, "address": typed});
        let program = program.clone();
        leptos::task::spawn_local(async move {
            name_fault.set(None);
            address_fault.set(None);
            match program.call(&call).await {
                Ok(_) => {
                    name.set(String::new());
                    address.set(String::new());
                }
                Err(why) if why.field.as_deref() == Some("name") => {
                    name_fault.set(Some(why.message));
                }
                Err(why) => address_fault.set(Some(why.message)),
            }
        });
    };
    let program = gate.program.clone();
    let search = move |()| {
        if searching.get_untracked() {
            return;
        }
        searching.set(true);
        let program = program.clone();
        leptos::task::spawn_local(async move {
            let answer = program.call(&json!({"call": "discover", "seconds": 5})).await;
            searching.set(false);
            let list = answer.ok().and_then(|answer| answer.get("found").cloned());
            let list = list.and_then(|list| serde_json::from_value(list).ok());
            found.set(Some(list.unwrap_or_default()));
        });
    };
    let take = move |one: Found| {
        name.set(one.name);
        address.set(one.address);
    };
    let help = |message| {
        let text = t(message);
        Signal::derive(move || Some(text.get()))
    };
    view! {
        <Panel title=t(appliances::ADD)>
            <form class="form" on:submit=add>
                <Field label=t(appliances::ADDRESS) value=address help=help(appliances::ADDRESS_HELP) fault=address_fault autocomplete="off"/>
                <Field label=t(appliances::NAME) value=name help=help(appliances::NAME_HELP) fault=name_fault autocomplete="off"/>
                <div class="form-actions">
                    <Button on_press=|()| {} submit=true weight=Weight::Primary>{t(appliances::SUBMIT)}</Button>
                    <Button on_press=search>{t(appliances::SEARCH)}</Button>
                </div>
            </form>
            <Show when=move || searching.get()>
                <Progress label=t(appliances::SEARCHING)/>
            </Show>
            {move || found.get().map(|list| match list.is_empty() {
                true => view! { <p class="muted">{t(appliances::FOUND_NONE)}</p> }.into_any(),
                false => list.into_iter().map(|one| {
                    let shown = format!("{} · {} · {}", one.name, one.address, one.version);
                    let shown = shown.trim_end_matches(" · ").to_owned();
                    let (says, taken) = (one.fingerprint.clone(), one);
                    view! {
                        <p>
                            {shown}
                            {says.map(|says| view! {
                                <span class="muted">{t(appliances::SAYS)} " " <code class="fingerprint">{says}</code></span>
                            })}
                            <Button on_press=move |()| take(taken.clone()) weight=Weight::Quiet>{t(appliances::TAKE)}</Button>
                        </p>
                    }
                }).collect_view().into_any(),
            })}
        </Panel>
    }
}
