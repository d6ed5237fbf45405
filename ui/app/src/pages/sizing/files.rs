//! Where plans come from and where they go: files, the worksheet, the page to print, the appliance.
//!
//! **Invariants**
//! - Files are made in the page; nothing leaves it but what is stored on the appliance by name.
//! - A plan that another one replaces can be had back.

use super::desk::{BOX_PROFILE, Desk};
use crate::api::Fault;
use crate::host::Method;
use crate::words::{Message, shell, sizing, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::file::FileText;
use millrace_kit::{Button, Choice, Dialog, Menu, Priority, Select, Toasts, Weight};
use millrace_sizing::worksheet::html;
use millrace_sizing::{Plan, Problem, Profile, worksheet};
use std::sync::Arc;

/// The media type of a spreadsheet.
const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
/// Characters of a file's name.
const FILE_NAME_MAX: usize = 60;

/// The row of tools over the page.
#[component]
pub(super) fn Files(signed_in: Memo<bool>) -> impl IntoView {
    let desk = Desk::here();
    let studio = desk.studio();
    let language = studio.language;
    let opening = RwSignal::new(false);
    let choices = Signal::derive(move || {
        let mut choices = vec![
            Choice::new("millrace", language.say(sizing::PROFILE_MILLRACE)),
            Choice::new("reference", language.say(sizing::PROFILE_REFERENCE)),
        ];
        if desk.measured.with(Option::is_some) {
            choices.push(Choice::new(BOX_PROFILE, language.say(sizing::PROFILE_BOX)));
        }
        choices
    });
    let may_store = {
        let sessions = studio.sessions.clone();
        Memo::new(move |_| {
            signed_in.get();
            sessions.may(v1::Role::Engineer)
        })
    };
    let entries = Signal::derive(move || {
        let mut entries =
            vec![Action::Example, Action::Empty, Action::Open, Action::Save, Action::Back];
        if signed_in.get() {
            entries.push(Action::Fetch);
        }
        if may_store.get() {
            entries.extend([Action::Store, Action::Remove]);
        }
        let has_previous = desk.previous.with(Option::is_some);
        entries.retain(|action| *action != Action::Back || has_previous);
        let choice = |action: Action| Choice::new(action.key(), language.say(action.text()));
        entries.into_iter().map(choice).collect::<Vec<_>>()
    });
    let toasts: Toasts = expect_context();
    let choose = move |key: String| {
        let Some(action) = Action::ALL.into_iter().find(|action| action.key() == key) else {
            return;
        };
        act(desk, toasts, action, opening);
    };
    let off = Signal::derive(move || desk.is_old().then(|| language.say(sizing::FAULTS_FIRST)));
    let save =
        move |build: fn(&Plan, &Profile) -> Built, ending: &'static str, kind: &'static str| {
            move |()| {
                let Some(profile) = desk.profile.get_untracked() else { return };
                let plan = desk.plan();
                match build(&plan, &profile) {
                    Ok(bytes) => {
                        desk.studio().host.save_file(&file_name(&plan.name, ending), kind, &bytes);
                    }
                    Err(problems) => toasts.bad(Priority::Three, sentences(&problems)),
                }
            }
        };
    view! {
        <div class="form-actions sizing-tools">
            <Menu label=t(sizing::PLAN) entries on_choose=choose/>
            <Select label=t(sizing::PROFILE) value=desk.profile_name choices compact=true/>
            <Button weight=Weight::Primary on_press=save(worksheet, "xlsx", XLSX) off_because=off>
                {t(sizing::SAVE_WORKSHEET)}
            </Button>
            <Button on_press=save(page_to_print, "html", "text/html") off_because=off>
                {t(sizing::SAVE_PAGE)}
            </Button>
        </div>
        <Dialog title=t(sizing::OPEN) open=opening close=t(shell::CANCEL)><OpenForm opening/></Dialog>
    }
}

type Built = Result<Vec<u8>, Vec<Problem>>;

fn page_to_print(plan: &Plan, profile: &Profile) -> Built {
    html(plan, profile).map(String::into_bytes)
}

/// What the menu of the plan does.
#[derive(Clone, Copy, PartialEq)]
enum Action {
    Example,
    Empty,
    Open,
    Save,
    Back,
    Fetch,
    Store,
    Remove,
}

impl Action {
    const ALL: [Self; 8] = [
        Self::Example,
        Self::Empty,
        Self::Open,
        Self::Save,
        Self::Back,
        Self::Fetch,
        Self::Store,
        Self::Remove,
    ];

    fn key(self) -> &'static str {
        match self {
            Self::Example => "example",
            Self::Empty => "empty",
            Self::Open => "open",
            Self::Save => "save",
            Self::Back => "back",
            Self::Fetch => "fetch",
            Self::Store => "store",
            Self::Remove => "remove",
        }
    }

    fn text(self) -> Message {
        match self {
            Self::Example => sizing::EXAMPLE,
            Self::Empty => sizing::EMPTY,
            Self::Open => sizing::OPEN,
            Self::Save => sizing::SAVE_PLAN,
            Self::Back => sizing::BACK,
            Self::Fetch => sizing::FETCH,
            Self::Store => sizing::STORE,
            Self::Remove => sizing::REMOVE_STORED,
        }
    }
}

