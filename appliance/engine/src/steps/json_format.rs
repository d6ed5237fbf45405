//! `json.format`: writes JSON text.
//!
//! **Invariants**: what is written reads back the same, but for NaN and infinities, which JSON
//! does not have and which become null.

use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::sync::Arc;

struct Format {
    work: Work,
    pretty: bool,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Format { work: Work::compile(compiler)?, pretty: compiler.flag("pretty")? }))
}

impl Step for Format {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let value = self.work.value(context, input)?;
        let text = if self.pretty { value.to_json_text_pretty() } else { value.to_json_text() };
        Ok(Outcome::Out(0, self.work.output(input, Data::Text(text.into()))))
    }
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, data, text};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn writes_on_one_line_or_indented() {
        let mut run = FakeContext::new();
        let value = data(json!({"a": [1, 2.5], "b": {}, "c": "x\"y"}));
        let plain = run.step("json.format", json!({}));
        let (_, out) = run.out(&plain, value.clone());
        assert_eq!(out, text("{\"a\":[1,2.5],\"b\":{},\"c\":\"x\\\"y\"}"));
        let pretty = run.step("json.format", json!({"pretty": true}));
        let (_, out) = run.out(&pretty, value);
        assert_eq!(
            out,
            text("{\n  \"a\": [\n    1,\n    2.5\n  ],\n  \"b\": {},\n  \"c\": \"x\\\"y\"\n}")
        );
    }

    #[test]
    fn what_json_cannot_say_becomes_null() {
        let mut run = FakeContext::new();
        let step = run.step("json.format", json!({}));
        let list = Data::List([Data::Float(f64::NAN), Data::Missing, Data::UInt(u64::MAX)].into());
        assert_eq!(run.out(&step, list).1, text("[null,null,18446744073709551615]"));
    }
}
