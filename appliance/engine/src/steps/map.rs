//! `map`: builds the output from a template.
//!
//! **Invariants**: a field that is missing is left out; in a list it is null.

use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::{Data, Map};
use std::sync::Arc;

struct Template {
    output: Field,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Template { output: compiler.field("output")? }))
}

impl Step for Template {
    fn execute(&self, context: &mut dyn Context, _: &Data) -> Result<Outcome, StepFault> {
        Ok(Outcome::Out(0, tidy(context.evaluate(&self.output)?)))
    }
}

/// Copies only where something is missing, which is rare.
fn tidy(data: Data) -> Data {
    if !has_gap(&data) {
        return data;
    }
    match &data {
        Data::List(items) => Data::List(
            items
                .iter()
                .map(|item| match item {
                    Data::Missing => Data::Null,
                    other => tidy(other.clone()),
                })
                .collect(),
        ),
        Data::Map(map) => {
            let mut full = Map::new();
            for (name, member) in map.iter().filter(|(_, member)| **member != Data::Missing) {
                full.set(name.clone(), tidy(member.clone()));
            }
            Data::Map(Arc::new(full))
        }
        _ => data,
    }
}

fn has_gap(data: &Data) -> bool {
    match data {
        Data::List(items) => items.iter().any(|item| *item == Data::Missing || has_gap(item)),
        Data::Map(map) => map.iter().any(|(_, member)| *member == Data::Missing || has_gap(member)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, assert_is, data};
    use serde_json::json;

    #[test]
    fn builds_what_the_template_says() {
        let mut run = FakeContext::new();
        let output = json!({
            "name": "press {{ $item.number }}",
            "list": [1, "{{ $item.value }}", "{{ $item.nothing }}"],
            "gone": "{{ $item.nothing }}",
        });
        let step = run.step("map", json!({ "output": output }));
        let (_, out) = run.out(&step, data(json!({"number": 4, "value": 9007199254740993_i64})));
        assert_is(&out, json!({"name": "press 4", "list": [1, 9007199254740993_i64, null]}));
    }

    #[test]
    fn fails_where_a_path_leads_through_nothing() {
        let mut run = FakeContext::new();
        let step = run.step("map", json!({"output": "{{ $item.a.b }}"}));
        let fault = run.fault(&step, data(json!({})));
        assert!(
            fault.message.contains("cannot read property 'b' of undefined"),
            "{}",
            fault.message
        );
    }
}
