//! What this appliance is: version, build, start, configuration file; and the report for support.
//!
//! **Invariants**
//! - The report says what it holds before it is saved.

use super::{Told, moment, report};
use crate::context::Studio;
use crate::locale::ago;
use crate::words::{settings, t};
use leptos::prelude::*;
use millrace_kit::{Button, Panel, Priority, Toasts};
use millrace_model::Timestamp;

/// The panel.
#[component]
pub(super) fn TheBox(told: Told) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let fact = move |read: fn(&millrace_contract::v1::System) -> String| {
        move || told.with(|told| told.as_ref().map(read).unwrap_or_default())
    };
    let build = move || {
        told.with(|told| {
            let told = told.as_ref()?;
            Some(match told.build.as_str() {
                "debug" => {
                    language.say_with(settings::BUILD_DEBUG, &[("platform", &told.platform)])
                }
                _ => told.platform.clone(),
            })
        })
    };
    let clock = studio.clock;
    let for_start = studio.clone();
    let started = move || {
        let text = told.with(|told| told.as_ref().map(|told| told.started.clone()))?;
        let age = Timestamp::from_rfc3339(&text).map(|at| ago(language, clock.age(at)));
        Some(format!("{} · {}", moment(&for_start, &text), age.unwrap_or_default()))
    };
    let file =
        move || match told.with(|told| told.as_ref().and_then(|told| told.config_file.clone())) {
            Some(path) => view! { <code>{path}</code> }.into_any(),
            None => view! { <span>{t(settings::NO_FILE)}</span> }.into_any(),
        };
    view! {
        <Panel title=t(settings::THE_BOX) aside=move || view! { <Report/> }>
            <dl class="settings-facts">
                <dt>{t(settings::VERSION)}</dt>
                <dd class="figures">"Millrace "{fact(|told| told.version.clone())}</dd>
                <dt>{t(settings::BUILD)}</dt><dd>{build}</dd>
                <dt>{t(settings::STARTED)}</dt><dd class="figures">{started}</dd>
                <dt>{t(settings::FILE)}</dt><dd>{file}</dd>
            </dl>
            <p class="settings-note muted">{t(settings::REPORT_TEXT)}</p>
        </Panel>
    }
}

/// Saves the report.
#[component]
fn Report() -> impl IntoView {
    let studio = Studio::here();
    let toasts: Toasts = expect_context();
    let working = RwSignal::new(false);
    let press = move |()| {
        if working.get_untracked() {
            return;
        }
        working.set(true);
        let studio = studio.clone();
        leptos::task::spawn_local(async move {
            let gathered = report::gather(&studio.api).await;
            working.try_set(false);
            match gathered {
                Ok(text) => {
                    let now = studio.clock.now_untracked();
                    let name = report::file_name(now);
                    studio.host.save_file(&name, "application/json", text.as_bytes());
                    toasts.good(studio.language.say(settings::REPORT_SAVED));
                }
                Err(why) => toasts.bad(Priority::Two, why.text(studio.language)),
            }
        });
    };
    view! { <Button on_press=press>{t(settings::REPORT)}</Button> }
}
