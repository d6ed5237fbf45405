//! `lookup`: translates a value by a table.
//!
//! **Invariants**: values are looked up by JavaScript's text of them: `1.0` is `1`.

use super::text::{bad_input, describe};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::sync::Arc;

struct Lookup {
    work: Work,
    table: Field,
    fallback: Option<Field>,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let table = compiler.field("table")?;
    if matches!(&table, Field::Literal(data) if !matches!(data, Data::Map(_))) {
        return Err(compiler.fault("table", "must be an object"));
    }
    let fallback = match compiler.choice("on_missing", &[("fallback", true), ("fail", false)])? {
        true => Some(compiler.field_or("fallback", Data::Null)?),
        false => None,
    };
    Ok(Arc::new(Lookup { work: Work::compile(compiler)?, table, fallback }))
}

impl Step for Lookup {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let value = self.work.value(context, input)?;
        let found = match context.evaluate(&self.table)? {
            Data::Map(table) => find(&value, |name| table.get(name).cloned()),
            other => {
                let found = describe(&other);
                return Err(bad_input(format!("`table` must be an object, but is {found}")));
            }
        };
        let result = match (found, &self.fallback) {
            (Some(result), _) => result,
            (None, Some(fallback)) => context.evaluate(fallback)?,
            (None, None) => {
                return Err(bad_input(format!("the table does not have {}", describe(&value))));
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
