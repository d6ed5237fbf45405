//! The history of runs, and what each step of one did.
//!
//! **Invariants**
//! - What was not kept is told as not kept, never shown as empty.

use super::desk::Desk;
use super::moment;
use super::values::pretty;
use crate::api::Fault;
use crate::poll::poll;
use crate::words::{pipelines, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Priority, Weight};
use std::sync::Arc;
use std::time::Duration;

/// Runs that are listed.
const RUNS_SHOWN: &str = "50";

/// The list, and the run that is looked at.
#[component]
pub(super) fn Runs() -> impl IntoView {
    let desk = Desk::here();
    let studio = desk.studio();
    let listed = poll(&studio, Duration::from_secs(3), move |api| async move {
        let at = desk.at.get_value();
        api.get::<v1::Page<v1::Run>>(&at.segments(&["runs"]), &[("limit", RUNS_SHOWN)]).await
    });
    let detail = RwSignal::new(None::<Arc<v1::RunDetail>>);
    let toasts = desk.toasts;
    let open = Callback::new(move |run: String| {
        leptos::task::spawn_local(async move {
            let studio = desk.studio();
            let at = desk.at.get_value();
            let found: Result<v1::RunDetail, Fault> =
                studio.api.get(&at.segments(&["runs", &run]), &[]).await;
            match found {
                Ok(found) => drop(detail.try_set(Some(Arc::new(found)))),
                Err(fault) => {
                    if let Some(toasts) = toasts {
                        toasts.bad(Priority::Three, fault.text(studio.language));
                    }
                }
            }
        });
    });
    let start = move |()| {
        leptos::task::spawn_local(async move {
            let studio = desk.studio();
            let at = desk.at.get_value();
            let answer: Result<v1::StartedRun, Fault> =
                studio.api.post(&at.segments(&["trigger"]), &v1::NewRun::default()).await;
            tell_started(desk, answer);
            listed.refresh();
        });
    };
    let rows = move || {
        listed.value.with(|page| {
            let rows =
                page.as_ref()?.items.iter().map(|run| view! { <RunRow run=run.clone() open/> });
            Some(rows.collect_view())
        })
    };
    let is_empty =
        move || listed.value.with(|page| page.as_ref().is_none_or(|page| page.items.is_empty()));
    let shown = move || match detail.get() {
        None => view! { <p class="muted">{t(pipelines::RUN_PICK)}</p> }.into_any(),
        Some(detail) => view! { <RunSteps detail/> }.into_any(),
    };
    view! {
        <div class="runs">
            <div class="runs-list">
                <div class="form-actions">
                    <Button on_press=start>{t(pipelines::RUN_NOW)}</Button>
                </div>
                <Show when=is_empty><p class="muted">{t(pipelines::RUNS_NONE)}</p></Show>
                <table class="plain-table">
                    <thead><tr>
                        <th>{t(pipelines::STARTED)}</th><th>{t(pipelines::STATUS)}</th>
                        <th>{t(pipelines::DURATION)}</th><th>{t(pipelines::WHY)}</th>
                    </tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            <div class="runs-detail">{shown}</div>
        </div>
    }
}

/// Says what came of starting a run.
fn tell_started(desk: Desk, answer: Result<v1::StartedRun, Fault>) {
    let language = desk.studio().language;
    match (answer, desk.toasts) {
        (Ok(run), Some(toasts)) => {
            toasts.good(language.say_with(pipelines::RUN_STARTED, &[("id", &run.id)]));
        }
        (Err(fault), Some(toasts)) => toasts.bad(Priority::Three, fault.text(language)),
        _ => {}
    }
}

