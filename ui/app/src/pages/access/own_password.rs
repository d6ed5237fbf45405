//! Changing one's own password.
//!
//! **Invariants**
//! - The old one is asked for; this session stays, the others end, and the page says so first.

use super::new_person::Refused;
use super::passwords::{PasswordFields, Passwords};
use crate::context::Studio;
use crate::host::Method;
use crate::words::{access, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Dialog, Field, FieldKind, Progress, Toasts, Weight};
use std::time::Duration;

/// Two hashings, and others before them.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The dialog.
#[component]
pub(super) fn OwnPasswordDialog(open: RwSignal<bool>) -> impl IntoView {
    view! {
        <Dialog title=t(access::OWN_PASSWORD) open close=t(shell::CANCEL)><Form open/></Dialog>
    }
}

#[component]
fn Form(open: RwSignal<bool>) -> impl IntoView {
    let (studio, toasts) = (Studio::here(), expect_context::<Toasts>());
    let language = studio.language;
    let old = RwSignal::new(String::new());
    let (old_fault, fault) = (RwSignal::new(None::<String>), RwSignal::new(None::<String>));
    let working = RwSignal::new(false);
    let passwords = Passwords::new();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        fault.set(None);
        let is_missing = old.with_untracked(String::is_empty);
        old_fault.set(is_missing.then(|| language.say(access::OLD_MISSING)));
        let Some(new_password) = passwords.checked(language) else { return };
        if is_missing || working.get_untracked() {
            return;
        }
        working.set(true);
        let change = v1::OwnPassword { old_password: old.get_untracked(), new_password };
        let api = studio.api.clone();
        leptos::task::spawn_local(async move {
            let address = ["me", "password"];
            let answer = api.change(Method::Post, &address, &[], Some(&change), TIMEOUT).await;
            working.try_set(false);
            match answer {
                Ok(_) => {
                    toasts.good(language.say(access::OWN_PASSWORD_DONE));
                    open.try_set(false);
                }
                Err(why) => {
                    let at = match why.field() {
                        Some("old_password") => old_fault,
                        Some("new_password") => passwords.fault,
                        _ => fault,
                    };
                    at.try_set(Some(why.text(language)));
                }
            }
        });
    };
    view! {
        <form class="form own-password" on:submit=submit>
            <Field
                label=t(access::OLD_PASSWORD)
                value=old
                kind=FieldKind::Password
                fault=old_fault
                autocomplete="current-password"
                autofocus=true
            />
            <PasswordFields passwords/>
            <p>{t(access::OWN_PASSWORD_TEXT)}</p>
            <Refused fault=fault.into()/>
            <div class="form-actions">
                <Button on_press=|()| {} submit=true weight=Weight::Primary>{t(access::OWN_PASSWORD)}</Button>
                <Show when=move || working.get()><Progress label=t(access::WORKING)/></Show>
            </div>
        </form>
    }
}
