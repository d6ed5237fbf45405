//! Changing somebody: another role, a new password, out of use and back.
//!
//! **Invariants**
//! - Each dialog names the person and says what happens to open sessions, most of all to one's own.

use super::new_person::Refused;
use super::passwords::{PasswordFields, Passwords};
use super::people::Desk;
use super::role_name;
use crate::context::Studio;
use crate::words::{Message, access, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Choice, Dialog, Progress, Select, Toasts, Weight};

const ROLES: [(v1::Role, &str, Message); 3] = [
    (v1::Role::Viewer, "viewer", access::ROLE_VIEWER),
    (v1::Role::Engineer, "engineer", access::ROLE_ENGINEER),
    (v1::Role::Admin, "admin", access::ROLE_ADMIN),
];

/// A choice of the three roles, with what each may do.
#[component]
pub(super) fn RoleChoice(role: RwSignal<v1::Role>) -> impl IntoView {
    let language = Studio::here().language;
    let key_of = |role: v1::Role| ROLES.iter().find(|(known, ..)| *known == role);
    let key = role.with_untracked(|role| key_of(*role).map_or("viewer", |(_, key, _)| *key));
    let chosen = RwSignal::new(key.to_owned());
    Effect::new(move |_| {
        let found = chosen.with(|chosen| ROLES.iter().find(|(_, key, _)| key == chosen));
        if let Some((found, ..)) = found {
            role.set(*found);
        }
    });
    let choices = Signal::derive(move || {
        let choice = |(role, key, _): (v1::Role, &str, Message)| {
            Choice::new(key, language.say(role_name(role)))
        };
        ROLES.map(choice).to_vec()
    });
    let help = Signal::derive(move || {
        let (_, _, about) = key_of(role.get())?;
        Some(language.say(*about))
    });
    view! { <Select label=t(access::ROLE) value=chosen choices help/> }
}

/// What a dialog about somebody has in common: whom, sending, and what came of it.
#[derive(Clone, Copy)]
struct Change {
    desk: Desk,
    open: RwSignal<bool>,
    working: RwSignal<bool>,
    fault: RwSignal<Option<String>>,
}

impl Change {
    fn new(desk: Desk, open: RwSignal<bool>) -> Self {
        Self { desk, open, working: RwSignal::new(false), fault: RwSignal::new(None) }
    }

    fn name(self) -> String {
        self.desk.whom.with(|whom| whom.as_ref().map(|who| who.name.clone()).unwrap_or_default())
    }

    fn said(self, message: Message) -> Signal<String> {
        let language = Studio::here().language;
        Signal::derive(move || language.say_with(message, &[("name", &self.name())]))
    }

    /// What happens to the person's sessions.
    fn sessions(self) -> Signal<String> {
        let studio = Studio::here();
        Signal::derive(move || {
            let me = studio.sessions.current();
            let is_me = me.with(|me| me.as_ref().is_some_and(|me| me.name == self.name()));
            let own = access::SESSIONS_END_OWN;
            studio.language.say(if is_me { own } else { access::SESSIONS_END })
        })
    }

    /// Sends the change; `done` tells the person, in words that may hold a role.
    fn send(self, studio: &Studio, toasts: Toasts, change: v1::PersonChange, done: Message) {
        if self.working.get_untracked() {
            return;
        }
        self.working.set(true);
        self.fault.set(None);
        let (api, language, name) = (studio.api.clone(), studio.language, untrack(|| self.name()));
        leptos::task::spawn_local(async move {
            let answer = api.patch::<_, v1::Person>(&["people", &name], &[], &change).await;
            self.working.try_set(false);
            match answer {
                Ok(person) => {
                    let role = language.say(role_name(person.role));
                    toasts.good(language.say_with(done, &[("name", &name), ("role", &role)]));
                    self.desk.list.refresh();
                    self.open.try_set(false);
                }
                Err(why) => {
                    self.fault.try_set(Some(why.text(language)));
                }
            }
        });
    }
}

