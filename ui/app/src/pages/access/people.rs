//! The people of the box: who they are, what they may do, and the dialogs that change that.
//!
//! **Invariants**
//! - The last admin can be neither removed nor made smaller; the page says so before it is tried.

use super::new_person::NewPersonDialog;
use super::own_password::OwnPasswordDialog;
use super::person_changes::{AccountDialog, PasswordDialog, RoleDialog};
use super::{below, moment, role_name};
use crate::context::Studio;
use crate::poll::{Polled, poll};
use crate::words::{Message, access, faults, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Notice, Panel, Priority, Progress, Weight};
use std::time::Duration;

/// How often people are asked for.
const PERIOD: Duration = Duration::from_secs(10);

/// The list, the dialogs, and whom they are about.
#[derive(Clone, Copy)]
pub(super) struct Desk {
    pub(super) list: Polled<v1::Page<v1::Person>>,
    pub(super) whom: RwSignal<Option<v1::Person>>,
    pub(super) adding: RwSignal<bool>,
    pub(super) role: RwSignal<bool>,
    pub(super) password: RwSignal<bool>,
    pub(super) account: RwSignal<bool>,
}

impl Desk {
    /// Opens a dialog about somebody.
    fn about(self, dialog: RwSignal<bool>, person: &v1::Person) {
        self.whom.set(Some(person.clone()));
        dialog.set(true);
    }
}

/// Whether this is the only one who may administer the box.
fn is_last_admin(people: &[v1::Person], name: &str) -> bool {
    let is_admin =
        |person: &&v1::Person| person.role == v1::Role::Admin && person.disabled.is_none();
    let mut admins = people.iter().filter(is_admin);
    admins.next().is_some_and(|first| first.name == name) && admins.next().is_none()
}

/// The people.
#[component]
pub(super) fn People() -> impl IntoView {
    let studio = Studio::here();
    let list = poll(&studio, PERIOD, |api| async move {
        api.get::<v1::Page<v1::Person>>(&["people"], &[]).await
    });
    let closed = || RwSignal::new(false);
    let desk = Desk {
        list,
        whom: RwSignal::new(None),
        adding: closed(),
        role: closed(),
        password: closed(),
        account: closed(),
    };
    let own = closed();
    let language = studio.language;
    let fault = move || list.fault.get().map(|fault| fault.text(language)).unwrap_or_default();
    let waiting = move || list.value.with(Option::is_none) && list.fault.with(Option::is_none);
    let rows = move || {
        let locale = language.locale().name();
        let items = list.value.get().map(|page| page.items).unwrap_or_default();
        items.into_iter().map(|person| (locale, person)).collect::<Vec<_>>()
    };
    let key = |(locale, person): &(&'static str, v1::Person)| {
        (*locale, person.name.clone(), role_name(person.role).en, person.disabled.clone())
    };
    let heads = [access::NAME, access::ROLE, access::SINCE, access::STATE];
    let heads = heads.map(|head| view! { <th scope="col">{t(head)}</th> });
    view! {
        <div class="access-part">
            <div class="form-actions">
                <Button weight=Weight::Primary on_press=move |()| desk.adding.set(true) off_because=below(v1::Role::Admin)>
                    {t(access::ADD_PERSON)}
                </Button>
                <Button on_press=move |()| own.set(true)>{t(access::OWN_PASSWORD)}</Button>
            </div>
            <Show when=move || list.has_news()>
                <Notice priority=Priority::Two title=t(faults::TITLE) text=Signal::derive(fault)/>
            </Show>
            <Show when=waiting><Progress label=t(access::LOADING)/></Show>
            <Panel title=t(access::PEOPLE)>
                <div class="access-scroll" tabindex="0" role="group" aria-label=t(access::PEOPLE)>
                    <table class="access-table people">
                        <thead><tr>
                            {heads.into_iter().collect_view()}
                            <th scope="col"><span class="visually-hidden">{t(access::CHANGE_ROLE)}</span></th>
                        </tr></thead>
                        <tbody>
                            <For each=rows key=key children=move |(_, person)| view! { <Row person desk/> }/>
                        </tbody>
                    </table>
                </div>
            </Panel>
            <NewPersonDialog desk/>
            <OwnPasswordDialog open=own/>
            <RoleDialog desk/>
            <PasswordDialog desk/>
            <AccountDialog desk/>
        </div>
    }
}

