//! A choice out of a few, with the system's own list.
//!
//! **Invariants**
//! - What is chosen is one of the choices, or nothing.

use crate::id::unique;
use leptos::prelude::*;

/// One choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is chosen, for the program.
    pub key: String,
    /// For the person.
    pub text: String,
}

impl Choice {
    /// A choice.
    pub fn new(key: impl Into<String>, text: impl Into<String>) -> Self {
        Self { key: key.into(), text: text.into() }
    }
}

/// A choice out of a few.
#[component]
pub fn Select(
    /// What is chosen.
    #[prop(into)]
    label: Signal<String>,
    /// The key of what is chosen.
    value: RwSignal<String>,
    /// All choices.
    #[prop(into)]
    choices: Signal<Vec<Choice>>,
    /// What it is for.
    #[prop(optional, into)]
    help: Signal<Option<String>>,
    /// The label is only heard, not seen: for rows of tools.
    #[prop(optional)]
    compact: bool,
) -> impl IntoView {
    let id = unique("select");
    let help_id = format!("{id}-help");
    let options = move || {
        let option = |choice: Choice| {
            let key = choice.key.clone();
            let selected = move || value.with(|value| *value == key);
            view! { <option value=choice.key.clone() selected=selected>{choice.text}</option> }
        };
        choices.get().into_iter().map(option).collect_view()
    };
    view! {
        <div class="field" class:field-compact=compact>
            <label class="field-label" class:visually-hidden=compact for=id.clone()>{label}</label>
            <select
                id=id
                class="field-input select"
                prop:value=value
                on:change=move |event| value.set(event_target_value(&event))
                aria-describedby=help_id.clone()
            >
                {options}
            </select>
            <p class="field-help" id=help_id hidden=move || help.with(Option::is_none)>{help}</p>
        </div>
    }
}
