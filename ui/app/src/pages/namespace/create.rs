//! Making a topic before its first value.
//!
//! **Invariants**
//! - What the appliance refuses stands at its field.

use super::edit::{at_field, help, retention_of, retentions};
use super::{Place, WORKSPACE};
use crate::context::Studio;
use crate::words::{namespace, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Choice, Dialog, Field, Select, Toasts, Weight};

/// The kinds that a topic can be made with, by their name on the wire.
const KINDS: [(&str, v1::Kind); 6] = [
    ("float", v1::Kind::Float),
    ("int", v1::Kind::Int),
    ("uint", v1::Kind::Uint),
    ("bool", v1::Kind::Bool),
    ("text", v1::Kind::Text),
    ("json", v1::Kind::Json),
];

/// The dialog.
#[component]
pub(super) fn Create(
    /// Whether it is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    view! { <Dialog title=t(namespace::NEW) open close=t(shell::CANCEL)><Form open/></Dialog> }
}

#[component]
fn Form(open: RwSignal<bool>) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let place: Place = expect_context();
    let text = || RwSignal::new(String::new());
    let (path, unit, description, retention) = (text(), text(), text(), text());
    let kind = RwSignal::new("float".to_owned());
    let fault = RwSignal::new(None::<(String, String)>);
    let toasts: Toasts = expect_context();
    let make = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let named = kind.get_untracked();
        let found = KINDS.iter().find(|(key, _)| *key == named);
        let new = v1::NewTag {
            path: path.get_untracked().trim().to_owned(),
            kind: found.map_or(v1::Kind::Float, |(_, kind)| *kind),
            unit: unit.get_untracked().trim().to_owned(),
            description: description.get_untracked().trim().to_owned(),
            retention: retention_of(&retention.get_untracked()),
            schema: v1::Schema::default(),
        };
        let studio = studio.clone();
        leptos::task::spawn_local(async move {
            let address = ["workspaces", WORKSPACE, "tags"];
            match studio.api.post::<_, v1::Tag>(&address, &new).await {
                Ok(tag) => {
                    toasts.good(studio.language.say_with(namespace::MADE, &[("path", &tag.path)]));
                    place.chosen.try_set(Some(tag.path));
                    place.changed.try_update(|count| *count += 1);
                    open.try_set(false);
                }
                Err(why) => {
                    let field = why.field().unwrap_or("path").to_owned();
                    fault.try_set(Some((field, why.text(studio.language))));
                }
            }
        });
    };
    let kinds = Signal::derive(move || {
        let choice = |(key, kind): (&str, v1::Kind)| {
            Choice::new(key, language.say(super::details::kind(kind)))
        };
        KINDS.map(choice).to_vec()
    });
    let classes = Signal::derive(move || {
        let mut all = vec![Choice::new("", language.say(namespace::RETENTION_DEFAULT))];
        all.extend(retentions(language));
        all
    });
    let at = move |field: &'static str| at_field(fault, field);
    view! {
        <form class="form" on:submit=make>
            <Field
                label=t(namespace::PATH)
                value=path
                help=help(language, namespace::PATH_HELP)
                fault=at("path")
                autofocus=true
            />
            <Select label=t(namespace::KIND) value=kind choices=kinds/>
            <Field label=t(namespace::DESCRIPTION) value=description fault=at("description")/>
            <Field label=t(namespace::UNIT) value=unit fault=at("unit")/>
            <Select label=t(namespace::RETENTION) value=retention choices=classes/>
            <div class="form-actions">
                <Button on_press=|()| {} submit=true weight=Weight::Primary>{t(namespace::MAKE)}</Button>
            </div>
        </form>
    }
}
