//! Drafts that wait for the appliance: compared with it when it answers, then deployed.
//!
//! **Invariants**
//! - A draft is deployed only with a comparison in sight that was made with the appliance itself,
//!   and names the revision that it was compared with.
//! - At most [`SHOWN_MAX`] drafts are compared at once; of more it is said that they are there.

use super::At;
use super::deploy::some;
use super::list::WORKSPACE;
use super::offline::draft;
use crate::context::Studio;
use crate::project::{Comparison, Entry, Relation};
use crate::words::{Message, offline, pipelines, shell, t};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use millrace_kit::{Button, Dialog, Field, Panel, Priority, Progress, Toasts, Weight};

/// Drafts that are shown.
const SHOWN_MAX: usize = 20;
/// Lines of a difference that are shown.
const LINES_MAX: usize = 200;

/// A draft, for a dialog about it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Picked {
    name: String,
    comparison: Comparison,
}

/// The drafts, when there are any.
#[component]
pub(super) fn Waiting() -> impl IntoView {
    let studio = Studio::here();
    let project = studio.project;
    let stored = project.stored();
    let drafts = Memo::new(move |_| {
        stored.with(|stored| {
            let drafts = stored.entries.iter().filter(|entry| entry.draft_saved.is_some());
            drafts.cloned().collect::<Vec<_>>()
        })
    });
    let is_away = Memo::new(move |_| project.away().is_some());
    let deploying = RwSignal::new(None::<Picked>);
    let discarding = RwSignal::new(None::<String>);
    let rows = move || {
        // Another connection is another comparison.
        is_away.track();
        let drafts = drafts.get().into_iter().take(SHOWN_MAX);
        drafts.map(|entry| view! { <Row entry deploying discarding/> }).collect_view()
    };
    let more = move || {
        let over = drafts.with(Vec::len).saturating_sub(SHOWN_MAX);
        let text = studio.language.say_with(offline::MORE, &[("n", &over.to_string())]);
        (over > 0).then_some(text)
    };
    view! {
        <Show when=move || !drafts.with(Vec::is_empty)>
            <Panel title=t(offline::WAITING)>
                <Show when=move || is_away.get()><p class="muted drafts-said">{t(offline::WAITING_AWAY)}</p></Show>
                <ul class="drafts">{rows}</ul>
                <p>{more}</p>
            </Panel>
        </Show>
        <DeployDialog deploying/>
        <DiscardDialog discarding/>
    }
}

#[component]
fn Row(
    entry: Entry,
    deploying: RwSignal<Option<Picked>>,
    discarding: RwSignal<Option<String>>,
) -> impl IntoView {
    let studio = Studio::here();
    let project = studio.project;
    let name = entry.name.clone();
    let compared = RwSignal::new(None::<Result<Comparison, String>>);
    let is_away = untrack(|| project.away().is_some());
    if !is_away {
        let name = name.clone();
        leptos::task::spawn_local(async move {
            let outcome = project.compare(&name).await;
            compared.try_set(Some(outcome));
        });
    }
    let navigate = use_navigate();
    let at = At { workspace: WORKSPACE.to_owned(), name: name.clone() };
    let open = Callback::new(move |()| {
        navigate(&at.path(), leptos_router::NavigateOptions::default());
    });
    let told = {
        let (studio, name) = (studio.clone(), name.clone());
        move || match compared.get() {
            None if is_away => ().into_any(),
            None => {
                let (language, name) = (studio.language, name.clone());
                let label = Signal::derive(move || {
                    language.say_with(offline::COMPARING, &[("name", &name)])
                });
                view! { <Progress label/> }.into_any()
            }
            Some(Err(why)) => view! { <p class="field-fault" role="alert">{why}</p> }.into_any(),
            Some(Ok(comparison)) => view! { <Told comparison/> }.into_any(),
        }
    };
    let relation =
        move || compared.with(|compared| Some(compared.as_ref()?.as_ref().ok()?.relation));
    let can_deploy =
        move || matches!(relation(), Some(Relation::New | Relation::Ahead | Relation::Removed));
    let open_word = Signal::derive(move || {
        let is_diverged = relation() == Some(Relation::Diverged);
        let word = if is_diverged { offline::OPEN_AND_MERGE } else { offline::OPEN };
        studio.language.say(word)
    });
    let (picked, thrown) = (name.clone(), name.clone());
    let deploy = move |()| {
        if let Some(Ok(comparison)) = compared.get_untracked() {
            deploying.set(Some(Picked { name: picked.clone(), comparison }));
        }
    };
    let seeing = Studio::here();
    view! {
        <li class="draft">
            <div class="draft-text">
                <strong>{name}</strong>
                <span class="muted">{move || draft(&seeing, &entry)}</span>
                {told}
            </div>
            <div class="form-actions">
                <Show when=can_deploy>
                    <Button weight=Weight::Primary on_press=deploy.clone()>{t(offline::DEPLOY)}</Button>
                </Show>
                <Button on_press=open>{open_word}</Button>
                <Button weight=Weight::Quiet on_press=move |()| discarding.set(Some(thrown.clone()))>{t(offline::DISCARD)}</Button>
            </div>
        </li>
    }
}

