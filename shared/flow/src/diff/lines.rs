//! Edits as lines for people: what was and what is.
//!
//! **Invariants**: a line is short whatever the document holds; values of secrets are in no
//! document, and so in no line.

use crate::document::{Document, Step};
use crate::edit::Edit;
use crate::transaction::Transaction;
use serde::Serialize;
use serde_json::Value;

/// Longest value in a line, in characters.
const VALUE_CHARACTERS_MAX: usize = 60;

/// One line for each edit, as the document looks when it is its turn. Where a step only moves on
/// the canvas, nothing is said.
#[must_use]
pub fn lines(from: &Document, transaction: &Transaction) -> Vec<String> {
    let mut document = from.clone();
    let mut lines = Vec::new();
    for edit in &transaction.edits {
        lines.extend(line(&document, edit));
        if let Err(error) = edit.apply(&mut document) {
            lines.push(format!("cannot be applied: {error}"));
            break;
        }
    }
    lines
}

fn line(document: &Document, edit: &Edit) -> Option<String> {
    let step = edit.step().and_then(|id| document.steps.get(id));
    let of = |from: String, to: String| format!("{from} → {to}");
    Some(match edit {
        Edit::SetName(name) => format!("name: {}", of(document.name.clone(), name.clone())),
        Edit::SetDescription(_) => "description changed".into(),
        Edit::SetSettings(settings) => settings_line(document, settings),
        Edit::AddStep { id, step } => format!("step `{id}` added ({})", step.kind),
        Edit::RemoveStep { id } => format!("step `{id}` removed"),
        Edit::ReplaceStep { id, step: new } => {
            let kind = step.map(|step| step.kind.clone()).unwrap_or_default();
            format!("step `{id}` replaced: {}", of(kind, new.kind.clone()))
        }
        Edit::RenameStep { from, to } => format!("step `{from}` renamed to `{to}`"),
        Edit::SetField { step: id, field, value } => {
            let before = step.and_then(|step| step.fields.get(field));
            format!("step `{id}`, `{field}`: {}", change(before, value))
        }
        Edit::UnsetField { step: id, field } => {
            let before = step.and_then(|step| step.fields.get(field));
            format!("step `{id}`, `{field}`: {} → none", shown(before))
        }
        Edit::SetLabel { step: id, label } => {
            let before = step.map(|step| step.label.clone()).unwrap_or_default();
            format!("step `{id}`, label: {}", of(short(&before), short(label)))
        }
        Edit::SetTimeout { step: id, timeout_ms } => {
            setting(id, "timeout_ms", step.map(|step: &Step| step.timeout_ms), timeout_ms)
        }
        Edit::SetRetry { step: id, retry } => {
            setting(id, "retry", step.map(|step| step.retry), retry)
        }
        Edit::SetOnError { step: id, on_error } => {
            setting(id, "on_error", step.map(|step| &step.on_error), on_error)
        }
        Edit::SetDisabled { step: id, disabled } => {
            format!("step `{id}` switched {}", if *disabled { "off" } else { "on" })
        }
        Edit::AddWire(wire) => format!("wire {wire} added"),
        Edit::RemoveWire(wire) => format!("wire {wire} removed"),
        Edit::MoveStep { .. } => return None,
        Edit::AddCase { case, .. } => format!("case `{}` added", short(&case.name)),
        Edit::ReplaceCase { case, .. } => format!("case `{}` changed", short(&case.name)),
        Edit::RemoveCase { at } => {
            let name = document.cases.get(*at).map(|case| short(&case.name)).unwrap_or_default();
            format!("case `{name}` removed")
        }
    })
}

fn settings_line(document: &Document, to: &crate::document::Settings) -> String {
    let json = |settings| serde_json::to_value(settings).unwrap_or_default();
    let (before, after) = (json(&document.settings), json(to));
    let fields = after.as_object().into_iter().flatten();
    let changes: Vec<_> = fields
        .filter(|(name, value)| before.get(name) != Some(*value))
        .map(|(name, value)| format!("{name} {}", change(before.get(name), value)))
        .collect();
    format!("settings: {}", changes.join(", "))
}

fn setting(id: &str, name: &str, from: Option<impl Serialize>, to: impl Serialize) -> String {
    let json = |value| shown(Some(&value));
    let before = from.and_then(|value| serde_json::to_value(value).ok()).unwrap_or_default();
    let after = serde_json::to_value(to).unwrap_or_default();
    format!("step `{id}`, {name}: {} → {}", json(before), json(after))
}

fn change(from: Option<&Value>, to: &Value) -> String {
    let lines = |value: &Value| value.as_str().map_or(0, |text| text.lines().count());
    let is_long = |value: &Value| lines(value) > 1;
    match from {
        Some(from) if is_long(from) || is_long(to) => {
            format!("changed ({} → {} lines)", lines(from), lines(to))
        }
        None if is_long(to) => format!("set ({} lines)", lines(to)),
        from => format!("{} → {}", shown(from), shown(Some(to))),
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "none".into(),
        Some(value) => short(&value.to_string()),
    }
}

fn short(text: &str) -> String {
    let mut short: String = text.chars().take(VALUE_CHARACTERS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
