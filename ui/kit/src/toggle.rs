//! A switch: on or off, at once.
//!
//! **Invariants**
//! - On and off differ by the place of the knob and by a word, not by colour alone.

use leptos::prelude::*;

/// A switch.
#[component]
pub fn Toggle(
    /// What is switched.
    #[prop(into)]
    label: Signal<String>,
    /// Whether it is on.
    value: RwSignal<bool>,
    /// Called with the new state when the person switches.
    #[prop(optional, into)]
    on_change: Option<Callback<bool>>,
) -> impl IntoView {
    let switch = move |_| {
        let on = !value.get_untracked();
        value.set(on);
        if let Some(on_change) = on_change {
            on_change.run(on);
        }
    };
    view! {
        <button class="toggle" type="button" role="switch" aria-checked=move || value.get().to_string() on:click=switch>
            <span class="toggle-track" aria-hidden="true">
                <span class="toggle-knob">{move || if value.get() { "I" } else { "O" }}</span>
            </span>
            {label}
        </button>
    }
}
