//! Signing in. A new appliance is claimed first.
//!
//! **Invariants**
//! - A password is in the field and in the request, nowhere else, and is emptied after either.
//! - Who was led here comes back to the page they wanted; only to an address of this studio.

use crate::context::Studio;
use crate::pages::claim::Entrance;
use crate::session::SignedOut;
use crate::words::{sign_in, t};
use leptos::prelude::*;
use leptos_router::hooks::{use_navigate, use_query_map};
use millrace_contract::v1;
use millrace_kit::{Button, Field, FieldKind, Notice, Priority, Progress, Weight};

/// The page.
#[component]
pub fn SignIn() -> impl IntoView {
    let studio = Studio::here();
    go_to_claim_if_open(&studio);
    let form = SignInForm::new(&studio);
    let expired = {
        let ended = studio.sessions.ended();
        move || ended.get() == SignedOut::Expired
    };
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        form.send();
    };
    let working = form.working;
    view! {
        <Entrance title=sign_in::TITLE>
            <Show when=expired>
                <Notice priority=Priority::Three title=t(sign_in::EXPIRED) text=t(sign_in::EXPIRED_TEXT)/>
            </Show>
            <form class="form" on:submit=submit>
                <Field label=t(sign_in::NAME) value=form.name help=help() autocomplete="username" autofocus=true/>
                <Field
                    label=t(sign_in::PASSWORD)
                    value=form.password
                    kind=FieldKind::Password
                    fault=form.fault
                    autocomplete="current-password"
                />
                <div class="form-actions">
                    <Button on_press=|()| {} submit=true weight=Weight::Primary>{t(sign_in::SUBMIT)}</Button>
                    <Show when=move || working.get()>
                        <Progress label=t(sign_in::WORKING)/>
                    </Show>
                </div>
            </form>
        </Entrance>
    }
}

fn help() -> Signal<Option<String>> {
    let text = t(sign_in::NAME_HELP);
    Signal::derive(move || Some(text.get()))
}

#[derive(Clone, Copy)]
struct SignInForm {
    name: RwSignal<String>,
    password: RwSignal<String>,
    fault: RwSignal<Option<String>>,
    working: RwSignal<bool>,
    send: Callback<v1::Login>,
    empty: Signal<String>,
}

impl SignInForm {
    fn new(studio: &Studio) -> Self {
        let password = RwSignal::new(String::new());
        let fault = RwSignal::new(None);
        let working = RwSignal::new(false);
        let navigate = use_navigate();
        let query = use_query_map();
        let studio = studio.clone();
        let empty = studio.text(sign_in::EMPTY);
        let send = Callback::new(move |login: v1::Login| {
            let (studio, navigate) = (studio.clone(), navigate.clone());
            let then = query.with_untracked(|query| query.get("then"));
            working.set(true);
            leptos::task::spawn_local(async move {
                let answer = studio.api.post::<_, v1::Session>(&["login"], &login).await;
                working.set(false);
                password.set(String::new());
                match answer {
                    Ok(session) => {
                        studio.sessions.begin(session);
                        navigate(&inside(then), leptos_router::NavigateOptions::default());
                    }
                    Err(why) => fault.set(Some(why.text(studio.language))),
                }
            });
        });
        Self { name: RwSignal::new(String::new()), password, fault, working, send, empty }
    }

    fn send(self) {
        if self.working.get_untracked() {
            return;
        }
        let login = v1::Login {
            name: self.name.get_untracked().trim().to_owned(),
            password: self.password.get_untracked(),
        };
        if login.name.is_empty() || login.password.is_empty() {
            self.fault.set(Some(self.empty.get_untracked()));
            return;
        }
        self.fault.set(None);
        self.send.run(login);
    }
}

/// Where to go: a page of this studio, never an address of another place.
fn inside(then: Option<String>) -> String {
    let good = |path: &String| {
        let is_own = path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
        is_own && !path.starts_with("/sign-in") && !path.starts_with("/claim")
    };
    then.filter(good).unwrap_or_else(|| "/".to_owned())
}

fn go_to_claim_if_open(studio: &Studio) {
    let api = studio.api.clone();
    let navigate = use_navigate();
    leptos::task::spawn_local(async move {
        let state: Result<v1::ClaimState, _> = api.get(&["claim"], &[]).await;
        if state.is_ok_and(|state| state.open) {
            navigate(
                "/claim",
                leptos_router::NavigateOptions { replace: true, ..Default::default() },
            );
        }
    });
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn goes_back_inside_of_the_studio_only() {
        assert_eq!(inside(Some("/trends".to_owned())), "/trends");
        for elsewhere in
            ["https://elsewhere", "//elsewhere", "/\\elsewhere", "javascript:1", "", "/sign-in"]
        {
            assert_eq!(inside(Some(elsewhere.to_owned())), "/", "{elsewhere}");
        }
        assert_eq!(inside(None), "/");
    }
}
