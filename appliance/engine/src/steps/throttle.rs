//! `throttle`: lets the first few data of each interval through and drops the rest.
//!
//! **Invariants**: an interval begins with the first datum let through; at most `count` pass in it,
//! over a restart too.

use super::read;
use super::state::{Key, get_int, map_of};
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::sync::Arc;

struct Throttle {
    key: Key,
    every: i64,
    count: i64,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let every = read::span(compiler, "every_ms")?;
    let count = compiler.whole("count")?.unwrap_or(1);
    Ok(Arc::new(Throttle {
        key: Key::compile(compiler)?,
        every: every.ok_or_else(|| compiler.fault("every_ms", "is missing"))?,
        count: i64::try_from(count).unwrap_or(i64::MAX),
    }))
}

impl Step for Throttle {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let key = self.key.text(context)?;
        let state = context.state(&key);
        let now = context.now().0;
        let (start, passed) = match (get_int(&state, "start"), get_int(&state, "passed")) {
            // A clock that was set back begins a new interval instead of blocking for long.
            (Some(start), Some(passed))
                if (start..start.saturating_add(self.every)).contains(&now) =>
            {
                (start, passed)
            }
            _ => (now, 0),
        };
        if passed >= self.count {
            return Ok(Outcome::Nothing);
        }
        let state = map_of([("start", Data::Int(start)), ("passed", Data::Int(passed + 1))]);
        context.set_state(&key, state)?;
        Ok(Outcome::Out(0, input.clone()))
    }
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::FakeContext;
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn lets_so_many_through_per_interval() {
        let mut run = FakeContext::new();
        let step = run.step("throttle", json!({"every_ms": 1000, "count": 2}));
        let mut passed = Vec::new();
        for at in [0, 100, 200, 999, 1000, 1001, 1002, 5000] {
            run.now = crate::steps::testing::START + at * 1_000_000;
            if !run.outs(&step, Data::Int(at)).is_empty() {
                passed.push(at);
            }
        }
        assert_eq!(passed, [0, 100, 1000, 1001, 5000]);
    }

    #[test]
    fn a_clock_set_back_does_not_block() {
        let mut run = FakeContext::new();
        let step = run.step("throttle", json!({"every_ms": 1000}));
        assert_eq!(run.outs(&step, Data::Int(1)).len(), 1);
        run.pass(-3_600_000);
        assert_eq!(run.outs(&step, Data::Int(2)).len(), 1, "a new interval, not an hour's wait");
    }

    #[test]
    fn tags_have_intervals_of_their_own() {
        let mut run = FakeContext::new();
        let step = run.step("throttle", json!({"every_ms": 1000}));
        for path in ["a", "b"] {
            let value = run.value(path, Data::Int(1));
            assert_eq!(run.outs(&step, value).len(), 1, "the first of {path}");
        }
        let value = run.value("a", Data::Int(2));
        assert!(run.outs(&step, value).is_empty());
    }
}
