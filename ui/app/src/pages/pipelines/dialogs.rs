//! Dialogs over the designer: quick add, search and commands, keys, the pipeline's settings.
//!
//! **Invariants**
//! - Each closes with Escape, and what is chosen by Enter is what is marked.

use super::desk::{Desk, Over};
use super::speech::{name, sentence};
use crate::words::{pipelines, shell, t};
use leptos::prelude::*;
use millrace_editor::quick_add;
use millrace_editor::search::{SearchHit, search};
use millrace_editor::{Join, Place, action};
use millrace_flow::Edit;
use millrace_flow::document::{HistoryDetail, Order, Overlap, Priority};
use millrace_kit::Dialog;

/// Entries of a list that are shown at once.
const SHOWN_MAX: usize = 12;

/// Whether one of the dialogs is open, as a signal that closes it too.
pub(super) fn opened(desk: Desk, which: Over) -> RwSignal<bool> {
    let open = RwSignal::new(false);
    Effect::new(move |_| open.set(desk.over.get() == which));
    Effect::new(move |_| {
        if !open.get() && desk.over.get_untracked() == which {
            desk.over.set(Over::Nothing);
        }
    });
    open
}

/// An entry of a list that is typed into.
#[derive(Clone)]
struct Entry {
    name: String,
    hint: String,
}

