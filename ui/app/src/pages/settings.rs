//! The page "Settings": what is in force and where it comes from, how near the limits are, where
//! the appliance listens with which certificate, and what waits for a start.
//!
//! Nothing is changed here: settings are a file of the box and variables of its process.
//!
//! **Invariants**
//! - No secret is shown or saved: the appliance tells none here.
//! - What the appliance does not tell is said to be unknown, never guessed.

mod choose;
mod in_effect;
mod limits;
mod listeners;
mod next_start;
mod report;
mod the_box;
mod validity;

use crate::context::Studio;
use crate::pages::Page;
use crate::poll::poll;
use crate::words::{faults, settings, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Notice, Priority, Progress};
use millrace_model::Timestamp;
use std::time::Duration;

/// How often the appliance is asked.
const PERIOD: Duration = Duration::from_secs(5);

/// What the panels show.
type Told = Signal<Option<v1::System>>;

/// A time of the API as the person writes it.
fn moment(studio: &Studio, text: &str) -> String {
    match Timestamp::from_rfc3339(text) {
        None => text.to_owned(),
        Some(at) => {
            let locale = studio.language.locale();
            locale.date_time(at, studio.host.utc_offset_minutes(at))
        }
    }
}

/// The page.
#[component]
pub fn Settings() -> impl IntoView {
    let studio = Studio::here();
    let system =
        poll(&studio, PERIOD, |api| async move { api.get::<v1::System>(&["system"], &[]).await });
    let language = studio.language;
    let fault = move || system.fault.get().map(|fault| fault.text(language)).unwrap_or_default();
    let waiting = move || system.value.with(Option::is_none) && system.fault.with(Option::is_none);
    let has_answer = move || system.value.with(Option::is_some);
    // Only what has changed is drawn anew.
    let told: Told = Memo::new(move |_| system.value.get()).into();
    view! {
        <Page title=shell::SETTINGS>
            <Show when=move || system.has_news()>
                <Notice priority=Priority::Two title=t(faults::TITLE) text=Signal::derive(fault)>
                    <Button on_press=move |()| system.refresh()>{t(faults::TRY_AGAIN)}</Button>
                </Notice>
            </Show>
            <Show when=waiting><Progress label=t(settings::LOADING)/></Show>
            <div class="settings">
                <Show when=has_answer>
                    <div class="settings-columns">
                        <div class="settings-stack">
                            <the_box::TheBox told/>
                            <next_start::NextStart told/>
                        </div>
                        <limits::Limits told freshness=system.freshness/>
                    </div>
                    <listeners::Listeners told/>
                </Show>
                <in_effect::InEffect/>
            </div>
        </Page>
    }
}
