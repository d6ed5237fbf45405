//! `uns.publish` and `uns.publish_batch`: values into the workspace.
//!
//! Where the step says nothing, an input's own value has the input's own `time` and `quality` (as a
//! window's has, or what `uns.last` gave); where it has none, the run gives it those of the value
//! that started it.
//!
//! **Invariants**: all values of a step go in one commit or none does; what is missing is never
//! published.

use super::read;
use super::state::get;
use super::text::{bad_input, describe, over_limit};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::services::Publish;
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use millrace_model::{Quality, Timestamp};
use std::sync::Arc;

/// Most values of one batch.
const VALUES_MAX: usize = 10_000;

struct One {
    path: Field,
    work: Work,
    time: Option<Field>,
    quality: Option<Field>,
}

struct Batch {
    values: Field,
    prefix: Option<Field>,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(One {
        path: compiler.field("path")?,
        work: Work::compile(compiler)?,
        time: compiler.optional("time")?,
        quality: compiler.optional("quality")?,
    }))
}

pub(super) fn compile_batch(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let values = match compiler.optional("values")? {
        Some(field) => field,
        None => compiler.compile_expression("values", "$item")?,
    };
    Ok(Arc::new(Batch { values, prefix: compiler.optional("prefix")? }))
}

impl Step for One {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let path = read::text(context, &self.path, "path")?;
        let value = self.work.value(context, input)?;
        if value == Data::Missing {
            return Err(bad_input(format!("there is no value to publish on `{path}`")));
        }
        let given = |context: &mut dyn Context, field: &Option<Field>| match field {
            Some(field) => context.evaluate(field),
            None => Ok(Data::Missing),
        };
        let time = given(context, &self.time)?;
        let quality = given(context, &self.quality)?;
        let (mut time, mut quality) = stamp(&time, &quality)?;
        if self.work.is_own_value(input) {
            let of = |name: &str| {
                Some(input.get(name)).filter(|own| **own != *context.trigger().get(name))
            };
            // What is no time or no quality is something else of that name.
            time = time.or_else(|| read::time_of(of("time")?, "time").ok()?);
            quality = quality.or_else(|| read::quality_of(of("quality")?, "quality").ok()?);
        }
        context.publish(vec![Publish { path: path.to_string(), value, time, quality }])?;
        Ok(Outcome::Out(0, input.clone()))
    }
}

impl Step for Batch {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let prefix = match &self.prefix {
            Some(field) => Some(read::text(context, field, "prefix")?),
            None => None,
        };
        let values = context.evaluate(&self.values)?;
        let published = match &values {
            Data::List(items) => {
                check_count(items.len())?;
                items.iter().map(item_of).collect::<Result<Vec<_>, _>>()?
            }
            Data::Map(map) => {
                check_count(map.len())?;
                let values = map.iter().filter(|(_, value)| **value != Data::Missing);
                let values = values.map(|(path, value)| Publish {
                    path: path.to_string(),
                    value: value.clone(),
                    time: None,
                    quality: None,
                });
                values.collect()
            }
            other => {
                let found = describe(other);
                let message = format!("`values` must be a list or an object, but is {found}");
                return Err(bad_input(message));
            }
        };
        if published.is_empty() {
            return Ok(Outcome::Out(0, input.clone()));
        }
        let published = match prefix {
            None => published,
            Some(prefix) => {
                let prefix = prefix.trim_end_matches('/').to_owned();
                let with =
                    |value: Publish| Publish { path: format!("{prefix}/{}", value.path), ..value };
                published.into_iter().map(with).collect()
            }
        };
        context.publish(published)?;
        Ok(Outcome::Out(0, input.clone()))
    }
}

fn check_count(count: usize) -> Result<(), StepFault> {
    if count > VALUES_MAX {
        return Err(over_limit(format!(
            "there are {count} values; a batch has at most {VALUES_MAX}"
        )));
    }
    Ok(())
}

fn item_of(item: &Data) -> Result<Publish, StepFault> {
    let Data::Text(path) = get(item, "path") else {
        return Err(bad_input(format!("{} has no `path`", describe(item))));
    };
    let value = get(item, "value");
    if value == Data::Missing {
        return Err(bad_input(format!("there is no value to publish on `{path}`")));
    }
    let (time, quality) = stamp(&get(item, "time"), &get(item, "quality"))?;
    Ok(Publish { path: path.to_string(), value, time, quality })
}

/// Source time and quality as given; where they are not, the run sets those of the value that
/// started it.
fn stamp(time: &Data, quality: &Data) -> Result<(Option<Timestamp>, Option<Quality>), StepFault> {
    Ok((read::time_of(time, "time")?, read::quality_of(quality, "quality")?))
}

#[cfg(test)]
mod tests;
