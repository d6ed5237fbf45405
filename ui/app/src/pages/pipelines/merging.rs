//! Two drafts of one pipeline: what somebody else stored, and ours, brought together.
//!
//! **Invariants**
//! - Nothing of either is lost without a choice; the result is one change that can be undone.

use super::desk::{Desk, Over};
use super::dialogs::opened;
use crate::words::{pipelines, shell, t};
use leptos::prelude::*;
use millrace_editor::merge::{Conflict, Part, Side, merge};
use millrace_kit::{Button, Dialog, Weight};
use serde_json::Value;
use std::collections::BTreeMap;

/// The dialog.
#[component]
pub(super) fn MergeDialog() -> impl IntoView {
    let desk = Desk::here();
    let language = desk.studio().language;
    let open = opened(desk, Over::Merge);
    let title = Signal::derive(move || {
        let number = desk.theirs.with(|theirs| theirs.as_ref().map_or(0, |of| of.revision));
        language.say_with(pipelines::MERGE, &[("n", &number.to_string())])
    });
    view! { <Dialog title open close=t(shell::CANCEL)><MergeForm/></Dialog> }
}

#[component]
fn MergeForm() -> impl IntoView {
    let desk = Desk::here();
    let choices = RwSignal::new(BTreeMap::<Part, Side>::new());
    let merged = Memo::new(move |_| {
        let theirs = desk.theirs.get()?;
        let base = desk.base.with(|base| base.document.clone());
        Some(merge(&base, &desk.document(), &theirs.document, &choices.get()))
    });
    let conflicts = move || {
        let conflicts = merged.with(|merged| {
            merged.as_ref().map(|merged| merged.conflicts.clone()).unwrap_or_default()
        });
        if conflicts.is_empty() {
            return view! { <p>{t(pipelines::MERGE_CLEAN)}</p> }.into_any();
        }
        let rows = conflicts.into_iter().map(|conflict| view! { <ConflictRow conflict choices/> });
        view! { <ul class="conflicts">{rows.collect_view()}</ul> }.into_any()
    };
    let open = t(pipelines::MERGE_TEXT);
    let off = Signal::derive(move || {
        let is_decided = merged
            .with(|merged| merged.as_ref().is_some_and(millrace_editor::merge::Merged::is_decided));
        (!is_decided).then(|| open.get())
    });
    let take = move |()| {
        let Some(merged) = merged.get_untracked() else { return };
        if let Some(theirs) = desk.theirs.get_untracked() {
            desk.base.set(theirs);
        }
        desk.over.set(Over::Nothing);
        desk.act(|editor| editor.take_over("merge", &merged.document));
    };
    view! {
        <p>{t(pipelines::MERGE_TEXT)}</p>
        {conflicts}
        <div class="form-actions">
            <Button weight=Weight::Primary on_press=take off_because=off>{t(pipelines::MERGE_DO)}</Button>
        </div>
    }
}

#[component]
fn ConflictRow(conflict: Conflict, choices: RwSignal<BTreeMap<Part, Side>>) -> impl IntoView {
    let language = Desk::here().spoken();
    let group = millrace_kit::id::unique("conflict");
    let shown = |value: &Option<Value>| match value {
        None => language.say(pipelines::MERGE_REMOVED),
        Some(value) => value.to_string().chars().take(200).collect(),
    };
    let choice = |side: Side, message, value: &Option<Value>| {
        let part = conflict.part.clone();
        let text = language.say_with(message, &[("value", &shown(value))]);
        let is_chosen = conflict.chosen == Some(side);
        view! {
            <label class="field-check">
                <input type="radio" name=group.clone() prop:checked=is_chosen
                    on:change=move |_| choices.update(|all| { all.insert(part.clone(), side); })/>
                {text}
            </label>
        }
    };
    view! {
        <li>
            <strong>{conflict.part.to_string()}</strong>
            {choice(Side::Ours, pipelines::MERGE_OURS, &conflict.ours)}
            {choice(Side::Theirs, pipelines::MERGE_THEIRS, &conflict.theirs)}
        </li>
    }
}
