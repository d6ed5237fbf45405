//! What is wrong now: each issue with since when, what it does, what to do, and who knows of it.
//!
//! **Invariants**
//! - The appliance's sentences are shown as they are; they are put in as text.
//! - An issue that nobody has taken note of blinks at its badge; the others stand still.

use crate::context::Studio;
use crate::host::Method;
use crate::locale::ago;
use crate::poll::{Polled, poll};
use crate::words::{faults, overview, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Badge, Button, Notice, Panel, Priority, Toasts};
use millrace_model::Timestamp;
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(3);

/// The list of issues.
#[component]
pub(super) fn Issues() -> impl IntoView {
    let studio = Studio::here();
    let issues = poll(&studio, PERIOD, |api| async move {
        api.get::<v1::Page<v1::Issue>>(&["issues"], &[]).await
    });
    let language = studio.language;
    let count = move || {
        let count = issues.value.with(|page| page.as_ref().map_or(0, |page| page.items.len()));
        language.say_with(overview::ISSUES_COUNT, &[("n", &count.to_string())])
    };
    // Nothing is known of an appliance that does not answer: then it is not said that all is well.
    let none = move || {
        let is_empty = |page: &Option<v1::Page<v1::Issue>>| {
            page.as_ref().is_some_and(|page| page.items.is_empty())
        };
        issues.fault.with(Option::is_none) && issues.value.with(is_empty)
    };
    let items = move || issues.value.get().map(|page| page.items).unwrap_or_default();
    let fault = move || issues.fault.get().map(|fault| fault.text(language)).unwrap_or_default();
    view! {
        <Panel title=t(overview::ISSUES) aside=move || view! { <span class="muted">{count}</span> }>
            <Show when=move || issues.has_news()>
                <Notice priority=Priority::Two title=t(faults::TITLE) text=Signal::derive(fault)/>
            </Show>
            <Show when=none>
                <p class="issues-none">{t(overview::NO_ISSUES)}</p>
            </Show>
            <ul class="issues">
                <For each=items key=issue_key children=move |issue| view! { <IssueLine issue issues/> }/>
            </ul>
        </Panel>
    }
}

/// What has to change for a line to be built anew.
fn issue_key(issue: &v1::Issue) -> (String, u64, Option<String>, String) {
    (issue.key.clone(), issue.count, issue.acknowledged_by.clone(), issue.what.clone())
}

#[component]
fn IssueLine(issue: v1::Issue, issues: Polled<v1::Page<v1::Issue>>) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let (priority, word) = match issue.severity {
        v1::Severity::Critical => (Priority::One, overview::CRITICAL),
        v1::Severity::Warning => (Priority::Two, overview::WARNING),
        v1::Severity::Notice => (Priority::Four, overview::NOTICE),
    };
    let since = Timestamp::from_rfc3339(&issue.since);
    let (clock, host) = (studio.clock, studio.host.clone());
    let when = move || {
        since.map(|since| {
            let at = language.locale().date_time(since, host.utc_offset_minutes(since));
            format!("{at} · {}", ago(language, clock.age(since)))
        })
    };
    let known = issue.acknowledged_by.clone();
    let fresh = known.is_none();
    let known =
        known.map(|who| move || language.say_with(overview::ACKNOWLEDGED_BY, &[("who", &who)]));
    let key = issue.key.clone();
    view! {
        <li class="issue">
            <Badge priority label=t(word) fresh=fresh/>
            <div class="issue-text">
                <strong>{issue.what}</strong>
                <p>{issue.effect}</p>
                <p class="issue-remedy">"→ " {issue.remedy}</p>
            </div>
            <div class="issue-side">
                <span class="muted figures">{when}</span>
                {match known {
                    Some(known) => view! { <span class="muted">{known}</span> }.into_any(),
                    None => view! { <Acknowledge key issues/> }.into_any(),
                }}
            </div>
        </li>
    }
}

#[component]
fn Acknowledge(key: String, issues: Polled<v1::Page<v1::Issue>>) -> impl IntoView {
    let studio = Studio::here();
    let toasts: Toasts = expect_context();
    let language = studio.language;
    let sessions = studio.sessions.clone();
    let off_because = Signal::derive(move || {
        (!sessions.may(v1::Role::Engineer)).then(|| language.say(overview::NEEDS_ENGINEER))
    });
    let press = move |()| {
        let (api, key) = (studio.api.clone(), key.clone());
        leptos::task::spawn_local(async move {
            match api.act(Method::Post, &["issues", &key, "acknowledge"]).await {
                Ok(()) => issues.refresh(),
                Err(fault) => toasts.bad(Priority::Three, fault.text(language)),
            }
        });
    };
    view! { <Button on_press=press off_because>{t(overview::ACKNOWLEDGE)}</Button> }
}
