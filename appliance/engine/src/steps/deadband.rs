//! `deadband`: lets a number through when it has left the band around the last one let through.
//!
//! As in OPC UA (10000-8, 6.2) a value passes when it differs by *more* than the band. What is no
//! number (null, text) passes when it differs at all.
//!
//! **Invariants**: the band lies around the last value let through, so that slow drift passes too;
//! the state lasts and commits with the run.

use super::number::Number;
use super::read;
use super::state::{Key, get, get_int, map_of};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::cmp::Ordering;
use std::sync::Arc;

struct Deadband {
    work: Work,
    key: Key,
    band: Band,
    at_least_every: Option<i64>,
}

enum Band {
    Absolute(Field),
    Percent(Field),
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let band = match (compiler.optional("deadband")?, compiler.optional("deadband_percent")?) {
        (Some(field), None) => Band::Absolute(field),
        (None, Some(field)) => Band::Percent(field),
        _ => {
            return Err(
                compiler.step_fault("needs exactly one of `deadband` and `deadband_percent`")
            );
        }
    };
    Ok(Arc::new(Deadband {
        work: Work::compile(compiler)?,
        key: Key::compile(compiler)?,
        band,
        at_least_every: read::span(compiler, "at_least_every_ms")?,
    }))
}

impl Step for Deadband {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let value = self.work.value(context, input)?;
        let key = self.key.text(context)?;
        let state = context.state(&key);
        let now = context.now();
        let is_due = match (self.at_least_every, get_int(&state, "time")) {
            (Some(every), Some(time)) => now.0.saturating_sub(time) > every,
            _ => false,
        };
        if state != Data::Missing
            && !is_due
            && !self.has_left(context, &get(&state, "value"), &value)?
        {
            return Ok(Outcome::Nothing);
        }
        let kept = if value == Data::Missing { Data::Null } else { value };
        context.set_state(&key, map_of([("value", kept), ("time", Data::Int(now.0))]))?;
        Ok(Outcome::Out(0, input.clone()))
    }
}

impl Deadband {
    fn has_left(
        &self,
        context: &mut dyn Context,
        last: &Data,
        value: &Data,
    ) -> Result<bool, StepFault> {
        let (Some(last_number), Some(number)) = (Number::of(last), Number::of(value)) else {
            return Ok(!last.is_same(value));
        };
        if last_number.is_nan() || number.is_nan() {
            return Ok(!last.is_same(value));
        }
        let width = match &self.band {
            Band::Absolute(field) => {
                read::number(context, field, "deadband")?.unwrap_or(Number::Int(0))
            }
            Band::Percent(field) => {
                let percent = read::number(context, field, "deadband_percent")?;
                let percent = percent.map_or(0.0, Number::to_f64);
                Number::Float(last_number.to_f64().abs() * percent / 100.0)
            }
        };
        Ok(last_number.distance(number).compare(width) == Some(Ordering::Greater))
    }
}

#[cfg(test)]
mod tests {
    use crate::step::Step;
    use crate::steps::testing::{FakeContext, data};
    use millrace_flow::Data;
    use serde_json::json;
    use std::sync::Arc;

    /// Which of these values pass.
    fn passing(run: &mut FakeContext, step: &Arc<dyn Step>, values: &[Data]) -> Vec<Data> {
        let passes = |value: &&Data| !run.outs(step, (*value).clone()).is_empty();
        values.iter().filter(passes).cloned().collect()
    }

    #[test]
    fn passes_what_leaves_the_band_around_the_last_one_passed() {
        let mut run = FakeContext::new();
        let step = run.step("deadband", json!({"deadband": 1}));
        let values = [10.0, 10.9, 9.1, 11.0, 11.1, 10.5, 12.2].map(Data::Float);
        let passed = passing(&mut run, &step, &values);
        assert_eq!(passed, [10.0, 11.1, 12.2].map(Data::Float), "exactly the band does not pass");
    }

    #[test]
    fn sees_slow_drift_and_integers_beyond_doubles() {
        let mut run = FakeContext::new();
        let step = run.step("deadband", json!({"deadband": 1}));
        let base = 9_007_199_254_740_992_i64;
        let values: Vec<Data> = (0..5).map(|i| Data::Int(base + i)).collect();
        let wanted = [0, 2, 4].map(|i| Data::Int(base + i));
        assert_eq!(passing(&mut run, &step, &values), wanted, "each second one, exactly");
    }

    #[test]
    fn percent_is_of_the_last_one_passed() {
        let mut run = FakeContext::new();
        let step = run.step("deadband", json!({"deadband_percent": 10}));
        let values = [100, 110, 111, 122, 123].map(Data::Int);
        assert_eq!(passing(&mut run, &step, &values), [100, 111, 123].map(Data::Int));
    }

    #[test]
    fn a_change_of_kind_passes_and_each_tag_has_its_own_band() {
        let mut run = FakeContext::new();
        let step = run.step("deadband", json!({"deadband": 5}));
        let values = [Data::Int(1), Data::Null, Data::Null, Data::Int(2), Data::Float(f64::NAN)];
        assert_eq!(passing(&mut run, &step, &values).len(), 4, "all but the second null");
        let other = run.value("other/tag", Data::Int(2));
        assert_eq!(run.outs(&step, other).len(), 1, "the first of another path");
    }

    #[test]
    fn passes_now_and_then_anyway() {
        let mut run = FakeContext::new();
        let step = run.step("deadband", json!({"deadband": 5, "at_least_every_ms": 1000}));
        assert_eq!(run.outs(&step, Data::Int(1)).len(), 1);
        run.pass(1000);
        assert!(run.outs(&step, Data::Int(1)).is_empty(), "not older than a second");
        run.pass(1);
        assert_eq!(run.outs(&step, Data::Int(1)).len(), 1);
    }

    #[test]
    fn refuses_a_band_that_is_no_number() {
        let mut run = FakeContext::new();
        let step = run.step("deadband", json!({"deadband": "{{ $item.band }}"}));
        run.outs(&step, data(json!({"value": 1, "band": "wide"})));
        let fault = run.fault(&step, data(json!({"value": 2, "band": "wide"})));
        assert_eq!(fault.message, "`deadband` must be a number, but is text \"wide\"");
    }
}
