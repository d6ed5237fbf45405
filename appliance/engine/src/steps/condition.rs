//! `condition` and `filter`: what a test decides.
//!
//! **Invariants**: truth counts as in JavaScript; the input passes on unchanged.

use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::sync::Arc;

struct Condition {
    test: Field,
}

struct Filter {
    test: Field,
}

/// Compiles a `condition`: `true` is port 0, `false` port 1.
pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Condition { test: compiler.expression("test")? }))
}

/// Compiles a `filter`.
pub(super) fn compile_filter(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Filter { test: compiler.expression("test")? }))
}

impl Step for Condition {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let is_true = context.evaluate(&self.test)?.is_true();
        Ok(Outcome::Out(u8::from(!is_true), input.clone()))
    }
}

impl Step for Filter {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        Ok(if context.evaluate(&self.test)?.is_true() {
            Outcome::Out(0, input.clone())
        } else {
            Outcome::Nothing
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, data};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn sends_the_input_one_of_two_ways() {
        let mut run = FakeContext::new();
        let step = run.step("condition", json!({"test": "{{ $item.ok }}"}));
        for (value, port) in [(json!("no"), 0), (json!(""), 1), (json!(0), 1), (json!([]), 0)] {
            let input = data(json!({ "ok": value }));
            assert_eq!(run.out(&step, input.clone()), (port, input), "JavaScript's truth");
        }
        assert_eq!(run.out(&step, data(json!({}))).0, 1, "what is not there is false");
    }

    #[test]
    fn evaluates_expressions_with_or_without_braces() {
        let mut run = FakeContext::new();
        run.function("$item > 5", |item, _| Data::Bool(matches!(item, Data::Int(n) if *n > 5)));
        for source in ["{{ $item > 5 }}", "$item > 5"] {
            let step = run.step("filter", json!({ "test": source }));
            assert_eq!(run.outs(&step, Data::Int(6)).len(), 1, "{source}");
            assert!(run.outs(&step, Data::Int(5)).is_empty(), "{source}");
        }
        let fixed = run.step("condition", json!({"test": false}));
        assert_eq!(run.out(&fixed, Data::Int(1)).0, 1);
    }
}
