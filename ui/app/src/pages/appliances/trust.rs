//! The certificate of an appliance: compared by a person, at first and when it changes.

use super::Gate;
use crate::context::Studio;
use crate::pages::claim::Entrance;
use crate::words::{appliances, shell, t};
use leptos::prelude::*;
use millrace_kit::{Button, Notice, Priority, Weight};
use serde_json::json;

/// Shows what is to be compared, and takes the decision.
#[component]
pub(super) fn Trust(
    /// The gate.
    gate: Gate,
    /// What the appliance shows.
    presented: String,
    /// What was accepted before.
    pinned: Option<String>,
) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let name = gate.name();
    let named = move |message| {
        let name = name.clone();
        Signal::derive(move || language.say_with(message, &[("name", &name)]))
    };
    let (title, text, accept, priority, weight) = match pinned {
        None => (
            named(appliances::FIRST),
            t(appliances::FIRST_TEXT),
            t(appliances::ACCEPT),
            Priority::Three,
            Weight::Primary,
        ),
        Some(_) => (
            named(appliances::CHANGED),
            t(appliances::CHANGED_TEXT),
            named(appliances::REPLACE),
            Priority::One,
            Weight::Danger,
        ),
    };
    let back = gate.clone();
    let (shown, before) = (presented.clone(), pinned.clone());
    let decide = move |()| {
        let Some(chosen) = gate.chosen.get_untracked() else { return };
        let mut call =
            json!({"call": "trust", "profile": chosen.id, "fingerprint": presented.clone()});
        if let (Some(call), Some(pinned)) = (call.as_object_mut(), &pinned) {
            call.insert("replaces".to_owned(), json!(pinned));
        }
        gate.ask(&studio, call);
    };
    view! {
        <Entrance title=shell::PRODUCT>
            <Notice priority title text/>
            {before.map(|before| view! {
                <p>{t(appliances::BEFORE)}</p>
                <code class="fingerprint">{before}</code>
                <p>{t(appliances::NOW)}</p>
            })}
            <p class="muted">{t(appliances::FINGERPRINT)}</p>
            <code class="fingerprint">{shown}</code>
            <div class="form-actions">
                <Button on_press=move |()| back.leave()>{t(appliances::BACK)}</Button>
                <Button on_press=decide weight>{accept}</Button>
            </div>
        </Entrance>
    }
}
