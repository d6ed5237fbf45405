//! `json.parse`: reads JSON text.
//!
//! **Invariants**: integers of 64 bits stay exact; text and depth are bounded; with a fallback
//! nothing in the text fails the step.

use super::cast::fallback;
use super::text::{bad_input, describe, over_limit};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::sync::Arc;

/// Longest text that is parsed.
const JSON_BYTES_MAX: usize = 4 << 20;

struct Parse {
    work: Work,
    fallback: Option<Field>,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Parse { work: Work::compile(compiler)?, fallback: fallback(compiler)? }))
}

impl Step for Parse {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let parsed = match self.work.value(context, input)? {
            Data::Text(text) => parse(&text),
            other => Err(bad_input(format!("only text is parsed, not {}", describe(&other)))),
        };
        let result = match (parsed, &self.fallback) {
            (Ok(result), _) => result,
            (Err(_), Some(fallback)) => context.evaluate(fallback)?,
            (Err(fault), None) => return Err(fault),
        };
        Ok(Outcome::Out(0, self.work.output(input, result)))
    }
}

fn parse(text: &str) -> Result<Data, StepFault> {
    if text.len() > JSON_BYTES_MAX {
        let length = text.len();
        return Err(over_limit(format!("the text has {length} bytes; at most {JSON_BYTES_MAX}")));
    }
    Data::from_json_text(text).map_err(|fault| bad_input(fault.to_string()))
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, assert_is, data, text};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn parses_in_place_and_keeps_64_bits() {
        let mut run = FakeContext::new();
        let step = run.step("json.parse", json!({}));
        let input = data(json!({"value": "{\"n\":9007199254740993}", "path": "p"}));
        let (_, out) = run.out(&step, input);
        assert_is(&out, json!({"value": {"n": 9007199254740993_i64}, "path": "p"}));
    }

    #[test]
    fn fails_or_falls_back_as_told() {
        let mut run = FakeContext::new();
        let strict = run.step("json.parse", json!({}));
        for wrong in ["{", "{\"a\": 1,}", "1 2", "", &"[".repeat(100_000)] {
            assert_eq!(run.fault(&strict, text(wrong)).code, "bad_input");
        }
        let long = format!("\"{}\"", "x".repeat(super::JSON_BYTES_MAX));
        assert_eq!(run.fault(&strict, text(&long)).code, "limit");
        let fault = run.fault(&strict, Data::Int(1));
        assert_eq!(fault.message, "only text is parsed, not number 1");
        let lenient =
            run.step("json.parse", json!({"on_failure": "fallback", "fallback": {"a": 1}}));
        assert_is(&run.out(&lenient, text("{")).1, json!({"a": 1}));
    }
}
