//! `switch`: one of many ways.
//!
//! Case n goes out at port n - 1; what no case takes at the last port, `otherwise`.
//!
//! **Invariants**: at most [`CASES_MAX`] cases, looked at in order; numbers are compared by their
//! true value, so that an integer beyond 2^53 is no other.

use super::number::Number;
use super::read;
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Port, Step, StepFault};
use millrace_flow::Data;
use millrace_flow::kind::CASES_MAX;
use serde_json::Value;
use std::cmp::Ordering;
use std::sync::Arc;

/// Number of the port `otherwise`: it comes after all cases that could be there.
const OTHERWISE: Port = 32;

struct Switch {
    work: Work,
    cases: Vec<Case>,
    first_only: bool,
}

enum Case {
    Equals(Field),
    In(Field),
    Range { from: Option<Field>, below: Option<Field> },
    Test(Field),
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let listed = compiler.list("cases")?;
    if listed.is_empty() || listed.len() > CASES_MAX {
        let message = format!("takes 1 to {CASES_MAX} cases, not {}", listed.len());
        return Err(compiler.fault("cases", message));
    }
    let cases = listed.iter().map(|case| compile_case(compiler, case));
    Ok(Arc::new(Switch {
        cases: cases.collect::<Result<_, _>>()?,
        work: Work::compile(compiler)?,
        first_only: compiler.flag("first_only")?,
    }))
}

fn compile_case(compiler: &mut Compiler<'_>, case: &Value) -> Result<Case, CompileFault> {
    let mut field = |name: &str| match case.get(name) {
        None => Ok(None),
        // Null is something to be equal to, and nothing to be above or below.
        Some(Value::Null) if name != "equals" => Ok(None),
        Some(value) => compiler.compile("cases", value).map(Some),
    };
    let (equals, list) = (field("equals")?, field("in")?);
    let (from, below) = (field("from")?, field("below")?);
    let test = match case.get("test") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if !text.contains("{{") => {
            Some(compiler.compile_expression("cases", text)?)
        }
        Some(value) => Some(compiler.compile("cases", value)?),
    };
    match (equals, list, from, below, test) {
        (Some(equals), None, None, None, None) => Ok(Case::Equals(equals)),
        (None, Some(list), None, None, None) => Ok(Case::In(list)),
        (None, None, None, None, Some(test)) => Ok(Case::Test(test)),
        (None, None, None, None, None) => {
            Err(compiler.fault("cases", "a case needs `equals`, `in`, `from`, `below` or `test`"))
        }
        (None, None, from, below, None) => Ok(Case::Range { from, below }),
        _ => Err(compiler.fault("cases", "a case has one way of matching")),
    }
}

impl Step for Switch {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let value = self.work.value(context, input)?;
        let mut taken = Vec::new();
        for (port, case) in (0..).zip(&self.cases) {
            if case.matches(context, &value)? {
                if self.first_only {
                    return Ok(Outcome::Out(port, input.clone()));
                }
                taken.push((port, input.clone()));
            }
        }
        Ok(if taken.is_empty() {
            Outcome::Out(OTHERWISE, input.clone())
        } else {
            Outcome::Many(taken)
        })
    }
}

impl Case {
    fn matches(&self, context: &mut dyn Context, value: &Data) -> Result<bool, StepFault> {
        match self {
            Self::Equals(field) => Ok(context.evaluate(field)?.is_same(value)),
            Self::In(field) => match context.evaluate(field)? {
                Data::List(list) => Ok(list.iter().any(|item| item.is_same(value))),
                other => Err(read::wrong("in", "a list", &other)),
            },
            Self::Test(field) => Ok(context.evaluate(field)?.is_true()),
            Self::Range { from, below } => {
                let Some(number) = Number::of(value) else { return Ok(false) };
                if let Some(field) = from {
                    let least = read::number(context, field, "from")?;
                    let order = least.and_then(|least| number.compare(least));
                    if !matches!(order, Some(Ordering::Greater | Ordering::Equal)) {
                        return Ok(false);
                    }
                }
                if let Some(field) = below {
                    let most = read::number(context, field, "below")?;
                    let order = most.and_then(|most| number.compare(most));
                    return Ok(order == Some(Ordering::Less));
                }
                Ok(!number.is_nan())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, data};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn takes_the_first_case_that_matches() {
        let mut run = FakeContext::new();
        run.function("$item.urgent", |_, _| Data::Bool(false));
        let cases = json!([
            {"equals": "run"},
            {"in": [1, 2]},
            {"from": 10, "below": 20},
            {"below": 0},
            {"test": "{{ $item.urgent }}"},
        ]);
        let step = run.step("switch", json!({ "cases": cases }));
        for (value, port) in [
            (json!("run"), 0),
            (json!(2.0), 1),
            (json!(10), 2),
            (json!(19.99), 2),
            (json!(20), 32),
            (json!(-1), 3),
            (json!(null), 32),
        ] {
            let input = data(json!({"value": value, "urgent": false}));
            assert_eq!(run.out(&step, input.clone()), (port, input));
        }
        let urgent = data(json!({"value": 5, "urgent": true}));
        assert_eq!(run.out(&step, urgent).0, 4);
    }

    #[test]
    fn compares_integers_by_all_their_digits() {
        let mut run = FakeContext::new();
        let cases = json!([{"equals": 9007199254740992_i64}, {"equals": null}]);
        let step = run.step("switch", json!({ "cases": cases }));
        assert_eq!(run.out(&step, Data::Int(9_007_199_254_740_993)).0, 32);
        assert_eq!(run.out(&step, Data::Null).0, 1, "null is a case too");
    }

    #[test]
    fn takes_all_that_match_if_told() {
        let mut run = FakeContext::new();
        let cases = json!([{"from": 1}, {"below": 10}, {"equals": 7}]);
        let step = run.step("switch", json!({"cases": cases, "first_only": false}));
        let ports =
            |outs: Vec<(u8, Data)>| outs.into_iter().map(|(port, _)| port).collect::<Vec<_>>();
        assert_eq!(ports(run.outs(&step, Data::Int(7))), [0, 1, 2]);
        assert_eq!(ports(run.outs(&step, Data::Int(0))), [1]);
        assert_eq!(ports(run.outs(&step, Data::Float(f64::NAN))), [32]);
    }

    #[test]
    fn refuses_cases_that_cannot_be() {
        let mut run = FakeContext::new();
        for (cases, why) in [
            (json!([]), "1 to 32"),
            (json!(vec![json!({"equals": 1}); 33]), "not 33"),
            (json!([{"equals": 1, "below": 2}]), "one way of matching"),
            (json!([{}]), "needs `equals`"),
        ] {
            let fault = run.compile("switch", json!({ "cases": cases })).err().expect("refused");
            assert!(fault.message.contains(why), "{}", fault.message);
        }
    }
}
