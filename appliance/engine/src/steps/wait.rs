//! `wait`: passes the input on later.
//!
//! **Invariants**: the end of the wait is fixed when it begins; 400 days at most; a wait whose
//! time has passed does not begin.

use super::read;
use super::text::{bad_input, over_limit};
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use millrace_model::Timestamp;
use millrace_model::time::NANOS_PER_MILLI;
use std::sync::Arc;

enum Wait {
    For(Field),
    Until(Field),
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    match (compiler.optional("for_ms")?, compiler.optional("until")?) {
        (Some(span), None) => Ok(Arc::new(Wait::For(span))),
        (None, Some(time)) => Ok(Arc::new(Wait::Until(time))),
        _ => Err(compiler.step_fault("needs exactly one of `for_ms` and `until`")),
    }
}

impl Step for Wait {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let now = context.now();
        let until: Timestamp = match self {
            Self::For(span) => now.plus_nanos(read::nanos(context, span, "for_ms")?),
            Self::Until(time) => {
                let time = context.evaluate(time)?;
                read::time_of(&time, "until")?.ok_or_else(|| bad_input("`until` is nothing"))?
            }
        };
        if until <= now {
            return Ok(Outcome::Out(0, input.clone()));
        }
        if until.nanos_since(now) > read::LONGEST_MS * NANOS_PER_MILLI {
            let until = until.to_rfc3339();
            return Err(over_limit(format!("a wait until {until} is longer than 400 days")));
        }
        Ok(Outcome::Pause { until, carry: input.clone() })
    }
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, START, data, listed};
    use millrace_flow::Data;
    use millrace_model::Timestamp;
    use serde_json::json;

    #[test]
    fn passes_the_input_on_when_its_time_has_come() {
        let mut run = FakeContext::new();
        let step = run.step("wait", json!({"for_ms": "{{ $item.ms }}"}));
        let input = data(json!({"ms": 20}));
        let pause = run.pause(&step, input.clone());
        assert_eq!(pause.0.0, START + 20_000_000);
        assert_eq!(listed(run.resume(&step, pause)), [(0, input)]);
    }

    #[test]
    fn waits_until_a_point_of_time_and_not_for_one_that_has_passed() {
        let mut run = FakeContext::new();
        let step = run.step("wait", json!({"until": "{{ $item }}"}));
        let later = Timestamp(START + 5_000_000_000).to_rfc3339();
        assert_eq!(run.pause(&step, data(json!(later))).0.0, START + 5_000_000_000);
        assert_eq!(run.pause(&step, data(json!((START / 1_000_000) + 7))).0.0, START + 7_000_000);
        let past = data(json!("2001-01-01T00:00:00Z"));
        assert_eq!(run.out(&step, past.clone()), (0, past));
    }

    #[test]
    fn refuses_what_is_no_time_or_too_far() {
        let mut run = FakeContext::new();
        let span = run.step("wait", json!({"for_ms": "{{ $item }}"}));
        assert!(run.fault(&span, Data::Int(-1)).message.contains("between 0 and"));
        assert!(run.fault(&span, data(json!("soon"))).message.contains("whole number"));
        let until = run.step("wait", json!({"until": "{{ $item }}"}));
        assert_eq!(run.fault(&until, data(json!("2099-01-01T00:00:00Z"))).code, "limit");
        assert!(run.fault(&until, data(json!("soon"))).message.contains("must be a time"));
        assert!(run.compile("wait", json!({})).is_err(), "needs one of both");
    }
}
