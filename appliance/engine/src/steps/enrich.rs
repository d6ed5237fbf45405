//! `enrich`: adds the last known values of other tags to the input.
//!
//! **Invariants**: at most [`PATHS_MAX`] tags; what this run has published itself is not known before
//! it is committed.

use super::last::Fresh;
use super::state::get;
use super::text::{bad_input, describe, over_limit};
use super::work::into;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::{Data, Map};
use std::sync::Arc;

/// Most tags of one step.
const PATHS_MAX: usize = 100;

struct Enrich {
    paths: Field,
    into: String,
    whole: bool,
    fresh: Fresh,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Enrich {
        paths: compiler.field("paths")?,
        into: into(compiler)?.unwrap_or_else(|| "last".to_owned()),
        whole: compiler.flag("whole")?,
        fresh: Fresh::compile(compiler)?,
    }))
}

impl Step for Enrich {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let paths = match context.evaluate(&self.paths)? {
            Data::Map(paths) => paths,
            other => {
                let found = describe(&other);
                return Err(bad_input(format!("`paths` must be an object, but is {found}")));
            }
        };
        if paths.len() > PATHS_MAX {
            let count = paths.len();
            return Err(over_limit(format!("`paths` has {count} tags; at most {PATHS_MAX}")));
        }
        let mut found = Map::new();
        for (name, path) in paths.iter() {
            let Data::Text(path) = path else {
                return Err(bad_input(format!(
                    "`paths`: `{name}` is {}, not a path",
                    describe(path)
                )));
            };
            let last = self.fresh.last(context, path)?;
            let value = match last {
                None => Data::Null,
                Some(last) if self.whole => last,
                Some(last) => get(&last, "value"),
            };
            found.set(name.clone(), value);
        }
        Ok(Outcome::Out(0, input.with_field(&self.into, Data::Map(Arc::new(found)))))
    }
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, START, assert_is, data};
    use millrace_flow::Data;
    use millrace_model::Timestamp;
    use serde_json::json;

    fn known(run: &mut FakeContext, path: &str, value: i64, age_seconds: i64) {
        let received = Timestamp(START - age_seconds * 1_000_000_000).to_rfc3339();
        let last = json!({"path": path, "value": value, "received": received, "quality": "good"});
        run.lasts.insert(path.into(), data(last));
    }

    #[test]
    fn joins_the_last_values_of_other_tags() {
        let mut run = FakeContext::new();
        known(&mut run, "press-4/order", 4711, 5);
        let fields =
            json!({"paths": {"order": "{{ $item.machine }}/order", "shift": "hall/shift"}});
        let step = run.step("enrich", fields);
        let (_, out) = run.out(&step, data(json!({"machine": "press-4"})));
        assert_is(&out, json!({"machine": "press-4", "last": {"order": 4711, "shift": null}}));
        let (_, out) = run.out(&step, data(json!({"machine": "other", "last": 1})));
        assert_is(&out, json!({"machine": "other", "last": {"order": null, "shift": null}}));
    }

    #[test]
    fn an_old_value_is_none_and_a_missing_one_may_fail() {
        let mut run = FakeContext::new();
        known(&mut run, "a", 1, 61);
        let fields = json!({"paths": {"a": "a"}, "age_max_ms": 60000, "on_missing": "fail"});
        let step = run.step("enrich", fields);
        let fault = run.fault(&step, Data::Int(1));
        assert_eq!(fault.message, "the last value of `a` was received 61 s ago: too old");
        run.lasts.clear();
        assert_eq!(run.fault(&step, Data::Int(1)).message, "`a` has no value yet");
    }

    #[test]
    fn gives_the_whole_of_it_if_wanted_and_refuses_too_many() {
        let mut run = FakeContext::new();
        known(&mut run, "a", 1, 1);
        let step =
            run.step("enrich", json!({"paths": {"x": "a"}, "whole": true, "into": "more.tags"}));
        let (_, out) = run.out(&step, Data::Int(5));
        assert_is(&crate::steps::state::get(&out, "value"), json!(5));
        let more = crate::steps::state::get(&out, "more");
        let x = crate::steps::state::get(&crate::steps::state::get(&more, "tags"), "x");
        assert_is(&crate::steps::state::get(&x, "path"), json!("a"));
        let many: serde_json::Map<_, _> = (0..101).map(|i| (format!("t{i}"), json!("a"))).collect();
        let step = run.step("enrich", json!({ "paths": many }));
        assert_eq!(run.fault(&step, Data::Int(5)).code, "limit");
    }
}
