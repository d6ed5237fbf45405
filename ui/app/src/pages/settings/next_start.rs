//! What waits for a start: settings that the file has otherwise than the running appliance.
//!
//! **Invariants**
//! - A file that would keep the appliance from starting is told before somebody restarts.

use super::Told;
use crate::context::Studio;
use crate::words::{settings, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Notice, Panel, Priority};

/// The panel.
#[component]
pub(super) fn NextStart(told: Told) -> impl IntoView {
    let language = Studio::here().language;
    let waits = Memo::new(move |_| {
        told.with(|told| told.as_ref().map(|told| told.next_start.clone()).unwrap_or_default())
    });
    let has_file =
        move || told.with(|told| told.as_ref().is_some_and(|one| one.config_file.is_some()));
    let has_faults = move || waits.with(|waits| !waits.faults.is_empty());
    let faults = move || {
        let line = |fault: String| view! { <li><code>{fault}</code></li> };
        waits.get().faults.into_iter().map(line).collect_view()
    };
    let body = move || {
        let changes = waits.get().changes;
        if changes.is_empty() {
            let nothing =
                if has_file() { settings::NOTHING_WAITS } else { settings::NO_FILE_WAITS };
            let quiet = (!has_faults()).then(|| view! { <p>{t(nothing)}</p> });
            return quiet.into_any();
        }
        view! {
            <table class="settings-table">
                <thead><tr>
                    <th scope="col">{t(settings::SETTING)}</th>
                    <th scope="col">{t(settings::IN_FORCE)}</th>
                    <th scope="col">{t(settings::AFTER_START)}</th>
                </tr></thead>
                <tbody>{changes.into_iter().map(row).collect_view()}</tbody>
            </table>
        }
        .into_any()
    };
    view! {
        <Panel title=t(settings::WAITS)>
            <Show when=has_faults>
                <Notice priority=Priority::Two title=language.text(settings::WOULD_FAIL) text=t(settings::WOULD_FAIL_TEXT)/>
                <ul class="settings-note">{faults}</ul>
            </Show>
            <div class="settings-note">{body}</div>
            <p class="settings-note muted">{t(settings::WAITS_TEXT)}</p>
        </Panel>
    }
}

fn row(change: v1::SettingChange) -> impl IntoView {
    view! {
        <tr>
            <th scope="row"><code>{change.key}</code></th>
            <td><code>{change.in_force}</code></td>
            <td><code>{change.next}</code></td>
        </tr>
    }
}
