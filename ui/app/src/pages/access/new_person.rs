//! Adding a person: name, role and first password.
//!
//! **Invariants**
//! - What is wrong stands at its field, whoever found it: the page or the appliance.

use super::passwords::{PasswordFields, Passwords};
use super::people::Desk;
use super::person_changes::RoleChoice;
use super::some;
use crate::context::Studio;
use crate::words::{access, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Dialog, Field, Notice, Priority, Progress, Toasts, Weight};

/// The dialog.
#[component]
pub(super) fn NewPersonDialog(desk: Desk) -> impl IntoView {
    view! {
        <Dialog title=t(access::ADD_PERSON) open=desk.adding close=t(shell::CANCEL)>
            <Form desk/>
        </Dialog>
    }
}

#[component]
fn Form(desk: Desk) -> impl IntoView {
    let studio = Studio::here();
    let toasts: Toasts = expect_context();
    let language = studio.language;
    let (name, role) = (RwSignal::new(String::new()), RwSignal::new(v1::Role::Viewer));
    let (name_fault, fault) = (RwSignal::new(None::<String>), RwSignal::new(None::<String>));
    let working = RwSignal::new(false);
    let passwords = Passwords::new();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let typed = name.get_untracked().trim().to_owned();
        let missing = typed.is_empty().then(|| language.say(access::NAME_MISSING));
        let has_name = missing.is_none();
        name_fault.set(missing);
        fault.set(None);
        let Some(password) = passwords.checked(language) else { return };
        if !has_name || working.get_untracked() {
            return;
        }
        working.set(true);
        let api = studio.api.clone();
        let wish = v1::NewPerson { name: typed, password, role: role.get_untracked() };
        leptos::task::spawn_local(async move {
            let answer = api.post::<_, v1::Person>(&["people"], &wish).await;
            working.try_set(false);
            match answer {
                Ok(person) => {
                    toasts.good(language.say_with(access::PERSON_ADDED, &[("name", &person.name)]));
                    desk.list.refresh();
                    desk.adding.try_set(false);
                }
                Err(why) => {
                    let at = match why.field() {
                        Some("password") => passwords.fault,
                        Some("name") => name_fault,
                        _ => fault,
                    };
                    at.try_set(Some(why.text(language)));
                }
            }
        });
    };
    view! {
        <form class="form" on:submit=submit>
            <Field label=t(access::NAME) value=name help=some(access::NAME_HELP) fault=name_fault autofocus=true/>
            <RoleChoice role/>
            <PasswordFields passwords/>
            <Refused fault=fault.into()/>
            <div class="form-actions">
                <Button on_press=|()| {} submit=true weight=Weight::Primary>{t(access::CREATE_PERSON)}</Button>
                <Show when=move || working.get()><Progress label=t(access::WORKING)/></Show>
            </div>
        </form>
    }
}

/// What the appliance said against it, if it did.
#[component]
pub(super) fn Refused(fault: Signal<Option<String>>) -> impl IntoView {
    let text = Signal::derive(move || fault.get().unwrap_or_default());
    view! {
        <Show when=move || fault.with(Option::is_some)>
            <Notice priority=Priority::Two title=t(crate::words::faults::TITLE) text/>
        </Show>
    }
}
