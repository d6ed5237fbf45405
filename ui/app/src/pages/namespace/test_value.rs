//! Publishing one value on a topic, as the signed-in person.
//!
//! **Invariants**
//! - It says whether the value is stored or why not, in the same place; what was typed stays.

use super::WORKSPACE;
use super::edit::help;
use super::refusals::reason_name;
use crate::api::Fault;
use crate::context::Studio;
use crate::host::Method;
use crate::words::{Language, access, namespace, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Dialog, Field, FieldKind, Notice, Priority, Progress, Weight};
use std::time::Duration;

/// A commit takes milliseconds; a degraded journal may take long, and the person is told then.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The dialog.
#[component]
pub(super) fn TestValue(
    /// The topic.
    path: String,
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Called when something was published or refused.
    #[prop(into)]
    on_done: Callback<()>,
) -> impl IntoView {
    let path = StoredValue::new(path);
    view! {
        <Dialog title=t(namespace::PUBLISH) open close=t(shell::CLOSE)>
            <Form path=path.get_value() on_done/>
        </Dialog>
    }
}

#[component]
fn Form(path: String, on_done: Callback<()>) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let payload = RwSignal::new(String::new());
    let working = RwSignal::new(false);
    let outcome = RwSignal::new(None::<Result<v1::TestVerdict, Fault>>);
    let shown = path.clone();
    let send = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if working.get_untracked() {
            return;
        }
        working.set(true);
        outcome.set(None);
        let (api, path) = (studio.api.clone(), path.clone());
        let value = v1::TestValue { payload: payload.get_untracked() };
        leptos::task::spawn_local(async move {
            let address = ["workspaces", WORKSPACE, "value"];
            let query = [("path", path.as_str())];
            let answer = api.change(Method::Post, &address, &query, Some(&value), TIMEOUT).await;
            let verdict = answer.and_then(|answer| crate::api::parse(&answer));
            working.try_set(false);
            outcome.try_set(Some(verdict));
            on_done.run(());
        });
    };
    let told = move || outcome.get().map(|outcome| told(language, outcome));
    view! {
        <form class="form" on:submit=send>
            <p><code>{shown}</code></p>
            <p>{t(namespace::PUBLISH_TEXT)}</p>
            <Field
                label=t(namespace::PAYLOAD)
                value=payload
                kind=FieldKind::Long
                help=help(language, namespace::PAYLOAD_HELP)
                autofocus=true
            />
            <div role="status" class="topic-verdict">{told}</div>
            <div class="form-actions">
                <Button on_press=|()| {} submit=true weight=Weight::Primary>{t(namespace::PUBLISH_DO)}</Button>
                <Show when=move || working.get()><Progress label=t(access::WORKING)/></Show>
            </div>
        </form>
    }
}

/// What became of it.
fn told(language: Language, outcome: Result<v1::TestVerdict, Fault>) -> AnyView {
    let bad = |title: String, text: String| {
        view! {
            <Notice priority=Priority::Three title=Signal::stored(title) text=Signal::stored(text)/>
        }
        .into_any()
    };
    match outcome {
        Err(why) => bad(language.say(namespace::NOT_PUBLISHED), why.text(language)),
        Ok(verdict) if verdict.refused == 0 => {
            view! { <p>{language.say(namespace::PUBLISHED)}</p> }.into_any()
        }
        Ok(verdict) => {
            let name = verdict.reason.as_deref().and_then(reason_name);
            let name = language.say(name.unwrap_or(namespace::REASON_OTHER));
            let title = language.say_with(namespace::REFUSED_BECAUSE, &[("reason", &name)]);
            bad(title, verdict.message.unwrap_or_default())
        }
    }
}
