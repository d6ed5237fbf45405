//! Where the appliance listens, and with which certificate.
//!
//! **Invariants**
//! - A listener in clear that other machines reach is marked; TLS and loopback are quiet.

use super::validity::{Standing, standing};
use super::{Told, moment};
use crate::context::Studio;
use crate::words::{settings, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Badge, Button, Panel, Priority, Toasts};
use millrace_model::Timestamp;

/// The panel.
#[component]
pub(super) fn Listeners(told: Told) -> impl IntoView {
    let listeners = Memo::new(move |_| {
        told.with(|told| told.as_ref().map(|told| told.listeners.clone()).unwrap_or_default())
    });
    let certificate = Memo::new(move |_| {
        told.with(|told| told.as_ref().and_then(|told| told.certificate.clone()))
    });
    let heads = [
        settings::PROTOCOL,
        settings::ADDRESS,
        settings::ENCRYPTION,
        settings::REACH,
        settings::SETTING,
    ];
    let heads = heads.map(|head| view! { <th scope="col">{t(head)}</th> });
    let rows = move || listeners.get().into_iter().map(row).collect_view();
    let shown = move || match certificate.get() {
        Some(certificate) => view! { <Certificate certificate/> }.into_any(),
        None => {
            view! { <p class="settings-note muted">{t(settings::NO_CERTIFICATE)}</p> }.into_any()
        }
    };
    view! {
        <Panel title=t(settings::LISTENERS)>
            <div class="settings-scroll" tabindex="0" role="group" aria-label=t(settings::LISTENERS)>
                <table class="settings-table listeners">
                    <thead><tr>{heads.into_iter().collect_view()}</tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            <h3 class="settings-note">{t(settings::CERTIFICATE)}</h3>
            {shown}
        </Panel>
    }
}

fn row(listener: v1::Listener) -> impl IntoView {
    let protocol = listener.protocol.to_uppercase();
    let reach = match (listener.off_the_box, listener.tls) {
        (false, _) => view! { {t(settings::REACH_BOX)} }.into_any(),
        (true, true) => view! { {t(settings::REACH_ALL)} }.into_any(),
        (true, false) => view! {
            <Badge priority=Priority::Two label=t(settings::PLAIN_REACHED)/>" "{t(settings::PLAIN_REACHED)}
        }
        .into_any(),
    };
    let encryption = if listener.tls { settings::TLS } else { settings::PLAIN };
    view! {
        <tr>
            <th scope="row">{protocol}</th>
            <td><code>{listener.address}</code></td>
            <td>{t(encryption)}</td>
            <td>{reach}</td>
            <td><code class="muted">{listener.setting}</code></td>
        </tr>
    }
}

#[component]
fn Certificate(certificate: v1::Certificate) -> impl IntoView {
    let studio = Studio::here();
    let toasts: Toasts = expect_context();
    let language = studio.language;
    let fingerprint = certificate.fingerprint.clone();
    let host = studio.host.clone();
    let copy = move |()| {
        let copying = host.copy_text(&fingerprint);
        leptos::task::spawn_local(async move {
            match copying.await {
                true => toasts.good(language.say(crate::words::access::COPIED)),
                false => {
                    toasts.bad(Priority::Three, language.say(crate::words::access::NOT_COPIED));
                }
            }
        });
    };
    let label = untrack(|| language.say(settings::COPY_FINGERPRINT));
    let for_time = studio.clone();
    let time = move |text: &Option<String>| match text {
        None => language.say(settings::NOT_TOLD),
        Some(text) => moment(&for_time, text),
    };
    let (not_before, not_after) = (certificate.not_before, certificate.not_after);
    let begins = {
        let time = time.clone();
        move || time(&not_before)
    };
    let clock = studio.clock;
    let parsed = not_after.as_deref().and_then(Timestamp::from_rfc3339);
    // Once a second the same: only a change is drawn.
    let stands = Memo::new(move |_| parsed.map(|parsed| standing(parsed, clock.now())));
    let ends = move || {
        let time = time(&not_after);
        let with_days = |days: u64| {
            let days = language.locale().integer(i128::from(days));
            language.say_with(settings::VALID_DAYS, &[("time", &time), ("n", &days)])
        };
        match stands.get() {
            None => view! { {time} }.into_any(),
            Some(Standing::Days(days)) => view! { {with_days(days)} }.into_any(),
            Some(Standing::Soon(days)) => view! {
                <Badge priority=Priority::Two label=t(settings::EXPIRES_SOON)/>" "{with_days(days)}
            }
            .into_any(),
            Some(Standing::Expired) => {
                let text = language.say_with(settings::EXPIRED, &[("time", &time)]);
                view! { <Badge priority=Priority::One label=text.clone()/>" "{text} }.into_any()
            }
        }
    };
    let origin = if certificate.own { settings::MADE_HERE } else { settings::MADE_ELSEWHERE };
    view! {
        <dl class="settings-facts">
            <dt>{t(settings::FINGERPRINT)}</dt>
            <dd class="fingerprint">
                <code>{certificate.fingerprint}</code>
                <Button on_press=copy label>{t(settings::COPY)}</Button>
            </dd>
            <dt>{t(settings::VALID_FROM)}</dt><dd class="figures">{begins}</dd>
            <dt>{t(settings::VALID_UNTIL)}</dt><dd class="figures">{ends}</dd>
            <dt>{t(settings::ORIGIN)}</dt><dd>{t(origin)}</dd>
        </dl>
    }
}
