//! The rehearsal: recorded history through the draft and through what is deployed.
//!
//! **Invariants**
//! - It ends: with a report, a refusal, or after [`TIME_MAX`].

use super::deploy::some;
use super::desk::Desk;
use super::moment;
use super::test_panel::kind_word;
use crate::api::Fault;
use crate::host::Method;
use crate::words::{pipelines, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Field, Progress};
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;

/// Longest that is waited for.
const TIME_MAX: Duration = Duration::from_secs(600);

#[derive(Clone)]
enum State {
    Idle,
    Working,
    Done(Arc<v1::RehearsalReport>),
    Failed(String),
}

/// The rehearsal.
#[component]
pub(super) fn Rehearsal() -> impl IntoView {
    let desk = Desk::here();
    let (from, to) = (RwSignal::new("-1h".to_owned()), RwSignal::new("now".to_owned()));
    let state = RwSignal::new(State::Idle);
    let go = move |()| {
        if matches!(state.get_untracked(), State::Working) {
            return;
        }
        state.set(State::Working);
        let (from, to) = (from.get_untracked(), to.get_untracked());
        leptos::task::spawn_local(async move {
            let outcome = match rehearse(desk, from, to).await {
                Ok(report) => State::Done(Arc::new(report)),
                Err(why) => State::Failed(why),
            };
            state.try_set(outcome);
        });
    };
    let shown = move || match state.get() {
        State::Idle => ().into_any(),
        State::Working => view! { <Progress label=t(pipelines::REHEARSE_WORKING)/> }.into_any(),
        State::Failed(why) => view! { <p class="field-fault" role="alert">{why}</p> }.into_any(),
        State::Done(report) => view! { <Report report/> }.into_any(),
    };
    view! {
        <p>{t(pipelines::REHEARSE_TEXT)}</p>
        <div class="rehearse-form">
            <Field label=t(pipelines::REHEARSE_FROM) value=from help=some(pipelines::REHEARSE_HELP)/>
            <Field label=t(pipelines::REHEARSE_TO) value=to/>
            <Button on_press=go>{t(pipelines::REHEARSE_DO)}</Button>
        </div>
        {shown}
    }
}

async fn rehearse(desk: Desk, from: String, to: String) -> Result<v1::RehearsalReport, String> {
    let studio = desk.studio();
    let language = studio.language;
    let text = serde_json::to_string(&desk.document()).unwrap_or_default();
    let request = v1::RehearsalRequest {
        revision: None,
        document: RawValue::from_string(text).ok(),
        from,
        to,
    };
    let at = desk.at.get_value();
    let answer = studio
        .api
        .change(Method::Post, &at.segments(&["rehearse"]), &[], Some(&request), TIME_MAX)
        .await
        .map_err(|fault: Fault| fault.text(language))?;
    let text = String::from_utf8_lossy(&answer.body);
    // The last line tells how it ended; those before it how far it was.
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match serde_json::from_str::<v1::RehearsalEvent>(last) {
        Ok(v1::RehearsalEvent::Report(report)) => Ok(*report),
        Ok(v1::RehearsalEvent::Failed(detail)) => Err(detail.message),
        _ => Err(Fault::Foreign { status: answer.status }.text(language)),
    }
}

#[component]
fn Report(report: Arc<v1::RehearsalReport>) -> impl IntoView {
    let desk = Desk::here();
    let (studio, language) = (desk.studio(), desk.spoken());
    let sum = language.say_with(
        pipelines::REHEARSE_SUM,
        &[
            ("values", &report.values.to_string()),
            ("runs", &report.runs.to_string()),
            ("failed", &report.failed.to_string()),
            ("effects", &report.effects_total.to_string()),
            ("differences", &report.differences_total.to_string()),
        ],
    );
    let text = |item: &Option<v1::Item>| {
        item.as_ref().map_or_else(|| "–".to_owned(), |item| item.text().0.to_owned())
    };
    let at =
        |time: &Option<String>| time.as_ref().map(|time| moment(&studio, time)).unwrap_or_default();
    let faults = report.faults.iter().map(|fault| {
        view! { <li class="field-fault">{fault.step.clone()} " " {fault.message.clone()}</li> }
    });
    let rows: Vec<_> = if report.compared_with.is_some() {
        let rows = report.differences.iter().map(|difference| {
            let kind = kind_word(difference.kind);
            view! {
                <tr><td class="figures">{at(&difference.time)}</td><td>{kind}</td><td>{difference.target.clone()}</td>
                <td><code>{text(&difference.deployed)}</code></td><td><code>{text(&difference.rehearsed)}</code></td></tr>
            }
            .into_any()
        });
        rows.collect()
    } else {
        let rows = report.effects.iter().map(|effect| {
            let kind = kind_word(effect.kind);
            view! {
                <tr><td class="figures">{at(&effect.time)}</td><td>{kind}</td><td>{effect.target.clone()}</td>
                <td>"–"</td><td><code>{text(&effect.value)}</code></td></tr>
            }
            .into_any()
        });
        rows.collect()
    };
    view! {
        <p class="figures">{sum}</p>
        <ul>{faults.collect_view()}</ul>
        <table class="plain-table">
            <thead><tr>
                <th>{t(pipelines::AT)}</th><th>{t(pipelines::KIND)}</th><th>{t(pipelines::TARGET)}</th>
                <th>{t(pipelines::DIFFERENCE_FROM)}</th><th>{t(pipelines::DIFFERENCE_TO)}</th>
            </tr></thead>
            <tbody>{rows}</tbody>
        </table>
    }
}
