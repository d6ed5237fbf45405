//! Views that a person keeps: topics and the length of the window under a name, on the appliance.
//!
//! **Invariants**
//! - A view is asked for and kept on the appliance; every window of the person finds it.

use super::desk::Desk;
use crate::api::Fault;
use crate::host::Method;
use crate::words::{access, shell, t, trends};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::chart::LINES_MAX;
use millrace_kit::{
    Button, Choice, Dialog, Field, Notice, Priority, Progress, Select, Toasts, Weight,
};

/// The views, as far as they are known.
#[derive(Clone, Copy)]
struct Shelf {
    desk: Desk,
    all: RwSignal<Vec<v1::TrendView>>,
    chosen: RwSignal<String>,
    fault: RwSignal<Option<Fault>>,
}

impl Shelf {
    fn load(self) {
        let studio = self.desk.studio();
        leptos::task::spawn_local(async move {
            match studio.api.get::<v1::Page<v1::TrendView>>(&["views"], &[]).await {
                Ok(page) => {
                    self.all.try_set(page.items);
                }
                Err(why) => {
                    self.fault.try_set(Some(why));
                }
            }
        });
    }

    fn show(self, name: &str) {
        let found = self.all.with_untracked(|all| all.iter().find(|one| one.name == name).cloned());
        if let Some(mut view) = found {
            view.topics.truncate(LINES_MAX);
            self.desk.topics.set(view.topics);
            self.desk.show(view.seconds * 1_000.0);
        }
    }
}

/// Choosing, keeping and forgetting views.
#[component]
pub(super) fn Views() -> impl IntoView {
    let desk = Desk::here();
    let language = desk.studio().language;
    let shelf = Shelf {
        desk,
        all: RwSignal::new(Vec::new()),
        chosen: RwSignal::new(String::new()),
        fault: RwSignal::new(None),
    };
    shelf.load();
    let keeping = RwSignal::new(false);
    let choices = Signal::derive(move || {
        let none = Choice::new("", language.say(trends::NO_VIEW));
        let all = shelf.all.get().into_iter().map(|view| Choice::new(view.name.clone(), view.name));
        std::iter::once(none).chain(all).collect::<Vec<_>>()
    });
    crate::pages::sizing::follow(shelf.chosen, move |name| shelf.show(&name));
    let keep_off = Signal::derive(move || {
        desk.topics.with(Vec::is_empty).then(|| language.say(trends::NOTHING_TO_KEEP))
    });
    let forget_off = Signal::derive(move || {
        shelf.chosen.with(String::is_empty).then(|| language.say(trends::CHOOSE_VIEW))
    });
    let forget = move |()| {
        let (studio, name) = (desk.studio(), shelf.chosen.get_untracked());
        leptos::task::spawn_local(async move {
            match studio.api.act(Method::Delete, &["views", &name]).await {
                Ok(()) => {
                    shelf.chosen.try_set(String::new());
                    shelf.load();
                }
                Err(why) => {
                    shelf.fault.try_set(Some(why));
                }
            }
        });
    };
    let fault = Signal::derive(move || {
        shelf.fault.with(|why| why.as_ref().map(|why| why.text(language))).unwrap_or_default()
    });
    view! {
        <div class="form-actions trends-views">
            <Select label=t(trends::VIEWS) value=shelf.chosen choices compact=true/>
            <Button on_press=move |()| keeping.set(true) off_because=keep_off>{t(trends::KEEP_VIEW)}</Button>
            <Button on_press=forget off_because=forget_off>{t(trends::FORGET_VIEW)}</Button>
        </div>
        <Show when=move || shelf.fault.with(Option::is_some)>
            <Notice priority=Priority::Three title=t(trends::VIEWS) text=fault/>
        </Show>
        <Dialog title=t(trends::KEEP_VIEW) open=keeping close=t(shell::CANCEL)>
            <Keep shelf open=keeping/>
        </Dialog>
    }
}

/// Asks for the name.
#[component]
fn Keep(shelf: Shelf, open: RwSignal<bool>) -> impl IntoView {
    let toasts: Toasts = expect_context();
    let studio = shelf.desk.studio();
    let name = RwSignal::new(shelf.chosen.get_untracked());
    let (fault, working) = (RwSignal::new(None::<String>), RwSignal::new(false));
    let keep = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if working.get_untracked() {
            return;
        }
        let typed = name.get_untracked().trim().to_owned();
        if typed.is_empty() {
            return fault.set(Some(studio.language.say(access::NAME_MISSING)));
        }
        working.set(true);
        let new = v1::NewTrendView {
            topics: shelf.desk.topics.get_untracked(),
            seconds: shelf.desk.window.get_untracked().length() / 1_000.0,
        };
        let studio = studio.clone();
        leptos::task::spawn_local(async move {
            let answer = studio.api.put::<_, v1::TrendView>(&["views", &typed], &new).await;
            working.try_set(false);
            match answer {
                Ok(view) => {
                    let text = studio.language.say_with(trends::KEPT, &[("name", &view.name)]);
                    toasts.good(text);
                    shelf.all.try_update(|all| {
                        all.retain(|one| one.name != view.name);
                        all.push(view.clone());
                    });
                    shelf.chosen.try_set(view.name);
                    shelf.load();
                    open.try_set(false);
                }
                Err(why) => {
                    fault.try_set(Some(why.text(studio.language)));
                }
            }
        });
    };
    view! {
        <form class="form" on:submit=keep>
            <p>{t(trends::KEEP_TEXT)}</p>
            <Field label=t(access::NAME) value=name fault autofocus=true/>
            <div class="form-actions">
                <Button on_press=|()| {} submit=true weight=Weight::Primary>{t(trends::KEEP_VIEW)}</Button>
                <Show when=move || working.get()><Progress label=t(access::WORKING)/></Show>
            </div>
        </form>
    }
}