/// Gives another role.
#[component]
pub(super) fn RoleDialog(desk: Desk) -> impl IntoView {
    let change = Change::new(desk, desk.role);
    view! {
        <Dialog title=change.said(access::CHANGE_ROLE_OF) open=desk.role close=t(shell::CANCEL)>
            <RoleForm desk/>
        </Dialog>
    }
}

#[component]
fn RoleForm(desk: Desk) -> impl IntoView {
    let (studio, toasts) = (Studio::here(), expect_context::<Toasts>());
    let change = Change::new(desk, desk.role);
    let now = desk.whom.with_untracked(|whom| whom.as_ref().map(|who| who.role));
    let role = RwSignal::new(now.unwrap_or(v1::Role::Viewer));
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let wish = v1::PersonChange { role: Some(role.get_untracked()), ..Default::default() };
        change.send(&studio, toasts, wish, access::ROLE_CHANGED);
    };
    view! {
        <form class="form" on:submit=submit>
            <RoleChoice role/>
            <p>{change.sessions()}</p>
            <Refused fault=change.fault.into()/>
            <Actions change weight=Weight::Primary text=t(access::CHANGE_ROLE)/>
        </form>
    }
}

/// Gives a new password.
#[component]
pub(super) fn PasswordDialog(desk: Desk) -> impl IntoView {
    let change = Change::new(desk, desk.password);
    view! {
        <Dialog title=change.said(access::RESET_PASSWORD_OF) open=desk.password close=t(shell::CANCEL)>
            <PasswordForm desk/>
        </Dialog>
    }
}

#[component]
fn PasswordForm(desk: Desk) -> impl IntoView {
    let (studio, toasts) = (Studio::here(), expect_context::<Toasts>());
    let change = Change::new(desk, desk.password);
    let passwords = Passwords::new();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if let Some(password) = passwords.checked(studio.language) {
            let wish = v1::PersonChange { password: Some(password), ..Default::default() };
            change.send(&studio, toasts, wish, access::PASSWORD_RESET);
        }
    };
    view! {
        <form class="form" on:submit=submit>
            <PasswordFields passwords/>
            <p>{change.sessions()}</p>
            <Refused fault=change.fault.into()/>
            <Actions change weight=Weight::Primary text=t(access::RESET_PASSWORD)/>
        </form>
    }
}

/// Takes an account out of use, or brings it back.
#[component]
pub(super) fn AccountDialog(desk: Desk) -> impl IntoView {
    let language = Studio::here().language;
    let change = Change::new(desk, desk.account);
    let title = Signal::derive(move || {
        let message = if is_removed(desk) { access::BRING_BACK_OF } else { access::REMOVE_OF };
        language.say_with(message, &[("name", &change.name())])
    });
    view! {
        <Dialog title open=desk.account close=t(shell::CANCEL)><AccountForm desk/></Dialog>
    }
}

fn is_removed(desk: Desk) -> bool {
    desk.whom.with(|whom| whom.as_ref().is_some_and(|who| who.disabled.is_some()))
}

#[component]
fn AccountForm(desk: Desk) -> impl IntoView {
    let (studio, toasts) = (Studio::here(), expect_context::<Toasts>());
    let change = Change::new(desk, desk.account);
    let comes_back = untrack(|| is_removed(desk));
    let (title, done, weight) = match comes_back {
        true => (access::BRING_BACK_OF, access::PERSON_BACK, Weight::Primary),
        false => (access::REMOVE_OF, access::PERSON_REMOVED, Weight::Danger),
    };
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let wish = v1::PersonChange { disabled: Some(!comes_back), ..Default::default() };
        change.send(&studio, toasts, wish, done);
    };
    view! {
        <form class="form" on:submit=submit>
            {(!comes_back).then(|| view! { <p>{change.said(access::REMOVE_TEXT)}</p> })}
            <Refused fault=change.fault.into()/>
            <Actions change weight text=change.said(title)/>
        </form>
    }
}

#[component]
fn Actions(change: Change, weight: Weight, text: Signal<String>) -> impl IntoView {
    view! {
        <div class="form-actions">
            <Button on_press=|()| {} submit=true weight>{text}</Button>
            <Show when=move || change.working.get()><Progress label=t(access::WORKING)/></Show>
        </div>
    }
}