#[component]
fn Row(person: v1::Person, desk: Desk) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let is_me = studio.sessions.current().with_untracked(|current| {
        current.as_ref().is_some_and(|current| current.name == person.name)
    });
    let me = is_me.then(|| view! { <span class="muted">" ("{t(access::YOU)}")"</span> });
    let is_removed = person.disabled.is_some();
    let state = match &person.disabled {
        None => view! { {t(access::IN_USE)} }.into_any(),
        Some(at) => {
            let text = language.say_with(access::REMOVED, &[("time", &moment(&studio, at))]);
            view! { <span class="access-removed">{text}</span> }.into_any()
        }
    };
    let needs_admin = below(v1::Role::Admin);
    let name = person.name.clone();
    let is_last = Memo::new(move |_| {
        let page = desk.list.value.get();
        page.is_some_and(|page| is_last_admin(&page.items, &name))
    });
    let no_smaller = Signal::derive(move || {
        needs_admin.get().or_else(|| is_last.get().then(|| language.say(access::LAST_ADMIN)))
    });
    let not_removed = move |reason: Signal<Option<String>>| {
        Signal::derive(move || {
            reason.get().or_else(|| is_removed.then(|| language.say(access::ONLY_REMOVED)))
        })
    };
    let label = |message: Message| language.say_with(message, &[("name", &person.name)]);
    let (account, account_of) = match is_removed {
        true => (access::BRING_BACK, access::BRING_BACK_OF),
        false => (access::REMOVE, access::REMOVE_OF),
    };
    let whom = StoredValue::new(person.clone());
    let open = move |dialog: RwSignal<bool>| {
        move |()| whom.with_value(|person| desk.about(dialog, person))
    };
    let class = if is_removed { "muted" } else { "" };
    view! {
        <tr class=class data-person=person.name.clone()>
            <th scope="row">{person.name.clone()}{me}</th>
            <td>{t(role_name(person.role))}</td>
            <td class="figures">{moment(&studio, &person.created)}</td>
            <td>{state}</td>
            <td>
                <div class="access-actions">
                    <Button on_press=open(desk.role) off_because=not_removed(no_smaller) label=label(access::CHANGE_ROLE_OF)>
                        {t(access::CHANGE_ROLE)}
                    </Button>
                    <Button on_press=open(desk.password) off_because=not_removed(needs_admin) label=label(access::RESET_PASSWORD_OF)>
                        {t(access::RESET_PASSWORD)}
                    </Button>
                    <Button on_press=open(desk.account) off_because=no_smaller label=label(account_of)>{t(account)}</Button>
                </div>
            </td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(name: &str, role: v1::Role, is_removed: bool) -> v1::Person {
        let disabled = is_removed.then(|| "2026-11-30T12:00:00Z".to_owned());
        v1::Person { name: name.to_owned(), role, created: String::new(), disabled }
    }

    #[test]
    fn the_last_admin_is_the_only_one_in_use() {
        let mut people = vec![
            person("anna", v1::Role::Admin, false),
            person("bert", v1::Role::Engineer, false),
            person("carl", v1::Role::Admin, true),
        ];
        assert!(is_last_admin(&people, "anna"));
        assert!(!is_last_admin(&people, "bert"));
        assert!(!is_last_admin(&people, "carl"));
        people.push(person("dora", v1::Role::Admin, false));
        assert!(!is_last_admin(&people, "anna"));
        assert!(!is_last_admin(&[], "anna"));
    }
}
