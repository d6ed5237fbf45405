//! Claiming a new appliance: the first admin, with the code that the appliance shows.
//!
//! **Invariants**
//! - The password is typed twice, since nobody else could reset it.

use crate::context::Studio;
use crate::shell::status::{LanguageChoice, ThemeButton};
use crate::words::{Language, Message, claim, shell, t};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use millrace_contract::v1;
use millrace_kit::{Button, Field, FieldKind, Progress, Weight};

/// Least characters of a password; the appliance asks for the same.
const PASSWORD_CHARACTERS_MIN: usize = 10;

/// The frame of the pages that need no session.
#[component]
pub fn Entrance(
    /// The page's title.
    title: Message,
    /// What is on it.
    children: Children,
) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    Effect::new(move |_| {
        studio.host.set_title(&format!("{} · Millrace", language.say(title)));
    });
    view! {
        <main class="entrance">
            <header class="entrance-head">
                <span class="title-bar-product">{t(shell::PRODUCT)}</span>
                <LanguageChoice/>
                <ThemeButton/>
            </header>
            <h1>{t(title)}</h1>
            {children()}
        </main>
    }
}

/// The page.
#[component]
pub fn Claim() -> impl IntoView {
    let studio = Studio::here();
    let form = ClaimForm::new(&studio);
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        form.send();
    };
    let working = form.working;
    view! {
        <Entrance title=claim::TITLE>
            <p>{t(claim::INTRODUCTION)}</p>
            <form class="form" on:submit=submit>
                <Field label=t(claim::CODE) value=form.code help=help(claim::CODE_HELP) fault=form.code_fault autofocus=true/>
                <Field label=t(claim::NAME) value=form.name help=help(claim::NAME_HELP) fault=form.name_fault autocomplete="username"/>
                <Field
                    label=t(claim::PASSWORD)
                    value=form.password
                    kind=FieldKind::Password
                    help=help(claim::PASSWORD_HELP)
                    fault=form.password_fault
                    autocomplete="new-password"
                />
                <Field label=t(claim::AGAIN) value=form.again kind=FieldKind::Password fault=form.again_fault autocomplete="new-password"/>
                <div class="form-actions">
                    <Button on_press=|()| {} submit=true weight=Weight::Primary>{t(claim::SUBMIT)}</Button>
                    <Show when=move || working.get()>
                        <Progress label=t(claim::WORKING)/>
                    </Show>
                </div>
            </form>
        </Entrance>
    }
}

fn help(message: Message) -> Signal<Option<String>> {
    let text = t(message);
    Signal::derive(move || Some(text.get()))
}

#[derive(Clone, Copy)]
struct ClaimForm {
    code: RwSignal<String>,
    name: RwSignal<String>,
    password: RwSignal<String>,
    again: RwSignal<String>,
    code_fault: RwSignal<Option<String>>,
    name_fault: RwSignal<Option<String>>,
    password_fault: RwSignal<Option<String>>,
    again_fault: RwSignal<Option<String>>,
    working: RwSignal<bool>,
    language: Language,
    send: Callback<v1::Claim>,
}

impl ClaimForm {
    fn new(studio: &Studio) -> Self {
        let text = || RwSignal::new(String::new());
        let none = || RwSignal::new(None::<String>);
        let (password, again) = (text(), text());
        let (code_fault, name_fault, password_fault) = (none(), none(), none());
        let working = RwSignal::new(false);
        let navigate = use_navigate();
        let (studio, language) = (studio.clone(), studio.language);
        let send = Callback::new(move |wish: v1::Claim| {
            let (studio, navigate) = (studio.clone(), navigate.clone());
            working.set(true);
            leptos::task::spawn_local(async move {
                let answer = studio.api.post::<_, v1::Session>(&["claim"], &wish).await;
                working.set(false);
                match answer {
                    Ok(session) => {
                        password.set(String::new());
                        again.set(String::new());
                        studio.sessions.begin(session);
                        navigate("/", leptos_router::NavigateOptions::default());
                    }
                    Err(why) => {
                        let at = match why.field() {
                            Some("name") => name_fault,
                            Some("password") => password_fault,
                            _ => code_fault,
                        };
                        at.set(Some(why.text(language)));
                    }
                }
            });
        });
        Self {
            code: text(),
            name: text(),
            password,
            again,
            code_fault,
            name_fault,
            password_fault,
            again_fault: none(),
            working,
            language,
            send,
        }
    }

    fn send(self) {
        if self.working.get_untracked() {
            return;
        }
        let password = self.password.get_untracked();
        let short = password.chars().count() < PASSWORD_CHARACTERS_MIN;
        let differs = password != self.again.get_untracked();
        let say = |wrong: bool, message| wrong.then(|| self.language.say(message));
        self.code_fault.set(None);
        self.name_fault.set(None);
        self.password_fault.set(say(short, claim::SHORT));
        self.again_fault.set(say(differs, claim::DIFFERENT));
        if !short && !differs {
            let code = self.code.get_untracked().trim().to_owned();
            let name = self.name.get_untracked().trim().to_owned();
            self.send.run(v1::Claim { code, name, password });
        }
    }
}
