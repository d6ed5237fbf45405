//! What differs between two documents, as edits that lead from one to the other, and as lines for
//! people.
//!
//! A step that is gone and one that is new with the same content is taken for a renamed one.
//!
//! **Invariants**: applying `diff(a, b)` to `a` gives `b`, for documents of the same format whose
//! wires are sorted and unique; `diff(a, a)` is empty.

mod lines;

pub use lines::lines;

use crate::document::{Document, Step};
use crate::edit::{Edit, rename};
use crate::transaction::Transaction;
use std::collections::BTreeSet;

/// Most renamed steps that are looked for; further ones count as removed and added.
const RENAMES_MAX: usize = 64;

/// The edits that lead from one document to another.
#[must_use]
pub fn diff(from: &Document, to: &Document) -> Transaction {
    let mut edits = Vec::new();
    let mut renamed = from.clone();
    for (old, new) in renames(from, to) {
        rename(&mut renamed, &old, &new);
        edits.push(Edit::RenameStep { from: old, to: new });
    }
    edits.extend(plain(&renamed, to));
    Transaction { edits }
}

fn renames(from: &Document, to: &Document) -> Vec<(String, String)> {
    let mut added: Vec<_> =
        to.steps.iter().filter(|(id, _)| !from.steps.contains_key(*id)).collect();
    let mut renames = Vec::new();
    for (id, step) in from.steps.iter().filter(|(id, _)| !to.steps.contains_key(*id)) {
        if renames.len() == RENAMES_MAX {
            break;
        }
        if let Some(at) = added.iter().position(|(_, other)| *other == step) {
            renames.push((id.clone(), added.remove(at).0.clone()));
        }
    }
    renames
}

/// The edits that lead from one document to another without renaming.
pub(crate) fn plain(from: &Document, to: &Document) -> Vec<Edit> {
    let mut edits = Vec::new();
    if from.name != to.name {
        edits.push(Edit::SetName(to.name.clone()));
    }
    if from.description != to.description {
        edits.push(Edit::SetDescription(to.description.clone()));
    }
    if from.settings != to.settings {
        edits.push(Edit::SetSettings(to.settings.clone()));
    }
    let (old, new): (BTreeSet<_>, BTreeSet<_>) =
        (from.wires.iter().collect(), to.wires.iter().collect());
    edits.extend(old.difference(&new).map(|wire| Edit::RemoveWire((*wire).clone())));
    for id in from.steps.keys().filter(|id| !to.steps.contains_key(*id)) {
        edits.push(Edit::RemoveStep { id: id.clone() });
    }
    for (id, step) in &to.steps {
        match from.steps.get(id) {
            None => edits.push(Edit::AddStep { id: id.clone(), step: step.clone() }),
            Some(before) => of_step(id, before, step, &mut edits),
        }
    }
    edits.extend(new.difference(&old).map(|wire| Edit::AddWire((*wire).clone())));
    let places: BTreeSet<_> = from.layout.keys().chain(to.layout.keys()).collect();
    for step in places {
        let place = to.layout.get(step).copied();
        if from.layout.get(step).copied() != place {
            edits.push(Edit::MoveStep { step: step.clone(), to: place });
        }
    }
    of_cases(from, to, &mut edits);
    edits
}

fn of_step(id: &str, from: &Step, to: &Step, edits: &mut Vec<Edit>) {
    let step = || id.to_owned();
    if from.kind != to.kind {
        return edits.push(Edit::ReplaceStep { id: step(), step: to.clone() });
    }
    if from.label != to.label {
        edits.push(Edit::SetLabel { step: step(), label: to.label.clone() });
    }
    for field in from.fields.keys().filter(|field| !to.fields.contains_key(*field)) {
        edits.push(Edit::UnsetField { step: step(), field: field.clone() });
    }
    for (field, value) in &to.fields {
        if from.fields.get(field) != Some(value) {
            let (field, value) = (field.clone(), value.clone());
            edits.push(Edit::SetField { step: step(), field, value });
        }
    }
    if from.timeout_ms != to.timeout_ms {
        edits.push(Edit::SetTimeout { step: step(), timeout_ms: to.timeout_ms });
    }
    if from.retry != to.retry {
        edits.push(Edit::SetRetry { step: step(), retry: to.retry });
    }
    if from.on_error != to.on_error {
        edits.push(Edit::SetOnError { step: step(), on_error: to.on_error.clone() });
    }
    if from.disabled != to.disabled {
        edits.push(Edit::SetDisabled { step: step(), disabled: to.disabled });
    }
}

fn of_cases(from: &Document, to: &Document, edits: &mut Vec<Edit>) {
    for (at, (before, case)) in from.cases.iter().zip(&to.cases).enumerate() {
        if before != case {
            edits.push(Edit::ReplaceCase { at, case: case.clone() });
        }
    }
    // From the end, so that places stay what they are.
    edits.extend((to.cases.len()..from.cases.len()).rev().map(|at| Edit::RemoveCase { at }));
    for (at, case) in to.cases.iter().enumerate().skip(from.cases.len()) {
        edits.push(Edit::AddCase { at, case: case.clone() });
    }
}

#[cfg(test)]
mod tests;
