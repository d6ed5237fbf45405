//! Three-way merge: what two people made of one document.
//!
//! Each part of a document (a field of a step, a wire, a setting) is looked at for itself: what one
//! side alone changed is taken, what both changed alike too. What both changed differently is a
//! conflict; it is ours until a person chooses. Places on the canvas are never a conflict: ours
//! count if we moved the step, theirs if not.
//!
//! A step that one side removed and the other changed is a conflict of the whole step. Wires to a
//! step that is gone in the result are dropped.
//!
//! **Invariants**: if one side changed nothing, the result is the other side; the same choices give
//! the same result; nothing that one side alone changed is lost.

use millrace_flow::case::Case;
use millrace_flow::document::{Document, Settings, Step, Wire};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A part of a document that two sides may change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The pipeline's name.
    Name,
    /// Its description.
    Description,
    /// One of its settings.
    Setting(&'static str),
    /// A whole step.
    Step(String),
    /// A property of a step that is no field.
    Property(String, &'static str),
    /// A field of a step.
    Field(String, String),
    /// A case by name.
    Case(String),
    /// All cases, where names do not tell them apart.
    Cases,
}

/// One of the two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The draft.
    Ours,
    /// What was deployed meanwhile.
    Theirs,
}

/// A part that both sides changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// Which part.
    pub part: Part,
    /// What it was; `None` for nothing.
    pub base: Option<Value>,
    /// What we made of it.
    pub ours: Option<Value>,
    /// What they made of it.
    pub theirs: Option<Value>,
    /// What was chosen.
    pub chosen: Option<Side>,
}

/// What becomes of two documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The document.
    pub document: Document,
    /// What both sides changed, in the order of the document.
    pub conflicts: Vec<Conflict>,
}

impl Merged {
    /// Whether everything is decided.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.conflicts.iter().all(|conflict| conflict.chosen.is_some())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str("name"),
            Self::Description => f.write_str("description"),
            Self::Setting(name) => write!(f, "setting `{name}`"),
            Self::Step(id) => write!(f, "step `{id}`"),
            Self::Property(id, name) => write!(f, "step `{id}`, {name}"),
            Self::Field(id, field) => write!(f, "step `{id}`, field `{field}`"),
            Self::Case(name) => write!(f, "case `{name}`"),
            Self::Cases => f.write_str("cases"),
        }
    }
}

/// Merges two documents that were made from the same one.
#[must_use]
pub fn merge(
    base: &Document,
    ours: &Document,
    theirs: &Document,
    choices: &BTreeMap<Part, Side>,
) -> Merged {
    let mut merger = Merger { choices, conflicts: Vec::new() };
    let three = (base, ours, theirs);
    let name = merger.pick(Part::Name, of(three, |document| &document.name));
    let description = merger.pick(Part::Description, of(three, |document| &document.description));
    let settings = merger.settings(of(three, |document| &document.settings));
    let steps = merger.steps(of(three, |document| &document.steps));
    let cases = merger.cases(of(three, |document| &document.cases));
    let document = Document {
        millrace: ours.millrace,
        name,
        description,
        settings,
        wires: wires(three, &steps),
        layout: layout(three, &steps),
        steps,
        cases,
    };
    Merged { document, conflicts: merger.conflicts }
}

type Three<T> = (T, T, T);

fn of<'a, T: ?Sized>(
    (base, ours, theirs): Three<&'a Document>,
    part: impl Fn(&'a Document) -> &'a T,
) -> Three<&'a T> {
    (part(base), part(ours), part(theirs))
}

struct Merger<'a> {
    choices: &'a BTreeMap<Part, Side>,
    conflicts: Vec<Conflict>,
}

