//! Bringing a pipeline in as a draft: its text pasted, its file chosen, or opened with the desktop
//! program.
//!
//! **Invariants**
//! - Nothing is stored on the appliance: what comes in is a draft on this machine until it is saved.
//! - A file that was opened is shown until a person has imported it or put it aside.

use super::list::WORKSPACE;
use super::opened::latest;
use super::{At, drafts};
use crate::context::Studio;
use crate::host::desktop::OpenedFile;
use crate::words::{Language, pipelines, shell, t};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use millrace_contract::v1;
use millrace_flow::Document;
use millrace_flow::validate::{STEPS_MAX, is_pipeline_name};
use millrace_kit::file::FileText;
use millrace_kit::{Button, Dialog, Field, FieldKind, Notice, Priority, Toasts, Weight};

/// The dialog that takes a text or a file.
#[component]
pub(super) fn ImportDialog(open: RwSignal<bool>) -> impl IntoView {
    view! { <Dialog title=t(pipelines::IMPORT) open close=t(shell::CANCEL)><ImportForm/></Dialog> }
}

#[component]
fn ImportForm() -> impl IntoView {
    let (text, fault) = (RwSignal::new(String::new()), RwSignal::new(None::<String>));
    let import = importer(Studio::here());
    let go = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        fault.set(import.run(text.get_untracked()));
    };
    view! {
        <form class="form" on:submit=go>
            <p class="muted">{t(pipelines::IMPORT_HELP)}</p>
            <FileText label=t(pipelines::IMPORT) on_text=move |read: String| text.set(read)/>
            <Field label=t(pipelines::IMPORT_TEXT) value=text kind=FieldKind::Long fault/>
            <div class="form-actions">
                <Button on_press=|()| {} submit=true weight=Weight::Primary>{t(pipelines::IMPORT_OPEN)}</Button>
            </div>
        </form>
    }
}

/// The files that a person opened with the desktop program, each with what can be done with it.
#[component]
pub fn OpenedFiles(
    /// Whether the pages of an appliance stand; else one is to be chosen first.
    has_appliance: bool,
) -> impl IntoView {
    let asked = Studio::here().asked;
    move || {
        let file = |file| view! { <OpenedNotice file has_appliance/> };
        asked.files().into_iter().map(file).collect_view()
    }
}

#[component]
fn OpenedNotice(file: OpenedFile, has_appliance: bool) -> impl IntoView {
    let studio = Studio::here();
    let (language, asked) = (studio.language, studio.asked);
    let fault = RwSignal::new(file.fault.clone());
    let may_edit = studio.sessions.may(v1::Role::Engineer);
    let text = Signal::derive(move || match fault.get() {
        Some(fault) => fault,
        None if !has_appliance => language.say(pipelines::OPENED_CHOOSE),
        None if !may_edit => language.say(pipelines::READ_ONLY),
        None => language.say(pipelines::OPENED_IMPORT),
    });
    let title = file.name.clone();
    let can_import = has_appliance && may_edit && file.text.is_some();
    let import = has_appliance.then(|| importer(studio));
    let (taken, put_aside) = (file.clone(), file);
    let take = move |()| {
        let (Some(import), Some(text)) = (&import, &taken.text) else { return };
        let refused = import.run(text.clone());
        if refused.is_none() {
            asked.put_aside(&taken);
        }
        fault.set(refused);
    };
    view! {
        <Notice priority=Priority::Three title=title.clone() text>
            {can_import.then(|| view! {
                <Button on_press=take weight=Weight::Primary>{t(pipelines::IMPORT_OPEN)}</Button>
            })}
            <Button on_press=move |()| asked.put_aside(&put_aside) weight=Weight::Quiet>{t(pipelines::OPENED_ASIDE)}</Button>
        </Notice>
    }
}

/// Takes a text over as a draft and opens the designer; gives why it does not.
fn importer(studio: Studio) -> Callback<String, Option<String>> {
    let (navigate, toasts) = (use_navigate(), use_context::<Toasts>());
    Callback::new(move |text: String| {
        let document = match imported(studio.language, &text) {
            Ok(document) => document,
            Err(why) => return Some(why),
        };
        let at = At { workspace: WORKSPACE.to_owned(), name: document.name.clone() };
        let (studio, navigate) = (studio.clone(), navigate.clone());
        leptos::task::spawn_local(async move {
            // The draft stands on what is there, so that the merge has a base.
            let revision = latest(&studio, &at).await.map_or(0, |base| base.revision);
            if let Err(why) = drafts::keep_now(&studio, &at, revision, &document).await
                && let Some(toasts) = toasts
            {
                return toasts.bad(Priority::Two, why);
            }
            navigate(&at.path(), leptos_router::NavigateOptions::default());
        });
        None
    })
}

/// The document of a text, or why it cannot be taken.
fn imported(language: Language, text: &str) -> Result<Document, String> {
    let document = Document::parse(text).map_err(|fault| fault.to_string())?;
    let steps = document.steps.len();
    if steps > STEPS_MAX {
        return Err(language.say_with(pipelines::IMPORT_TOO_MANY, &[("n", &steps.to_string())]));
    }
    if is_pipeline_name(&document.name) {
        Ok(document)
    } else {
        Err(language.say(pipelines::BAD_NAME))
    }
}
