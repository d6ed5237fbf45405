//! The API clients: devices and programs, what each may do, new secrets, and their end.
//!
//! **Invariants**
//! - What cuts a device off names it and says so first.

use super::audit::{PagerEnd, PagerState};
use super::issued::{Issued, IssuedDialog};
use super::new_clients::{NewClientsDialog, RightsDialog};
use super::new_person::Refused;
use super::pager::Pager;
use super::permissions::sentences;
use super::search::fits;
use super::{below, moment};
use crate::context::Studio;
use crate::host::Method;
use crate::words::{Message, access, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{
    Button, Column, Dialog, Empty, Field, Panel, Progress, Table, Toasts, Toggle, Weight,
};

/// The clients, the dialogs, and which one they are about.
#[derive(Clone, Copy)]
struct Desk {
    pager: Pager<v1::Client>,
    rows: Memo<Vec<v1::Client>>,
    picked: RwSignal<Option<v1::Client>>,
    issued: Issued,
    adding: RwSignal<bool>,
    changing: RwSignal<bool>,
    renewing: RwSignal<bool>,
    revoking: RwSignal<bool>,
}

/// The clients.
#[component]
pub(super) fn Clients() -> impl IntoView {
    let studio = Studio::here();
    let pager = Pager::<v1::Client>::of(&studio, "clients");
    let (search, with_revoked) = (RwSignal::new(String::new()), RwSignal::new(false));
    let rows = Memo::new(move |_| {
        let (search, with_revoked) = (search.get(), with_revoked.get());
        let is_wanted = |client: &&v1::Client| {
            let filters = [client.publish.join(" "), client.subscribe.join(" ")];
            let [publish, subscribe] = &filters;
            (with_revoked || client.revoked.is_none())
                && fits(&search, &[&client.id, &client.name, publish, subscribe])
        };
        pager.items.with(|items| items.iter().filter(is_wanted).cloned().collect::<Vec<_>>())
    });
    let closed = || RwSignal::new(false);
    let desk = Desk {
        pager,
        rows,
        picked: RwSignal::new(None),
        issued: Issued::new(&studio, Callback::new(move |()| pager.again())),
        adding: closed(),
        changing: closed(),
        renewing: closed(),
        revoking: closed(),
    };
    let none = move || pager.loaded.get() && pager.items.with(Vec::is_empty);
    view! {
        <div class="access-part">
            <Tools desk/>
            <div class="form-actions access-tools">
                <Field label=t(access::SEARCH) value=search/>
                <Toggle label=t(access::SHOW_REVOKED) value=with_revoked/>
                <Button on_press=move |()| pager.again()>{t(access::RELOAD)}</Button>
            </div>
            <PagerState pager/>
            <Show when=none><Empty title=t(access::NO_CLIENTS) next=t(access::NO_CLIENTS_NEXT)/></Show>
            <div class="access-columns">
                <div class="access-part">
                    <List desk/>
                    <PagerEnd pager shown=Signal::derive(move || rows.with(Vec::len))/>
                </div>
                <Permissions desk/>
            </div>
            <NewClientsDialog open=desk.adding issued=desk.issued/>
            <IssuedDialog issued=desk.issued/>
            <RightsDialog picked=desk.picked open=desk.changing on_changed=move |()| pager.again()/>
            <RenewDialog desk/>
            <RevokeDialog desk/>
        </div>
    }
}

#[component]
fn Tools(desk: Desk) -> impl IntoView {
    let language = Studio::here().language;
    let needs_engineer = below(v1::Role::Engineer);
    let off = Signal::derive(move || {
        let state = desk.picked.with(|picked| picked.as_ref().map(|one| one.revoked.is_some()));
        let why = match state {
            None => Some(access::CHOOSE_CLIENT),
            Some(true) => Some(access::IS_REVOKED),
            Some(false) => None,
        };
        needs_engineer.get().or_else(|| why.map(|why| language.say(why)))
    });
    view! {
        <div class="form-actions">
            <Button weight=Weight::Primary on_press=move |()| desk.adding.set(true) off_because=needs_engineer>{t(access::ADD_CLIENT)}</Button>
            <Button on_press=move |()| desk.changing.set(true) off_because=off>{t(access::RIGHTS)}</Button>
            <Button on_press=move |()| desk.renewing.set(true) off_because=off>{t(access::RENEW)}</Button>
            <Button weight=Weight::Danger on_press=move |()| desk.revoking.set(true) off_because=off>{t(access::REVOKE)}</Button>
        </div>
    }
}

#[component]
fn List(desk: Desk) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let Desk { rows, picked, .. } = desk;
    let chosen = RwSignal::new(None::<usize>);
    Effect::new(move |_| {
        let at = chosen.get();
        picked.set(rows.with_untracked(|rows| rows.get(at?).cloned()));
    });
    // Other rows: the same client stays chosen, as it is now.
    Effect::new(move |_| {
        rows.with(|rows| {
            let id = picked.with_untracked(|picked| picked.as_ref().map(|one| one.id.clone()));
            chosen.set(id.and_then(|id| rows.iter().position(|client| client.id == id)));
        });
    });
    let version = Memo::new(move |before: Option<&u64>| {
        rows.track();
        let _language = language.locale();
        before.map_or(0, |before| before + 1)
    });
    let cells = Callback::new(move |at: usize| {
        let client = rows.with(|rows| rows.get(at).cloned());
        client.map(|client| cells(&studio, client)).unwrap_or_default()
    });
    let columns = vec![
        Column::texts(t(access::ID), "minmax(90px, 1fr)"),
        Column::texts(t(access::NAME), "minmax(90px, 1fr)"),
        Column::texts(t(access::PUBLISHES), "minmax(90px, 1.2fr)"),
        Column::texts(t(access::READS), "minmax(80px, 1fr)"),
        Column::texts(t(access::SINCE), "150px"),
    ];
    let count = Signal::derive(move || rows.with(Vec::len));
    view! { <Table label=t(access::CLIENTS) columns count row=cells version chosen/> }
}

