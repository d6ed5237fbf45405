//! Many topics changed by a CSV file: save it, edit it, open it, look at what would change, write.
//!
//! **Invariants**
//! - What is written is the file that was looked at; a file with a fault cannot be written.
//! - What a file says is shown as text.

use super::WORKSPACE;
use crate::context::Studio;
use crate::host::Method;
use crate::words::{access, namespace, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::file::FileText;
use millrace_kit::{Button, Dialog, Field, Notice, Priority, Progress, Toasts, Weight};
use std::time::Duration;

/// A file of ten thousand topics takes a second or two.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Changes that are shown.
const SHOWN_MAX: usize = 200;

/// The dialog.
#[component]
pub(super) fn Bulk(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Called when topics were changed.
    #[prop(into)]
    on_changed: Callback<()>,
) -> impl IntoView {
    view! {
        <Dialog title=t(namespace::BULK) open close=t(shell::CLOSE)>
            <Form open on_changed/>
        </Dialog>
    }
}

/// The file, and what was told of it.
#[derive(Clone, Copy)]
struct Desk {
    text: RwSignal<Option<String>>,
    report: RwSignal<Option<v1::TagImport>>,
    fault: RwSignal<Option<String>>,
    working: RwSignal<bool>,
}

#[component]
fn Form(open: RwSignal<bool>, on_changed: Callback<()>) -> impl IntoView {
    let (studio, toasts) = (StoredValue::new(Studio::here()), expect_context::<Toasts>());
    let desk = Desk {
        text: RwSignal::new(None),
        report: RwSignal::new(None),
        fault: RwSignal::new(None),
        working: RwSignal::new(false),
    };
    let prefix = RwSignal::new(String::new());
    let look = move |text: String| {
        desk.report.set(None);
        desk.text.set(Some(text));
        send(studio.get_value(), desk, true, Callback::new(|_| ()));
    };
    let written = Callback::new(move |report: v1::TagImport| {
        let language = studio.get_value().language;
        let number = language.locale().integer(i128::from(report.topics));
        toasts.good(language.say_with(namespace::BULK_WRITTEN, &[("n", &number)]));
        on_changed.run(());
        open.try_set(false);
    });
    let write = move |()| send(studio.get_value(), desk, false, written);
    let language = studio.get_value().language;
    let off = Signal::derive(move || {
        let message = desk.report.with(|report| match report {
            None => Some(namespace::BULK_NO_FILE),
            Some(report) if report.faults_in_all > 0 => Some(namespace::BULK_HAS_FAULTS),
            Some(report) if report.topics == 0 => Some(namespace::BULK_NOTHING),
            Some(_) => None,
        });
        message.map(|message| language.say(message))
    });
    let fault_text = Signal::derive(move || desk.fault.get().unwrap_or_default());
    view! {
        <div class="form topic-bulk">
            <p>{t(namespace::BULK_TEXT)}</p>
            <div class="form-actions">
                <Field label=t(namespace::BULK_PREFIX) value=prefix/>
                <Button on_press=move |()| save(studio.get_value(), desk, prefix.get_untracked())>{t(namespace::BULK_SAVE)}</Button>
            </div>
            <FileText label=t(namespace::BULK_OPEN) accept=".csv,text/csv" on_text=look/>
            <Show when=move || desk.working.get()><Progress label=t(access::WORKING)/></Show>
            <Show when=move || desk.fault.with(Option::is_some)>
                <Notice priority=Priority::Three title=t(namespace::BULK_FAILED) text=fault_text/>
            </Show>
            <div role="status">{move || desk.report.get().map(|report| view! { <Report report/> })}</div>
            <div class="form-actions">
                <Button on_press=write off_because=off weight=Weight::Primary>{t(namespace::BULK_WRITE)}</Button>
            </div>
        </div>
    }
}

/// Saves what is set of the topics below a prefix.
fn save(studio: Studio, desk: Desk, prefix: String) {
    desk.fault.set(None);
    leptos::task::spawn_local(async move {
        let address = ["workspaces", WORKSPACE, "tags.csv"];
        match studio.api.get_bytes(&address, &[("prefix", prefix.trim())]).await {
            Ok(bytes) => studio.host.save_file("topics.csv", "text/csv", &bytes),
            Err(why) => {
                desk.fault.try_set(Some(why.text(studio.language)));
            }
        }
    });
}

/// Asks what the file would change, or writes it.
fn send(studio: Studio, desk: Desk, preview: bool, done: Callback<v1::TagImport>) {
    let Some(text) = desk.text.get_untracked() else { return };
    if desk.working.get_untracked() {
        return;
    }
    desk.working.set(true);
    desk.fault.set(None);
    leptos::task::spawn_local(async move {
        let address = ["workspaces", WORKSPACE, "tags.csv"];
        let query = [("preview", if preview { "true" } else { "false" })];
        let file = v1::TagFile { text };
        let answer = studio.api.change(Method::Post, &address, &query, Some(&file), TIMEOUT).await;
        let report = answer.and_then(|answer| crate::api::parse::<v1::TagImport>(&answer));
        desk.working.try_set(false);
        match report {
            Ok(report) => {
                desk.report.try_set(Some(report.clone()));
                done.run(report);
            }
            Err(why) => {
                desk.fault.try_set(Some(why.text(studio.language)));
            }
        }
    });
}

/// What a file would change, or what is wrong with it.
#[component]
fn Report(report: v1::TagImport) -> impl IntoView {
    let language = Studio::here().language;
    let number = move |number: u64| language.locale().integer(i128::from(number));
    let (rows, topics, changes) = (report.rows, report.topics, report.changes_in_all);
    let faults_in_all = report.faults_in_all;
    let summary = move || {
        if faults_in_all > 0 {
            language.say_with(namespace::BULK_FAULTS, &[("n", &number(faults_in_all))])
        } else {
            let parts = [
                ("rows", &*number(rows)),
                ("topics", &*number(topics)),
                ("changes", &*number(changes)),
            ];
            language.say_with(namespace::BULK_SUMMARY, &parts)
        }
    };
    let shown = report.changes.len().min(SHOWN_MAX);
    let more = (faults_in_all == 0 && changes > shown as u64).then(|| {
        let text =
            move || language.say_with(namespace::BULK_FIRST, &[("n", &number(shown as u64))]);
        view! { <p class="muted">{text}</p> }
    });
    let faults = report.faults.clone().into_iter().map(|fault| {
        let line = fault.line;
        let place = move || language.say_with(namespace::BULK_LINE, &[("n", &number(line))]);
        let field =
            (!fault.field.is_empty()).then(|| view! { " " <code>{fault.field.clone()}</code> });
        view! { <li><strong>{place}</strong>{field}" "{fault.message.clone()}</li> }
    });
    let faults = faults.collect_view();
    let rows = report.changes.into_iter().take(SHOWN_MAX).map(|change| {
        view! {
            <tr>
                <td class="figures">{change.line.to_string()}</td>
                <td><code>{change.path}</code></td>
                <td>{change.field}</td>
                <td class="muted">{change.from}</td>
                <td>{change.to}</td>
            </tr>
        }
    });
    let heads = [
        namespace::BULK_LINE_HEAD,
        namespace::TOPIC,
        namespace::BULK_COLUMN,
        namespace::BULK_FROM,
        namespace::BULK_TO,
    ];
    let heads = heads.map(|head| view! { <th scope="col">{t(head)}</th> }).collect_view();
    let table = (faults_in_all == 0 && topics > 0).then(|| {
        view! {
            <div class="topic-bulk-table" tabindex="0" role="group" aria-label=t(namespace::BULK_CHANGES)>
                <table><thead><tr>{heads}</tr></thead><tbody>{rows.collect_view()}</tbody></table>
            </div>
        }
    });
    view! {
        <p>{summary}</p>
        <ul class="topic-bulk-faults">{faults}</ul>
        {table}
        {more}
    }
}
