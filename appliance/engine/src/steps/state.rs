//! Small readers and writers of a step's lasting state.
//!
//! State is data: a map of named fields per key. What cannot be read (a step whose fields were
//! changed since) counts as not there.
//!
//! **Invariants**: state is written only through [`Context::set_state`], so that it commits with
//! the run.

use super::text::key_text;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, StepFault};
use millrace_flow::document::{Order, Overlap};
use millrace_flow::{Data, Map};
use std::sync::Arc;

/// Which state of a step is meant.
#[derive(Debug)]
pub(super) struct Key(pub(super) Option<Field>);

impl Key {
    pub(super) fn compile(compiler: &mut Compiler<'_>) -> Result<Self, CompileFault> {
        compiler.optional("key").map(Self)
    }

    /// The key's text: as the field says, else the trigger's path, else the one key of all.
    ///
    /// # Errors
    /// The field gives nothing, or something too long.
    pub(super) fn text(&self, context: &mut dyn Context) -> Result<String, StepFault> {
        if let Some(field) = &self.0 {
            return context.evaluate(field).and_then(|data| key_text(&data));
        }
        Ok(match context.trigger() {
            Data::Map(trigger) => match trigger.get("path") {
                Some(Data::Text(path)) => path.to_string(),
                _ => String::new(),
            },
            _ => String::new(),
        })
    }
}

/// Refuses a pipeline whose run order or overlap would have its own later values wait for, skip or
/// stop a run of this step that waits for them.
pub(super) fn needs_later_runs(compiler: &Compiler<'_>) -> Result<(), CompileFault> {
    let settings = &compiler.document().settings;
    if settings.order == Order::Parallel && settings.overlap == Overlap::Queue {
        return Ok(());
    }
    Err(compiler.step_fault(
        "waits while later values come: set the run order to `parallel` and the overlap to \
         `queue`. A pipeline that keeps state takes its values in the order of arrival anyway",
    ))
}

/// A map of these fields, without the missing ones.
pub(super) fn map_of<const N: usize>(fields: [(&'static str, Data); N]) -> Data {
    let mut map = Map::new();
    for (name, data) in fields {
        if data != Data::Missing {
            map.set(name, data);
        }
    }
    Data::Map(Arc::new(map))
}

/// A field of a map; missing if it is no map.
pub(super) fn get(data: &Data, name: &str) -> Data {
    match data {
        Data::Map(map) => map.get(name).cloned().unwrap_or_default(),
        _ => Data::Missing,
    }
}

/// A whole number of a map.
pub(super) fn get_int(data: &Data, name: &str) -> Option<i64> {
    match get(data, name) {
        Data::Int(value) => Some(value),
        _ => None,
    }
}

/// A truth of a map; false if not there.
pub(super) fn get_flag(data: &Data, name: &str) -> bool {
    matches!(get(data, name), Data::Bool(true))
}

/// A mark that no other execution has, so that a wait knows whether it is still meant.
pub(super) fn token(context: &dyn Context) -> Data {
    Data::Text(format!("{}/{}", context.run_id(), context.execution()).into())
}
