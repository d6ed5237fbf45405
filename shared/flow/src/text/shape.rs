//! Which keys a document has at each place, and what each takes: the format as a table.
//!
//! The reader of documents stops at the first thing that is not as it should be, and says it in the
//! words of a parser. This one goes on to the end and says it as the rest of the rules do. It is
//! asked only about a text that the reader has refused.
//!
//! What is wrong is taken out of the value while it is found, so that what is left can be read and
//! held against the rules as well.
//!
//! **Invariants**: what is left reads as a document; whatever the reader refuses has a fault here
//! (a test changes every place of a document and asks both).

use super::ParseFault;
use super::place::Place;
use crate::document::FORMAT;
use crate::near::meant_or_all;
use crate::validate::FAULTS_MAX;
use serde_json::{Map, Value, json};

/// What stands at a place.
enum Form {
    Text,
    /// A whole number up to this.
    Whole(u64),
    /// A whole number of 32 bits.
    Small,
    Number,
    Bool,
    Any,
    Object(&'static [Key]),
    /// Any names, and this for each; what is wrong leaves a stand-in.
    Named(&'static Form, Option<fn() -> Value>),
    /// A list of these; what is wrong leaves a stand-in or goes.
    List(&'static Form, Option<fn() -> Value>),
    /// Two of these.
    Pair(&'static Form),
    /// One of the words, or an object with one of the keys.
    Choice(&'static [&'static str], &'static [Key]),
}

struct Key {
    name: &'static str,
    form: &'static Form,
    need: Need,
}

#[derive(Clone, Copy, PartialEq)]
enum Need {
    Must,
    May,
    /// May be left out, or `null`, which says the same.
    MayBeNull,
}

const fn must(name: &'static str, form: &'static Form) -> Key {
    Key { name, form, need: Need::Must }
}

const fn may(name: &'static str, form: &'static Form) -> Key {
    Key { name, form, need: Need::May }
}

const fn nullable(name: &'static str, form: &'static Form) -> Key {
    Key { name, form, need: Need::MayBeNull }
}

const U32: Form = Form::Whole(u32::MAX as u64);
const U64: Form = Form::Whole(u64::MAX);
const VALUES: Form = Form::Named(&Form::Any, None);
const TEXTS: Form = Form::Named(&Form::Text, None);

const DOCUMENT: &[Key] = &[
    must("millrace", &U32),
    must("name", &Form::Text),
    may("description", &Form::Text),
    may("settings", &Form::Object(SETTINGS)),
    must("steps", &Form::Named(&Form::Object(STEP), Some(no_step))),
    may("wires", &Form::List(&Form::Object(WIRE), None)),
    may("cases", &Form::List(&Form::Object(CASE), Some(no_case))),
    may("layout", &Form::Named(&Form::Pair(&Form::Small), None)),
];

const SETTINGS: &[Key] = &[
    may("priority", &Form::Choice(&["high", "normal", "low"], &[])),
    may("order", &Form::Choice(&["parallel", "in_order", "in_order_all"], IN_ORDER_BY)),
    may("overlap", &Form::Choice(&["queue", "skip", "restart"], &[])),
    may("history", &Form::Choice(&["minimal", "standard", "full"], &[])),
    may("branches", &Form::Choice(&["sequential", "parallel"], &[])),
    may("limits", &Form::Object(&[nullable("cpu_ms", &U64), nullable("memory_bytes", &U64)])),
];

const IN_ORDER_BY: &[Key] = &[must("in_order_by", &Form::Text)];

const STEP: &[Key] = &[
    must("kind", &Form::Text),
    may("label", &Form::Text),
    may("fields", &VALUES),
    nullable("timeout_ms", &U64),
    nullable("retry", &Form::Object(RETRY)),
    may("on_error", &Form::Choice(&["stop", "continue"], &[must("go_to", &Form::Text)])),
    may("disabled", &Form::Bool),
];

const RETRY: &[Key] = &[
    must("times", &U32),
    must("first_ms", &U64),
    may("factor", &Form::Number),
    may("most_ms", &U64),
];

const WIRE: &[Key] =
    &[must("from", &Form::Text), may("port", &Form::Text), must("to", &Form::Text)];

const CASE: &[Key] = &[
    must("name", &Form::Text),
    may("given", &Form::Object(GIVEN)),
    must("when", &Form::List(&Form::Object(WHEN), None)),
    must("then", &Form::List(&Form::Choice(&["nothing_else"], THEN), None)),
];

const GIVEN: &[Key] = &[
    may("last", &VALUES),
    may("variables", &VALUES),
    may("answers", &VALUES),
    may("faults", &TEXTS),
];

const WHEN: &[Key] = &[must("trigger", &Form::Text), may("at_ms", &U64), may("with", &Form::Any)];

const THEN: &[Key] = &[
    must("publish", &Form::Object(&[must("path", &Form::Text), must("value", &Form::Any)])),
    must("call", &Form::Object(&[must("step", &Form::Text), may("with", &VALUES)])),
    must("variable", &Form::Object(&[must("name", &Form::Text), must("value", &Form::Any)])),
    must("issue", &Form::Object(&[must("key", &Form::Text), must("raised", &Form::Bool)])),
    must("fails", &Form::Object(&[must("run", &U64), must("reason", &Form::Text)])),
];

fn no_step() -> Value {
    json!({ "kind": "" })
}

fn no_case() -> Value {
    json!({ "name": "", "when": [], "then": [] })
}

/// Finds all that keeps the value from being a document, and takes it out.
pub(super) fn mend(value: &mut Value) -> Vec<ParseFault> {
    let mut shape = Shape::default();
    let whole = Place::default();
    if !value.is_object() {
        shape.fault("bad_shape", &whole, "a pipeline document is an object".into());
        *value = json!({});
    } else {
        shape.fits(value, &Form::Object(DOCUMENT), &whole);
    }
    // What must be there and cannot be read has a stand-in, so that the rest can be.
    if let Value::Object(document) = value {
        let mut stand_in = |key: &str, is_good: fn(&Value) -> bool, value: Value| {
            if !document.get(key).is_some_and(is_good) {
                document.insert(key.to_owned(), value);
            }
        };
        stand_in("millrace", |value| value.as_u64().is_some_and(|n| n < 1 << 32), json!(FORMAT));
        stand_in("name", Value::is_string, json!(""));
        stand_in("steps", Value::is_object, json!({}));
    }
    shape.faults
}

#[derive(Default)]
struct Shape {
    faults: Vec<ParseFault>,
}

impl Shape {
    fn fault(&mut self, code: &'static str, place: &Place, message: String) {
        if self.faults.len() <= FAULTS_MAX {
            self.faults.push(ParseFault::new(code, place.clone(), message));
        }
    }

    /// Whether the value can stand there, after what was wrong within it was taken out.
    fn fits(&mut self, value: &mut Value, form: &Form, place: &Place) -> bool {
        let takes = match (form, &mut *value) {
            (Form::Any, _) | (Form::Text, Value::String(_)) | (Form::Bool, Value::Bool(_)) => {
                return true;
            }
            (Form::Number, Value::Number(_)) => return true,
            (Form::Whole(most), Value::Number(number))
                if number.as_u64().is_some_and(|number| number <= *most) =>
            {
                return true;
            }
            (Form::Small, Value::Number(number))
                if number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()) =>
            {
                return true;
            }
            (Form::Object(keys), Value::Object(object)) => return self.object(object, keys, place),
            (Form::Named(of, stand_in), Value::Object(object)) => {
                return self.named(object, (of, *stand_in), place);
            }
            (Form::List(of, stand_in), Value::Array(items)) => {
                return self.list(items, (of, *stand_in), place);
            }
            (Form::Pair(of), Value::Array(items)) if items.len() == 2 => {
                let fits = |(at, item): (usize, _)| self.fits(item, of, &place.item(at));
                return items.iter_mut().enumerate().map(fits).fold(true, |all, one| all & one);
            }
            (Form::Choice(words, _), Value::String(word)) if words.contains(&word.as_str()) => {
                return true;
            }
            (Form::Choice(_, keys @ [_, ..]), Value::Object(object)) if object.len() == 1 => {
                if let Some(fits) = self.chosen(object, keys, place) {
                    return fits;
                }
                form.takes()
            }
            _ => form.takes(),
        };
        self.fault("bad_shape", place, format!("takes {takes}, not {}", type_of(value)));
        false
    }

    /// The one key of an object that stands for a choice; nothing if there is no such key.
    fn chosen(
        &mut self,
        object: &mut Map<String, Value>,
        keys: &[Key],
        place: &Place,
    ) -> Option<bool> {
        let (name, value) = object.iter_mut().next()?;
        let key = keys.iter().find(|key| key.name == name)?;
        Some(self.fits(value, key.form, &place.key(name)))
    }

    fn object(&mut self, object: &mut Map<String, Value>, keys: &[Key], place: &Place) -> bool {
        let known = || keys.iter().map(|key| key.name);
        let is_known = |name: &str| known().any(|known| known == name);
        for name in object.keys().filter(|name| !is_known(name)) {
            let message = format!("there is no such key here{}", meant_or_all(name, known()));
            self.fault("unknown_field", &place.key(name), message);
        }
        object.retain(|name, _| is_known(name));
        let mut is_whole = true;
        for key in keys {
            let place = place.key(key.name);
            match object.get_mut(key.name) {
                None if key.need == Need::Must => {
                    self.fault("missing_field", &place, "is required".to_owned());
                    is_whole = false;
                }
                None => {}
                Some(Value::Null) if key.need == Need::MayBeNull => {}
                Some(value) => {
                    let fits = self.fits(value, key.form, &place);
                    if !fits {
                        is_whole &= key.need != Need::Must;
                        object.remove(key.name);
                    }
                }
            }
        }
        is_whole
    }

    fn named(
        &mut self,
        object: &mut Map<String, Value>,
        (of, stand_in): (&Form, Option<fn() -> Value>),
        place: &Place,
    ) -> bool {
        object.retain(|name, value| {
            let fits = self.fits(value, of, &place.key(name));
            if let (false, Some(stand_in)) = (fits, stand_in) {
                *value = stand_in();
            }
            fits || stand_in.is_some()
        });
        true
    }

    fn list(
        &mut self,
        items: &mut Vec<Value>,
        (of, stand_in): (&Form, Option<fn() -> Value>),
        place: &Place,
    ) -> bool {
        let mut number = 0;
        items.retain_mut(|item| {
            let fits = self.fits(item, of, &place.item(number));
            number += 1;
            if let (false, Some(stand_in)) = (fits, stand_in) {
                *item = stand_in();
            }
            fits || stand_in.is_some()
        });
        true
    }
}

impl Form {
    fn takes(&self) -> String {
        match self {
            Self::Text => "text".into(),
            Self::Whole(most) if *most == u64::MAX => "a whole number, not below 0".into(),
            Self::Whole(most) => format!("a whole number, 0 to {most}"),
            Self::Small => format!("a whole number, {} to {}", i32::MIN, i32::MAX),
            Self::Number => "a number".into(),
            Self::Bool => "true or false".into(),
            Self::Any => "anything".into(),
            Self::Object(_) | Self::Named(..) => "an object".into(),
            Self::List(..) => "a list".into(),
            Self::Pair(_) => "a list of two numbers".into(),
            Self::Choice(words, keys) => {
                let words = words.iter().map(|word| format!("`{word}`"));
                let keys = keys.iter().map(|key| format!("{{ \"{}\": ... }}", key.name));
                words.chain(keys).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// What a value is, in the words of JSON.
fn type_of(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.chars().count() <= 40 => format!("\"{text}\""),
        Value::String(_) => "that text".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

#[cfg(test)]
mod tests;
