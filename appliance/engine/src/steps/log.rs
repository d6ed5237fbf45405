//! `log`: a line for the run's history and the box's log.
//!
//! **Invariants**: at most [`LINE_BYTES_MAX`] of a line are kept, cut between two characters.

use super::read;
use crate::compile::{CompileFault, Compiler};
use crate::script::Level;
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::sync::Arc;

/// Longest line.
const LINE_BYTES_MAX: usize = 4_096;

struct Log {
    message: Field,
    level: Level,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let levels = [
        ("info", Level::Info),
        ("debug", Level::Debug),
        ("warn", Level::Warn),
        ("error", Level::Error),
    ];
    Ok(Arc::new(Log {
        message: compiler.field("message")?,
        level: compiler.choice("level", &levels)?,
    }))
}

impl Step for Log {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let line = match context.evaluate(&self.message)? {
            data @ (Data::List(_) | Data::Map(_)) => super::text::json_text(&data).into(),
            Data::Missing => "undefined".into(),
            Data::Null => "null".into(),
            data => read::text(context, &Field::Literal(data), "message")?,
        };
        let end = line.floor_char_boundary(LINE_BYTES_MAX);
        let kept = line.split_at_checked(end).map_or(&*line, |(kept, _)| kept);
        context.log(self.level, kept);
        Ok(Outcome::Out(0, input.clone()))
    }
}

#[cfg(test)]
mod tests {
    use crate::script::Level;
    use crate::steps::testing::{FakeContext, data};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn writes_a_readable_line_and_passes_the_input_on() {
        let mut run = FakeContext::new();
        let step = run.step("log", json!({"message": "batch {{ $item.n }} done", "level": "warn"}));
        let input = data(json!({"n": 5}));
        assert_eq!(run.out(&step, input.clone()), (0, input));
        assert_eq!(run.logged, [(Level::Warn, "batch 5 done".to_owned())]);
        let whole = run.step("log", json!({"message": "{{ $item }}"}));
        run.out(&whole, data(json!({"a": [1]})));
        assert_eq!(run.logged[1], (Level::Info, "{\"a\":[1]}".to_owned()));
    }

    #[test]
    fn cuts_long_lines_between_characters() {
        let mut run = FakeContext::new();
        let step = run.step("log", json!({"message": "{{ $item }}"}));
        run.out(&step, Data::Text(format!("x{}", "\u{e4}".repeat(4_000)).into()));
        assert_eq!(run.logged[0].1.len(), 4_095, "half a character is none");
    }
}