/// How a draft stands, in words and lines.
#[component]
fn Told(comparison: Comparison) -> impl IntoView {
    let language = Studio::here().language;
    let author = comparison.theirs_author.clone().unwrap_or_default();
    let who = author.strip_prefix("user:").unwrap_or(&author).to_owned();
    let number = comparison.theirs.to_string();
    let word = match comparison.relation {
        Relation::New => offline::IS_NEW,
        Relation::Same => offline::IS_SAME,
        Relation::Ahead => offline::IS_AHEAD,
        Relation::Behind => offline::IS_BEHIND,
        Relation::Diverged => offline::IS_DIVERGED,
        Relation::Removed => offline::IS_REMOVED,
    };
    let text = move || language.say_with(word, &[("who", &who), ("n", &number)]);
    view! {
        <p>{text}</p>
        <Lines title=offline::CHANGED_HERE lines=comparison.mine_lines/>
        <Lines title=offline::CHANGED_THERE lines=comparison.theirs_lines/>
    }
}

#[component]
fn Lines(title: Message, lines: Vec<String>) -> impl IntoView {
    let lines: Vec<String> = lines.into_iter().take(LINES_MAX).collect();
    (!lines.is_empty()).then(|| {
        let lines = lines.into_iter().map(|line| view! { <li>{line}</li> }).collect_view();
        view! { <h3>{t(title)}</h3> <ul class="changes">{lines}</ul> }
    })
}

/// A dialog that is open while something is picked.
fn open_while<T: Clone + Send + Sync + 'static>(picked: RwSignal<Option<T>>) -> RwSignal<bool> {
    let open = RwSignal::new(false);
    Effect::new(move |_| open.set(picked.with(Option::is_some)));
    Effect::new(move |_| {
        if !open.get() && picked.with_untracked(Option::is_some) {
            picked.set(None);
        }
    });
    open
}

#[component]
fn DeployDialog(deploying: RwSignal<Option<Picked>>) -> impl IntoView {
    let language = Studio::here().language;
    let title = Signal::derive(move || {
        let name = deploying.with(|picked| picked.as_ref().map(|of| of.name.clone()));
        language.say_with(pipelines::DEPLOY_TITLE, &[("name", &name.unwrap_or_default())])
    });
    let form =
        move || deploying.get_untracked().map(|picked| view! { <DeployForm picked deploying/> });
    view! {
        <Dialog title open=open_while(deploying) close=t(shell::CANCEL)>{form()}</Dialog>
    }
}

#[component]
fn DeployForm(picked: Picked, deploying: RwSignal<Option<Picked>>) -> impl IntoView {
    let studio = Studio::here();
    let toasts = use_context::<Toasts>();
    let (note, working) = (RwSignal::new(String::new()), RwSignal::new(false));
    let Picked { name, comparison } = picked;
    let text = studio.language.say_with(pipelines::DEPLOY_DO, &[("name", &name)]);
    let head =
        if comparison.theirs == 0 { pipelines::DEPLOY_FIRST } else { pipelines::DEPLOY_EFFECT };
    let (expected, lines) = (comparison.theirs, comparison.deploy_lines);
    let go =
        move |()| {
            if working.get_untracked() {
                return;
            }
            working.set(true);
            let (studio, name) = (studio.clone(), name.clone());
            leptos::task::spawn_local(async move {
                let project = studio.project;
                let outcome = project.deploy(&name, &note.get_untracked(), expected).await;
                deploying.try_set(None);
                project.reload();
                let Some(toasts) = toasts else { return };
                match outcome {
                    Ok(number) => toasts.good(studio.language.say_with(
                        pipelines::DEPLOYED,
                        &[("name", &name), ("n", &number.to_string())],
                    )),
                    Err(why) => toasts.bad(Priority::Two, why),
                }
            });
        };
    view! {
        <p>{t(head)}</p>
        <Lines title=offline::CHANGED_HERE lines/>
        <Field label=t(pipelines::NOTE) value=note help=some(pipelines::NOTE_HELP)/>
        <div class="form-actions">
            <Button weight=Weight::Danger on_press=go>{text}</Button>
        </div>
    }
}

#[component]
fn DiscardDialog(discarding: RwSignal<Option<String>>) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let say = move |message: Message| {
        Signal::derive(move || {
            let name = discarding.get().unwrap_or_default();
            language.say_with(message, &[("name", &name)])
        })
    };
    let (title, text) = (say(offline::DISCARD_TITLE), say(offline::DISCARD_DO));
    let go = move |()| {
        if let Some(name) = discarding.get_untracked() {
            studio.project.forget(&name);
        }
        discarding.set(None);
    };
    view! {
        <Dialog title open=open_while(discarding) close=t(shell::CANCEL)>
            <p>{t(offline::DISCARD_TEXT)}</p>
            <div class="form-actions">
                <Button weight=Weight::Danger on_press=go>{text}</Button>
            </div>
        </Dialog>
    }
}
