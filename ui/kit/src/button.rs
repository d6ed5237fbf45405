//! A button: says what it does, and while it cannot be used, why.
//!
//! **Invariants**
//! - A button that is off keeps its place in the order of tabs and tells its reason: it is
//!   `aria-disabled`, not `disabled`, which a keyboard could not reach.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

/// How much a button asks to be looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// One of several.
    #[default]
    Plain,
    /// The one that goes on; at most one in sight.
    Primary,
    /// No border until it is pointed at: for rows of tools.
    Quiet,
    /// Destroys something or acts on the plant; its text names the object.
    Danger,
}

impl Weight {
    fn class(self) -> &'static str {
        match self {
            Self::Plain => "button",
            Self::Primary => "button button-primary",
            Self::Quiet => "button button-quiet",
            Self::Danger => "button button-danger",
        }
    }
}

/// A button.
#[component]
pub fn Button(
    /// What happens on a click, Enter or Space.
    #[prop(into)]
    on_press: Callback<()>,
    /// How much it asks to be looked at.
    #[prop(optional)]
    weight: Weight,
    /// Why it cannot be used now; `None` = it can.
    #[prop(optional, into)]
    off_because: Signal<Option<String>>,
    /// Submits the form around it when there is no handler of its own to run.
    #[prop(optional)]
    submit: bool,
    /// A name for those who do not see the content (an icon).
    #[prop(optional, into)]
    label: Option<String>,
    /// What stands on it.
    children: Children,
) -> impl IntoView {
    let press = move |event: MouseEvent| {
        if off_because.with(Option::is_some) {
            event.prevent_default();
        } else {
            on_press.run(());
        }
    };
    view! {
        <button
            class=weight.class()
            type=if submit { "submit" } else { "button" }
            aria-disabled=move || off_because.with(Option::is_some).to_string()
            aria-label=label.clone()
            title=move || off_because.get().or_else(|| label.clone())
            on:click=press
        >
            {children()}
        </button>
    }
}
