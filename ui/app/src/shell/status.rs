//! The title bar and the bar that says that what is shown is old.
//!
//! **Invariants**
//! - A lost connection is told in one place for the whole page, with the time since when.

use super::turn_theme;
use crate::context::{Studio, Theme};
use crate::live::LiveState;
use crate::locale::Locale;
use crate::project::moment;
use crate::words::{offline, shell, t};
use leptos::prelude::*;
use millrace_contract::v1::Role;
use millrace_kit::{Badge, Button, Choice, Priority, Select, Weight};

/// Clocks that are this far apart are worth a word: half a minute.
const CLOCKS_DIFFER_NANOS: u64 = 30_000_000_000;

/// The title bar.
#[component]
pub fn TitleBar() -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let person = studio.sessions.current();
    let who = Signal::derive(move || {
        person.with(|person| {
            let role = person.as_ref().map(|person| match person.role {
                Role::Viewer => shell::VIEWER,
                Role::Engineer => shell::ENGINEER,
                Role::Admin => shell::ADMIN,
            });
            let name = person.as_ref().map(|person| person.name.clone()).unwrap_or_default();
            match role {
                Some(role) => format!("{name} · {}", language.say(role)),
                None => String::new(),
            }
        })
    });
    let signing_out = studio.clone();
    let sign_out = move |()| {
        let api = signing_out.api.clone();
        leptos::task::spawn_local(async move { api.sign_out().await });
    };
    view! {
        <header class="title-bar">
            <span class="title-bar-product">{t(shell::PRODUCT)}</span>
            <LiveSign/>
            <span class="title-bar-who">{who}</span>
            <LanguageChoice/>
            <ThemeButton/>
            <Show when=move || person.with(Option::is_some)>
                <Button on_press=sign_out.clone() weight=Weight::Quiet>{t(shell::SIGN_OUT)}</Button>
            </Show>
        </header>
    }
}

/// Chooses the language; also stands on the pages without a session.
#[component]
pub fn LanguageChoice() -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language.0;
    let chosen = RwSignal::new(language.get_untracked().name().to_owned());
    Effect::new(move |_| {
        if let Some(locale) = chosen.with(|chosen| Locale::of(chosen)) {
            language.set(locale);
        }
    });
    let choices = [Choice::new("en", shell::ENGLISH.en), Choice::new("de", shell::GERMAN.de)];
    view! { <Select label=t(shell::LANGUAGE) value=chosen choices=choices.to_vec() compact=true/> }
}

/// Light or dark.
#[component]
pub fn ThemeButton() -> impl IntoView {
    let studio = Studio::here();
    let (theme, language) = (studio.theme, studio.language);
    let text = Signal::derive(move || {
        language.say(match theme.get() {
            Theme::Light => shell::TO_DARK,
            Theme::Dark => shell::TO_LIGHT,
        })
    });
    view! { <Button on_press=move |()| turn_theme(&studio) weight=Weight::Quiet>{text}</Button> }
}

#[component]
fn LiveSign() -> impl IntoView {
    let studio = Studio::here();
    let (state, language) = (studio.live.state(), studio.language);
    let text = move || match state.get() {
        LiveState::Off => String::new(),
        LiveState::Connecting => language.say(shell::LIVE_CONNECTING),
        LiveState::Open { .. } => language.say(shell::LIVE),
        LiveState::Lost { .. } => String::new(),
    };
    view! { <span class="title-bar-live">{text}</span> }
}

/// Says that what is shown is old, while it is.
#[component]
pub fn ConnectionBar() -> impl IntoView {
    let studio = Studio::here();
    let (state, reachable, language) =
        (studio.live.state(), studio.api.reachable(), studio.language);
    let host = studio.host.clone();
    let lost_at = RwSignal::new(None);
    Effect::new(move |_| {
        let lost = match state.get() {
            LiveState::Lost { since } => Some(since),
            _ if !reachable.get() => Some(lost_at.get_untracked().unwrap_or_else(|| host.now())),
            _ => None,
        };
        lost_at.set(lost);
    });
    let (host, seeing, project) = (studio.host.clone(), studio.clone(), studio.project);
    let offline = Signal::derive(move || {
        let Some(away) = project.away() else { return String::new() };
        let since = moment(&seeing, &away.since);
        let read = project
            .stored()
            .with(|stored| stored.reading.as_ref().map(|reading| moment(&seeing, &reading.at)));
        match read {
            None => language.say_with(offline::SINCE_NEVER, &[("since", &since)]),
            Some(read) => language.say_with(offline::SINCE, &[("since", &since), ("read", &read)]),
        }
    });
    let is_offline = move || project.away().is_some();
    let text = Signal::derive(move || {
        lost_at.get().map_or_else(String::new, |since| {
            let time = language.locale().time(since, host.utc_offset_minutes(since));
            language.say_with(shell::LIVE_LOST, &[("time", &time)])
        })
    });
    let clock = studio.clock;
    let clocks_differ = Memo::new(move |_| clock.ahead().unsigned_abs() > CLOCKS_DIFFER_NANOS);
    let difference = Signal::derive(move || {
        let seconds = clock.ahead().unsigned_abs() / 1_000_000_000;
        let time = format!("{seconds} s");
        language.say_with(shell::CLOCK_DIFFERS, &[("time", &time)])
    });
    view! {
        <div role="status">
            <Show when=is_offline>
                <p class="connection-bar">
                    <Badge priority=Priority::Four label=offline/>
                    {offline}
                </p>
            </Show>
            <Show when=move || !is_offline() && lost_at.with(Option::is_some)>
                <p class="connection-bar">
                    <Badge priority=Priority::Two label=text/>
                    {text}
                </p>
            </Show>
            <Show when=move || clocks_differ.get()>
                <p class="connection-bar">
                    <Badge priority=Priority::Four label=difference/>
                    {difference}
                </p>
            </Show>
        </div>
    }
}