impl Merger<'_> {
    /// What becomes of one part.
    fn pick<T: Clone + PartialEq + Serialize>(
        &mut self,
        part: Part,
        (base, ours, theirs): Three<&T>,
    ) -> T {
        if ours == theirs || theirs == base {
            return ours.clone();
        }
        if ours == base {
            return theirs.clone();
        }
        let chosen = self.choices.get(&part).copied();
        let json = |value: &T| serde_json::to_value(value).ok().filter(|value| !value.is_null());
        let (base, our, their) = (json(base), json(ours), json(theirs));
        self.conflicts.push(Conflict { part, base, ours: our, theirs: their, chosen });
        if chosen == Some(Side::Theirs) { theirs.clone() } else { ours.clone() }
    }

    fn settings(&mut self, three: Three<&Settings>) -> Settings {
        let (base, ours, theirs) = three;
        Settings {
            priority: self.pick(
                Part::Setting("priority"),
                (&base.priority, &ours.priority, &theirs.priority),
            ),
            order: self.pick(Part::Setting("order"), (&base.order, &ours.order, &theirs.order)),
            overlap: self
                .pick(Part::Setting("overlap"), (&base.overlap, &ours.overlap, &theirs.overlap)),
            history: self
                .pick(Part::Setting("history"), (&base.history, &ours.history, &theirs.history)),
            branches: self.pick(
                Part::Setting("branches"),
                (&base.branches, &ours.branches, &theirs.branches),
            ),
            limits: self
                .pick(Part::Setting("limits"), (&base.limits, &ours.limits, &theirs.limits)),
        }
    }

    fn steps(&mut self, three: Three<&BTreeMap<String, Step>>) -> BTreeMap<String, Step> {
        let mut steps = BTreeMap::new();
        for id in keys(three) {
            let (base, ours, theirs) = (three.0.get(id), three.1.get(id), three.2.get(id));
            let step = match (base, ours, theirs) {
                (Some(base), Some(ours), Some(theirs))
                    if base.kind == ours.kind && base.kind == theirs.kind =>
                {
                    Some(self.step(id, (base, ours, theirs)))
                }
                whole => {
                    let (base, ours, theirs) = whole;
                    let whole = (&base.cloned(), &ours.cloned(), &theirs.cloned());
                    self.pick(Part::Step(id.clone()), whole)
                }
            };
            steps.extend(step.map(|step| (id.clone(), step)));
        }
        steps
    }

    fn step(&mut self, id: &str, three: Three<&Step>) -> Step {
        let (base, ours, theirs) = three;
        let part = |name| Part::Property(id.to_owned(), name);
        let mut fields = BTreeMap::new();
        let all = (&base.fields, &ours.fields, &theirs.fields);
        for field in keys(all) {
            let value = |of: &BTreeMap<String, Value>| of.get(field).cloned();
            let values = (&value(all.0), &value(all.1), &value(all.2));
            let picked = self.pick(Part::Field(id.to_owned(), field.clone()), values);
            fields.extend(picked.map(|value| (field.clone(), value)));
        }
        Step {
            kind: ours.kind.clone(),
            label: self.pick(part("label"), (&base.label, &ours.label, &theirs.label)),
            fields,
            timeout_ms: self
                .pick(part("timeout_ms"), (&base.timeout_ms, &ours.timeout_ms, &theirs.timeout_ms)),
            retry: self.pick(part("retry"), (&base.retry, &ours.retry, &theirs.retry)),
            on_error: self
                .pick(part("on_error"), (&base.on_error, &ours.on_error, &theirs.on_error)),
            disabled: self
                .pick(part("disabled"), (&base.disabled, &ours.disabled, &theirs.disabled)),
        }
    }

    fn cases(&mut self, three: Three<&Vec<Case>>) -> Vec<Case> {
        let are_told_apart = |cases: &Vec<Case>| {
            cases.iter().map(|case| &case.name).collect::<BTreeSet<_>>().len() == cases.len()
        };
        let (base, ours, theirs) = three;
        let is_one_sided = base == ours || base == theirs || ours == theirs;
        if is_one_sided || ![base, ours, theirs].into_iter().all(are_told_apart) {
            return self.pick(Part::Cases, three);
        }
        let find =
            |cases: &Vec<Case>, name: &str| cases.iter().find(|case| case.name == name).cloned();
        let mut names: Vec<&String> = ours.iter().map(|case| &case.name).collect();
        for case in theirs.iter().chain(base) {
            if !names.contains(&&case.name) {
                names.push(&case.name);
            }
        }
        let picked = names.into_iter().filter_map(|name| {
            let cases = (&find(base, name), &find(ours, name), &find(theirs, name));
            self.pick(Part::Case(name.clone()), cases)
        });
        picked.collect()
    }
}

fn keys<T>((base, ours, theirs): Three<&BTreeMap<String, T>>) -> BTreeSet<&String> {
    base.keys().chain(ours.keys()).chain(theirs.keys()).collect()
}

fn wires(three: Three<&Document>, steps: &BTreeMap<String, Step>) -> Vec<Wire> {
    let (base, ours, theirs) = of(three, |document| &document.wires);
    let (base, our, their): (BTreeSet<&Wire>, BTreeSet<&Wire>, BTreeSet<&Wire>) =
        (base.iter().collect(), ours.iter().collect(), theirs.iter().collect());
    let stays = |wire: &&&Wire| match (our.contains(**wire), their.contains(**wire)) {
        (true, true) => true,
        // One side has it: added there, or removed on the other.
        _ => !base.contains(**wire),
    };
    // A loose end that a side left is its own affair; one that only the merge makes is dropped.
    let is_loose = |document: &Document, wire: &Wire| {
        document.wires.binary_search(wire).is_ok()
            && !(document.steps.contains_key(&wire.from) && document.steps.contains_key(&wire.to))
    };
    let ends = |wire: &&&Wire| {
        (steps.contains_key(&wire.from) && steps.contains_key(&wire.to))
            || is_loose(three.1, wire)
            || is_loose(three.2, wire)
    };
    our.union(&their).filter(stays).filter(ends).map(|wire| (**wire).clone()).collect()
}

fn layout(three: Three<&Document>, steps: &BTreeMap<String, Step>) -> BTreeMap<String, [i32; 2]> {
    let (_, ours, theirs) = three;
    let all = of(three, |document| &document.layout);
    let mut layout = BTreeMap::new();
    for id in keys(all) {
        let (base, our, their) = (all.0.get(id), all.1.get(id), all.2.get(id));
        let place = if our == base { their } else { our };
        let is_loose = |document: &Document| {
            document.layout.contains_key(id) && !document.steps.contains_key(id)
        };
        if steps.contains_key(id) || is_loose(ours) || is_loose(theirs) {
            layout.extend(place.map(|place| (id.clone(), *place)));
        }
    }
    layout
}

#[cfg(test)]
mod tests;
