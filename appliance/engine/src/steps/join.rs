//! `join`: makes one list, text or object of the pieces that reach it in a run.
//!
//! With `gather` it waits for all of them; each input's value is taken when all are there, so its
//! field `value` can only be a plain path of `$item`.
//!
//! **Invariants**: order of arrival; the text is bounded.

use super::state::get;
use super::text::{bad_input, describe, joined_text, over_limit};
use super::work::Work;
use crate::accessor::Accessor;
use crate::compile::{CompileFault, Compiler};
use crate::script::Root;
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::{Data, Map};
use std::sync::Arc;

/// Longest text that is made.
const TEXT_BYTES_MAX: usize = 4 << 20;

struct Join {
    source: Source,
    form: Form,
    separator: String,
    key_field: String,
    value_field: String,
}

/// Where the pieces come from.
enum Source {
    /// All inputs of the run: each one's own value, or what this path finds in it.
    Gathered(Option<Accessor>),
    /// The list that each input holds.
    Each(Work),
}

#[derive(Clone, Copy, Debug)]
enum Form {
    List,
    Text,
    Object,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let source = if compiler.flag("gather")? {
        match compiler.optional("value")? {
            None => Source::Gathered(None),
            Some(Field::Path(path)) if path.root() == Root::Item => Source::Gathered(Some(path)),
            Some(_) => {
                let message = "with `gather`, is a plain path of the input: {{ $item.name }}";
                return Err(compiler.fault("value", message));
            }
        }
    } else {
        Source::Each(Work::compile(compiler)?)
    };
    let text = |name: &str, default: &str| -> Result<String, CompileFault> {
        Ok(compiler.optional_text(name)?.unwrap_or_else(|| default.to_owned()))
    };
    let forms = [("list", Form::List), ("text", Form::Text), ("object", Form::Object)];
    Ok(Arc::new(Join {
        source,
        form: compiler.choice("form", &forms)?,
        separator: text("separator", "")?,
        key_field: text("key_field", "key")?,
        value_field: text("value_field", "value")?,
    }))
}

impl Step for Join {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let Source::Each(work) = &self.source else { return Ok(Outcome::Gather) };
        match work.value(context, input)? {
            Data::List(pieces) => {
                let joined = self.join(&pieces)?;
                Ok(Outcome::Out(0, work.output(input, joined)))
            }
            other => Err(bad_input(format!(
                "without `gather` a list is joined, not {}",
                describe(&other)
            ))),
        }
    }

    fn resume(&self, _: &mut dyn Context, done: Data) -> Result<Outcome, StepFault> {
        let (Data::List(inputs), Source::Gathered(path)) = (&done, &self.source) else {
            return Err(bad_input(format!("nothing was gathered but {}", describe(&done))));
        };
        let piece = |input: &Data| match path {
            None => Ok(input.own_value().clone()),
            Some(path) => {
                path.follow(input).map_err(|fault| StepFault::lasting("script", fault.to_string()))
            }
        };
        let pieces = inputs.iter().map(piece).collect::<Result<Vec<_>, _>>()?;
        Ok(Outcome::Out(0, self.join(&pieces)?))
    }
}

impl Join {
    fn join(&self, pieces: &[Data]) -> Result<Data, StepFault> {
        match self.form {
            Form::List => Ok(Data::List(pieces.into())),
            Form::Text => {
                let mut text = String::new();
                for (place, piece) in pieces.iter().enumerate() {
                    if place > 0 {
                        text.push_str(&self.separator);
                    }
                    text.push_str(&joined_text(piece));
                    if text.len() > TEXT_BYTES_MAX {
                        return Err(over_limit(format!(
                            "the text would have over {TEXT_BYTES_MAX} bytes"
                        )));
                    }
                }
                Ok(Data::Text(text.into()))
            }
            Form::Object => {
                let mut map = Map::new();
                for piece in pieces {
                    let key = match get(piece, &self.key_field) {
                        key @ (Data::Text(_) | Data::Int(_) | Data::UInt(_)) => joined_text(&key),
                        _ => {
                            let (field, found) = (&self.key_field, describe(piece));
                            return Err(bad_input(format!("{found} has no name in `{field}`")));
                        }
                    };
                    map.set(key, get(piece, &self.value_field));
                }
                Ok(Data::Map(Arc::new(map)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::step::Outcome;
    use crate::steps::testing::{FakeContext, assert_is, data, listed, name_of};
    use serde_json::json;

    #[test]
    fn gathers_the_own_values_of_all_inputs() {
        let mut run = FakeContext::new();
        let step = run.step("join", json!({}));
        let outcome = run.run(&step, data(json!({"value": 1})));
        assert!(matches!(outcome, Ok(Outcome::Gather)), "{}", name_of(&outcome));
        let all = listed(step.resume(&mut run, data(json!([{"value": 1}, 2, {"a": 3}]))));
        assert_is(&all[0].1, json!([1, 2, {"a": 3}]));
    }

    #[test]
    fn makes_texts_and_objects() {
        let mut run = FakeContext::new();
        let step =
            run.step("join", json!({"form": "text", "separator": ", ", "value": "{{ $item.n }}"}));
        let all = listed(step.resume(&mut run, data(json!([{"n": 1}, {"n": "b"}]))));
        assert_is(&all[0].1, json!("1, b"));
        let fields =
            json!({"form": "object", "gather": false, "key_field": "k", "value_field": "v"});
        let step = run.step("join", fields);
        let list = data(json!([{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "a", "v": 3}]));
        assert_is(&run.out(&step, list).1, json!({"a": 3, "b": 2}));
    }

    #[test]
    fn refuses_what_it_cannot_join() {
        let mut run = FakeContext::new();
        let fault =
            run.compile("join", json!({"value": "{{ $item.a + 1 }}"})).err().expect("refused");
        assert!(fault.message.contains("plain path"), "{}", fault.message);
        let step = run.step("join", json!({"form": "object", "gather": false}));
        assert!(run.fault(&step, data(json!([{"v": 1}]))).message.contains("has no name in `key`"));
        assert!(run.fault(&step, data(json!(5))).message.contains("not number 5"));
    }
}
