//! What a step works on and where its result goes: the fields `value` and `into` of many kinds.
//!
//! The rules are flow's ([`Data::own_value`], [`Data::with_result`]); here are the two fields,
//! compiled.
//!
//! **Invariants**: the input is never changed, only copied; what is beside the value passes on.

use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, StepFault};
use millrace_flow::Data;

/// The fields `value` and `into` of a step.
#[derive(Debug)]
pub(super) struct Work {
    value: Option<Field>,
    into: Option<String>,
}

impl Work {
    /// Reads both fields.
    pub(super) fn compile(compiler: &mut Compiler<'_>) -> Result<Self, CompileFault> {
        Ok(Self { value: compiler.optional("value")?, into: into(compiler)? })
    }

    /// What the step works on.
    pub(super) fn value(&self, context: &mut dyn Context, input: &Data) -> Result<Data, StepFault> {
        match &self.value {
            Some(field) => context.evaluate(field),
            None => Ok(input.own_value().clone()),
        }
    }

    /// The output with the result where it belongs.
    pub(super) fn output(&self, input: &Data, result: Data) -> Data {
        input.with_result(self.into.as_deref(), self.value.is_some(), result)
    }
}

/// The field `into`: names with dots between.
pub(super) fn into(compiler: &Compiler<'_>) -> Result<Option<String>, CompileFault> {
    match compiler.optional_text("into")? {
        Some(into) if into.split('.').any(str::is_empty) => {
            Err(compiler.fault("into", "names a field, or fields with dots between"))
        }
        into => Ok(into),
    }
}
