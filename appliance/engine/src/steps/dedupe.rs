//! `dedupe`: drops a value that equals the last one let through.
//!
//! **Invariants**: numbers are compared by their true value; the state lasts.

use super::read;
use super::state::{Key, get, get_int, map_of};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::sync::Arc;

struct Dedupe {
    work: Work,
    key: Key,
    within: Option<i64>,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Dedupe {
        work: Work::compile(compiler)?,
        key: Key::compile(compiler)?,
        within: read::span(compiler, "within_ms")?,
    }))
}

impl Step for Dedupe {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        // What is missing is remembered as null: state cannot hold it.
        let value = match self.work.value(context, input)? {
            Data::Missing => Data::Null,
            value => value,
        };
        let key = self.key.text(context)?;
        let state = context.state(&key);
        let now = context.now();
        let is_old = match (self.within, get_int(&state, "time")) {
            (Some(within), Some(time)) => now.0.saturating_sub(time) > within,
            _ => false,
        };
        if state != Data::Missing && !is_old && get(&state, "value").is_same(&value) {
            return Ok(Outcome::Nothing);
        }
        context.set_state(&key, map_of([("value", value), ("time", Data::Int(now.0))]))?;
        Ok(Outcome::Out(0, input.clone()))
    }
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, data};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn drops_repetitions_of_the_last_value() {
        let mut run = FakeContext::new();
        let step = run.step("dedupe", json!({}));
        let passed: Vec<bool> =
            [json!(1), json!(1.0), json!(2), json!(1), json!(null), json!(null)]
                .into_iter()
                .map(|value| !run.outs(&step, data(value)).is_empty())
                .collect();
        assert_eq!(passed, [true, false, true, true, true, false], "1 and 1.0 are the same");
    }

    #[test]
    fn lets_a_repetition_through_when_the_last_is_old() {
        let mut run = FakeContext::new();
        let step = run.step("dedupe", json!({"within_ms": 500}));
        assert_eq!(run.outs(&step, data(json!({"a": [1]}))).len(), 1);
        run.pass(500);
        assert!(
            run.outs(&step, data(json!({"a": [1]}))).is_empty(),
            "a dropped one renews nothing"
        );
        run.pass(1);
        assert_eq!(run.outs(&step, data(json!({"a": [1]}))).len(), 1);
    }

    #[test]
    fn keeps_keys_apart() {
        let mut run = FakeContext::new();
        let step = run.step("dedupe", json!({"key": "{{ $item.id }}"}));
        for id in ["a", "b"] {
            let outs = run.outs(&step, data(json!({"value": 1, "id": id})));
            assert_eq!(outs.len(), 1, "the first of {id}");
        }
        assert!(run.outs(&step, data(json!({"value": 1, "id": "a"}))).is_empty());
        let fault = run.fault(&step, Data::Int(5));
        assert_eq!(fault.message, "the key is nothing; a key must be there");
    }
}
