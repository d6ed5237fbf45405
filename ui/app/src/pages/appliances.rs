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
use crate::host::desktop::{Chosen, News, ProfileId, Program, State, session};
use crate::pages::claim::Entrance;
use crate::project::{Away, Stored, moment};
use crate::routes::Pages;
use crate::session::SignedOut;
use crate::words::{appliances, offline, shell, t};
use leptos::prelude::*;
use list::List;
use millrace_contract::v1::Role;
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
            News::Connection(profile, state) if self.is_chosen(&profile) => {
                self.follow(studio, state);
            }
            News::Project(profile) if self.is_chosen(&profile) => studio.project.reload(),
            News::Connection(..) | News::Project(_) => {}
        }
    }

    fn is_chosen(&self, profile: &ProfileId) -> bool {
        self.chosen.with_untracked(|chosen| chosen.as_ref().is_some_and(|of| of.id == *profile))
    }

    /// Takes a state over into the page's own session.
    fn follow(&self, studio: &Studio, state: State) {
        match &state {
            State::Online { name, role } => {
                let current = studio.sessions.current();
                let is_known = current.with_untracked(|now| {
                    now.as_ref().is_some_and(|now| now.name == *name && now.role == *role)
                });
                if !is_known {
                    studio.sessions.begin(session(name.clone(), *role));
                }
                studio.project.found(true);
                self.entered.set(true);
            }
            State::SignedOut { why } => {
                studio.project.found(false);
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
            State::Waiting { since, why } => {
                studio.project.lost(Away { since: since.clone(), why: why.clone() });
            }
            State::Offline | State::Connecting | State::NotTrusted { .. } => {}
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
        studio.project.turn();
        self.ask(studio, call);
    }

    /// Shows the pages without the appliance. What somebody may do there it decides itself, once a
    /// draft comes to it; until then everything can be edited.
    fn work_offline(&self, studio: &Studio) {
        let user = self.chosen.get_untracked().and_then(|chosen| chosen.user);
        studio.project.begin_away();
        studio.sessions.begin(session(user.unwrap_or_default(), Role::Engineer));
        self.entered.set(true);
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
    let studio = Studio::here();
    let language = studio.language;
    let name = gate.name();
    let title =
        Signal::derive(move || language.say_with(appliances::UNREACHABLE, &[("name", &name)]));
    let next = t(appliances::UNREACHABLE_NEXT);
    let text = Signal::derive(move || format!("{why} {}", next.get()));
    let stored = studio.project.stored();
    let seeing = studio.clone();
    let here = move || {
        stored.with(|stored| match &stored.reading {
            None => language.say(offline::WORK_NEVER),
            Some(reading) => {
                let count = |number: usize| language.locale().integer(number as i128);
                let pipelines = stored.entries.iter().filter(|entry| entry.revision.is_some());
                let values = [
                    ("n", count(pipelines.count())),
                    ("topics", count(reading.topics)),
                    ("read", moment(&seeing, &reading.at)),
                ];
                let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
                language.say_with(offline::WORK_TEXT, &values)
            }
        })
    };
    let drafts = move || {
        let of =
            |stored: &Stored| stored.entries.iter().filter(|of| of.draft_saved.is_some()).count();
        let drafts = stored.with(of);
        (drafts > 0).then(|| language.say_with(offline::DRAFTS_HERE, &[("n", &drafts.to_string())]))
    };
    let back = gate.clone();
    view! {
        <Entrance title=shell::PRODUCT>
            <Notice priority=Priority::Two title text/>
            <p>{here}</p>
            <p>{drafts}</p>
            <div class="form-actions">
                <Button on_press=move |()| back.leave()>{t(appliances::BACK)}</Button>
                <Button on_press=move |()| gate.work_offline(&studio) weight=Weight::Primary>{t(offline::WORK)}</Button>
            </div>
        </Entrance>
    }
}
