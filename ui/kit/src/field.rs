//! A field: label, input, help, and what is wrong with what was typed.
//!
//! **Invariants**
//! - The label is always in sight; help and fault are tied to the input for those who only hear it.
//! - A fault stands at its field, not in a list somewhere else.

use crate::id::unique;
use leptos::prelude::*;

/// What may be typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldKind {
    /// One line.
    #[default]
    Text,
    /// Hidden while typed.
    Password,
    /// A number, as text: it is parsed by whoever asked for it, in the person's locale.
    Number,
    /// Several lines.
    Long,
}

/// A field of a form.
#[component]
pub fn Field(
    /// What it is.
    #[prop(into)]
    label: Signal<String>,
    /// What stands in it.
    value: RwSignal<String>,
    /// What may be typed.
    #[prop(optional)]
    kind: FieldKind,
    /// What it is for, at the field, always in sight.
    #[prop(optional, into)]
    help: Signal<Option<String>>,
    /// What is wrong with it.
    #[prop(optional, into)]
    fault: Signal<Option<String>>,
    /// The unit behind the input.
    #[prop(optional, into)]
    unit: Option<String>,
    /// What browsers may fill in: `username`, `current-password`, `off`.
    #[prop(optional, into)]
    autocomplete: Option<String>,
    /// Takes the focus when it appears.
    #[prop(optional)]
    autofocus: bool,
) -> impl IntoView {
    let id = unique("field");
    let help_id = format!("{id}-help");
    let fault_id = format!("{id}-fault");
    let described = format!("{help_id} {fault_id}");
    let input = NodeRef::<leptos::html::Input>::new();
    if autofocus {
        Effect::new(move |_| {
            if let Some(input) = input.get() {
                // A field that cannot be focused is still a field.
                let _unfocused = input.focus().is_err();
            }
        });
    }
    let invalid = move || fault.with(Option::is_some).then_some("true");
    let control = if kind == FieldKind::Long {
        view! {
            <textarea
                id=id.clone()
                class="field-input field-long"
                rows="4"
                prop:value=value
                on:input=move |event| value.set(event_target_value(&event))
                aria-describedby=described
                aria-invalid=invalid
            ></textarea>
        }
        .into_any()
    } else {
        view! {
            <input
                id=id.clone()
                node_ref=input
                class="field-input"
                class:figures=kind == FieldKind::Number
                type=if kind == FieldKind::Password { "password" } else { "text" }
                inputmode=(kind == FieldKind::Number).then_some("decimal")
                autocomplete=autocomplete.unwrap_or_else(|| "off".to_owned())
                spellcheck="false"
                prop:value=value
                on:input=move |event| value.set(event_target_value(&event))
                aria-describedby=described
                aria-invalid=invalid
            />
        }
        .into_any()
    };
    view! {
        <div class="field">
            <label class="field-label" for=id.clone()>{label}</label>
            <div class="field-line">
                {control} {unit.map(|unit| view! { <span class="field-unit">{unit}</span> })}
            </div>
            <p class="field-help" id=help_id hidden=move || help.with(Option::is_none)>{help}</p>
            <p class="field-fault" id=fault_id role="alert">{fault}</p>
        </div>
    }
}
