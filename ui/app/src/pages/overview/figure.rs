//! One figure: what it is, the number with its unit, its small trend.
//!
//! **Invariants**
//! - A figure that the appliance does not measure reads as a dash, and says why.

use super::trail::Trail;
use crate::words::{Language, Message, overview, t};
use leptos::prelude::*;
use millrace_kit::{Freshness, Sparkline, Value};

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// With about four digits, and this unit.
    Reading(&'static str),
    /// A whole number.
    Count,
    /// Bytes with a prefix.
    Bytes,
    /// Percent with one digit behind the mark.
    Percent,
    /// Seconds, as milliseconds.
    Milliseconds,
}

impl Form {
    /// The number and its unit.
    pub(super) fn write(self, language: Language, number: f64) -> (String, &'static str) {
        let locale = language.locale();
        match self {
            Self::Reading(unit) => (locale.reading(number), unit),
            Self::Count => (locale.number(number, 0), ""),
            Self::Bytes => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "bytes of a machine"
                )]
                let bytes = number.max(0.0) as u64;
                locale.bytes(bytes)
            }
            Self::Milliseconds => (locale.number(number * 1_000.0, 1), "ms"),
            Self::Percent => (locale.number(number, 1), "%"),
        }
    }
}

/// One figure.
#[component]
pub(super) fn Figure(
    /// What it is.
    label: Message,
    /// Its last minutes.
    trail: Trail,
    /// How it is written.
    form: Form,
    /// Whether it is of now.
    freshness: Signal<Freshness>,
    /// A second line in small.
    #[prop(optional, into)]
    detail: Option<Signal<String>>,
) -> impl IntoView {
    let language = Language::here();
    let written = move || trail.latest().map(|number| form.write(language, number));
    let text = Signal::derive(move || written().map(|(text, _)| text));
    let unit =
        Signal::derive(move || written().map(|(_, unit)| unit.to_owned()).unwrap_or_default());
    let missing = move || trail.latest().is_none().then(|| language.say(overview::NOT_MEASURED));
    view! {
        <div class="figure" title=missing>
            <span class="figure-label">{t(label)}</span>
            <Value text unit freshness large=true/>
            <Sparkline points=Signal::derive(move || trail.all()) label=t(label)/>
            {detail.map(|detail| view! { <span class="figure-detail">{detail}</span> })}
        </div>
    }
}
