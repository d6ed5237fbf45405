//! What a search finds, as one types: in path, unit and description.
//!
//! **Invariants**
//! - A question waits until the person pauses; an answer to an older question is let go.

use super::values::TopicValue;
use super::{Place, WORKSPACE};
use crate::context::Studio;
use crate::words::{namespace, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Column, Empty, Notice, Priority, Table};
use std::time::Duration;

/// Topics that are shown; the search gets narrower sooner than the list gets read.
const FOUND_MAX: usize = 500;
/// The pause in typing after which is asked.
const PAUSE: Duration = Duration::from_millis(250);

/// What was found.
#[component]
pub(super) fn Found(
    /// What is searched for.
    search: RwSignal<String>,
) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let place: Place = expect_context();
    let found = RwSignal::new(None::<(Vec<v1::Tag>, bool)>);
    let fault = RwSignal::new(None::<String>);
    let version = RwSignal::new(0_u64);
    ask(&studio, place, search, Answered { found, fault, version });
    let count =
        Signal::derive(move || found.with(|found| found.as_ref().map_or(0, |(all, _)| all.len())));
    let row = move |at: usize| {
        let tag = found.with_untracked(|found| found.as_ref()?.0.get(at).cloned());
        let Some(tag) = tag else { return Vec::new() };
        vec![
            tag.path.clone().into_any(),
            tag.description.into_any(),
            view! { <TopicValue path=tag.path values=place.values unit=tag.unit/> }.into_any(),
        ]
    };
    let chosen = RwSignal::new(None::<usize>);
    Effect::new(move |_| {
        let Some(at) = chosen.get() else { return };
        let path =
            found.with_untracked(|found| found.as_ref()?.0.get(at).map(|tag| tag.path.clone()));
        if path.is_some() {
            place.chosen.set(path);
        }
    });
    let text = move || {
        found.with(|found| {
            let Some((all, more)) = found else { return language.say(namespace::SEARCHING) };
            let number = language.locale().integer(i128::try_from(all.len()).unwrap_or_default());
            let message = if *more { namespace::FOUND_FIRST } else { namespace::FOUND };
            language.say_with(message, &[("n", &number)])
        })
    };
    let columns = vec![
        Column::texts(t(namespace::TOPIC), "3fr"),
        Column::texts(t(namespace::DESCRIPTION), "2fr"),
        Column::numbers(t(namespace::VALUE), "2fr"),
    ];
    let nothing = move || found.with(|found| found.as_ref().is_some_and(|(all, _)| all.is_empty()));
    let fault_text = Signal::derive(move || fault.get().unwrap_or_default());
    view! {
        <p class="muted namespace-count" role="status">{text}</p>
        <Show when=move || fault.with(Option::is_some)>
            <Notice priority=Priority::Three title=t(namespace::NOT_SEARCHED) text=fault_text/>
        </Show>
        <Show when=nothing>
            <Empty title=t(namespace::NOTHING_FOUND) next=t(namespace::NOTHING_FOUND_NEXT)/>
        </Show>
        <Table label=t(namespace::TOPICS) columns count row version chosen/>
    }
}

/// Where an answer goes.
#[derive(Clone, Copy)]
struct Answered {
    found: RwSignal<Option<(Vec<v1::Tag>, bool)>>,
    fault: RwSignal<Option<String>>,
    version: RwSignal<u64>,
}

/// Asks while one types.
fn ask(studio: &Studio, place: Place, search: RwSignal<String>, into: Answered) {
    let Answered { found, fault, version } = into;
    let studio = studio.clone();
    let asked = StoredValue::new(0_u64);
    Effect::new(move |_| {
        let text = search.get().trim().to_owned();
        place.changed.get();
        let studio = studio.clone();
        let number = asked.try_update_value(|asked| {
            *asked += 1;
            *asked
        });
        leptos::task::spawn_local(async move {
            studio.host.wait(PAUSE).await;
            let is_latest = move || asked.try_get_value() == number;
            if text.is_empty() || !is_latest() {
                return;
            }
            let address = ["workspaces", WORKSPACE, "tags"];
            let limit = FOUND_MAX.to_string();
            let query = [("search", text.as_str()), ("limit", &limit)];
            let answer = studio.api.get::<v1::Page<v1::Tag>>(&address, &query).await;
            if !is_latest() {
                return;
            }
            match answer {
                Ok(page) => {
                    fault.set(None);
                    found.set(Some((page.items, page.next.is_some())));
                    version.update(|version| *version += 1);
                }
                Err(why) => fault.set(Some(why.text(studio.language))),
            }
        });
    });
}
