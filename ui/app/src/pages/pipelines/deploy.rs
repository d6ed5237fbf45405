//! Storing and deploying: the draft becomes a revision, and the revision runs.
//!
//! Storing carries the revision that the draft was made from; when somebody has stored another one
//! since, the two are brought together first.
//!
//! **Invariants**
//! - Deploying names the pipeline and says what changes; nothing runs by saving.

use super::desk::{Base, Desk, Over};
use super::dialogs::opened;
use super::opened::fetch;
use crate::api::Fault;
use crate::words::{pipelines, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_flow::diff::lines;
use millrace_kit::{Button, Dialog, Field, Priority, Toasts, Weight};

/// Most lines of a difference that are shown.
const LINES_MAX: usize = 200;

/// Stores the draft as a revision.
pub(super) fn store(desk: Desk) {
    let toasts = desk.toasts;
    leptos::task::spawn_local(async move {
        let language = desk.studio().language;
        match save(desk, String::new()).await {
            Saved::As(saved) => {
                let message =
                    if saved.unchanged { pipelines::SAVED_SAME } else { pipelines::SAVED };
                let number = saved.revision.revision.to_string();
                let text = language.say_with(message, &[("n", &number)]);
                desk.said.set(text.clone());
                if let Some(toasts) = toasts {
                    toasts.good(text);
                }
            }
            Saved::Not(why) => tell(desk, toasts, why),
            Saved::Merge => {}
        }
    });
}

/// What came of storing.
enum Saved {
    As(v1::SavedRevision),
    /// It was refused; what to say, if anything.
    Not(String),
    /// Somebody else was faster; the merge is open.
    Merge,
}

fn tell(desk: Desk, toasts: Option<Toasts>, why: String) {
    desk.said.set(why.clone());
    if let Some(toasts) = toasts {
        toasts.bad(Priority::Two, why);
    }
}

async fn save(desk: Desk, note: String) -> Saved {
    let studio = desk.studio();
    let at = desk.at.get_value();
    let document = desk.document();
    let base = desk.base.with_untracked(|base| base.revision);
    let text = serde_json::to_string(&document).unwrap_or_default();
    let Ok(raw) = serde_json::value::RawValue::from_string(text) else {
        return Saved::Not(Fault::Unsent.text(studio.language));
    };
    let new = v1::NewRevision { document: raw, note, expected: Some(base) };
    let answer: Result<v1::SavedRevision, Fault> = studio.api.put(&at.segments(&[]), &new).await;
    match answer {
        Ok(saved) => {
            let revision = saved.revision.revision;
            desk.base.set(Base { revision, document });
            desk.forget_draft();
            studio.project.read();
            desk.again.update(|count| *count += 1);
            Saved::As(saved)
        }
        Err(fault) if fault.code() == Some(v1::ErrorCode::Conflict) => {
            match fetch(&studio.api, &at, "latest", studio.language).await {
                Ok(theirs) if theirs.revision != base => {
                    desk.theirs.set(Some(theirs));
                    desk.over.set(Over::Merge);
                    Saved::Merge
                }
                _ => Saved::Not(fault.text(studio.language)),
            }
        }
        Err(fault) => {
            if let Fault::Refused { detail, .. } = &fault
                && !detail.faults.is_empty()
            {
                desk.told.set(detail.faults.clone());
                desk.tab.set("faults".to_owned());
            }
            Saved::Not(fault.text(studio.language))
        }
    }
}

/// Deploys, with the changes in sight and a note.
#[component]
pub(super) fn DeployDialog() -> impl IntoView {
    let desk = Desk::here();
    let language = desk.studio().language;
    let open = opened(desk, Over::Deploy);
    let name = desk.at.with_value(|at| at.name.clone());
    let title =
        Signal::derive(move || language.say_with(pipelines::DEPLOY_TITLE, &[("name", &name)]));
    view! { <Dialog title open close=t(shell::CANCEL)><DeployForm/></Dialog> }
}

#[component]
fn DeployForm() -> impl IntoView {
    let desk = Desk::here();
    let language = desk.spoken();
    let name = desk.at.with_value(|at| at.name.clone());
    let note = RwSignal::new(String::new());
    let working = RwSignal::new(false);
    let toasts = desk.toasts;
    let errors = untrack(|| desk.errors());
    let blocked = Signal::derive(move || {
        (errors > 0)
            .then(|| language.say_with(pipelines::DEPLOY_BLOCKED, &[("n", &errors.to_string())]))
    });
    let deployed = desk.deployed.get_untracked();
    let document = desk.document();
    let changes = deployed.as_ref().map(|deployed| {
        let diff = millrace_flow::diff(&deployed.document, &document);
        let mut told = lines(&deployed.document, &diff);
        told.truncate(LINES_MAX);
        told
    });
    let head = match (&deployed, &changes) {
        (None, _) => view! { <p>{t(pipelines::DEPLOY_FIRST)}</p> }.into_any(),
        (Some(_), Some(changes)) if changes.is_empty() => {
            view! { <p>{t(pipelines::DEPLOY_NOTHING)}</p> }.into_any()
        }
        (Some(deployed), _) => {
            let number = deployed.revision.to_string();
            let text = language.say_with(pipelines::CHANGES, &[("n", &number)]);
            view! { <p>{t(pipelines::DEPLOY_EFFECT)}</p> <h3>{text}</h3> }.into_any()
        }
    };
    let list = changes.unwrap_or_default().into_iter().map(|line| view! { <li>{line}</li> });
    let go = move |()| {
        if working.get_untracked() {
            return;
        }
        working.set(true);
        leptos::task::spawn_local(async move {
            deploy(desk, note.get_untracked(), toasts).await;
            working.try_set(false);
        });
    };
    view! {
        {head}
        <ul class="changes">{list.collect_view()}</ul>
        <Field label=t(pipelines::NOTE) value=note help=some(pipelines::NOTE_HELP)/>
        <Show when=move || blocked.with(Option::is_some)>
            <p class="field-fault" role="alert">{move || blocked.get()}</p>
        </Show>
        <div class="form-actions">
            <Button weight=Weight::Danger on_press=go off_because=blocked>
                {language.say_with(pipelines::DEPLOY_DO, &[("name", &name)])}
            </Button>
        </div>
    }
}

/// A help text for a field.
pub(super) fn some(message: crate::words::Message) -> Signal<Option<String>> {
    let text = t(message);
    Signal::derive(move || Some(text.get()))
}

async fn deploy(desk: Desk, note: String, toasts: Option<Toasts>) {
    let studio = desk.studio();
    let saved = match save(desk, note.clone()).await {
        Saved::As(saved) => saved,
        Saved::Not(why) => {
            desk.over.set(Over::Nothing);
            return tell(desk, toasts, why);
        }
        Saved::Merge => return,
    };
    let at = desk.at.get_value();
    let revision = Some(saved.revision.revision);
    let new = v1::NewDeployment { revision, note };
    let answer: Result<v1::Running, Fault> = studio.api.post(&at.segments(&["deploy"]), &new).await;
    desk.over.set(Over::Nothing);
    match answer {
        Ok(running) => took_over(desk, toasts, &running),
        Err(fault) => {
            if let Fault::Refused { detail, .. } = &fault
                && !detail.faults.is_empty()
            {
                desk.told.set(detail.faults.clone());
                desk.tab.set("faults".to_owned());
            }
            tell(desk, toasts, fault.text(studio.language));
        }
    }
}

/// What runs has changed.
pub(super) fn took_over(desk: Desk, toasts: Option<Toasts>, running: &v1::Running) {
    let studio = desk.studio();
    desk.again.update(|count| *count += 1);
    let Some(number) = running.deployment.revision else {
        return desk.deployed.set(None);
    };
    let text = studio
        .language
        .say_with(pipelines::DEPLOYED, &[("name", &running.name), ("n", &number.to_string())]);
    desk.said.set(text.clone());
    if let Some(toasts) = toasts {
        toasts.good(text);
    }
    let base = desk.base.get_untracked();
    if base.revision == number {
        return desk.deployed.set(Some(base));
    }
    let at = desk.at.get_value();
    leptos::task::spawn_local(async move {
        if let Ok(deployed) = fetch(&studio.api, &at, "deployed", studio.language).await {
            desk.deployed.try_set(Some(deployed));
        }
    });
}
