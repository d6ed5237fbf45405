//! Secrets that were just made: shown this once, to be copied or saved.
//!
//! **Invariants**
//! - When the dialog closes, the secrets are gone from the page.

use super::trail::row;
use crate::context::Studio;
use crate::words::{access, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Dialog, Notice, Priority, Toasts, Weight};

/// The secrets, and whether they are shown.
#[derive(Clone, Copy)]
pub(super) struct Issued {
    open: RwSignal<bool>,
    clients: RwSignal<Vec<v1::CreatedClient>>,
    /// First levels of the box's topics: `mr/v1`.
    root: RwSignal<Option<String>>,
    /// Called when new clients are there.
    changed: Callback<()>,
}

impl Issued {
    /// Nothing is shown; asks once where inboxes are.
    pub(super) fn new(studio: &Studio, changed: Callback<()>) -> Self {
        let root = RwSignal::new(None);
        let api = studio.api.clone();
        leptos::task::spawn_local(async move {
            let answer = api.get::<v1::Page<v1::ConfigEntry>>(&["config"], &[]).await;
            // Without it, the secrets are shown all the same.
            let Ok(page) = answer else { return };
            let found = page.items.into_iter().find(|entry| entry.key == "broker.root");
            root.try_set(found.map(|entry| entry.value.trim_matches('"').to_owned()));
        });
        Self { open: RwSignal::new(false), clients: RwSignal::new(Vec::new()), root, changed }
    }

    /// Shows them. Nothing is left to show them on when the page was left meanwhile.
    pub(super) fn show(self, clients: Vec<v1::CreatedClient>) {
        if self.clients.try_set(clients).is_none() {
            self.open.try_set(true);
            self.changed.run(());
        }
    }
}

/// The dialog.
#[component]
pub(super) fn IssuedDialog(issued: Issued) -> impl IntoView {
    let forget = move |()| issued.clients.set(Vec::new());
    view! {
        <Dialog title=t(access::ISSUED) open=issued.open close=t(shell::CLOSE) on_close=forget>
            <Secrets issued/>
        </Dialog>
    }
}

#[component]
fn Secrets(issued: Issued) -> impl IntoView {
    let host = Studio::here().host;
    let save = move |()| {
        let text = issued.clients.with_untracked(|clients| csv(clients));
        host.save_file("clients.csv", "text/csv", text.as_bytes());
    };
    let rows = issued.clients.get_untracked();
    let rows = rows.into_iter().map(|made| view! { <Secret made root=issued.root/> });
    view! {
        <Notice priority=Priority::Three title=t(access::ISSUED) text=t(access::ISSUED_TEXT)/>
        <ul class="secrets">{rows.collect_view()}</ul>
        <div class="form-actions">
            <Button weight=Weight::Primary on_press=move |()| issued.open.set(false)>{t(access::DONE)}</Button>
            <Button on_press=save>{t(access::SAVE_CSV)}</Button>
        </div>
    }
}

#[component]
fn Secret(made: v1::CreatedClient, root: RwSignal<Option<String>>) -> impl IntoView {
    let studio = Studio::here();
    let toasts: Toasts = expect_context();
    let language = studio.language;
    let v1::CreatedClient { client, secret } = made;
    let label = untrack(|| language.say_with(access::COPY_OF, &[("name", &client.id)]));
    let copied = secret.clone();
    let copy = move |()| {
        let copying = studio.host.copy_text(&copied);
        leptos::task::spawn_local(async move {
            match copying.await {
                true => toasts.good(language.say(access::COPIED)),
                false => toasts.bad(Priority::Three, language.say(access::NOT_COPIED)),
            }
        });
    };
    let writes = !client.publish.is_empty();
    let (workspace, id) = (client.workspace, client.id.clone());
    let inbox = move || {
        let root = root.get().filter(|_| writes)?;
        let address = format!("{root}/{workspace}/_ingress/{id}/");
        Some(view! { <dt>{t(access::INBOX)}</dt><dd><code>{address}</code></dd> })
    };
    view! {
        <li>
            <dl class="access-facts">
                <dt>{t(access::USER_NAME)}</dt><dd><code>{client.id}</code></dd>
                <dt>{t(access::SECRET)}</dt>
                <dd class="secret">
                    <code>{secret}</code>
                    <Button on_press=copy label>{t(access::COPY)}</Button>
                </dd>
                {inbox}
            </dl>
        </li>
    }
}

fn csv(clients: &[v1::CreatedClient]) -> String {
    let mut text = row(&["id", "name", "secret"]);
    for made in clients {
        text.push_str(&row(&[&made.client.id, &made.client.name, &made.secret]));
    }
    text
}
