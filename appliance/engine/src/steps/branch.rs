//! Steps that are the engine's own doing: `merge`, `foreach`, `try`, `call`, `stop`, `javascript`.
//!
//! They say what is to happen (gather, each, guard, call, stop) and the run does it; here are their
//! fields, their limits and what becomes of the result.
//!
//! **Invariants**: lists are bounded by `items_max`; how deep calls go is the run's limit.

use super::read;
use super::text::{bad_input, describe, over_limit};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::{Data, Map};
use std::sync::Arc;

/// Most items of a `foreach` if the step says nothing.
const ITEMS: u64 = 10_000;

#[derive(Clone, Copy)]
enum Merge {
    List,
    Object,
    First,
    Last,
}

struct ForEach {
    work: Work,
    items_max: usize,
}

struct Try;

struct Call {
    pipeline: String,
    input: Field,
}

struct Stop {
    output: Field,
    fail: Field,
    message: Field,
}

struct Script {
    function: usize,
}

pub(super) fn compile_merge(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let forms = [
        ("list", Merge::List),
        ("object", Merge::Object),
        ("first", Merge::First),
        ("last", Merge::Last),
    ];
    Ok(Arc::new(compiler.choice("form", &forms)?))
}

pub(super) fn compile_foreach(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let items_max = compiler.whole("items_max")?.unwrap_or(ITEMS);
    let items_max = usize::try_from(items_max).unwrap_or(usize::MAX);
    Ok(Arc::new(ForEach { work: Work::compile(compiler)?, items_max }))
}

pub(super) fn compile_try(
    _: &super::Spec,
    _: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Try))
}

pub(super) fn compile_call(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Call { pipeline: compiler.text("pipeline")?, input: item_or(compiler, "input")? }))
}

pub(super) fn compile_stop(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Stop {
        output: item_or(compiler, "output")?,
        fail: compiler.field_or("fail", Data::Bool(false))?,
        message: compiler.field_or("message", Data::Text("stopped as failed".into()))?,
    }))
}

pub(super) fn compile_javascript(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Script { function: compiler.script("code")? }))
}

/// The field, or the input.
fn item_or(compiler: &mut Compiler<'_>, name: &str) -> Result<Field, CompileFault> {
    match compiler.optional(name)? {
        Some(field) => Ok(field),
        None => compiler.compile_expression(name, "$item"),
    }
}

impl Step for Merge {
    fn execute(&self, _: &mut dyn Context, _: &Data) -> Result<Outcome, StepFault> {
        Ok(Outcome::Gather)
    }

    fn resume(&self, _: &mut dyn Context, done: Data) -> Result<Outcome, StepFault> {
        let Data::List(inputs) = &done else {
            return Err(bad_input(format!("nothing was gathered but {}", describe(&done))));
        };
        Ok(Outcome::Out(
            0,
            match self {
                Self::List => done,
                Self::First => inputs.first().cloned().unwrap_or_default(),
                Self::Last => inputs.last().cloned().unwrap_or_default(),
                Self::Object => {
                    let mut all = Map::new();
                    for input in inputs.iter() {
                        let Data::Map(map) = input else {
                            let found = describe(input);
                            return Err(bad_input(format!(
                                "only objects become one object, not {found}"
                            )));
                        };
                        for (name, member) in map.iter() {
                            all.set(name.clone(), member.clone());
                        }
                    }
                    Data::Map(Arc::new(all))
                }
            },
        ))
    }
}

impl Step for ForEach {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let items = match self.work.value(context, input)? {
            Data::List(items) => items,
            other => return Err(read::wrong("value", "a list", &other)),
        };
        if items.len() > self.items_max {
            let (count, most) = (items.len(), self.items_max);
            return Err(over_limit(format!("there are {count} items; `items_max` is {most}")));
        }
        Ok(Outcome::Each(items.to_vec()))
    }
}

impl Step for Try {
    fn execute(&self, _: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        Ok(Outcome::Guard(input.clone()))
    }
}

impl Step for Call {
    fn execute(&self, context: &mut dyn Context, _: &Data) -> Result<Outcome, StepFault> {
        let input = context.evaluate(&self.input)?;
        Ok(Outcome::Call { pipeline: self.pipeline.clone(), input })
    }
}

impl Step for Stop {
    fn execute(&self, context: &mut dyn Context, _: &Data) -> Result<Outcome, StepFault> {
        if context.evaluate(&self.fail)?.is_true() {
            let message = read::text(context, &self.message, "message")?;
            return Err(StepFault::lasting("stopped", &*message));
        }
        Ok(Outcome::Stop(context.evaluate(&self.output)?))
    }
}

impl Step for Script {
    fn execute(&self, context: &mut dyn Context, _: &Data) -> Result<Outcome, StepFault> {
        Ok(match context.script(self.function)? {
            Data::Missing => Outcome::Nothing,
            result => Outcome::Out(0, result),
        })
    }
}

#[cfg(test)]
mod tests;
