//! Changes of the graph as transactions: add, splice, remove, reconnect, move, reorder.
//!
//! Nothing here changes a document; each function says what would have to be edited, so that
//! whatever is done is undone as one.
//!
//! **Invariants**: what is given applies to the document that it was made from; no function adds a
//! wire that [`crate::connect`] refuses.

use crate::connect;
use crate::geometry::Point;
use crate::scene;
use crate::shape;
use crate::snap::{GRID, place};
use millrace_flow::document::{Document, OnError, Step, Wire};
use millrace_flow::{Edit, Transaction};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A step of a kind with nothing filled in.
#[must_use]
pub fn new_step(kind: &str) -> Step {
    Step {
        kind: kind.to_owned(),
        label: String::new(),
        fields: BTreeMap::new(),
        timeout_ms: None,
        retry: None,
        on_error: OnError::Stop,
        disabled: false,
    }
}

/// Puts steps so far from where they are drawn.
#[must_use]
pub fn move_steps(document: &Document, steps: &BTreeSet<String>, way: Point) -> Transaction {
    let places = scene::places(document);
    let moved = steps.iter().filter_map(|id| {
        let [x, y] = *places.get(id)?;
        let to = place(f64::from(x) + way.x, f64::from(y) + way.y, false);
        (to != [x, y]).then(|| Edit::MoveStep { step: id.clone(), to: Some(to) })
    });
    Transaction { edits: moved.collect() }
}

/// Puts steps at places.
#[must_use]
pub fn put_steps(document: &Document, places: &BTreeMap<String, [i32; 2]>) -> Transaction {
    let changed = places.iter().filter(|(id, at)| document.layout.get(*id) != Some(*at));
    let edits = changed.map(|(id, at)| Edit::MoveStep { step: id.clone(), to: Some(*at) });
    Transaction { edits: edits.collect() }
}

/// Removes steps with their wires and places, and wires.
#[must_use]
pub fn remove(
    document: &Document,
    steps: &BTreeSet<String>,
    wires: &BTreeSet<Wire>,
) -> Transaction {
    let touches = |wire: &&Wire| {
        wires.contains(*wire) || steps.contains(&wire.from) || steps.contains(&wire.to)
    };
    let mut edits: Vec<_> =
        document.wires.iter().filter(touches).cloned().map(Edit::RemoveWire).collect();
    for id in steps.iter().filter(|id| document.steps.contains_key(*id)) {
        if document.layout.contains_key(id) {
            edits.push(Edit::MoveStep { step: id.clone(), to: None });
        }
        edits.push(Edit::RemoveStep { id: id.clone() });
    }
    Transaction { edits }
}

/// Removes steps and joins what led to them with what they led to. A step is passed through by its
/// first port: behind a `condition` what was at `true` stays.
#[must_use]
pub fn remove_and_reconnect(document: &Document, steps: &BTreeSet<String>) -> Transaction {
    let mut transaction = remove(document, steps, &BTreeSet::new());
    let mut after = document.clone();
    if transaction.apply(&mut after).is_err() {
        return transaction;
    }
    for wire in document.wires.iter().filter(|wire| !steps.contains(&wire.from)) {
        for to in behind(document, steps, &wire.to) {
            let joined = Wire { to, ..wire.clone() };
            if connect::check(&after, &joined).is_ok() {
                let edit = Edit::AddWire(joined);
                if edit.apply(&mut after).is_ok() {
                    transaction.edits.push(edit);
                }
            }
        }
    }
    transaction
}

/// The steps outside of a set that are reached from one in it through first ports.
fn behind(document: &Document, steps: &BTreeSet<String>, from: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut to_visit = vec![from.to_owned()];
    while let Some(id) = to_visit.pop() {
        if !steps.contains(&id) || !seen.insert(id.clone()) {
            continue;
        }
        let Some(step) = document.steps.get(&id) else { continue };
        let first = shape::ports(document, &id, step).into_iter().next();
        for wire in document.wires.iter().filter(|wire| wire.from == id) {
            if Some(&wire.port) == first.as_ref() {
                if steps.contains(&wire.to) {
                    to_visit.push(wire.to.clone());
                } else {
                    out.insert(wire.to.clone());
                }
            }
        }
    }
    out
}

