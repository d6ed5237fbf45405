//! The page "Access": who may do what, and who did what.
//!
//! `/access` shows the people, `/access/clients`, `/access/roles` and `/access/audit` the rest.
//! What can be decided without a browser is in `permissions`, `passwords`, `search` and `trail`.
//!
//! **Invariants**
//! - What the person's role does not allow is off, with the reason; the appliance decides.
//! - A secret stands on the page until its dialog is closed, and nowhere after that.

mod audit;
mod clients;
mod issued;
mod new_clients;
mod new_person;
mod own_password;
mod pager;
mod passwords;
mod people;
mod permissions;
mod person_changes;
mod roles;
mod search;
mod trail;

use crate::context::Studio;
use crate::pages::Page;
use crate::words::{Message, access, shell, t};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_params_map};
use millrace_contract::v1;
use millrace_kit::{Choice, Tabs};
use millrace_model::Timestamp;

/// A part of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    People,
    Clients,
    Roles,
    Audit,
}

impl Part {
    const ALL: [Self; 4] = [Self::People, Self::Clients, Self::Roles, Self::Audit];

    fn key(self) -> &'static str {
        match self {
            Self::People => "people",
            Self::Clients => "clients",
            Self::Roles => "roles",
            Self::Audit => "audit",
        }
    }

    fn name(self) -> Message {
        match self {
            Self::People => access::PEOPLE,
            Self::Clients => access::CLIENTS,
            Self::Roles => access::ROLES,
            Self::Audit => access::AUDIT,
        }
    }

    /// What stands behind `/access/`; anything else is the people.
    fn of(rest: &str) -> Self {
        let key = rest.trim_matches('/');
        Self::ALL.into_iter().find(|part| part.key() == key).unwrap_or(Self::People)
    }

    fn path(self) -> String {
        format!("/access/{}", self.key())
    }
}

/// Why the person may not do what needs this role; `None` = may.
fn below(role: v1::Role) -> Signal<Option<String>> {
    let studio = Studio::here();
    let message = match role {
        v1::Role::Admin => access::NEEDS_ADMIN,
        v1::Role::Engineer | v1::Role::Viewer => access::NEEDS_ENGINEER,
    };
    Signal::derive(move || (!studio.sessions.may(role)).then(|| studio.language.say(message)))
}

/// The name of a role.
fn role_name(role: v1::Role) -> Message {
    match role {
        v1::Role::Viewer => shell::VIEWER,
        v1::Role::Engineer => shell::ENGINEER,
        v1::Role::Admin => shell::ADMIN,
    }
}

/// A text as a help, following the language.
fn some(message: Message) -> Signal<Option<String>> {
    let text = t(message);
    Signal::derive(move || Some(text.get()))
}

/// A time of the API as the person writes it.
fn moment(studio: &Studio, text: &str) -> String {
    match Timestamp::from_rfc3339(text) {
        None => text.to_owned(),
        Some(at) => {
            let locale = studio.language.locale();
            locale.date_time(at, studio.host.utc_offset_minutes(at))
        }
    }
}

/// The page.
#[component]
pub fn Access() -> impl IntoView {
    let params = use_params_map();
    let addressed =
        Memo::new(move |_| Part::of(&params.with(|params| params.get("rest")).unwrap_or_default()));
    let shown = RwSignal::new(addressed.get_untracked().key().to_owned());
    Effect::new(move |_| shown.set(addressed.get().key().to_owned()));
    let navigate = use_navigate();
    Effect::new(move |_| {
        let part = Part::of(&shown.get());
        // Only a tab that a person chose leads on; an address has led here already.
        if part != addressed.get_untracked() {
            navigate(&part.path(), NavigateOptions::default());
        }
    });
    let language = Studio::here().language;
    let tabs = Signal::derive(move || {
        let choice = |part: Part| Choice::new(part.key(), language.say(part.name()));
        Part::ALL.map(choice).to_vec()
    });
    let part = Memo::new(move |_| Part::of(&shown.get()));
    view! {
        <Page title=shell::ACCESS>
            <Tabs label=t(access::TABS) tabs shown>
                {move || match part.get() {
                    Part::People => view! { <people::People/> }.into_any(),
                    Part::Clients => view! { <clients::Clients/> }.into_any(),
                    Part::Roles => view! { <roles::Roles/> }.into_any(),
                    Part::Audit => view! { <audit::Audit/> }.into_any(),
                }}
            </Tabs>
        </Page>
    }
}

#[cfg(test)]
mod tests {
    use super::Part;

    #[test]
    fn every_part_has_its_address_and_nothing_else_has_one() {
        for part in Part::ALL {
            let rest = part.path().strip_prefix("/access/").map(str::to_owned);
            assert_eq!(rest.as_deref().map(Part::of), Some(part));
        }
        assert_eq!(Part::of(""), Part::People);
        assert_eq!(Part::of("elsewhere/../audit"), Part::People);
        assert_eq!(Part::of("audit/"), Part::Audit);
    }
}
