//! The ledger as one line: what became of every value.
//!
//! **Invariants**
//! - Counts are shown whole: a ledger that is rounded proves nothing.

use super::PERIOD;
use crate::context::Studio;
use crate::poll::poll;
use crate::words::{Message, overview, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Badge, Panel, Priority, Value};

/// The ledger.
#[component]
pub(super) fn Balance() -> impl IntoView {
    let studio = Studio::here();
    let ledger = poll(&studio, PERIOD, |api| async move {
        api.get::<v1::Ledger>(&["ledger"], &[("limit", "1")]).await
    });
    let language = studio.language;
    let part = move |label: Message, of: fn(&v1::Counts) -> u64| {
        let text = Signal::derive(move || {
            let count = ledger.value.with(|ledger| ledger.as_ref().map(|ledger| of(&ledger.total)));
            count.map(|count| language.locale().integer(i128::from(count)))
        });
        view! {
            <span class="balance-part">
                <span class="figure-label">{t(label)}</span>
                <Value text freshness=ledger.freshness/>
            </span>
        }
    };
    let balanced =
        move || ledger.value.with(|ledger| ledger.as_ref().map(|ledger| ledger.total.balanced));
    let verdict = move || match balanced() {
        None => ().into_any(),
        Some(true) => view! { <span class="muted">{t(overview::BALANCED)}</span> }.into_any(),
        Some(false) => view! {
            <Badge priority=Priority::One label=t(overview::NOT_BALANCED)/>
            <strong>{t(overview::NOT_BALANCED)}</strong>
        }
        .into_any(),
    };
    view! {
        <Panel title=t(overview::LEDGER)>
            <div class="balance">
                {part(overview::RECEIVED, |counts| counts.received)} <span class="balance-sign">"="</span>
                {part(overview::STORED, |counts| counts.stored)} <span class="balance-sign">"+"</span>
                {part(overview::REDELIVERED, |counts| counts.redelivered)} <span class="balance-sign">"+"</span>
                {part(overview::REFUSED, |counts| counts.refused)} <span class="balance-sign">"+"</span>
                {part(overview::INTERRUPTED, |counts| counts.interrupted)} <span class="balance-sign">"+"</span>
                {part(overview::IN_FLIGHT, |counts| counts.in_flight)}
                {verdict}
            </div>
        </Panel>
    }
}
