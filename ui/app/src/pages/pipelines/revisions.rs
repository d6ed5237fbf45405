//! Revisions: who stored what and when, open one, roll back.
//!
//! **Invariants**
//! - Opening a revision changes the draft alone, and can be undone.

use super::deploy::took_over;
use super::desk::Desk;
use super::moment;
use super::opened::fetch;
use crate::api::Fault;
use crate::poll::poll;
use crate::words::{pipelines, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Dialog, Priority, Weight};
use std::time::Duration;

/// What the list shows.
struct Listed {
    revisions: Vec<v1::Revision>,
    deployment: Option<v1::Deployment>,
}

/// The list.
#[component]
pub(super) fn Revisions() -> impl IntoView {
    let desk = Desk::here();
    let studio = desk.studio();
    let listed = poll(&studio, Duration::from_secs(10), move |api| async move {
        let at = desk.at.get_value();
        let page: v1::Page<v1::Revision> =
            api.get(&at.segments(&["revisions"]), &[("limit", "50")]).await?;
        let pipeline: v1::Pipeline = api.get(&at.segments(&[]), &[]).await?;
        Ok(Listed { revisions: page.items, deployment: pipeline.deployment })
    });
    Effect::new(move |_| {
        if desk.again.get() > 0 {
            listed.refresh();
        }
    });
    let previous = Memo::new(move |_| {
        listed.value.with(|listed| {
            let deployment = listed.as_ref()?.deployment.as_ref()?;
            deployment.revision.and(deployment.previous)
        })
    });
    let rows = move || {
        listed.value.with(|listed| {
            let listed = listed.as_ref()?;
            let runs = listed.deployment.as_ref().and_then(|deployment| deployment.revision);
            let rows = listed.revisions.iter().map(|revision| {
                view! { <RevisionRow revision=revision.clone() runs=runs == Some(revision.revision)/> }
            });
            Some(rows.collect_view())
        })
    };
    let asked = RwSignal::new(false);
    view! {
        <Show when=move || previous.get().is_some()>
            <div class="form-actions">
                <Button on_press=move |()| asked.set(true)>{t(pipelines::ROLL_BACK)}</Button>
            </div>
        </Show>
        <table class="plain-table">
            <thead><tr>
                <th>{t(pipelines::REVISION)}</th><th>{t(pipelines::AT)}</th><th>{t(pipelines::AUTHOR)}</th>
                <th>{t(pipelines::NOTE)}</th><th></th>
            </tr></thead>
            <tbody>{rows}</tbody>
        </table>
        <RollBack asked previous/>
    }
}

#[component]
fn RevisionRow(revision: v1::Revision, runs: bool) -> impl IntoView {
    let desk = Desk::here();
    let language = desk.spoken();
    let number = revision.revision;
    let toasts = desk.toasts;
    let open = move |()| {
        leptos::task::spawn_local(async move {
            let studio = desk.studio();
            let at = desk.at.get_value();
            match fetch(&studio.api, &at, &number.to_string(), studio.language).await {
                Ok(found) => {
                    let name = format!("open revision {number}");
                    desk.act(|editor| editor.take_over(&name, &found.document));
                }
                Err(why) => {
                    if let Some(toasts) = toasts {
                        toasts.bad(Priority::Three, why);
                    }
                }
            }
        });
    };
    let mark =
        if runs { format!(" · {}", language.say(pipelines::RUNS_NOW)) } else { String::new() };
    view! {
        <tr>
            <td class="figures">{number}{mark}</td>
            <td class="figures">{moment(&desk.studio(), &revision.at)}</td>
            <td>{revision.author}</td>
            <td>{revision.note}</td>
            <td><Button weight=Weight::Quiet on_press=open>{t(pipelines::OPEN_REVISION)}</Button></td>
        </tr>
    }
}

#[component]
fn RollBack(asked: RwSignal<bool>, previous: Memo<Option<u32>>) -> impl IntoView {
    let desk = Desk::here();
    let language = desk.studio().language;
    let name = desk.at.with_value(|at| at.name.clone());
    let title =
        Signal::derive(move || language.say_with(pipelines::ROLL_BACK_TITLE, &[("name", &name)]));
    let text = move |message| {
        let number = previous.get().unwrap_or_default().to_string();
        language.say_with(message, &[("n", &number)])
    };
    let toasts = desk.toasts;
    let go = move |()| {
        leptos::task::spawn_local(async move {
            let studio = desk.studio();
            let at = desk.at.get_value();
            let answer: Result<v1::Running, Fault> =
                studio.api.post(&at.segments(&["rollback"]), &v1::Note::default()).await;
            asked.try_set(false);
            match answer {
                Ok(running) => took_over(desk, toasts, &running),
                Err(fault) => {
                    if let Some(toasts) = toasts {
                        toasts.bad(Priority::Two, fault.text(studio.language));
                    }
                }
            }
        });
    };
    view! {
        <Dialog title open=asked close=t(shell::CANCEL)>
            <p>{move || text(pipelines::ROLL_BACK_TEXT)}</p>
            <div class="form-actions">
                <Button weight=Weight::Danger on_press=go>{move || text(pipelines::ROLL_BACK_DO)}</Button>
            </div>
        </Dialog>
    }
}
