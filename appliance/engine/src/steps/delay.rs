//! `delay`: on-delay and off-delay of a signal (TON and TOF of IEC 61131-3, in one).
//!
//! The delayed signal is off at first. It goes on when the input has been on for `on_ms` without a
//! break, and off when it has been off for `off_ms` without a break; a shorter change is not seen.
//! The run that goes on is the one that turned the signal.
//!
//! **Invariants**: `on` and `off` take turns; at most one run per change waits, and it survives a
//! restart.

use super::read;
use super::signal::Signal;
use super::state::{Key, get, get_flag, map_of, needs_later_runs, token};
use super::text::bad_input;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::sync::Arc;

const ON: u8 = 0;
const OFF: u8 = 1;

struct Delay {
    signal: Signal,
    key: Key,
    on: i64,
    off: i64,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    needs_later_runs(compiler)?;
    Ok(Arc::new(Delay {
        signal: Signal::compile(compiler)?,
        key: Key::compile(compiler)?,
        on: read::span(compiler, "on_ms")?.unwrap_or(0),
        off: read::span(compiler, "off_ms")?.unwrap_or(0),
    }))
}

impl Step for Delay {
    fn waits_for_runs(&self) -> bool {
        true
    }

    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let key = self.key.text(context)?;
        let state = context.state(&key);
        // `signal` is the input as it was last seen, `out` the delayed one.
        let before = get_flag(&state, "signal");
        let out = get_flag(&state, "out");
        let now = self.signal.read(context, input, Some(before))?.unwrap_or(before);
        if now == before {
            return Ok(Outcome::Nothing);
        }
        if now == out {
            // Back again before the delay was over: a wait that runs is no longer meant.
            context.set_state(&key, state_of(now, out, Data::Missing))?;
            return Ok(Outcome::Nothing);
        }
        let (delay, port) = if now { (self.on, ON) } else { (self.off, OFF) };
        if delay == 0 {
            context.set_state(&key, state_of(now, now, Data::Missing))?;
            return Ok(Outcome::Out(port, input.clone()));
        }
        let token = token(context);
        context.set_state(&key, state_of(now, out, token.clone()))?;
        let until = context.now().plus_nanos(delay);
        let carry = map_of([
            ("key", Data::Text(key.into())),
            ("token", token),
            ("on", Data::Bool(now)),
            ("item", input.clone()),
        ]);
        Ok(Outcome::Pause { until, carry })
    }

    fn resume(&self, context: &mut dyn Context, done: Data) -> Result<Outcome, StepFault> {
        let Data::Text(key) = get(&done, "key") else {
            return Err(bad_input("the wait gave back something else"));
        };
        let state = context.state(&key);
        if get(&state, "token") != get(&done, "token") {
            return Ok(Outcome::Nothing);
        }
        let is_on = get_flag(&done, "on");
        context.set_state(&key, state_of(is_on, is_on, Data::Missing))?;
        Ok(Outcome::Out(if is_on { ON } else { OFF }, get(&done, "item")))
    }
}

fn state_of(signal: bool, out: bool, token: Data) -> Data {
    map_of([("signal", Data::Bool(signal)), ("out", Data::Bool(out)), ("token", token)])
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, OnTime, START, listed};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn on_delay_needs_the_signal_on_without_a_break() {
        let mut run = FakeContext::new();
        let step = run.step("delay", json!({"on_ms": 1000}));
        assert!(run.outs(&step, Data::Int(0)).is_empty(), "off at first is no change");
        let short = run.pause(&step, Data::Int(1));
        run.pass(500);
        assert!(run.outs(&step, Data::Int(2)).is_empty(), "still on");
        run.pass(400);
        assert!(run.outs(&step, Data::Int(0)).is_empty(), "off again before the second was over");
        run.pass(50);
        let long = run.pause(&step, Data::Int(3));
        assert_eq!(long.0.0, START + 1_950_000_000, "the delay begins anew");
        assert!(listed(run.resume(&step, short)).is_empty(), "its signal had a break");
        assert_eq!(listed(run.resume(&step, long)), [(0, Data::Int(3))]);
        assert_eq!(run.out(&step, Data::Int(0)), (1, Data::Int(0)), "off without a delay");
    }

    #[test]
    fn off_delay_holds_the_signal() {
        let mut run = FakeContext::new();
        let step = run.step("delay", json!({"off_ms": 1000}));
        assert_eq!(run.out(&step, Data::Bool(true)), (0, Data::Bool(true)));
        let short = run.pause(&step, Data::Bool(false));
        run.pass(900);
        assert!(run.outs(&step, Data::Bool(true)).is_empty(), "it never went off");
        assert!(listed(run.resume(&step, short)).is_empty());
        let long = run.pause(&step, Data::Bool(false));
        assert_eq!(listed(run.resume(&step, long)), [(1, Data::Bool(false))]);
        assert!(run.outs(&step, Data::Bool(false)).is_empty(), "off is off");
    }

    #[test]
    fn works_with_thresholds_and_keys() {
        let mut run = FakeContext::new();
        let fields = json!({"on_ms": 100, "rise_at": 80, "fall_at": 70});
        let step = run.step("delay", fields);
        let hot = run.value("a", Data::Int(85));
        let first = run.pause(&step, hot.clone());
        let warm = run.value("a", Data::Int(75));
        assert!(run.outs(&step, warm).is_empty(), "between the thresholds it stays on");
        let cold = run.value("b", Data::Int(20));
        assert!(run.outs(&step, cold).is_empty(), "another tag's signal");
        assert_eq!(listed(run.resume(&step, first)), [(0, hot)]);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

        /// Against TON and TOF as the standard draws them.
        #[test]
        fn is_what_the_timers_of_the_standard_are(
            changes in proptest::collection::vec((0_i64..1500, proptest::bool::ANY), 1..60),
            on in 0_i64..800,
            off in 0_i64..800,
        ) {
            let mut story = OnTime::new("delay", json!({"on_ms": on, "off_ms": off}));
            let (mut now, mut signal, mut delayed) = (0, false, false);
            let (mut pending, mut wanted) = (None, Vec::new());
            let port = |is_on: bool| u8::from(!is_on);
            for (gap, value) in changes {
                now += gap;
                if let Some((due, target)) = pending.filter(|(due, _)| *due <= now) {
                    delayed = target;
                    wanted.push((due, port(target)));
                    pending = None;
                }
                if value != signal {
                    signal = value;
                    let after = if value { on } else { off };
                    pending = (value != delayed).then_some((now + after, value));
                    if after == 0 && value != delayed {
                        delayed = value;
                        wanted.push((now, port(value)));
                        pending = None;
                    }
                }
                story.input(now, Data::Bool(value));
            }
            story.until(now + 10_000);
            wanted.extend(pending.map(|(due, target)| (due, port(target))));
            let found: Vec<_> = story.out.iter().map(|(at, port, _)| (*at, *port)).collect();
            proptest::prop_assert_eq!(found, wanted);
        }
    }
}
