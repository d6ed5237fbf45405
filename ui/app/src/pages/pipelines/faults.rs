//! The list of faults: each leads to its step and field.
//!
//! **Invariants**
//! - What the appliance said stands with what is checked here, and is forgotten with the next change.

use super::desk::Desk;
use crate::words::{pipelines, t};
use leptos::prelude::*;
use millrace_flow::Severity;

/// Most faults that are listed.
const SHOWN_MAX: usize = 200;

/// The list.
#[component]
pub(super) fn FaultList() -> impl IntoView {
    let desk = Desk::here();
    let language = desk.studio().language;
    let all = move || {
        let mut all: Vec<Row> = desk.told.with(|told| {
            let rows = told.iter().map(|fault| Row {
                severity: Severity::Error,
                step: fault.step.clone(),
                field: fault.field.clone(),
                line: fault.line,
                message: fault.message.clone(),
            });
            rows.collect()
        });
        all.extend(desk.faults.with(|faults| {
            let rows = faults.iter().map(|fault| Row {
                severity: fault.severity,
                step: fault.step.clone(),
                field: fault.field.clone(),
                line: None,
                message: fault.message.clone(),
            });
            rows.collect::<Vec<_>>()
        }));
        all.sort_by_key(|row| row.severity);
        all.truncate(SHOWN_MAX);
        all
    };
    view! {
        <Show when=move || desk.faults.with(Vec::is_empty) && desk.told.with(Vec::is_empty)>
            <p class="muted">{t(pipelines::FAULTS_NONE)}</p>
        </Show>
        <ul class="fault-list">
            {move || { language.0.track(); all().into_iter().map(|row| view! { <FaultRow row/> }).collect_view() }}
        </ul>
    }
}

#[derive(Clone)]
struct Row {
    severity: Severity,
    step: Option<String>,
    field: Option<String>,
    line: Option<u32>,
    message: String,
}

#[component]
fn FaultRow(row: Row) -> impl IntoView {
    let desk = Desk::here();
    let language = desk.spoken();
    let (sign, word) = match row.severity {
        Severity::Error => ("!", pipelines::ERROR),
        Severity::Warning => ("?", pipelines::WARNING),
    };
    let class = match row.severity {
        Severity::Error => "fault-sign step-error",
        Severity::Warning => "fault-sign step-warning",
    };
    let mut place: Vec<String> = row.step.iter().chain(row.field.iter()).cloned().collect();
    if let Some(line) = row.line {
        place.push(language.say_with(pipelines::LINE, &[("n", &line.to_string())]));
    }
    let place = place.join(" · ");
    let jump = {
        let (step, field) = (row.step.clone(), row.field.clone().unwrap_or_default());
        move |_| {
            if let Some(step) = &step {
                desk.jump(step, &field);
            }
        }
    };
    let text = view! {
        <span class=class role="img" aria-label=t(word)>{sign}</span>
        <span class="fault-place">{place}</span>
        <span>{row.message}</span>
    };
    let line = if row.step.is_some() {
        view! { <button class="fault-row" type="button" on:click=jump>{text}</button> }.into_any()
    } else {
        view! { <div class="fault-row">{text}</div> }.into_any()
    };
    view! { <li>{line}</li> }
}
