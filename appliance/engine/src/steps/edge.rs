//! `edge`: notices when a signal rises or falls (R_TRIG and F_TRIG of IEC 61131-3, with
//! hysteresis).
//!
//! **Invariants**: one output per change, over a restart too.

use super::signal::Signal;
use super::state::Key;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::sync::Arc;

const RISING: u8 = 0;
const FALLING: u8 = 1;

struct Edge {
    signal: Signal,
    key: Key,
    initial: Option<bool>,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let initial = if compiler.has("initial") { Some(compiler.flag("initial")?) } else { None };
    Ok(Arc::new(Edge { signal: Signal::compile(compiler)?, key: Key::compile(compiler)?, initial }))
}

impl Step for Edge {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let key = self.key.text(context)?;
        let known = match context.state(&key) {
            Data::Bool(is_on) => Some(is_on),
            _ => None,
        };
        let before = known.or(self.initial);
        let now = self.signal.read(context, input, before)?;
        if let Some(is_on) = now
            && now != known
        {
            context.set_state(&key, Data::Bool(is_on))?;
        }
        Ok(match (before, now) {
            (Some(false), Some(true)) => Outcome::Out(RISING, input.clone()),
            (Some(true), Some(false)) => Outcome::Out(FALLING, input.clone()),
            _ => Outcome::Nothing,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::step::Step;
    use crate::steps::testing::{FakeContext, text};
    use millrace_flow::Data;
    use serde_json::json;
    use std::sync::Arc;

    /// The ports at which these values go out, `-` for none.
    fn ports(run: &mut FakeContext, step: &Arc<dyn Step>, values: &[Data]) -> String {
        let port = |value: &Data| match run.outs(step, value.clone()).first() {
            Some((0, _)) => 'r',
            Some((_, _)) => 'f',
            None => '-',
        };
        values.iter().map(port).collect()
    }

    #[test]
    fn the_first_value_is_no_edge_unless_it_is_said_what_was_before() {
        let mut run = FakeContext::new();
        let step = run.step("edge", json!({}));
        let values = [true, true, false, false, true].map(Data::Bool);
        assert_eq!(ports(&mut run, &step, &values), "--f-r");
        let mut run = FakeContext::new();
        let step = run.step("edge", json!({"initial": false}));
        assert_eq!(ports(&mut run, &step, &values), "r-f-r");
    }

    #[test]
    fn thresholds_give_hysteresis() {
        let mut run = FakeContext::new();
        let step = run.step("edge", json!({"rise_at": 80, "fall_at": 70}));
        let values = [75.0, 80.0, 75.0, 79.9, 70.0, 75.0, 80.0, f64::NAN, 90.0].map(Data::Float);
        assert_eq!(ports(&mut run, &step, &values), "----f-r--", "neither before it is outside");
        let fault = run.fault(&step, text("hot"));
        assert!(fault.message.contains("not text \"hot\""), "{}", fault.message);
    }

    #[test]
    fn tags_have_signals_of_their_own() {
        let mut run = FakeContext::new();
        let step = run.step("edge", json!({}));
        for path in ["a", "b"] {
            let off = run.value(path, Data::Int(0));
            assert!(run.outs(&step, off).is_empty());
        }
        let on = run.value("b", Data::Int(3));
        assert_eq!(run.out(&step, on.clone()), (0, on));
    }
}
