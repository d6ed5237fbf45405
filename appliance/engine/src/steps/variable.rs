//! `variable.get` and `variable.set`: variables of the workspace.
//!
//! **Invariants**: a change is durable with the end of the run, or not at all.

use super::read;
use super::text::bad_input;
use super::work::{Work, into};
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::sync::Arc;

/// Longest name.
const NAME_BYTES_MAX: usize = 200;

struct Get {
    name: Field,
    fallback: Field,
    into: Option<String>,
}

struct Set {
    name: Field,
    work: Work,
    remove: bool,
}

pub(super) fn compile_get(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Get {
        name: compiler.field("name")?,
        fallback: compiler.field_or("fallback", Data::Null)?,
        into: into(compiler)?,
    }))
}

pub(super) fn compile_set(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Set {
        name: compiler.field("name")?,
        work: Work::compile(compiler)?,
        remove: compiler.flag("remove")?,
    }))
}

fn name_of(context: &mut dyn Context, field: &Field) -> Result<Arc<str>, StepFault> {
    let name = read::text(context, field, "name")?;
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        let length = name.len();
        let message = format!("a variable's name has 1 to {NAME_BYTES_MAX} bytes, not {length}");
        return Err(bad_input(message));
    }
    Ok(name)
}

impl Step for Get {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let name = name_of(context, &self.name)?;
        let value = match context.variable(&name) {
            Data::Missing => context.evaluate(&self.fallback)?,
            value => value,
        };
        let out = match &self.into {
            Some(into) => input.with_field(into, value),
            None => value,
        };
        Ok(Outcome::Out(0, out))
    }
}

impl Step for Set {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let name = name_of(context, &self.name)?;
        if self.remove {
            context.set_variable(&name, Data::Missing)?;
            return Ok(Outcome::Out(0, input.clone()));
        }
        let value = self.work.value(context, input)?;
        if value == Data::Missing {
            let message = format!("there is no value for `{name}`; `remove` takes it away");
            return Err(bad_input(message));
        }
        context.set_variable(&name, value)?;
        Ok(Outcome::Out(0, input.clone()))
    }
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, assert_is, data};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn sets_gets_and_removes() {
        let mut run = FakeContext::new();
        let set = run.step("variable.set", json!({"name": "order-{{ $item.line }}"}));
        let input = data(json!({"line": 3, "value": 9007199254740993_i64}));
        assert_eq!(run.out(&set, input.clone()), (0, input), "passes its input on");
        let get = run.step("variable.get", json!({"name": "order-3", "into": "order"}));
        assert_is(&run.out(&get, data(json!({}))).1, json!({"order": 9007199254740993_i64}));
        let remove = run.step("variable.set", json!({"name": "order-3", "remove": true}));
        run.out(&remove, Data::Null);
        assert!(run.variables.is_empty());
    }

    #[test]
    fn gives_the_fallback_of_what_was_never_set() {
        let mut run = FakeContext::new();
        let step = run.step("variable.get", json!({"name": "x", "fallback": {"a": 1}}));
        assert_is(&run.out(&step, Data::Null).1, json!({"a": 1}));
        run.variables.insert("x".into(), Data::Null);
        assert_eq!(run.out(&step, Data::Null).1, Data::Null, "null was set");
    }

    #[test]
    fn refuses_names_and_values_that_are_none() {
        let mut run = FakeContext::new();
        let step =
            run.step("variable.set", json!({"name": "{{ $item.name }}", "value": "{{ $item.v }}"}));
        let fault = run.fault(&step, data(json!({"name": ""})));
        assert_eq!(fault.message, "a variable's name has 1 to 200 bytes, not 0");
        let fault = run.fault(&step, data(json!({"name": "n"})));
        assert!(fault.message.contains("no value for `n`"), "{}", fault.message);
        let fault = run.fault(&step, data(json!({"name": [1]})));
        assert_eq!(fault.message, "`name` must be text, but is a list of 1");
    }
}
