//! `uns.publish` and `uns.publish_batch`: values into the workspace.
//!
//! Where the step says nothing, a value has the source time and the quality of its input, if that
//! is an object with a `value` (a window's, or what `uns.last` gave), else those of the value that
//! started the run.
//!
//! **Invariants**: all values of a step go in one commit or none does; what is missing is never
//! published.

use super::read;
use super::state::get;
use super::text::{bad_input, describe, over_limit};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::refusals::Refusals;
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
        let (time, quality) = stamp(&time, &quality)?;
        let (own_time, own_quality) = own_stamp(context, input);
        let (time, quality) = (time.or(own_time), quality.or(own_quality));
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
                items_of(items)?
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
        let (time, quality) = own_stamp(context, input);
        let prefix = prefix.as_ref().map(|prefix| prefix.trim_end_matches('/'));
        let published = published.into_iter().map(|value| Publish {
            path: prefix.map_or(value.path.clone(), |prefix| format!("{prefix}/{}", value.path)),
            time: value.time.or(time),
            quality: value.quality.or(quality),
            ..value
        });
        context.publish(published.collect())?;
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

fn items_of(items: &[Data]) -> Result<Vec<Publish>, StepFault> {
    let mut values = Vec::with_capacity(items.len());
    let mut refusals = Refusals::default();
    for (place, item) in items.iter().enumerate() {
        match item_of(item) {
            Ok(value) => values.push(value),
            Err(fault) => {
                let path = item.get("path").as_text().unwrap_or_default().to_owned();
                refusals.add(place, path, fault);
            }
        }
    }
    refusals.into_fault(items.len()).map_or(Ok(values), Err)
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

/// The input's own source time and quality: those of a value that the step before gave, as a
/// window's end. `None` where they are the trigger's, which the run knows, or where something else
/// has that name.
fn own_stamp(context: &dyn Context, input: &Data) -> (Option<Timestamp>, Option<Quality>) {
    if input.get("value").is_missing() {
        return (None, None);
    }
    let trigger = context.trigger();
    let own = |name: &str| Some(input.get(name)).filter(|own| *own != trigger.get(name));
    let time = own("time").and_then(|time| read::time_of(time, "time").ok()?);
    let quality = own("quality").and_then(|quality| read::quality_of(quality, "quality").ok()?);
    (time, quality)
}

/// Source time and quality as given; where they are not, the run sets those of the value that
/// started it.
fn stamp(time: &Data, quality: &Data) -> Result<(Option<Timestamp>, Option<Quality>), StepFault> {
    Ok((read::time_of(time, "time")?, read::quality_of(quality, "quality")?))
}

#[cfg(test)]
mod tests;
