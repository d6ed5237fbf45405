//! Every setting with its value, its default, what it does, and where the value comes from.
//!
//! **Invariants**
//! - What differs from the default is told by a word, not by looks alone.

use super::choose::{Section, is_changed, sections, variable};
use crate::context::Studio;
use crate::poll::poll;
use crate::words::{Message, faults, settings, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Field, Notice, Panel, Priority, Progress, Toggle};
use std::time::Duration;

/// Settings change by a start only, after which the page is signed out: they are asked for seldom.
const PERIOD: Duration = Duration::from_secs(60);

/// The panel.
#[component]
pub(super) fn InEffect() -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let config = poll(&studio, PERIOD, |api| async move {
        api.get::<v1::Page<v1::ConfigEntry>>(&["config"], &[]).await
    });
    let (search, only_changed) = (RwSignal::new(String::new()), RwSignal::new(false));
    let all = Memo::new(move |_| config.value.get().map(|page| page.items).unwrap_or_default());
    let shown =
        Memo::new(move |_| all.with(|all| sections(all, &search.get(), only_changed.get())));
    let count = move || {
        let shown = shown.with(|shown| shown.iter().map(|one| one.settings.len()).sum::<usize>());
        let all = all.with(Vec::len);
        let values = [("n", shown.to_string()), ("all", all.to_string())];
        language.say_with(
            settings::COUNT,
            &values.each_ref().map(|(name, text)| (*name, text.as_str())),
        )
    };
    let fault = move || config.fault.get().map(|fault| fault.text(language)).unwrap_or_default();
    let waiting = move || config.value.with(Option::is_none) && config.fault.with(Option::is_none);
    let none = move || all.with(|all| !all.is_empty()) && shown.with(Vec::is_empty);
    let groups =
        move || shown.get().into_iter().map(|section| view! { <Group section/> }).collect_view();
    view! {
        <Panel title=t(settings::IN_EFFECT) aside=move || view! { <span class="muted figures settings-count">{count}</span> }>
            <div class="settings-tools">
                <Field label=t(settings::SEARCH) value=search/>
                <Toggle label=t(settings::ONLY_CHANGED) value=only_changed/>
            </div>
            <Show when=move || config.has_news()>
                <Notice priority=Priority::Two title=t(faults::TITLE) text=Signal::derive(fault)/>
            </Show>
            <Show when=waiting><Progress label=t(settings::LOADING)/></Show>
            <Show when=none><p class="settings-note muted">{t(settings::NONE_FOUND)}</p></Show>
            <div class="settings-groups">{groups}</div>
            <p class="settings-note muted">{t(settings::NO_SECRETS)}</p>
        </Panel>
    }
}

#[component]
fn Group(section: Section) -> impl IntoView {
    let heads = [settings::SETTING, settings::VALUE, settings::ORIGIN];
    let heads = heads.map(|head| view! { <th scope="col">{t(head)}</th> });
    let rows = section.settings.into_iter().map(row).collect_view();
    let name =
        (!section.name.is_empty()).then(|| view! { <h3><code>"["{section.name}"]"</code></h3> });
    view! {
        {name}
        <table class="settings-table in-effect">
            <thead class="visually-hidden"><tr>{heads.into_iter().collect_view()}</tr></thead>
            <tbody>{rows}</tbody>
        </table>
    }
}

fn row(entry: v1::ConfigEntry) -> impl IntoView {
    let origin: Message = match entry.source {
        v1::ConfigSource::Default => settings::FROM_DEFAULT,
        v1::ConfigSource::File => settings::FROM_FILE,
        v1::ConfigSource::Override => settings::FROM_OVERRIDE,
    };
    let changed = is_changed(&entry);
    let default = entry.default.filter(|_| changed).map(|default| {
        view! { <div class="muted">{t(settings::DEFAULT)}" "<code>{default}</code></div> }
    });
    let language = Studio::here().language;
    let name = variable(&entry.key);
    let title = move || language.say_with(settings::VARIABLE, &[("name", &name)]);
    view! {
        <tr class:settings-changed=changed>
            <th scope="row">
                <code title=title>{entry.key}</code>
                <p class="muted settings-about">{entry.about}</p>
            </th>
            <td><code class="settings-value">{entry.value}</code>{default}</td>
            <td class="settings-origin">{t(origin)}</td>
        </tr>
    }
}
