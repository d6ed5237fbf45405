//! What every page finds around it: host, API, live values, session, language, clock.
//!
//! **Invariants**
//! - It is provided once, at the root; a page that looks for it finds it.

use crate::api::Api;
use crate::asked::Asked;
use crate::clock::Clock;
use crate::host::{Host, Kept, SharedHost};
use crate::live::Live;
use crate::locale::Locale;
use crate::project::Project;
use crate::session::Sessions;
use crate::words::{Language, Message};
use leptos::prelude::*;
use millrace_kit::Toasts;

/// Everything around a page.
#[derive(Clone)]
pub struct Studio {
    /// The machine.
    pub host: SharedHost,
    /// The appliance.
    pub api: Api,
    /// Its live values.
    pub live: Live,
    /// Who is signed in.
    pub sessions: Sessions,
    /// The person's language.
    pub language: Language,
    /// Light or dark.
    pub theme: RwSignal<Theme>,
    /// The time, once a second.
    pub clock: Clock,
    /// What the desktop program asks of the pages.
    pub asked: Asked,
    /// What the desktop program keeps of the appliance.
    pub project: Project,
}

/// Light or dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Theme {
    /// Its name in style sheets and storage.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Light => Self::Dark,
            Self::Dark => Self::Light,
        }
    }
}

impl Studio {
    /// Makes everything and puts it around what is mounted next.
    pub fn provide(host: SharedHost) {
        let language = Language(RwSignal::new(first_locale(host.as_ref())));
        let theme = RwSignal::new(first_theme(host.as_ref()));
        let sessions = Sessions::resume(host.clone());
        let api = Api::new(host.clone(), sessions.clone());
        let live = Live::start(host.clone(), api.clone(), sessions.clone());
        let clock = Clock::start(host.clone());
        let marking = host.clone();
        Effect::new(move |_| {
            let locale = language.0.get();
            marking.mark_root("lang", locale.name());
            marking.keep(Kept::Language, Some(locale.name()));
            marking.mark_root("data-theme", theme.get().name());
        });
        provide_context(language);
        provide_context(Toasts::default());
        let (asked, project) = (Asked::default(), Project::default());
        provide_context(Self { host, api, live, sessions, language, theme, clock, asked, project });
    }

    /// What is around this page.
    ///
    /// # Panics
    /// When it is called outside of what `start` mounted.
    #[must_use]
    pub fn here() -> Self {
        expect_context()
    }

    /// A text in the person's language, following a change of it.
    #[must_use]
    pub fn text(&self, message: Message) -> Signal<String> {
        self.language.text(message)
    }
}

fn first_locale(host: &dyn Host) -> Locale {
    let kept = host.kept(Kept::Language);
    kept.into_iter().chain(host.languages()).find_map(|name| Locale::of(&name)).unwrap_or_default()
}

fn first_theme(host: &dyn Host) -> Theme {
    match host.kept(Kept::Theme).as_deref() {
        Some("light") => Theme::Light,
        Some("dark") => Theme::Dark,
        _ if host.prefers_dark() => Theme::Dark,
        _ => Theme::Light,
    }
}
