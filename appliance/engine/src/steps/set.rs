//! `set`: sets and removes fields of the input.
//!
//! **Invariants**: all values see the input as it came; what is not named passes on unchanged.

use super::text::{bad_input, describe};
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::data::place::OWN_VALUE;
use millrace_flow::{Data, Map};
use serde_json::Value;
use std::sync::Arc;

struct Set {
    fields: Fields,
    remove: Vec<Place>,
    keep: bool,
}

/// A place in an object: names from the outside in, read once.
struct Place(Box<[Arc<str>]>);

enum Fields {
    /// Names and values as the document has them.
    Named(Box<[(Place, Field)]>),
    /// An expression that gives the object.
    Whole(Field),
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let place = |compiler: &Compiler<'_>, field: &str, text: &str| {
        Place::parse(text)
            .ok_or_else(|| compiler.fault(field, format!("`{text}` has an empty name in it")))
    };
    let fields = if let Some(Value::String(_)) = compiler.raw("fields") {
        Fields::Whole(compiler.field("fields")?)
    } else {
        let members = compiler.members("fields")?;
        let places =
            members.into_iter().map(|(name, field)| Ok((place(compiler, "fields", &name)?, field)));
        Fields::Named(places.collect::<Result<_, CompileFault>>()?)
    };
    let removed = compiler.texts("remove")?;
    let remove = removed
        .iter()
        .map(|name| place(compiler, "remove", name))
        .collect::<Result<_, CompileFault>>()?;
    Ok(Arc::new(Set { fields, remove, keep: compiler.flag("keep")? }))
}

impl Step for Set {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let mut map = if self.keep { as_map(input) } else { Map::new() };
        for place in &self.remove {
            place.set(&mut map, Data::Missing);
        }
        match &self.fields {
            Fields::Named(fields) => {
                for (place, field) in fields {
                    place.set(&mut map, context.evaluate(field)?);
                }
            }
            Fields::Whole(field) => match context.evaluate(field)? {
                Data::Map(fields) => {
                    for (name, data) in fields.iter() {
                        let place = Place::parse(name).ok_or_else(|| {
                            bad_input(format!("`fields`: `{name}` has an empty name in it"))
                        })?;
                        place.set(&mut map, data.clone());
                    }
                }
                other => {
                    let found = describe(&other);
                    return Err(bad_input(format!("`fields` must be an object, but is {found}")));
                }
            },
        }
        Ok(Outcome::Out(0, Data::Map(Arc::new(map))))
    }
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        let names: Box<[Arc<str>]> = text.split('.').map(Arc::from).collect();
        names.iter().all(|name| !name.is_empty()).then_some(Self(names))
    }

    /// Sets the place in a map; what is missing is taken out.
    fn set(&self, map: &mut Map, data: Data) {
        set(&self.0, map, data);
    }
}

fn set(names: &[Arc<str>], map: &mut Map, data: Data) {
    match names {
        [] => {}
        [name] if data.is_missing() => drop(map.remove(name)),
        [name] => map.set(Arc::clone(name), data),
        [name, rest @ ..] => {
            let mut inner = match map.get(name) {
                Some(Data::Map(inner)) => (**inner).clone(),
                _ if data.is_missing() => return,
                _ => Map::new(),
            };
            set(rest, &mut inner, data);
            map.set(Arc::clone(name), Data::Map(Arc::new(inner)));
        }
    }
}

/// The input as an object; one that is none is the field `value` of it.
fn as_map(input: &Data) -> Map {
    match input {
        Data::Map(map) => (**map).clone(),
        Data::Missing => Map::new(),
        other => {
            let mut map = Map::new();
            map.set(OWN_VALUE, other.clone());
            map
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, assert_is, data};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn adds_a_field_and_passes_the_rest_on() {
        let mut run = FakeContext::new();
        let step =
            run.step("set", json!({"fields": {"line": "L1", "deep.er": "{{ $item.value }}"}}));
        let (port, out) = run.out(&step, data(json!({"value": 42, "path": "a/b"})));
        assert_eq!(port, 0);
        assert_is(&out, json!({"value": 42, "path": "a/b", "line": "L1", "deep": {"er": 42}}));
    }

    #[test]
    fn values_see_the_input_as_it_came() {
        let mut run = FakeContext::new();
        let step = run.step("set", json!({"fields": {"a": "{{ $item.b }}", "b": "{{ $item.a }}"}}));
        let (_, out) = run.out(&step, data(json!({"a": 1, "b": 2})));
        assert_is(&out, json!({"a": 2, "b": 1}));
    }

    #[test]
    fn removes_what_is_named_and_what_is_missing() {
        let mut run = FakeContext::new();
        let fields = json!({"fields": {"gone": "{{ $item.nothing }}"}, "remove": ["x.y"]});
        let step = run.step("set", fields);
        let (_, out) = run.out(&step, data(json!({"gone": 1, "x": {"y": 1, "z": 2}})));
        assert_is(&out, json!({"x": {"z": 2}}));
    }

    #[test]
    fn keeps_a_bare_value_as_a_field_or_begins_anew() {
        let mut run = FakeContext::new();
        let keeps = run.step("set", json!({"fields": {"unit": "bar"}}));
        assert_is(&run.out(&keeps, Data::Int(5)).1, json!({"value": 5, "unit": "bar"}));
        let anew = run.step("set", json!({"fields": {"unit": "bar"}, "keep": false}));
        assert_is(&run.out(&anew, Data::Int(5)).1, json!({"unit": "bar"}));
    }

    #[test]
    fn takes_an_object_from_an_expression_and_refuses_anything_else() {
        let mut run = FakeContext::new();
        let step = run.step("set", json!({"fields": "{{ $item.more }}"}));
        let (_, out) = run.out(&step, data(json!({"more": {"a.b": 1}})));
        assert_is(&out, json!({"more": {"a.b": 1}, "a": {"b": 1}}));
        let fault = run.fault(&step, data(json!({"more": "text"})));
        assert_eq!(fault.message, "`fields` must be an object, but is text \"text\"");
    }

    #[test]
    fn refuses_empty_names_at_deployment() {
        let mut run = FakeContext::new();
        let fault = run.compile("set", json!({"fields": {"a..b": 1}})).err().expect("refused");
        assert_eq!(fault.field.as_deref(), Some("fields"));
        assert!(fault.message.contains("empty name"), "{}", fault.message);
    }
}
