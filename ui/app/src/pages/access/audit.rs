//! The audit trail: who did what to what, when, and from where; newest first, in pages.
//!
//! **Invariants**
//! - Who is no admin is told so, and nothing is asked of the appliance.

use super::pager::Pager;
use super::search::fits;
use super::{moment, trail};
use crate::context::Studio;
use crate::words::{Language, access, faults, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Column, Empty, Field, Notice, Priority, Progress, Table};

/// The trail, for whoever may read it.
#[component]
pub(super) fn Audit() -> impl IntoView {
    let sessions = Studio::here().sessions;
    let may = Memo::new(move |_| sessions.may(v1::Role::Admin));
    move || match may.get() {
        true => view! { <Trail/> }.into_any(),
        false => {
            view! { <Empty title=t(access::AUDIT_ADMIN) next=t(access::NEEDS_ADMIN)/> }.into_any()
        }
    }
}

fn who(language: Language, entry: &v1::AuditEntry) -> String {
    match trail::who(&entry.who) {
        Ok(message) => language.say(message),
        Err(name) => name.to_owned(),
    }
}

fn what(language: Language, entry: &v1::AuditEntry) -> String {
    trail::deed(&entry.action).map_or_else(|| entry.action.clone(), |message| language.say(message))
}

#[component]
fn Trail() -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let pager = Pager::<v1::AuditEntry>::of(&studio, "audit");
    let search = RwSignal::new(String::new());
    let rows = Memo::new(move |_| {
        let search = search.get();
        let is_wanted = |entry: &&v1::AuditEntry| {
            let (who, what) = (who(language, entry), what(language, entry));
            let from = entry.from.as_deref().unwrap_or_default();
            fits(&search, &[&who, &what, &entry.action, &entry.subject, from])
        };
        pager.items.with(|items| items.iter().filter(is_wanted).cloned().collect::<Vec<_>>())
    });
    let version = Memo::new(move |before: Option<&u64>| {
        rows.track();
        let _language = language.locale();
        before.map_or(0, |before| before + 1)
    });
    let cells = {
        let studio = studio.clone();
        Callback::new(move |at: usize| {
            let entry = rows.with(|rows| rows.get(at).cloned());
            entry.map(|entry| cells(&studio, entry)).unwrap_or_default()
        })
    };
    let columns = vec![
        Column::texts(t(access::WHEN), "150px"),
        Column::texts(t(access::WHO), "minmax(80px, 1fr)"),
        Column::texts(t(access::WHAT), "minmax(120px, 1.4fr)"),
        Column::texts(t(access::SUBJECT), "minmax(100px, 1.6fr)"),
        Column::texts(t(access::FROM), "minmax(80px, 1fr)"),
    ];
    let save = move |()| {
        let text = pager.items.with_untracked(|items| trail::csv(items));
        studio.host.save_file("audit.csv", "text/csv", text.as_bytes());
    };
    let is_empty = move || pager.loaded.get() && pager.items.with(Vec::is_empty);
    view! {
        <div class="access-part">
            <div class="form-actions access-tools">
                <Field label=t(access::SEARCH) value=search/>
                <Button on_press=move |()| pager.again()>{t(access::RELOAD)}</Button>
                <Button on_press=save>{t(access::SAVE_CSV)}</Button>
            </div>
            <PagerState pager/>
            <Show when=is_empty><Empty title=t(access::NO_AUDIT) next=t(access::NO_AUDIT_NEXT)/></Show>
            <Table label=t(access::AUDIT) columns count=Signal::derive(move || rows.with(Vec::len)) row=cells version/>
            <PagerEnd pager shown=Signal::derive(move || rows.with(Vec::len))/>
        </div>
    }
}

fn cells(studio: &Studio, entry: v1::AuditEntry) -> Vec<AnyView> {
    let language = studio.language;
    let (who, what) = untrack(|| (who(language, &entry), what(language, &entry)));
    let at = untrack(|| moment(studio, &entry.at));
    let from = entry.from.unwrap_or_else(|| "–".to_owned());
    let titled = |text: String| view! { <span title=text.clone()>{text.clone()}</span> }.into_any();
    vec![
        view! { <span class="figures">{at}</span> }.into_any(),
        titled(who),
        view! { <span title=entry.action>{what}</span> }.into_any(),
        titled(entry.subject),
        titled(from),
    ]
}

/// That a list is being loaded, or why it is not.
#[component]
pub(super) fn PagerState<T>(pager: Pager<T>) -> impl IntoView
where
    T: serde::de::DeserializeOwned + Clone + Send + Sync + 'static,
{
    let language = Studio::here().language;
    let fault = Signal::derive(move || {
        pager.fault.get().map(|fault| fault.text(language)).unwrap_or_default()
    });
    view! {
        <Show when=move || pager.fault.with(Option::is_some)>
            <Notice priority=Priority::Two title=t(faults::TITLE) text=fault>
                <Button on_press=move |()| pager.again()>{t(faults::TRY_AGAIN)}</Button>
            </Notice>
        </Show>
        <Show when=move || pager.loading.get() && !pager.loaded.get()>
            <Progress label=t(access::LOADING)/>
        </Show>
    }
}

/// How much of a list is loaded, and the way to more of it.
#[component]
pub(super) fn PagerEnd<T>(pager: Pager<T>, shown: Signal<usize>) -> impl IntoView
where
    T: serde::de::DeserializeOwned + Clone + Send + Sync + 'static,
{
    let language = Studio::here().language;
    let loaded = move || {
        let count = pager.items.with(Vec::len);
        let count = language.locale().integer(i128::try_from(count).unwrap_or(i128::MAX));
        language.say_with(access::LOADED, &[("n", &count)])
    };
    let none = move || shown.get() == 0 && pager.items.with(|items| !items.is_empty());
    view! {
        <Show when=none><p class="muted">{t(access::NONE_FOUND)}</p></Show>
        <div class="form-actions">
            <span class="muted figures">{loaded}</span>
            <Show when=move || pager.has_more()>
                <Button on_press=move |()| pager.more()>{t(access::MORE)}</Button>
            </Show>
        </div>
    }
}
