//! A value with unit, quality and age: the same everywhere a value is shown.
//!
//! **Invariants**
//! - Bad and uncertain are told by text and hatch, not by colour alone.
//! - A value that is no longer fresh is greyed and says how old it is.

use leptos::prelude::*;

/// What the device says about its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quality {
    /// Trust it.
    #[default]
    Good,
    /// Perhaps.
    Uncertain,
    /// Do not.
    Bad,
}

/// Whether a value is of now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// Of now.
    #[default]
    Fresh,
    /// Of then: the text says when, in the person's words ("12 s ago").
    Stale(String),
}

/// A value.
#[component]
pub fn Value(
    /// The number or text, formatted; `None` = there is none.
    #[prop(into)]
    text: Signal<Option<String>>,
    /// Its unit.
    #[prop(optional, into)]
    unit: Signal<String>,
    /// What the device says about it.
    #[prop(optional, into)]
    quality: Signal<Quality>,
    /// Whether it is of now.
    #[prop(optional, into)]
    freshness: Signal<Freshness>,
    /// How bad and uncertain read in the person's language.
    #[prop(optional, into)]
    quality_text: Signal<String>,
    /// Larger, for a figure of its own.
    #[prop(optional)]
    large: bool,
) -> impl IntoView {
    let age = move || match freshness.get() {
        Freshness::Fresh => String::new(),
        Freshness::Stale(_) if text.with(Option::is_none) => String::new(),
        Freshness::Stale(age) => age,
    };
    let mark = move || match quality.get() {
        Quality::Good => String::new(),
        Quality::Uncertain => "?".to_owned(),
        Quality::Bad => quality_text.get(),
    };
    let shown_unit = move || if text.with(Option::is_some) { unit.get() } else { String::new() };
    view! {
        <span
            class="value"
            class:value-large=large
            class:value-stale=move || freshness.with(|freshness| *freshness != Freshness::Fresh)
            class:value-bad=move || quality.get() == Quality::Bad
            title=move || (quality.get() != Quality::Good).then(|| quality_text.get())
        >
            <span class="value-digits">{move || text.get().unwrap_or_else(|| "–".to_owned())}</span>
            <span class="value-unit">{shown_unit}</span>
            <span class="value-mark">{mark}</span>
            <span class="value-age">{age}</span>
        </span>
    }
}
