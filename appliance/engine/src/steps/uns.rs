//! `uns.last`, `uns.search` and `history.query`: what the workspace knows.
//!
//! **Invariants**: results are bounded by `limit`; the history is read outside of the worker's
//! thread.

use super::last::Fresh;
use super::read;
use super::state::{get, map_of};
use super::text::bad_input;
use super::work::into;
use crate::compile::{CompileFault, Compiler};
use crate::services::HistoryQuery;
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use millrace_model::{Filter, Timestamp};
use std::sync::Arc;

/// Tags of a search if the step says nothing.
const TAGS: u64 = 100;
/// Samples of a query if the step says nothing.
const SAMPLES: u64 = 1_000;

struct LastStep {
    path: Field,
    fresh: Fresh,
    into: Option<String>,
}

struct Search {
    filter: Field,
    limit: usize,
    with_last: bool,
    into: Option<String>,
}

struct History {
    path: Field,
    from: Field,
    to: Option<Field>,
    limit: usize,
    into: Option<String>,
}

pub(super) fn compile_last(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(LastStep {
        path: compiler.field("path")?,
        fresh: Fresh::compile(compiler)?,
        into: into(compiler)?,
    }))
}

pub(super) fn compile_search(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Search {
        filter: compiler.field("filter")?,
        limit: usize::try_from(compiler.whole("limit")?.unwrap_or(TAGS)).unwrap_or(0),
        with_last: compiler.flag("with_last")?,
        into: into(compiler)?,
    }))
}

pub(super) fn compile_history(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(History {
        path: compiler.field("path")?,
        from: compiler.field("from")?,
        to: compiler.optional("to")?,
        limit: usize::try_from(compiler.whole("limit")?.unwrap_or(SAMPLES)).unwrap_or(0),
        into: into(compiler)?,
    }))
}

/// The result as the whole output, or in the input.
fn output(into: Option<&str>, input: &Data, result: Data) -> Data {
    match into {
        Some(into) => input.with_field(into, result),
        None => result,
    }
}

impl Step for LastStep {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let path = read::text(context, &self.path, "path")?;
        let last = self.fresh.last(context, &path)?.unwrap_or(Data::Null);
        Ok(Outcome::Out(0, output(self.into.as_deref(), input, last)))
    }
}

impl Step for Search {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let filter = read::text(context, &self.filter, "filter")?;
        if let Err(fault) = Filter::new(&filter) {
            return Err(bad_input(format!("`{filter}` is no filter: {fault}")));
        }
        let found = context.services().search(context.workspace(), &filter, self.limit);
        let mut list = Vec::with_capacity(found.len());
        for tag in found {
            let unit = tag.unit.map_or(Data::Null, |unit| Data::Text(unit.into()));
            let last = if self.with_last { context.last(&tag.path) } else { Data::Missing };
            list.push(map_of([
                ("path", Data::Text(tag.path.into())),
                ("unit", unit),
                ("value", get(&last, "value")),
                ("time", get(&last, "time")),
                ("quality", get(&last, "quality")),
            ]));
        }
        Ok(Outcome::Out(0, output(self.into.as_deref(), input, Data::List(list.into()))))
    }
}

impl Step for History {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let path = read::text(context, &self.path, "path")?.to_string();
        let from = context.evaluate(&self.from)?;
        let from =
            point(context.now(), &from, "from")?.ok_or_else(|| bad_input("`from` is nothing"))?;
        let to = match &self.to {
            Some(field) => {
                let to = context.evaluate(field)?;
                point(context.now(), &to, "to")?
            }
            None => None,
        };
        let query = HistoryQuery { path, from, to: to.unwrap_or(context.now()), limit: self.limit };
        let samples = context.services().history(context.workspace(), query);
        let (into, input) = (self.into.clone(), input.clone());
        Ok(Outcome::Wait(Box::pin(
            async move { Ok(output(into.as_deref(), &input, samples.await?)) },
        )))
    }
}

/// A point of time, or a span before now: `-90s`, `-15m`, `-8h`, `-7d`.
fn point(now: Timestamp, data: &Data, name: &str) -> Result<Option<Timestamp>, StepFault> {
    if let Data::Text(text) = data
        && let Some(span) = text.strip_prefix('-')
    {
        let units = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)];
        let found = units.iter().find_map(|(mark, seconds)| {
            let count: i64 = span.strip_suffix(*mark)?.parse().ok().filter(|count| *count >= 0)?;
            count.checked_mul(*seconds)?.checked_mul(1_000_000_000)
        });
        let wanted = "a time, or a span before now like -90s, -15m, -8h or -7d";
        let nanos = found.ok_or_else(|| read::wrong(name, wanted, data))?;
        return Ok(Some(now.plus_nanos(nanos.saturating_neg())));
    }
    read::time_of(data, name)
}

#[cfg(test)]
mod tests {
    use crate::step::Outcome;
    use crate::steps::testing::{FakeContext, START, assert_is, data, name_of, text};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn last_gives_what_is_known_or_null() {
        let mut run = FakeContext::new();
        run.lasts.insert("a/b".into(), data(json!({"path": "a/b", "value": 5})));
        let step = run.step("uns.last", json!({"path": "a/{{ $item }}"}));
        assert_is(&run.out(&step, text("b")).1, json!({"path": "a/b", "value": 5}));
        assert_eq!(run.out(&step, text("c")).1, Data::Null);
        let into = run.step("uns.last", json!({"path": "x", "into": "x", "on_missing": "fail"}));
        assert_eq!(run.fault(&into, Data::Null).message, "`x` has no value yet");
    }

    #[test]
    fn search_lists_tags_with_their_last_values() {
        let mut run = FakeContext::new();
        *run.fake_services().tags.lock() = vec!["a/t".into(), "b/p".into(), "b/t".into()];
        run.lasts.insert("b/t".into(), data(json!({"value": 5, "quality": "good"})));
        let step = run.step("uns.search", json!({"filter": "+/t", "with_last": true}));
        let (_, out) = run.out(&step, Data::Null);
        let wanted = json!([
            {"path": "a/t", "unit": null},
            {"path": "b/t", "unit": null, "value": 5, "quality": "good"},
        ]);
        assert_is(&out, wanted);
        let bad = run.step("uns.search", json!({"filter": "{{ $item }}"}));
        assert!(run.fault(&bad, text("a/#/b")).message.contains("is no filter"));
    }

    #[test]
    fn history_is_asked_outside_and_for_the_time_that_was_meant() {
        let mut run = FakeContext::new();
        let fields = json!({"path": "a", "from": "-15m", "limit": 7});
        let step = run.step("history.query", fields);
        let outcome = run.run(&step, Data::Null);
        assert!(matches!(outcome, Ok(Outcome::Wait(_))), "{}", name_of(&outcome));
        let asked = run.fake_services().history.lock().remove(0);
        assert_eq!((asked.from.0, asked.to.0), (START - 900 * 1_000_000_000, START));
        assert_eq!((asked.path.as_str(), asked.limit), ("a", 7));
        let step = run.step("history.query", json!({"path": "a", "from": "{{ $item }}"}));
        for wrong in ["-5w", "--5s", "-", "soon", "-9999999999999999d"] {
            let fault = run.fault(&step, text(wrong));
            assert!(fault.message.contains("`from` must be a time"), "{}", fault.message);
        }
    }
}