#[component]
fn RunRow(run: v1::Run, open: Callback<String>) -> impl IntoView {
    let studio = Desk::here().studio();
    let id = run.id.clone();
    let is_bad = matches!(run.status, v1::RunStatus::Failed | v1::RunStatus::Interrupted);
    let why = run.fault.map(|fault| {
        let step = fault.step.map(|step| format!("{step}: ")).unwrap_or_default();
        format!("{step}{}", fault.message)
    });
    let sign = if is_bad { "! " } else { "" };
    view! {
        <tr>
            <td class="figures">
                <button class="button button-quiet" type="button" on:click=move |_| open.run(id.clone())>
                    {moment(&studio, &run.started)}
                </button>
            </td>
            <td class:fault-text=is_bad>{sign}{run.status.name()}</td>
            <td class="figures">{format!("{:.2} ms", run.took_us as f64 / 1_000.0)}</td>
            <td>{why}</td>
        </tr>
    }
}

#[component]
fn RunSteps(detail: Arc<v1::RunDetail>) -> impl IntoView {
    let desk = Desk::here();
    let language = desk.spoken();
    let title = language.say_with(pipelines::STEPS, &[("run", &detail.run.id)]);
    let steps = detail.steps.iter().map(|step| view! { <StepRow step=step.clone()/> });
    let trigger = detail.run.trigger.clone();
    let input = detail.input.as_ref().map(|item| item.text().0.to_owned());
    let send = input.map(|input| {
        view! { <Button weight=Weight::Quiet on_press=move |()| send(desk, &trigger, &input)>{t(pipelines::SEND_TO_TEST)}</Button> }
    });
    let run = StoredValue::new(detail.run.id.clone());
    let again = move |()| {
        leptos::task::spawn_local(async move {
            let studio = desk.studio();
            let (at, run) = (desk.at.get_value(), run.get_value());
            let answer: Result<v1::StartedRun, Fault> = studio
                .api
                .post(&at.segments(&["runs", &run, "again"]), &serde_json::json!({}))
                .await;
            tell_started(desk, answer);
        });
    };
    view! {
        <h3>{title} " " {send} <Button weight=Weight::Quiet on_press=again>{t(pipelines::RUN_AGAIN)}</Button></h3>
        {steps.collect_view()}
    }
}

/// Takes an input into the test panel.
fn send(desk: Desk, step: &str, input: &str) {
    desk.input.set(pretty(input));
    desk.tab.set("test".to_owned());
    desk.editor.update(|editor| {
        editor.jump_to(step);
    });
}

#[component]
fn StepRow(step: v1::RunStep) -> impl IntoView {
    let desk = Desk::here();
    let language = desk.spoken();
    let id = step.step.clone();
    let is_bad = step.status == v1::StepStatus::Failed;
    let item = move |item: &Option<v1::Item>| match item {
        None => view! { <p class="muted">{language.say(pipelines::NOT_KEPT)}</p> }.into_any(),
        Some(item) => {
            let (text, is_whole) = item.text();
            let cut = (!is_whole)
                .then(|| language.say_with(pipelines::CUT, &[("n", &item.bytes.to_string())]));
            view! { <pre class="datum">{pretty(text)}</pre> {cut} }.into_any()
        }
    };
    let input = step.input.as_ref().map(|item| item.text().0.to_owned());
    let send = input.map(|input| {
        let id = id.clone();
        view! { <Button weight=Weight::Quiet on_press=move |()| send(desk, &id, &input)>{t(pipelines::SEND_TO_TEST)}</Button> }
    });
    let fault = step
        .fault
        .as_ref()
        .map(|fault| view! { <p class="field-fault">{fault.message.clone()}</p> });
    let times = format!("{:.2} ms · {}×", step.took_us as f64 / 1_000.0, step.count);
    view! {
        <details class="run-step">
            <summary>
                <strong>{id.clone()}</strong> " "
                <span class:fault-text=is_bad>{step.status.name()}</span> " "
                <span class="muted figures">{times}</span>
            </summary>
            {fault}
            <div class="run-data">
                <div><h3>{t(pipelines::INPUT)} " " {send}</h3>{item(&step.input)}</div>
                <div><h3>{t(pipelines::OUTPUT)}</h3>{item(&step.output)}</div>
            </div>
        </details>
    }
}