/// A field and a list; arrows mark, Enter chooses.
#[component]
fn Picker(
    #[prop(into)] label: Signal<String>,
    #[prop(into)] nothing: Signal<String>,
    entries: Memo<Vec<(String, String)>>,
    typed: RwSignal<String>,
    #[prop(into)] on_choose: Callback<usize>,
) -> impl IntoView {
    let active = RwSignal::new(0_usize);
    let input = NodeRef::<leptos::html::Input>::new();
    Effect::new(move |_| {
        if let Some(input) = input.get() {
            let _unfocused = input.focus().is_err();
        }
    });
    let press = move |event: leptos::ev::KeyboardEvent| {
        let count = entries.with_untracked(Vec::len);
        match event.key().as_str() {
            "ArrowDown" => active.update(|at| *at = (*at + 1).min(count.saturating_sub(1))),
            "ArrowUp" => active.update(|at| *at = at.saturating_sub(1)),
            "Enter" if count > 0 => on_choose.run(active.get_untracked()),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let lines = move || {
        let line = |(at, entry): (usize, Entry)| {
            view! {
                <li
                    class="palette-entry"
                    class:menu-active=move || active.get() == at
                    role="option"
                    aria-selected=move || (active.get() == at).to_string()
                    on:click=move |_| on_choose.run(at)
                >
                    <span>{entry.name}</span>
                    <span class="palette-hint">{entry.hint}</span>
                </li>
            }
        };
        let all = entries.get().into_iter().map(|(name, hint)| Entry { name, hint });
        all.enumerate().map(line).collect_view()
    };
    view! {
        <div class="palette" on:keydown=press>
            <input class="field-input" node_ref=input aria-label=label placeholder=label spellcheck="false" autocomplete="off"
                prop:value=typed
                on:input=move |event| { typed.set(event_target_value(&event)); active.set(0); }
            />
            <ul class="palette-list" role="listbox" aria-label=label>{lines}</ul>
            <Show when=move || entries.with(Vec::is_empty)><p class="muted">{nothing}</p></Show>
        </div>
    }
}

/// The quick add.
#[component]
pub(super) fn QuickAddDialog() -> impl IntoView {
    let desk = Desk::here();
    let open = opened(desk, Over::QuickAdd);
    view! {
        <Dialog title=t(pipelines::ADD) open close=t(shell::CLOSE)><QuickAdd/></Dialog>
    }
}

#[component]
fn QuickAdd() -> impl IntoView {
    let desk = Desk::here();
    let typed = RwSignal::new(String::new());
    let place = move || {
        let place = desk.place.get_untracked();
        place.unwrap_or(Place { at: None, join: Join::Nothing })
    };
    let kinds = Memo::new(move |_| {
        let query = typed.get();
        let kinds = desk
            .editor
            .with_untracked(|editor| quick_add::offer(editor.document(), &place().join, &query));
        kinds.into_iter().take(SHOWN_MAX).map(|kind| kind.name).collect::<Vec<_>>()
    });
    let entries = Memo::new(move |_| {
        let kinds = kinds.get().into_iter().filter_map(millrace_flow::kind::find);
        kinds.map(|kind| (kind.name.to_owned(), brief(kind.summary))).collect()
    });
    let choose = move |at: usize| {
        let kind = kinds.with_untracked(|kinds| kinds.get(at).copied());
        if let Some(kind) = kind {
            desk.over.set(Over::Nothing);
            desk.act(|editor| editor.add(kind, &place()));
        }
    };
    view! {
        <Picker label=t(pipelines::ADD_WHAT) nothing=t(pipelines::ADD_NOTHING) entries typed on_choose=choose/>
    }
}

/// The beginning of a sentence.
fn brief(text: &str) -> String {
    const MOST: usize = 60;
    let mut short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Steps, topics and commands.
#[component]
pub(super) fn SearchDialog() -> impl IntoView {
    let desk = Desk::here();
    let open = opened(desk, Over::Search);
    view! {
        <Dialog title=t(pipelines::COMMANDS) open close=t(shell::CLOSE)><Search/></Dialog>
    }
}

#[component]
fn Search() -> impl IntoView {
    let desk = Desk::here();
    let typed = RwSignal::new(String::new());
    let hits = Memo::new(move |_| {
        let query = typed.get();
        if query.trim().is_empty() {
            return action::ALL.iter().map(|spec| SearchHit::Command(spec.action)).collect();
        }
        let mut hits = desk.editor.with_untracked(|editor| search(editor.document(), &[], &query));
        hits.truncate(2 * SHOWN_MAX);
        hits
    });
    let entries = Memo::new(move |_| {
        let locale = desk.studio().language.locale();
        let keys = |action| desk.editor.with_untracked(|editor| editor.keymap().keys_of(action));
        let entry = |hit: &SearchHit| match hit {
            SearchHit::Step { id, text } => (id.clone(), brief(text)),
            SearchHit::Topic(topic) => (topic.clone(), "topic".to_owned()),
            SearchHit::Command(action) => (
                name(locale, *action).to_owned(),
                keys(*action).first().cloned().unwrap_or_default(),
            ),
        };
        hits.with(|hits| hits.iter().map(entry).collect())
    });
    let choose = move |at: usize| {
        let Some(hit) = hits.with_untracked(|hits| hits.get(at).cloned()) else { return };
        desk.over.set(Over::Nothing);
        match hit {
            SearchHit::Step { id, .. } => {
                desk.editor.update(|editor| {
                    editor.jump_to(&id);
                });
            }
            SearchHit::Topic(topic) => {
                let step = desk.editor.with_untracked(|editor| {
                    let steps = editor.document().steps.iter();
                    let mut named = steps.filter(|(_, step)| {
                        step.fields.values().any(|value| value.to_string().contains(&topic))
                    });
                    named.next().map(|(id, _)| id.clone())
                });
                if let Some(step) = step {
                    desk.editor.update(|editor| {
                        editor.jump_to(&step);
                    });
                }
            }
            SearchHit::Command(action) => desk.run(action),
        }
    };
    view! {
        <Picker label=t(pipelines::SEARCH) nothing=t(pipelines::SEARCH_NOTHING) entries typed on_choose=choose/>
    }
}

/// What the keys do.
#[component]
pub(super) fn KeysDialog() -> impl IntoView {
    let desk = Desk::here();
    let open = opened(desk, Over::Keys);
    let rows = move || {
        let locale = desk.studio().language.locale();
        let rows = action::ALL.iter().map(|spec| {
            let keys = desk.editor.with_untracked(|editor| editor.keymap().keys_of(spec.action));
            let keys = keys.into_iter().map(|keys| view! { <kbd>{keys}</kbd> " " }).collect_view();
            view! { <tr><td>{keys}</td><td>{sentence(locale, spec.action)}</td></tr> }
        });
        rows.collect_view()
    };
    view! {
        <Dialog title=t(pipelines::KEYS) open close=t(shell::CLOSE)>
            <div tabindex="0" role="region" aria-label=t(pipelines::KEYS)>
            <table class="keys">
                <thead><tr><th>{t(pipelines::KEY)}</th><th>{t(pipelines::DOES)}</th></tr></thead>
                <tbody>{rows}</tbody>
            </table>
            </div>
        </Dialog>
    }
}

/// How the pipeline runs.
#[component]
pub(super) fn SettingsDialog() -> impl IntoView {
    let desk = Desk::here();
    let open = opened(desk, Over::Settings);
    view! {
        <Dialog title=t(pipelines::SETTINGS) open close=t(shell::CLOSE)><SettingsForm/></Dialog>
    }
}

#[component]
fn SettingsForm() -> impl IntoView {
    let desk = Desk::here();
    let (settings, description, is_read_only) = desk.editor.with_untracked(|editor| {
        let document = editor.document();
        (document.settings.clone(), document.description.clone(), editor.is_read_only)
    });
    let change = move |set: &dyn Fn(&mut millrace_flow::document::Settings)| {
        let mut settings = desk.editor.with_untracked(|editor| editor.document().settings.clone());
        set(&mut settings);
        desk.apply("settings", Edit::SetSettings(settings), None);
    };
    let describe = move |event| {
        let grain =
            millrace_editor::Grain::Field { step: String::new(), field: "description".into() };
        desk.apply("description", Edit::SetDescription(event_target_value(&event)), Some(grain));
    };
    let priority = word(&settings.priority);
    let overlap = word(&settings.overlap);
    let history = word(&settings.history);
    let order = match &settings.order {
        Order::InOrderBy(_) => "in_order_by".to_owned(),
        other => word(other),
    };
    let set_priority = move |text: String| {
        if let Some(priority) = unword::<Priority>(&text) {
            change(&move |settings| settings.priority = priority);
        }
    };
    let set_order = move |text: String| {
        let by_path = || Order::InOrderBy("{{ $trigger.path }}".to_owned());
        let order = if text == "in_order_by" { Some(by_path()) } else { unword::<Order>(&text) };
        if let Some(order) = order {
            change(&move |settings| settings.order = order.clone());
        }
    };
    let set_overlap = move |text: String| {
        if let Some(overlap) = unword::<Overlap>(&text) {
            change(&move |settings| settings.overlap = overlap);
        }
    };
    let set_history = move |text: String| {
        if let Some(history) = unword::<HistoryDetail>(&text) {
            change(&move |settings| settings.history = history);
        }
    };
    let orders = vec!["parallel", "in_order", "in_order_all", "in_order_by"];
    view! {
        <div class="form">
            <div class="field">
                <label class="field-label" for="setting-description">{t(pipelines::DESCRIPTION)}</label>
                <textarea class="field-input field-long" id="setting-description" rows="3" readonly=is_read_only prop:value=description on:input=describe></textarea>
            </div>
            <Words label=t(pipelines::PRIORITY) words=vec!["high", "normal", "low"] chosen=priority is_read_only on_choose=set_priority/>
            <Words label=t(pipelines::ORDER) words=orders chosen=order is_read_only on_choose=set_order/>
            <Words label=t(pipelines::OVERLAP) words=vec!["queue", "skip", "restart"] chosen=overlap is_read_only on_choose=set_overlap/>
            <Words label=t(pipelines::HISTORY) words=vec!["minimal", "standard", "full"] chosen=history is_read_only on_choose=set_history/>
        </div>
    }
}

/// The word of a setting, as documents write it.
fn word(setting: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(setting).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

fn unword<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).ok()
}

#[component]
fn Words(
    label: Signal<String>,
    words: Vec<&'static str>,
    chosen: String,
    is_read_only: bool,
    #[prop(into)] on_choose: Callback<String>,
) -> impl IntoView {
    let id = millrace_kit::id::unique("setting");
    let options = words.into_iter().map(|word| {
        let is_chosen = word == chosen;
        view! { <option value=word selected=is_chosen>{word}</option> }
    });
    view! {
        <div class="field">
            <label class="field-label" for=id.clone()>{label}</label>
            <select class="field-input select" id=id disabled=is_read_only on:change=move |event| on_choose.run(event_target_value(&event))>
                {options.collect_view()}
            </select>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_written_as_in_documents() {
        assert_eq!(word(&Priority::High), "high");
        assert_eq!(word(&Order::InOrderAll), "in_order_all");
        assert_eq!(unword::<Overlap>("skip"), Some(Overlap::Skip));
        assert_eq!(unword::<Priority>("fly"), None);
        assert_eq!(brief(&"x".repeat(80)).chars().count(), 61);
    }
}
