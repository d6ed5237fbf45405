//! Kinds of steps: what each is called, which ports and fields it has, and what its fields must hold.
//!
//! The table [`ALL`] is the contract between the designer, the validator and the engine: the
//! engine's step of a kind reads exactly these fields and answers at exactly these ports. One file
//! per kind stands in `kinds/`.
//!
//! Three rules hold for all kinds:
//! - *Expressions*: a field that allows them may hold `{{ ... }}` anywhere in its texts, inside
//!   lists and objects too. A text that is one whole expression gives that expression's value with
//!   its type; it stands in for a number, a list or an object as well.
//! - *The input's own value*: fields named `value` may be left out. Then it is the field `value` of
//!   the input if the input is an object that has one (as every value trigger gives), else the
//!   whole input ([`crate::Data::own_value`]).
//! - *Where a result goes*: `into` names the field of the input that takes the result. Without
//!   `into`, the result takes the place of the input's own value if `value` was left out, and is
//!   the whole output if `value` was given ([`crate::Data::with_result`]).
//!
//! **Invariants**: names are unique; a kind's ports and fields are listed once, in the order in
//! which they are shown; port number = place in [`Kind::ports`].

pub(crate) mod field;

pub use crate::kinds::ALL;
pub use field::{FieldForm, FieldSpec};

use crate::document::Step;
use serde_json::Value;
use std::collections::BTreeMap;

/// The family of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Starts runs; has no input.
    Trigger,
    /// Changes, thins out or gathers what flows.
    Transform,
    /// Decides where it flows.
    Logic,
    /// Does something outside of the box, or waits.
    Action,
    /// Reads or writes the box itself.
    System,
}

impl Group {
    /// The word that the designer and the documents use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Transform => "transform",
            Self::Logic => "logic",
            Self::Action => "action",
            Self::System => "system",
        }
    }
}

/// A kind of step.
#[derive(Debug)]
pub struct Kind {
    /// Its name in documents: `uns.subscribe`.
    pub name: &'static str,
    /// Its family.
    pub group: Group,
    /// One sentence: what it does.
    pub summary: &'static str,
    /// Its output ports in order; the place is the engine's port number.
    pub ports: &'static [&'static str],
    /// Its fields in the order in which they are shown.
    pub fields: &'static [FieldSpec],
    /// Default of the longest time that one execution may take, waiting included. `None`: it has no
    /// end of its own, because what it waits for (other steps, a stated time) has.
    pub timeout_ms: Option<u64>,
    /// Whether it acts outside of the box and is stubbed in rehearsals and test cases.
    pub is_outside: bool,
    /// Whether it keeps lasting state, one per `key`.
    pub is_stateful: bool,
    /// What must hold between its fields; each complaint is one error of the document.
    pub check: fn(&Fields, &mut Complaints),
}

/// A step's own fields as the document holds them.
pub type Fields = BTreeMap<String, Value>;

/// What a kind's own check found.
#[derive(Debug, Default)]
pub struct Complaints(Vec<Complaint>);

/// One finding of a kind's own check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The field, if it is about one.
    pub field: Option<&'static str>,
    /// What is wrong and what to do.
    pub message: String,
}

impl Complaints {
    /// Complains about a field.
    pub fn field(&mut self, field: &'static str, message: impl Into<String>) {
        self.0.push(Complaint { field: Some(field), message: message.into() });
    }

    /// Complains about the step as a whole.
    pub fn step(&mut self, message: impl Into<String>) {
        self.0.push(Complaint { field: None, message: message.into() });
    }

    /// All of them.
    #[must_use]
    pub fn into_list(self) -> Vec<Complaint> {
        self.0
    }
}

/// Most cases of a `switch`, and so its most numbered ports.
pub const CASES_MAX: usize = 32;
/// Most ranges of a `lookup`.
pub const RANGES_MAX: usize = 1_000;
/// Default timeout of steps that only compute.
pub(crate) const COMPUTING_MS: Option<u64> = Some(10_000);
/// Default timeout of steps that go outside.
pub(crate) const OUTSIDE_MS: Option<u64> = Some(30_000);
/// The ports of most kinds.
pub(crate) const OUT: &[&str] = &["out"];

