//! Renaming a step everywhere in a document.
//!
//! Renaming back does not always give what was there: `$step.a` becomes `$step["a-b"]`, which
//! becomes `$step["a"]`. What differs then is set right by further edits of the inverse.
//!
//! **Invariants**: everything that [`crate::validate`] would find dangling is renamed with the step.

use super::{Edit, EditError};
use crate::case::Expected;
use crate::document::{Document, OnError, Order};
use crate::expression::{rename_step, rename_step_in_text};
use crate::kind::FieldForm;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn apply(document: &mut Document, from: &str, to: &str) -> Result<Vec<Edit>, EditError> {
    if !document.steps.contains_key(from) {
        return Err(EditError::NoStep(from.to_owned()));
    }
    if document.steps.contains_key(to) {
        return Err(EditError::StepExists(to.to_owned()));
    }
    let before = document.clone();
    rename(document, from, to);
    let mut inverse = vec![Edit::RenameStep { from: to.to_owned(), to: from.to_owned() }];
    let mut back = document.clone();
    rename(&mut back, to, from);
    if back != before {
        inverse.extend(crate::diff::plain(&back, &before));
    }
    Ok(inverse)
}

/// Renames; the old id is there, the new one is not.
pub(crate) fn rename(document: &mut Document, from: &str, to: &str) {
    move_key(&mut document.steps, from, to);
    move_key(&mut document.layout, from, to);
    for wire in &mut document.wires {
        rename_id(&mut wire.from, from, to);
        rename_id(&mut wire.to, from, to);
    }
    document.wires.sort();
    document.wires.dedup();
    if let Order::InOrderBy(text) = &mut document.settings.order
        && let Some(renamed) = rename_step_in_text(text, from, to)
    {
        *text = renamed;
    }
    for step in document.steps.values_mut() {
        if let OnError::GoTo(target) = &mut step.on_error {
            rename_id(target, from, to);
        }
        let kind = step.known_kind();
        for (name, value) in &mut step.fields {
            let form = kind.and_then(|kind| kind.field(name)).map(|field| field.form);
            match value {
                Value::String(code) if form == Some(FieldForm::Code) => {
                    if let Some(renamed) = rename_step(code, from, to) {
                        *code = renamed;
                    }
                }
                value => rename_in_value(value, from, to),
            }
        }
    }
    for case in &mut document.cases {
        move_key(&mut case.given.answers, from, to);
        move_key(&mut case.given.faults, from, to);
        for when in &mut case.when {
            rename_id(&mut when.trigger, from, to);
        }
        for expected in &mut case.then {
            if let Expected::Call { step, .. } = expected {
                rename_id(step, from, to);
            }
        }
    }
}

fn move_key<V>(map: &mut BTreeMap<String, V>, from: &str, to: &str) {
    if let Some(value) = map.remove(from) {
        map.insert(to.to_owned(), value);
    }
}

fn rename_id(id: &mut String, from: &str, to: &str) {
    if id == from {
        to.clone_into(id);
    }
}

fn rename_in_value(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) => {
            if let Some(renamed) = rename_step_in_text(text, from, to) {
                *text = renamed;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_in_value(item, from, to)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|item| rename_in_value(item, from, to));
        }
        _ => {}
    }
}
