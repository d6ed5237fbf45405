//! `throttle`: lets the first few data of each interval through, or the last one when it ends, and
//! drops the rest.
//!
//! Keeping the last is what `debounce` does with a burst that is never quiet: the interval begins
//! with the first datum and the last one goes on at its end, as its own run. So that is what is made
//! of it.
//!
//! **Invariants**: an interval begins with the first datum let through; at most `count` pass in it,
//! over a restart too.

use super::debounce::Debounce;
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
    if compiler.choice("keep", &[("first", false), ("last", true)])? {
        let every = every.ok_or_else(|| compiler.fault("every_ms", "is missing"))?;
        return Ok(Arc::new(Debounce::new(compiler, every, Some(every))?));
    }
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
    use crate::steps::testing::{FakeContext, OnTime};
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
    fn the_last_of_an_interval_passes_at_its_end() {
        let mut story = OnTime::new("throttle", json!({"every_ms": 1000, "keep": "last"}));
        // A burst over two and a half intervals, silence, and one datum alone.
        for at in [0, 300, 990, 1100, 1900, 2600, 9000] {
            story.input(at, Data::Int(at));
        }
        story.until(20_000);
        let went: Vec<_> = story.out.iter().map(|(at, _, data)| (*at, data.clone())).collect();
        let wanted = [(1000, 990), (2100, 1900), (3600, 2600), (10_000, 9000)];
        assert_eq!(went, wanted.map(|(at, value)| (at, Data::Int(value))));
        assert!(story.waiting.is_empty() && story.run.states.is_empty(), "nothing is kept");
    }

    #[test]
    fn keeping_the_last_needs_later_runs() {
        let mut run = FakeContext::new();
        run.settings = json!({"order": "in_order"});
        let fault = run.compile("throttle", json!({"every_ms": 1, "keep": "last"})).err();
        assert!(fault.expect("refused").message.contains("run order to `parallel`"));
        assert!(run.compile("throttle", json!({"every_ms": 1})).is_ok());
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
