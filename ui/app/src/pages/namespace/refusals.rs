//! The last values of a topic that were refused: when, by whom, why, and what was sent.
//!
//! **Invariants**
//! - What was sent is shown as text, never as markup; what was cut says so.

use super::WORKSPACE;
use crate::context::Studio;
use crate::poll::Polled;
use crate::words::{Message, namespace, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Notice, Priority};
use millrace_model::Timestamp;
use std::time::Duration;

/// How often they are asked for.
const PERIOD: Duration = Duration::from_secs(5);

/// Begins to ask for them.
pub(super) fn refusals(studio: &Studio, path: String) -> Polled<v1::Page<v1::RefusedValue>> {
    crate::poll::poll(studio, PERIOD, move |api| {
        let path = path.clone();
        async move {
            let address = ["workspaces", WORKSPACE, "refusals"];
            api.get::<v1::Page<v1::RefusedValue>>(&address, &[("path", &path)]).await
        }
    })
}

/// The list.
#[component]
pub(super) fn Refusals(
    /// What is asked for.
    list: Polled<v1::Page<v1::RefusedValue>>,
) -> impl IntoView {
    let language = Studio::here().language;
    let all = move || list.value.with(|page| page.as_ref().map(|page| page.items.clone()));
    let lines = move || match all() {
        None => view! { <p class="muted">{t(namespace::LOADING)}</p> }.into_any(),
        Some(all) if all.is_empty() => {
            view! { <p class="muted">{t(namespace::NO_REFUSALS)}</p> }.into_any()
        }
        Some(all) => {
            let all = all.into_iter().map(|refused| view! { <Line refused/> });
            view! { <ol class="topic-refusals">{all.collect_view()}</ol> }.into_any()
        }
    };
    let fault = Signal::derive(move || {
        list.fault.with(|why| why.as_ref().map(|why| why.text(language))).unwrap_or_default()
    });
    view! {
        <section class="topic-part" aria-label=t(namespace::REFUSALS)>
            <h3>{t(namespace::REFUSALS)}</h3>
            <Show when=move || list.has_news()>
                <Notice priority=Priority::Three title=t(namespace::NOT_LOADED) text=fault/>
            </Show>
            {lines}
        </section>
    }
}

#[component]
fn Line(refused: v1::RefusedValue) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let at = refused.at.clone();
    let host = studio.host.clone();
    let when = move || match Timestamp::from_rfc3339(&at) {
        Some(time) => language.locale().date_time(time, host.utc_offset_minutes(time)),
        None => at.clone(),
    };
    let client = refused.client.clone();
    let who = move || client.clone().unwrap_or_else(|| language.say(namespace::THE_BOX));
    let cut = refused.cut.then(|| {
        let bytes = refused.payload_bytes;
        let text = move || {
            let number = language.locale().integer(i128::from(bytes));
            language.say_with(namespace::PAYLOAD_CUT, &[("n", &number)])
        };
        view! { <p class="muted">{text}</p> }
    });
    let (reason, message) = (refused.reason.clone(), refused.message.clone());
    let why = move || language.say(reason_name(&reason).unwrap_or(namespace::REASON_OTHER));
    view! {
        <li>
            <p><strong>{why}</strong>" "<span class="muted">{when}" · "{who}</span></p>
            <p>{message}</p>
            <pre class="topic-payload"><code>{refused.payload.clone()}</code></pre>
            {cut}
        </li>
    }
}

/// A reason's name in words; the sentence beside it has the facts.
pub(super) fn reason_name(reason: &str) -> Option<Message> {
    let known: &[(&str, Message)] = &[
        ("not_authorized", namespace::REASON_NOT_AUTHORIZED),
        ("topic_invalid", namespace::REASON_TOPIC_INVALID),
        ("unknown_topic", namespace::REASON_UNKNOWN_TOPIC),
        ("rate_limited", namespace::REASON_RATE),
        ("workspace_rate_limited", namespace::REASON_RATE),
        ("wrong_kind", namespace::REASON_KIND),
        ("out_of_range", namespace::REASON_RANGE),
        ("not_a_choice", namespace::REASON_CHOICE),
        ("source_time_too_old", namespace::REASON_TIME),
        ("source_time_ahead", namespace::REASON_TIME),
    ];
    known.iter().find(|(name, _)| *name == reason).map(|(_, message)| *message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_model::Reason;

    #[test]
    fn the_reasons_with_words_are_reasons_of_the_appliance() {
        let with_words = Reason::ALL.iter().filter(|reason| reason_name(reason.name()).is_some());
        assert_eq!(with_words.count(), 10);
        assert_eq!(reason_name("nonsense"), None);
    }
}
