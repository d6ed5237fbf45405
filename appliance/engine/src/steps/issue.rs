//! `issue.raise` and `issue.clear`: issues of the pipeline.
//!
//! **Invariants**: texts are bounded; the run puts the pipeline's own prefix in front of the key.

use super::read;
use super::text::{bad_input, describe};
use crate::compile::{CompileFault, Compiler};
use crate::services::IssueChange;
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use millrace_supervisor::Severity;
use std::sync::Arc;

/// Longest key.
const KEY_BYTES_MAX: usize = 200;
/// Most of each text that is kept.
const TEXT_BYTES_MAX: usize = 1_000;

struct Raise {
    key: Field,
    severity: Field,
    what: Field,
    effect: Field,
    remedy: Field,
}

struct Clear {
    key: Field,
}

pub(super) fn compile_raise(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let empty = || Data::Text("".into());
    Ok(Arc::new(Raise {
        key: compiler.field("key")?,
        severity: compiler.field_or("severity", Data::Text("warning".into()))?,
        what: compiler.field("what")?,
        effect: compiler.field_or("effect", empty())?,
        remedy: compiler.field_or("remedy", empty())?,
    }))
}

pub(super) fn compile_clear(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    Ok(Arc::new(Clear { key: compiler.field("key")? }))
}

fn key_of(context: &mut dyn Context, field: &Field) -> Result<Arc<str>, StepFault> {
    let key = read::text(context, field, "key")?;
    if key.is_empty() || key.len() > KEY_BYTES_MAX {
        let length = key.len();
        return Err(bad_input(format!(
            "an issue's key has 1 to {KEY_BYTES_MAX} bytes, not {length}"
        )));
    }
    Ok(key)
}

impl Step for Raise {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let key = key_of(context, &self.key)?;
        let severity = match context.evaluate(&self.severity)? {
            Data::Text(word) if &*word == "notice" => Severity::Notice,
            Data::Text(word) if &*word == "warning" => Severity::Warning,
            Data::Text(word) if &*word == "critical" => Severity::Critical,
            other => {
                let found = describe(&other);
                let words = "`notice`, `warning` or `critical`";
                return Err(bad_input(format!("`severity` must be {words}, but is {found}")));
            }
        };
        let mut text = |field: &Field, name: &str| {
            let text = read::text(context, field, name)?;
            let end = text.floor_char_boundary(TEXT_BYTES_MAX);
            Ok::<_, StepFault>(text.split_at_checked(end).map_or("", |(kept, _)| kept).to_owned())
        };
        let change = IssueChange::Raise {
            severity,
            what: text(&self.what, "what")?,
            effect: text(&self.effect, "effect")?,
            remedy: text(&self.remedy, "remedy")?,
        };
        context.issue(&key, change);
        Ok(Outcome::Out(0, input.clone()))
    }
}

impl Step for Clear {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let key = key_of(context, &self.key)?;
        context.issue(&key, IssueChange::Clear);
        Ok(Outcome::Out(0, input.clone()))
    }
}

#[cfg(test)]
mod tests {
    use crate::services::IssueChange;
    use crate::steps::testing::{FakeContext, data};
    use millrace_flow::Data;
    use millrace_supervisor::Severity;
    use serde_json::json;

    #[test]
    fn raises_and_clears_under_the_same_key() {
        let mut run = FakeContext::new();
        let fields =
            json!({"key": "hot-{{ $item.line }}", "severity": "critical", "what": "too hot"});
        let raise = run.step("issue.raise", fields);
        let clear = run.step("issue.clear", json!({"key": "hot-{{ $item.line }}"}));
        let input = data(json!({"line": 1}));
        assert_eq!(run.out(&raise, input.clone()), (0, input.clone()), "passes its input on");
        run.out(&clear, input);
        let change = IssueChange::Raise {
            severity: Severity::Critical,
            what: "too hot".into(),
            effect: String::new(),
            remedy: String::new(),
        };
        assert_eq!(run.issues, [("hot-1".into(), change), ("hot-1".into(), IssueChange::Clear)]);
    }

    #[test]
    fn refuses_keys_and_severities_that_are_none() {
        let mut run = FakeContext::new();
        let clear = run.step("issue.clear", json!({"key": "{{ $item }}"}));
        assert!(run.fault(&clear, data(json!("x".repeat(201)))).message.contains("not 201"));
        let fields = json!({"key": "k", "what": "w", "severity": "{{ $item }}"});
        let raise = run.step("issue.raise", fields);
        let fault = run.fault(&raise, data(json!("fatal")));
        assert!(fault.message.contains("but is text \"fatal\""), "{}", fault.message);
        assert!(run.issues.is_empty());
        let long = run.step("issue.raise", json!({"key": "k", "what": "{{ $item }}"}));
        run.out(&long, Data::Text("y".repeat(5_000).into()));
        assert!(
            matches!(&run.issues[0].1, IssueChange::Raise { what, .. } if what.len() == 1_000),
            "texts are cut"
        );
    }
}
