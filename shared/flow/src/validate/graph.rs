//! Wires, `go_to`s, triggers: whether the steps make a graph that can run.
//!
//! **Invariants**: every walk visits each step and wire once.

use super::Faults;
use crate::document::{Document, OnError, Step};
use crate::near::did_you_mean;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

type Edges<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Checks the graph.
pub(super) fn check(document: &Document, faults: &mut Faults) {
    let edges = edges(document, faults);
    faults.at_document();
    // A step of an unknown kind that nothing leads to may have been meant as one: its own fault
    // stands for all that follows from it.
    let led_to: BTreeSet<&str> = edges.values().flatten().copied().collect();
    let may_start = |(id, step): &(&String, &Step)| {
        step.is_trigger() || (step.known_kind().is_none() && !led_to.contains(id.as_str()))
    };
    let mut triggers = document.steps.iter().filter(may_start).peekable();
    if triggers.peek().is_none() {
        let message = "the pipeline has no trigger: nothing would ever start it";
        faults.error(Some("steps"), "no_trigger", message);
    }
    if let Some(cycle) = cycle(document, &edges) {
        let first = cycle.first().copied().unwrap_or_default();
        let message = format!("steps lead back to themselves: {} → {first}", cycle.join(" → "));
        faults.at_step(first);
        faults.error(None, "cycle", message);
    }
    let mut reached: BTreeSet<&str> = triggers.map(|(id, _)| id.as_str()).collect();
    let mut to_visit: VecDeque<&str> = reached.iter().copied().collect();
    while let Some(id) = to_visit.pop_front() {
        for next in edges.get(id).into_iter().flatten() {
            if reached.insert(next) {
                to_visit.push_back(next);
            }
        }
    }
    // A wire that leads nowhere has been told: what lies behind it follows from that.
    let is_there = |id: &String| document.steps.contains_key(id);
    let are_whole = document.wires.iter().all(|wire| is_there(&wire.from) && is_there(&wire.to));
    let is_cut_off = |id: &&String| are_whole && !reached.contains(id.as_str());
    for id in document.steps.keys().filter(is_cut_off) {
        faults.at_step(id);
        faults.warn(None, "unreachable", "no trigger leads here: the step never runs");
    }
    faults.at_document();
}

/// Where each step leads, by wires and `go_to`; what is wrong with those is told.
fn edges<'a>(document: &'a Document, faults: &mut Faults) -> Edges<'a> {
    let mut edges = Edges::new();
    let mut known = BTreeSet::new();
    for wire in &document.wires {
        let name = format!("{}.{} → {}", wire.from, wire.port, wire.to);
        let mut fault = |step: &str, code, message: String| {
            if document.steps.contains_key(step) {
                faults.at_step(step);
            } else {
                faults.at_document();
            }
            faults.error(Some("wires"), code, message);
        };
        if !known.insert(wire) {
            fault(&wire.from, "duplicate_wire", format!("wire {name} stands twice"));
        }
        let (from, to) = (document.steps.get(&wire.from), document.steps.get(&wire.to));
        for (id, other, step) in [(&wire.from, &wire.to, from), (&wire.to, &wire.from, to)] {
            if step.is_none() {
                let meant = did_you_mean(id, document.steps.keys().map(String::as_str));
                let message = format!("wire {name}: there is no step `{id}`{meant}");
                fault(other, "dangling_wire", message);
            }
        }
        if let Some(kind) = from.and_then(|step| step.known_kind())
            && let Some(step) = from
        {
            let ports = kind.ports_of(&step.fields);
            if !ports.contains(&wire.port.as_str()) {
                let there = if ports.is_empty() { "none".into() } else { ports.join(", ") };
                let message = format!("wire {name}: there is no such port; there are: {there}");
                fault(&wire.from, "unknown_port", message);
            }
        }
        if to.is_some_and(|step| step.is_trigger()) {
            let message = format!("wire {name}: a trigger has no input");
            fault(&wire.to, "trigger_has_input", message);
        }
        if from.is_some() && to.is_some() {
            edges.entry(wire.from.as_str()).or_default().insert(wire.to.as_str());
        }
    }
    for (id, step) in &document.steps {
        let OnError::GoTo(target) = &step.on_error else { continue };
        faults.at_step(id);
        match document.steps.get(target) {
            None => {
                let meant = did_you_mean(target, document.steps.keys().map(String::as_str));
                let message = format!("there is no step `{target}`{meant}");
                faults.error(Some("on_error"), "go_to_unknown_step", message);
            }
            Some(step) if step.is_trigger() => {
                let message = format!("`{target}` is a trigger, which has no input");
                faults.error(Some("on_error"), "trigger_has_input", message);
            }
            Some(_) => {}
        }
        if document.steps.contains_key(target) {
            edges.entry(id.as_str()).or_default().insert(target.as_str());
        }
    }
    edges
}

/// One cycle, if there is any: its steps in order.
fn cycle<'a>(document: &'a Document, edges: &Edges<'a>) -> Option<Vec<&'a str>> {
    let mut inputs: BTreeMap<&str, usize> =
        document.steps.keys().map(|id| (id.as_str(), 0)).collect();
    for to in edges.values().flatten() {
        if let Some(count) = inputs.get_mut(to) {
            *count += 1;
        }
    }
    let mut free: Vec<&str> =
        inputs.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
    while let Some(id) = free.pop() {
        inputs.remove(id);
        for to in edges.get(id).into_iter().flatten() {
            if let Some(count) = inputs.get_mut(to) {
                *count -= 1;
                if *count == 0 {
                    free.push(to);
                }
            }
        }
    }
    // Every step left has an input from a step left: walking backwards ends in a cycle.
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    for (from, to) in edges.iter().flat_map(|(from, all)| all.iter().map(|to| (*from, *to))) {
        if inputs.contains_key(from) && inputs.contains_key(to) {
            before.insert(to, from);
        }
    }
    let mut at = *inputs.keys().next()?;
    let mut seen = BTreeSet::new();
    while seen.insert(at) {
        at = before.get(at)?;
    }
    let mut cycle = vec![at];
    let mut previous = *before.get(at)?;
    while previous != at {
        cycle.push(previous);
        previous = before.get(previous)?;
    }
    cycle.reverse();
    // Told from its first step by name on, so that the message does not depend on the search.
    let first = cycle.iter().enumerate().min_by_key(|(_, id)| **id).map_or(0, |(at, _)| at);
    cycle.rotate_left(first);
    Some(cycle)
}
