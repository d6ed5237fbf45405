//! The namespace: the tree of topics with their values, and all about one of them.
//!
//! Branches are loaded when they are opened and forgotten when they are closed; values are asked for
//! once a second, for the rows in sight alone. So a tree of a hundred thousand topics with ten
//! thousand values a second costs what is on the screen.
//!
//! **Invariants**
//! - What is asked for does not grow with the namespace or its rate.
//! - What this version cannot do is said in a sentence; no button stands for it.

mod branches;
mod bulk;
mod create;
mod details;
mod edit;
mod found;
mod reading;
mod refusals;
mod test_value;
mod tree;
mod values;
mod who;

use crate::context::Studio;
use crate::pages::Page;
use crate::words::{namespace, overview, t};
use branches::Branches;
use bulk::Bulk;
use create::Create;
use details::Details;
use found::Found;
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Empty, Field, Panel};
use tree::Topics;
use values::Values;

/// The workspace that is shown; this version has one.
const WORKSPACE: &str = "main";

/// What the parts of the page share.
#[derive(Clone, Copy)]
struct Place {
    /// The path of the topic that is chosen.
    chosen: RwSignal<Option<String>>,
    /// What of the tree is open; it stays so while a search is shown.
    branches: RwSignal<Branches>,
    /// Moves when topics were made here, so that the tree is asked for anew.
    changed: RwSignal<u64>,
    /// Values of what is in sight.
    values: Values,
}

/// The page.
#[component]
pub fn Namespace() -> impl IntoView {
    let studio = Studio::here();
    let place = Place {
        chosen: RwSignal::new(None),
        branches: RwSignal::new(Branches::default()),
        changed: RwSignal::new(0),
        values: Values::start(&studio),
    };
    provide_context(place);
    let (search, making) = (RwSignal::new(String::new()), RwSignal::new(false));
    let bulk = RwSignal::new(false);
    let may = studio.sessions.may(v1::Role::Engineer);
    let language = studio.language;
    let off = Signal::derive(move || (!may).then(|| language.say(overview::NEEDS_ENGINEER)));
    let is_search = Memo::new(move |_| search.with(|text| !text.trim().is_empty()));
    view! {
        <Page title=namespace::TITLE>
            <div class="namespace-tools">
                <Field label=t(namespace::SEARCH) value=search/>
                <Button on_press=move |()| making.set(true) off_because=off>{t(namespace::NEW)}</Button>
                <Button on_press=move |()| bulk.set(true) off_because=off>{t(namespace::BULK)}</Button>
            </div>
            <div class="namespace">
                <div class="namespace-list">
                    <Panel title=t(namespace::TOPICS)>
                        <Show when=move || is_search.get() fallback=|| view! { <Topics/> }>
                            <Found search/>
                        </Show>
                    </Panel>
                </div>
                <div class="namespace-details">
                    {move || match place.chosen.get() {
                        Some(path) => view! { <Details path/> }.into_any(),
                        None => view! {
                            <Panel title=t(namespace::TOPIC)>
                                <Empty title=t(namespace::NONE_CHOSEN) next=t(namespace::NONE_CHOSEN_NEXT)/>
                            </Panel>
                        }
                        .into_any(),
                    }}
                </div>
            </div>
            <Create open=making/>
            <Bulk open=bulk on_changed=move |()| place.changed.update(|count| *count += 1)/>
        </Page>
    }
}
