//! Other permissions for a client that keeps its secret.
//!
//! **Invariants**
//! - The dialog names the client and says that its connections are cut before it is done.

use super::{Fields, Permitted, Place, Refused};
use crate::context::Studio;
use crate::words::{access, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Dialog, Progress, Toasts, Weight};

/// The dialog.
#[component]
pub(in crate::pages::access) fn RightsDialog(
    /// Whom it is about.
    picked: RwSignal<Option<v1::Client>>,
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Called when something was changed.
    #[prop(into)]
    on_changed: Callback<()>,
) -> impl IntoView {
    let language = Studio::here().language;
    let title = Signal::derive(move || {
        let name = picked.with(|picked| picked.as_ref().map(|one| one.id.clone()));
        language.say_with(access::RIGHTS_OF, &[("name", &name.unwrap_or_default())])
    });
    view! {
        <Dialog title open close=t(shell::CANCEL)>
            {move || picked.get_untracked().map(|client| view! { <Form client open on_changed/> })}
        </Dialog>
    }
}

#[component]
fn Form(client: v1::Client, open: RwSignal<bool>, on_changed: Callback<()>) -> impl IntoView {
    let (studio, toasts) = (Studio::here(), expect_context::<Toasts>());
    let language = studio.language;
    let fields = Fields::of(&client);
    let id = client.id.clone();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if fields.working.get_untracked() {
            return;
        }
        let Some(wish) = fields.wish(language) else { return };
        let rights = v1::ClientRights {
            publish: wish.publish,
            subscribe: wish.subscribe,
            may_create: wish.may_create,
            retention: wish.retention,
            rate_per_s: wish.rate_per_s,
        };
        fields.working.set(true);
        let (api, id) = (studio.api.clone(), id.clone());
        leptos::task::spawn_local(async move {
            let answer = api.put::<_, v1::Client>(&["clients", &id, "rights"], &rights).await;
            fields.working.try_set(false);
            match answer {
                Ok(_) => {
                    toasts.good(language.say_with(access::RIGHTS_CHANGED, &[("name", &id)]));
                    on_changed.run(());
                    open.try_set(false);
                }
                Err(why) => fields.refused(&why, language),
            }
        });
    };
    let text = language.say_with(access::RIGHTS_TEXT, &[("name", &client.id)]);
    view! {
        <form class="form new-clients" on:submit=submit>
            <Permitted fields/>
            <p>{text}</p>
            <Refused fault=fields.fault(Place::Whole).into()/>
            <div class="form-actions">
                <Button on_press=|()| {} submit=true weight=Weight::Primary>{t(access::RIGHTS_DO)}</Button>
                <Show when=move || fields.working.get()><Progress label=t(access::WORKING)/></Show>
            </div>
        </form>
    }
}