fn cells(studio: &Studio, client: v1::Client) -> Vec<AnyView> {
    let titled = |text: String| view! { <span title=text.clone()>{text.clone()}</span> }.into_any();
    let filters = |filters: Vec<String>| match filters.is_empty() {
        true => "–".to_owned(),
        false => filters.join(", "),
    };
    let since = match &client.revoked {
        None => untrack(|| moment(studio, &client.created)),
        Some(at) => {
            let revoked = untrack(|| studio.language.say(access::REVOKED));
            format!("{revoked} {}", untrack(|| moment(studio, at)))
        }
    };
    let class = if client.revoked.is_some() { "muted access-gone" } else { "" };
    vec![
        view! { <code class=class>{client.id}</code> }.into_any(),
        titled(client.name),
        titled(filters(client.publish)),
        titled(filters(client.subscribe)),
        titled(since),
    ]
}

/// What the chosen client may do, in words.
#[component]
fn Permissions(desk: Desk) -> impl IntoView {
    let language = Studio::here().language;
    let title = Signal::derive(move || {
        match desk.picked.with(|picked| picked.as_ref().map(|one| one.name.clone())) {
            None => language.say(access::PERMISSIONS_OF_NONE),
            Some(name) => language.say_with(access::PERMISSIONS, &[("name", &name)]),
        }
    });
    let lines = move || {
        desk.picked.with(|picked| match picked {
            None => view! { <p class="muted">{t(access::CHOOSE_CLIENT)}</p> }.into_any(),
            Some(client) => {
                let revoked = client.revoked.as_ref().map(|_| access::IS_REVOKED);
                let revoked = revoked.map(|text| view! { <p><strong>{t(text)}</strong></p> });
                let all = sentences(client, language.locale()).into_iter();
                let all = all.map(|line| view! { <li>{line}</li> }).collect_view();
                view! {
                    {revoked}
                    <ul class="permissions">{all}</ul>
                }
                .into_any()
            }
        })
    };
    view! { <Panel title><div class="access-text" aria-live="polite">{lines}</div></Panel> }
}

/// A dialog that does something final to the chosen client.
#[component]
fn RenewDialog(desk: Desk) -> impl IntoView {
    let studio = Studio::here();
    let (working, fault) = (RwSignal::new(false), RwSignal::new(None::<String>));
    let go = Callback::new(move |id: String| {
        let (api, language) = (studio.api.clone(), studio.language);
        leptos::task::spawn_local(async move {
            let nothing = serde_json::Value::Null;
            let address = ["clients", id.as_str(), "renew"];
            let answer = api.post::<_, v1::CreatedClient>(&address, &nothing).await;
            working.try_set(false);
            match answer {
                Ok(made) => {
                    desk.renewing.try_set(false);
                    desk.issued.show(vec![made]);
                }
                Err(why) => {
                    fault.try_set(Some(why.text(language)));
                }
            }
        });
    });
    let words = [access::RENEW_TITLE, access::RENEW_TEXT, access::RENEW_DO];
    view! { <Asked desk open=desk.renewing words working fault go/> }
}

#[component]
fn RevokeDialog(desk: Desk) -> impl IntoView {
    let studio = Studio::here();
    let toasts: Toasts = expect_context();
    let (working, fault) = (RwSignal::new(false), RwSignal::new(None::<String>));
    let go = Callback::new(move |id: String| {
        let (api, language) = (studio.api.clone(), studio.language);
        leptos::task::spawn_local(async move {
            let answer = api.act(Method::Delete, &["clients", &id]).await;
            working.try_set(false);
            match answer {
                Ok(()) => {
                    desk.revoking.try_set(false);
                    toasts.good(language.say_with(access::REVOKED_NOW, &[("name", &id)]));
                    desk.pager.again();
                }
                Err(why) => {
                    fault.try_set(Some(why.text(language)));
                }
            }
        });
    });
    let words = [access::REVOKE_TITLE, access::REVOKE_TEXT, access::REVOKE_DO];
    view! { <Asked desk open=desk.revoking words working fault go/> }
}

/// Asks before something is done to the chosen client: title, what happens, and the button.
#[component]
fn Asked(
    desk: Desk,
    open: RwSignal<bool>,
    words: [Message; 3],
    working: RwSignal<bool>,
    fault: RwSignal<Option<String>>,
    go: Callback<String>,
) -> impl IntoView {
    let language = Studio::here().language;
    let id = move || desk.picked.with(|picked| picked.as_ref().map(|one| one.id.clone()));
    let [title, text, act] = words.map(|message| {
        Signal::derive(move || language.say_with(message, &[("name", &id().unwrap_or_default())]))
    });
    let press = move |()| {
        if let Some(id) = untrack(id)
            && !working.get_untracked()
        {
            working.set(true);
            fault.set(None);
            go.run(id);
        }
    };
    view! {
        <Dialog title open close=t(shell::CANCEL) on_close=move |()| fault.set(None)>
            <p>{text}</p>
            <Refused fault=fault.into()/>
            <div class="form-actions">
                <Button weight=Weight::Danger on_press=press>{act}</Button>
                <Show when=move || working.get()><Progress label=t(access::WORKING)/></Show>
            </div>
        </Dialog>
    }
}