/// A kind with the defaults of most: computes, one port, no state.
pub(crate) const PLAIN: Kind = Kind {
    name: "",
    group: Group::Transform,
    summary: "",
    ports: OUT,
    fields: &[],
    timeout_ms: COMPUTING_MS,
    is_outside: false,
    is_stateful: false,
    check: no_more_rules,
};

/// A trigger with the defaults of most.
pub(crate) const TRIGGER: Kind = Kind { group: Group::Trigger, timeout_ms: None, ..PLAIN };

/// An action with the defaults of most.
pub(crate) const ACTION: Kind =
    Kind { group: Group::Action, timeout_ms: OUTSIDE_MS, is_outside: true, ..PLAIN };

fn no_more_rules(_: &Fields, _: &mut Complaints) {}

/// The kind of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Kind> {
    ALL.iter().copied().find(|kind| kind.name == name)
}

/// What other tools call a kind, and what it is called here.
const CALLED_ELSEWHERE: &[(&str, &str)] = &[
    ("cron", "schedule"),
    ("debug", "log"),
    ("function", "javascript"),
    ("if", "condition"),
    ("inject", "manual"),
    ("interval", "schedule"),
    ("loop", "foreach"),
    ("mqtt in", "mqtt.subscribe"),
    ("mqtt out", "mqtt.publish"),
    ("print", "log"),
    ("sleep", "wait"),
    ("template", "map"),
    ("timer", "schedule"),
    ("webhook", "http"),
];

/// The kind that was probably meant by a name that is none.
#[must_use]
pub fn meant(name: &str) -> Option<&'static str> {
    let elsewhere = CALLED_ELSEWHERE.iter().find(|(word, _)| word.eq_ignore_ascii_case(name));
    match elsewhere {
        Some((_, kind)) => Some(kind),
        None => crate::near::nearest(name, ALL.iter().map(|kind| kind.name)),
    }
}

impl Kind {
    /// The number of a port.
    #[must_use]
    pub fn port(&self, name: &str) -> Option<u8> {
        let at = self.ports.iter().position(|port| *port == name)?;
        u8::try_from(at).ok()
    }

    /// The field of this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static FieldSpec> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The ports that a step with these fields really has: a `switch` has one for each case, and
    /// `otherwise`; every other kind has all of its own.
    #[must_use]
    pub fn ports_of(&self, fields: &Fields) -> Vec<&'static str> {
        if self.name != "switch" {
            return self.ports.to_vec();
        }
        let cases = fields.get("cases").and_then(Value::as_array).map_or(0, Vec::len);
        let numbered = self.ports.len().saturating_sub(1);
        let last = self.ports.iter().skip(numbered);
        self.ports.iter().take(cases.min(numbered)).chain(last).copied().collect()
    }

    /// Whether a failed execution may be tried again: what goes outside, waits for an answer, or
    /// holds other steps can fail for a cause that passes. What only computes gives the same again.
    #[must_use]
    pub fn may_try_again(&self) -> bool {
        self.is_outside || ["call", "foreach", "history.query", "try"].contains(&self.name)
    }

    /// What a field holds: as the step says, else the kind's default, else nothing.
    #[must_use]
    pub fn value_of(&self, fields: &Fields, name: &str) -> Option<Value> {
        match fields.get(name) {
            Some(value) => Some(value.clone()),
            None => self.field(name)?.default_value(),
        }
    }
}

impl Step {
    /// Its kind, if this version knows it.
    #[must_use]
    pub fn known_kind(&self) -> Option<&'static Kind> {
        find(&self.kind)
    }

    /// Whether it is a trigger.
    #[must_use]
    pub fn is_trigger(&self) -> bool {
        self.known_kind().is_some_and(|kind| kind.group == Group::Trigger)
    }
}

#[cfg(test)]
mod tests;
