//! `lookup`: translates a value by a table, or a number by the range that it lies in.
//!
//! **Invariants**: values are looked up by JavaScript's text of them: `1.0` is `1`; numbers are
//! compared with bounds by their true value; the first range that holds a number counts.

use super::number::Number;
use super::text::{bad_input, describe};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use millrace_flow::kind::RANGES_MAX;
use serde_json::Value;
use std::cmp::Ordering;
use std::sync::Arc;

struct Lookup {
    work: Work,
    table: Option<Field>,
    ranges: Vec<Range>,
    fallback: Option<Field>,
}

/// Numbers from one bound, inclusive, to another, which is not.
struct Range {
    from: Option<Number>,
    below: Option<Number>,
    result: Field,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let table = compiler.optional("table")?;
    if matches!(&table, Some(Field::Literal(data)) if !matches!(data, Data::Map(_))) {
        return Err(compiler.fault("table", "must be an object"));
    }
    let listed = compiler.list("ranges")?;
    if listed.len() > RANGES_MAX {
        return Err(compiler.fault("ranges", format!("takes {RANGES_MAX} ranges at most")));
    }
    let ranges = listed.iter().map(|range| compile_range(compiler, range));
    let ranges = ranges.collect::<Result<Vec<_>, _>>()?;
    if table.is_none() && ranges.is_empty() {
        return Err(compiler.step_fault("needs a `table` or `ranges` to look in"));
    }
    let fallback = match compiler.choice("on_missing", &[("fallback", true), ("fail", false)])? {
        true => Some(compiler.field_or("fallback", Data::Null)?),
        false => None,
    };
    Ok(Arc::new(Lookup { work: Work::compile(compiler)?, table, ranges, fallback }))
}

fn compile_range(compiler: &mut Compiler<'_>, range: &Value) -> Result<Range, CompileFault> {
    let bound = |name: &str| match range.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match Number::of(&Data::from(value)) {
            Some(number) => Ok(Some(number)),
            None => Err(compiler.fault("ranges", format!("`{name}` must be a number"))),
        },
    };
    let (from, below) = (bound("from")?, bound("below")?);
    if from.is_none() && below.is_none() {
        return Err(compiler.fault("ranges", "a range needs `from`, `below` or both"));
    }
    let result = range.get("result").unwrap_or(&Value::Null);
    Ok(Range { from, below, result: compiler.compile("ranges", result)? })
}

impl Range {
    fn holds(&self, number: Number) -> bool {
        let is_from = |from: Number| matches!(number.compare(from), Some(order) if order.is_ge());
        let is_below = |below: Number| number.compare(below) == Some(Ordering::Less);
        self.from.is_none_or(is_from) && self.below.is_none_or(is_below)
    }
}

impl Step for Lookup {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let value = self.work.value(context, input)?;
        let mut found = match &self.table {
            None => None,
            Some(table) => match context.evaluate(table)? {
                Data::Map(table) => find(&value, |name| table.get(name).cloned()),
                other => {
                    let found = describe(&other);
                    return Err(bad_input(format!("`table` must be an object, but is {found}")));
                }
            },
        };
        if found.is_none()
            && let Some(number) = Number::of(&value)
            && let Some(range) = self.ranges.iter().find(|range| range.holds(number))
        {
            found = Some(context.evaluate(&range.result)?);
        }
        let result = match (found, &self.fallback) {
            (Some(result), _) => result,
            (None, Some(fallback)) => context.evaluate(fallback)?,
            (None, None) => {
                let looked = match self.ranges.is_empty() {
                    true => "the table does",
                    false => "the ranges do",
                };
                return Err(bad_input(format!("{looked} not have {}", describe(&value))));
            }
        };
        Ok(Outcome::Out(0, self.work.output(input, result)))
    }
}

fn find(value: &Data, get: impl Fn(&str) -> Option<Data>) -> Option<Data> {
    if matches!(value, Data::Missing | Data::List(_) | Data::Map(_)) {
        return None;
    }
    if let Data::Text(text) = value {
        return get(text);
    }
    get(&value.to_js_text())
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, assert_is, data, text};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn translates_states_into_words() {
        let mut run = FakeContext::new();
        let step =
            run.step("lookup", json!({"table": {"0": "stopped", "1": "running", "true": 7}}));
        assert_eq!(run.out(&step, Data::Int(1)).1, text("running"));
        assert_eq!(run.out(&step, Data::Float(0.0)).1, text("stopped"), "0.0 is 0");
        assert_eq!(run.out(&step, Data::Bool(true)).1, Data::Int(7));
        assert_eq!(run.out(&step, Data::Int(9)).1, Data::Null, "the default of the fallback");
        let inside = data(json!({"value": 1, "path": "p"}));
        assert_is(&run.out(&step, inside).1, json!({"value": "running", "path": "p"}));
    }

    #[test]
    fn translates_numbers_by_the_range_that_they_lie_in() {
        let mut run = FakeContext::new();
        let fields = json!({
            "ranges": [
                {"below": 0, "result": "frozen"},
                {"from": 0, "below": 37.5, "result": "good"},
                {"from": 37.5, "result": "{{ 'hot by ' + ($item - 37) }}"},
            ],
            "table": {"-999": "broken wire"},
            "on_missing": "fail",
        });
        let step = run.step("lookup", fields);
        run.function("'hot by ' + ($item - 37)", |item, _| {
            Data::text(&format!("hot by {}", item.to_js_text()))
        });
        assert_eq!(run.out(&step, Data::Float(-0.5)).1, text("frozen"));
        assert_eq!(run.out(&step, Data::Int(0)).1, text("good"), "`from` is inclusive");
        assert_eq!(run.out(&step, Data::Float(37.5)).1, text("hot by 37.5"), "`below` is not");
        assert_eq!(run.out(&step, Data::Int(-999)).1, text("broken wire"), "the table comes first");
        let fault = run.fault(&step, Data::Float(f64::NAN));
        assert!(fault.message.starts_with("the ranges do not have"), "{}", fault.message);
        assert!(run.fault(&step, text("12")).message.contains("do not have"), "text is no number");
        let empty = run.compile("lookup", json!({"ranges": [{"result": 1}]}));
        assert!(empty.err().expect("refused").message.contains("`from`, `below` or both"));
        assert!(run.compile("lookup", json!({})).is_err());
    }

    #[test]
    fn takes_the_table_from_a_variable_and_fails_if_told() {
        let mut run = FakeContext::new();
        run.variables.insert("shifts".into(), data(json!({"A": "early"})));
        let fields =
            json!({"table": "{{ $variable.shifts }}", "on_missing": "fail", "into": "shift"});
        let step = run.step("lookup", fields);
        assert_is(
            &run.out(&step, data(json!({"value": "A"}))).1,
            json!({"value": "A", "shift": "early"}),
        );
        let fault = run.fault(&step, text("B"));
        assert_eq!(fault.message, "the table does not have text \"B\"");
        run.variables.clear();
        assert!(run.fault(&step, text("A")).message.contains("`table` must be an object"));
    }
}
