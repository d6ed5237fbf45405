//! `counter`: counts what passes, durably, and adds the count to the input.
//!
//! **Invariants**: whole numbers count exactly; a count that leaves 64 bits is a fault, never a
//! wrap; the count changes with the run's other effects in one commit.

use super::number::{Number, integer};
use super::read;
use super::state::Key;
use super::text::{bad_input, over_limit};
use super::work::into;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::cmp::Ordering;
use std::sync::Arc;

struct Counter {
    key: Key,
    by: Field,
    start: Number,
    limit: Option<Field>,
    reset: Field,
    into: String,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let start = compiler.raw("start").map_or(Data::Int(0), |value| crate::json::data_of(&value));
    let start = Number::of(&start).ok_or_else(|| compiler.fault("start", "must be a number"))?;
    Ok(Arc::new(Counter {
        key: Key::compile(compiler)?,
        by: compiler.field_or("by", Data::Int(1))?,
        start,
        limit: compiler.optional("limit")?,
        reset: if compiler.has("reset") {
            compiler.expression("reset")?
        } else {
            Field::Literal(Data::Bool(false))
        },
        into: into(compiler)?.unwrap_or_else(|| "count".to_owned()),
    }))
}

impl Step for Counter {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let key = self.key.text(context)?;
        let is_reset = context.evaluate(&self.reset)?.is_true();
        let known = Number::of(&context.state(&key)).filter(|_| !is_reset);
        let by =
            read::number(context, &self.by, "by")?.ok_or_else(|| bad_input("`by` is nothing"))?;
        let mut count = known.unwrap_or(self.start).plus(by);
        if let Some(limit) = &self.limit
            && let Some(limit) = read::number(context, limit, "limit")?
        {
            count = self.wrap(count, limit)?;
        }
        let count = match count {
            Number::Int(value) => {
                integer(value).ok_or_else(|| over_limit("the count is beyond 64 bits"))?
            }
            Number::Float(value) if value.is_finite() => Data::Float(value),
            Number::Float(_) => return Err(over_limit("the count is no finite number")),
        };
        context.set_state(&key, count.clone())?;
        Ok(Outcome::Out(0, input.with_field(&self.into, count)))
    }
}

impl Counter {
    /// Begins again at the start, with what is beyond the limit added.
    fn wrap(&self, count: Number, limit: Number) -> Result<Number, StepFault> {
        if limit.compare(self.start) != Some(Ordering::Greater) {
            return Err(bad_input("`limit` must be above `start`"));
        }
        if count.compare(limit) == Some(Ordering::Less) {
            return Ok(count);
        }
        Ok(match (count, limit, self.start) {
            (Number::Int(count), Number::Int(limit), Number::Int(start)) => {
                Number::Int(start + (count - start).rem_euclid(limit - start))
            }
            _ => {
                let (count, limit, start) = (count.to_f64(), limit.to_f64(), self.start.to_f64());
                Number::Float(start + (count - start).rem_euclid(limit - start))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, assert_is, data};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn counts_what_passes_and_adds_it() {
        let mut run = FakeContext::new();
        let step = run.step("counter", json!({}));
        assert_is(&run.out(&step, data(json!({"a": 1}))).1, json!({"a": 1, "count": 1}));
        assert_is(&run.out(&step, Data::Int(9)).1, json!({"value": 9, "count": 2}));
    }

    #[test]
    fn adds_pieces_resets_and_begins_again_at_its_limit() {
        let mut run = FakeContext::new();
        let fields =
            json!({"by": "{{ $item.n }}", "start": 10, "limit": 15, "reset": "{{ $item.r }}"});
        let step = run.step("counter", fields);
        let mut counts = Vec::new();
        for (n, r) in [(1, false), (3, false), (2, false), (12, false), (1, true)] {
            let (_, out) = run.out(&step, data(json!({"n": n, "r": r})));
            counts.push(crate::steps::state::get_int(&out, "count"));
        }
        assert_eq!(counts, [Some(11), Some(14), Some(11), Some(13), Some(11)]);
    }

    #[test]
    fn counts_exactly_and_never_wraps_around() {
        let mut run = FakeContext::new();
        let step = run.step("counter", json!({"start": 9007199254740992_i64}));
        assert_is(&run.out(&step, data(json!({}))).1, json!({"count": 9007199254740993_i64}));
        let end = run.step("counter", json!({"start": u64::MAX, "key": "other"}));
        let fault = run.fault(&end, data(json!({})));
        assert_eq!((fault.code, fault.message.as_str()), ("limit", "the count is beyond 64 bits"));
        let text = run.step("counter", json!({"by": "{{ $item.n }}"}));
        assert!(
            run.fault(&text, data(json!({"n": "1"}))).message.contains("`by` must be a number")
        );
    }
}