/// Puts a step that is in the document into a wire. `None` where it does not fit there.
#[must_use]
pub fn splice(document: &Document, step: &str, wire: &Wire) -> Option<Transaction> {
    let port = first_port(document, step)?;
    if wire.from == step || wire.to == step {
        return None;
    }
    let into = Wire { to: step.to_owned(), ..wire.clone() };
    let out = Wire { from: step.to_owned(), port, to: wire.to.clone() };
    let mut edits = vec![Edit::RemoveWire(wire.clone())];
    let mut after = document.clone();
    edits.first()?.apply(&mut after).ok()?;
    for joined in [into, out] {
        // A half that is there already is as good as a new one.
        if after.wires.binary_search(&joined).is_ok() {
            continue;
        }
        connect::check(&after, &joined).ok()?;
        let edit = Edit::AddWire(joined);
        edit.apply(&mut after).ok()?;
        edits.push(edit);
    }
    Some(Transaction { edits })
}

fn first_port(document: &Document, id: &str) -> Option<String> {
    let step = document.steps.get(id)?;
    shape::ports(document, id, step).into_iter().next()
}

/// Whether no wire leads to or from a step.
#[must_use]
pub fn is_loose(document: &Document, step: &str) -> bool {
    !document.wires.iter().any(|wire| wire.from == step || wire.to == step)
}

/// A place near one that is wanted where no step lies: downwards in steps of the grid.
#[must_use]
pub fn free_place(document: &Document, wanted: [i32; 2]) -> [i32; 2] {
    let taken: BTreeSet<[i32; 2]> = scene::places(document).into_values().collect();
    let [x, mut y] = wanted;
    let near = |y: i32| {
        let above = y.saturating_sub(shape::HEIGHT as i32);
        taken.range([x, above]..=[x, y.saturating_add(shape::HEIGHT as i32)]).next().is_some()
    };
    while near(y) && f64::from(y) < crate::snap::PLACE_MAX {
        y = y.saturating_add(GRID as i32);
    }
    [x, y]
}

/// Moves an item of a list field to another place. The cases of a `switch` take their wires along,
/// so that what a case leads to stays the same.
#[must_use]
pub fn reorder(
    document: &Document,
    step: &str,
    field: &str,
    from: usize,
    to: usize,
) -> Option<Transaction> {
    let before = document.steps.get(step)?;
    let mut items = before.fields.get(field)?.as_array()?.clone();
    if from == to || from >= items.len() || to >= items.len() {
        return None;
    }
    let item = items.remove(from);
    items.insert(to, item);
    let value = Value::Array(items);
    let mut edits = vec![Edit::SetField { step: step.to_owned(), field: field.to_owned(), value }];
    if before.kind == "switch" && field == "cases" {
        let wires = document.wires.iter().filter(|wire| wire.from == step);
        let renamed: Vec<(Wire, Wire)> = wires
            .filter_map(|wire| {
                let place = wire.port.parse::<usize>().ok()?.checked_sub(1)?;
                let port = (moved_place(place, from, to) + 1).to_string();
                (port != wire.port).then(|| (wire.clone(), Wire { port, ..wire.clone() }))
            })
            .collect();
        // All of them out before any goes in: two wires may change places.
        edits.extend(renamed.iter().map(|(old, _)| Edit::RemoveWire(old.clone())));
        edits.extend(renamed.into_iter().map(|(_, new)| Edit::AddWire(new)));
    }
    Some(Transaction { edits })
}

/// Where an item is after another one was taken out at `from` and put in at `to`.
fn moved_place(place: usize, from: usize, to: usize) -> usize {
    if place == from {
        to
    } else if from < place && place <= to {
        place - 1
    } else if to <= place && place < from {
        place + 1
    } else {
        place
    }
}

#[cfg(test)]
mod tests;
