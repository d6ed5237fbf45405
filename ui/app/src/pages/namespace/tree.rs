//! The tree of topics.
//!
//! **Invariants**
//! - A branch is loaded page by page, the next when the end of the last comes into sight.

use super::branches::{Ask, Branches, Node};
use super::values::TopicValue;
use super::{Place, WORKSPACE};
use crate::context::Studio;
use crate::words::{namespace, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Empty, Notice, Priority, Tree, TreeRow, Weight};

/// Levels of one answer.
const PAGE: &str = "500";

/// The tree.
#[component]
pub(super) fn Topics() -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let place: Place = expect_context();
    let branches = place.branches;
    let studio = StoredValue::new(studio);
    let ask = move |asks: Vec<Ask>| {
        for ask in asks {
            leptos::task::spawn_local(load(studio.get_value(), branches, ask));
        }
    };
    let first = branches.try_update(|branches| match branches.is_open("") {
        // It was shown before: what was open is still known.
        true => Vec::new(),
        false => branches.toggle("").into_iter().collect(),
    });
    ask(first.unwrap_or_default());
    Effect::new(move |_| {
        if place.changed.get() > 0 {
            ask(branches.try_update(Branches::renew).unwrap_or_default());
        }
    });
    let more = Callback::new(move |branch: String| {
        ask(branches.try_update(|all| all.ask(&branch)).flatten().into_iter().collect());
    });
    let toggle = move |key: String| {
        if let Some(Node::Branch(path)) = Node::of_key(&key) {
            ask(branches.try_update(|all| all.toggle(&path)).flatten().into_iter().collect());
        }
    };
    let chosen = RwSignal::new(None::<String>);
    let choose = move |key: Option<&String>| {
        if let Some(Node::Topic(path)) = key.and_then(|key| Node::of_key(key)) {
            place.chosen.set(Some(path));
        }
    };
    Effect::new(move |_| chosen.with(|key| choose(key.as_ref())));
    let open = move |key: String| match Node::of_key(&key) {
        Some(Node::Branch(_)) => toggle(key),
        Some(Node::Failed(branch)) => more.run(branch),
        _ => choose(Some(&key)),
    };
    let aside = Callback::new(move |row: TreeRow| beside(place, more, &row));
    let rows = Signal::derive(move || branches.with(Branches::rows));
    let is_empty = Memo::new(move |_| branches.with(Branches::is_empty));
    let fault = Signal::derive(move || place.values.fault(language).unwrap_or_default());
    view! {
        <Show when=move || fault.with(|fault| !fault.is_empty())>
            <Notice priority=Priority::Three title=t(namespace::NO_VALUES) text=fault/>
        </Show>
        <Show when=move || is_empty.get()>
            <Empty title=t(namespace::EMPTY) next=t(namespace::EMPTY_NEXT)/>
        </Show>
        <Tree label=t(namespace::TOPICS) rows chosen on_toggle=toggle on_open=open aside/>
    }
}

/// What stands beside a row: how much is below it, its value, or that more of it comes.
fn beside(place: Place, more: Callback<String>, row: &TreeRow) -> AnyView {
    let language = Studio::here().language;
    let branches = place.branches;
    match Node::of_key(&row.key) {
        Some(Node::Branch(path)) => {
            let count = move || branches.with(|all| all.count(&path));
            let text = move || count().map(|count| language.locale().integer(i128::from(count)));
            view! { <span class="muted figures">{text}</span> }.into_any()
        }
        Some(Node::Topic(path)) => {
            let own = path.clone();
            let unit = Signal::derive(move || {
                branches.with(|all| all.unit(&own).unwrap_or_default().to_owned())
            });
            view! { <TopicValue path values=place.values unit/> }.into_any()
        }
        Some(Node::More(branch)) => {
            // It came into sight: the next page is wanted now. Not while the row is being built.
            request_animation_frame(move || {
                // The page may have been left by then.
                let _left = more.try_run(branch).is_none();
            });
            view! { <span class="muted">{t(namespace::LOADING)}</span> }.into_any()
        }
        Some(Node::Failed(branch)) => {
            let own = branch.clone();
            let why = move || branches.with(|all| all.fault(&own).unwrap_or_default().to_owned());
            view! {
                <span class="muted namespace-failed">{why}</span>
                <Button weight=Weight::Quiet on_press=move |()| more.run(branch.clone())>
                    {t(namespace::TRY_AGAIN)}
                </Button>
            }
            .into_any()
        }
        None => ().into_any(),
    }
}

async fn load(studio: Studio, branches: RwSignal<Branches>, ask: Ask) {
    let mut query = vec![("limit", PAGE)];
    if !ask.branch.is_empty() {
        query.push(("branch", &ask.branch));
    }
    if let Some(after) = &ask.after {
        query.push(("after", after));
    }
    let address = ["workspaces", WORKSPACE, "levels"];
    let answer = studio.api.get::<v1::Page<v1::Level>>(&address, &query).await;
    let why = answer.as_ref().err().map(|fault| fault.text(studio.language));
    // Who has left the page needs no answer.
    branches.try_update(|branches| match (answer, why) {
        (Ok(page), _) => branches.take(&ask, page),
        (Err(_), why) => branches.fail(&ask, why.unwrap_or_default()),
    });
}