fn act(desk: Desk, toasts: Toasts, action: Action, opening: RwSignal<bool>) {
    let studio = desk.studio();
    let language = studio.language;
    match action {
        Action::Example => desk.replace(Plan::example()),
        Action::Empty => desk.replace(Plan::empty(&language.say(sizing::NEW_NAME))),
        Action::Open => opening.set(true),
        Action::Save => {
            let plan = desk.plan();
            if let Ok(text) = serde_json::to_vec_pretty(&plan) {
                studio.host.save_file(&file_name(&plan.name, "json"), "application/json", &text);
            }
        }
        Action::Back => {
            if let Some(plan) = desk.previous.get_untracked() {
                desk.replace(plan);
            }
        }
        Action::Fetch | Action::Store | Action::Remove => {
            leptos::task::spawn_local(async move {
                match on_appliance(desk, action).await {
                    Ok(message) => toasts.good(language.say(message)),
                    Err(text) => toasts.bad(Priority::Three, text),
                }
                desk.stored.try_update(|count| *count += 1);
            });
        }
    }
}

/// What is done with the appliance's stored plan. Gives what to say.
async fn on_appliance(desk: Desk, action: Action) -> Result<Message, String> {
    let studio = desk.studio();
    let address = ["sizing", "plan"];
    let told = |fault: Fault| fault.text(studio.language);
    match action {
        Action::Store => {
            let plan = serde_json::to_value(desk.plan()).map_err(|fault| fault.to_string())?;
            let new = v1::NewPlan { plan };
            studio.api.put::<_, v1::StoredPlan>(&address, &new).await.map_err(told)?;
            Ok(sizing::STORED)
        }
        Action::Remove => {
            studio.api.act(Method::Delete, &address).await.map_err(told)?;
            Ok(sizing::REMOVED)
        }
        _ => {
            let stored: v1::StoredPlan = studio.api.get(&address, &[]).await.map_err(told)?;
            let plan = Plan::from_json(&stored.plan.to_string()).map_err(|all| sentences(&all))?;
            desk.replace(plan);
            Ok(sizing::FETCHED)
        }
    }
}

fn sentences(problems: &[Problem]) -> String {
    problems.iter().take(3).map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// A name that every file system takes.
fn file_name(plan: &str, ending: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '-' };
    let name: String = plan.trim().chars().take(FILE_NAME_MAX).map(plain).collect();
    let name = name.trim_matches('-');
    format!("{}.{ending}", if name.is_empty() { "sizing" } else { name })
}

#[component]
fn OpenForm(opening: RwSignal<bool>) -> impl IntoView {
    let desk = Desk::here();
    let fault = RwSignal::new(None::<String>);
    let read = move |text: String| match Plan::from_json(&text) {
        Ok(plan) => {
            desk.replace(plan);
            opening.set(false);
        }
        Err(problems) => fault.set(Some(sentences(&problems))),
    };
    view! {
        <div class="form">
            <p class="muted">{t(sizing::OPEN_HELP)}</p>
            <FileText label=t(sizing::OPEN_FILE) on_text=read/>
            <p class="field-fault" role="alert">{fault}</p>
        </div>
    }
}

/// Takes the figures that a calibration has measured, if there are any.
pub(super) async fn take_measured(desk: Desk) {
    let studio = desk.studio();
    // Where nobody has measured there is nothing to choose.
    let found = studio.api.get::<serde_json::Value>(&["sizing", "profile"], &[]).await.ok();
    let profile = found.and_then(|found| Profile::from_json(&found.to_string()).ok());
    desk.measured.try_set(profile.map(Arc::new));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_name_that_every_system_takes() {
        assert_eq!(file_name("Halle 3: süd/nord", "xlsx"), "Halle-3--süd-nord.xlsx");
        assert_eq!(file_name("../..", "json"), "sizing.json");
        assert_eq!(file_name(&"x".repeat(500), "html").len(), FILE_NAME_MAX + 5);
    }

    #[test]
    fn every_action_is_found_by_its_key() {
        for (at, action) in Action::ALL.iter().enumerate() {
            let others = Action::ALL.iter().skip(at + 1);
            assert!(others.into_iter().all(|other| other.key() != action.key()));
        }
    }
}
