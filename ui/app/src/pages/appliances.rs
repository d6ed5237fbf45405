//! In the desktop program: which appliance this window works with, and whether it is the right one.
//!
//! The gate stands before all pages. It shows the list until an appliance is chosen, the fingerprint
//! until a person has accepted it, and the pages from then on. A certificate that changes while the
//! pages stand brings the gate back.
//!
//! **Invariants**
//! - A changed certificate covers everything else, with both fingerprints.

mod list;
mod trust;

use crate::context::Studio;
use crate::host::desktop::{Chosen, News, Program, State, session};
use crate::pages::claim::Entrance;
use crate::routes::Pages;
use crate::session::SignedOut;
use crate::words::{appliances, shell, t};
use leptos::prelude::*;
use list::List;
use millrace_kit::{Button, Notice, Priority, Progress, Weight};
use serde_json::json;
use trust::Trust;

/// What the gate shows.
#[derive(Clone, PartialEq, Eq)]
enum Shown {
    List,
    Connecting,
    Unreachable(String),
    Trust { presented: String, pinned: Option<String> },
    Pages,
}

/// What the gate knows.
#[derive(Clone)]
pub(crate) struct Gate {
    program: Program,
    profiles: RwSignal<Vec<Chosen>>,
    chosen: RwSignal<Option<Chosen>>,
    state: RwSignal<State>,
    notices: RwSignal<Vec<String>>,
    /// Whether the pages were shown since the appliance was chosen: then they stay.
    entered: RwSignal<bool>,
}

impl Gate {
    fn start(program: Program, studio: Studio) -> Self {
        let gate = Self {
            program: program.clone(),
            profiles: RwSignal::new(Vec::new()),
            chosen: RwSignal::new(None),
            state: RwSignal::new(State::Offline),
            notices: RwSignal::new(Vec::new()),
            entered: RwSignal::new(false),
        };
        let hearing = gate.clone();
        leptos::task::spawn_local(program.run(move |news| hearing.hear(&studio, news)));
        gate
    }

    fn hear(&self, studio: &Studio, news: News) {
        match news {
            News::Profiles(profiles) => self.profiles.set(profiles),
            News::Notice(text) => self.notices.update(|notices| notices.push(text)),
            News::Command(name) if name == "appliances" => self.leave(),
            News::Command(name) => studio.asked.choose(&name),
            News::Opened(file) => studio.asked.open(file),
            News::Connection(profile, state) => {
                let is_chosen = self.chosen.with_untracked(|chosen| {
                    chosen.as_ref().is_some_and(|chosen| chosen.id == profile)
                });
                if is_chosen {
                    self.follow(studio, state);
                }
            }
        }
    }

    /// Takes a state over into the page's own session.
    fn follow(&self, studio: &Studio, state: State) {
        match &state {
            State::Online { name, role } => {
                let current = studio.sessions.current();
                let is_known =
                    current.with_untracked(|now| now.as_ref().is_some_and(|now| now.name == *name));
                if !is_known {
                    studio.sessions.begin(session(name.clone(), *role));
                }
                self.entered.set(true);
            }
            State::SignedOut { why } => {
                let was_in = studio.sessions.current().with_untracked(Option::is_some);
                if was_in {
                    let expired = why.is_some();
                    studio.sessions.end(match expired {
                        true => SignedOut::Expired,
                        false => SignedOut::ByPerson,
                    });
                }
                self.entered.set(true);
            }
            _ => {}
        }
        self.state.set(state);
    }

    /// Works with an appliance.
    pub(crate) fn enter(&self, studio: &Studio, chosen: Chosen) {
        self.program.choose(Some(chosen.clone()));
        self.entered.set(false);
        self.state.set(State::Connecting);
        let call = json!({"call": "connect", "profile": chosen.id});
        self.chosen.set(Some(chosen));
        self.ask(studio, call);
    }

    /// Makes a call that is answered with a state.
    fn ask(&self, studio: &Studio, call: serde_json::Value) {
        let (gate, studio) = (self.clone(), studio.clone());
        leptos::task::spawn_local(async move {
            match gate.program.call(&call).await {
                Ok(answer) => {
                    let state = answer.get("state").cloned().unwrap_or_default();
                    if let Ok(state) = serde_json::from_value(state) {
                        gate.follow(&studio, state);
                    }
                }
                Err(refused) => {
                    let since = String::new();
                    gate.state.set(State::Waiting { since, why: refused.message });
                }
            }
        });
    }

    /// Back to the list. The connection stays, so that coming back is quick.
    fn leave(&self) {
        self.program.choose(None);
        self.chosen.set(None);
        self.entered.set(false);
    }

    fn shown(&self) -> Shown {
        if self.chosen.with(Option::is_none) {
            return Shown::List;
        }
        match self.state.get() {
            State::NotTrusted { presented, pinned } => Shown::Trust { presented, pinned },
            _ if self.entered.get() => Shown::Pages,
            State::Waiting { why, .. } => Shown::Unreachable(why),
            _ => Shown::Connecting,
        }
    }

    fn name(&self) -> String {
        self.chosen.get_untracked().map(|chosen| chosen.name).unwrap_or_default()
    }
}

/// The gate and, behind it, the pages.
#[component]
pub(crate) fn Appliances(
    /// The program.
    program: Program,
) -> impl IntoView {
    let studio = Studio::here();
    let gate = Gate::start(program, studio.clone());
    let seen = gate.clone();
    // Only a change of what is shown makes it anew: a state that comes again must not begin the
    // pages afresh.
    let shown = Memo::new(move |_| seen.shown());
    move || {
        let gate = gate.clone();
        match shown.get() {
            Shown::List => view! { <List gate/> }.into_any(),
            Shown::Trust { presented, pinned } => {
                view! { <Trust gate presented pinned/> }.into_any()
            }
            Shown::Pages => view! { <Pages/> }.into_any(),
            Shown::Unreachable(why) => view! { <Unreachable gate why/> }.into_any(),
            Shown::Connecting => view! { <Connecting gate/> }.into_any(),
        }
    }
}

#[component]
fn Connecting(gate: Gate) -> impl IntoView {
    let language = Studio::here().language;
    let name = gate.name();
    let label =
        Signal::derive(move || language.say_with(appliances::CONNECTING, &[("name", &name)]));
    view! {
        <Entrance title=shell::PRODUCT>
            <Progress label>
                <Button on_press=move |()| gate.leave()>{t(appliances::BACK)}</Button>
            </Progress>
        </Entrance>
    }
}

#[component]
fn Unreachable(gate: Gate, why: String) -> impl IntoView {
    let language = Studio::here().language;
    let name = gate.name();
    let title =
        Signal::derive(move || language.say_with(appliances::UNREACHABLE, &[("name", &name)]));
    let next = t(appliances::UNREACHABLE_NEXT);
    let text = Signal::derive(move || format!("{why} {}", next.get()));
    view! {
        <Entrance title=shell::PRODUCT>
            <Notice priority=Priority::Two title text>
                <Button on_press=move |()| gate.leave() weight=Weight::Primary>{t(appliances::BACK)}</Button>
            </Notice>
        </Entrance>
    }
}
