//! `split`: sends the pieces of a list, an object or a text out one by one.
//!
//! **Invariants**: pieces are bounded by `pieces_max`; an empty list ends the branch.

use super::text::{bad_input, describe, over_limit};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::sync::Arc;

/// Most pieces if the step says nothing.
const PIECES: u64 = 10_000;

struct Split {
    work: Work,
    separator: String,
    size: usize,
    envelope: bool,
    pieces_max: usize,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let separator = compiler.optional_text("separator")?.unwrap_or_else(|| "\n".to_owned());
    if separator.is_empty() {
        return Err(compiler.fault("separator", "is empty: text would have no end of pieces"));
    }
    let whole = |value: Option<u64>, default: u64| {
        usize::try_from(value.unwrap_or(default)).unwrap_or(usize::MAX).max(1)
    };
    Ok(Arc::new(Split {
        work: Work::compile(compiler)?,
        separator,
        size: whole(compiler.whole("size")?, 1),
        envelope: compiler.flag("envelope")?,
        pieces_max: whole(compiler.whole("pieces_max")?, PIECES),
    }))
}

impl Step for Split {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let value = self.work.value(context, input)?;
        let mut pieces = self.pieces(&value)?;
        if self.size > 1 {
            pieces = pieces.chunks(self.size).map(|chunk| Data::List(chunk.into())).collect();
        }
        if pieces.len() > self.pieces_max {
            let (count, most) = (pieces.len(), self.pieces_max);
            return Err(over_limit(format!("there are {count} pieces; `pieces_max` is {most}")));
        }
        if pieces.is_empty() {
            return Ok(Outcome::Nothing);
        }
        let pieces = pieces.into_iter().enumerate();
        Ok(Outcome::Many(
            pieces.map(|(index, piece)| (0, self.wrap(input, index, piece))).collect(),
        ))
    }
}

impl Split {
    fn pieces(&self, value: &Data) -> Result<Vec<Data>, StepFault> {
        // Refused before they are made: a text may have as many pieces as bytes.
        let most = self.pieces_max.saturating_mul(self.size).saturating_add(1);
        Ok(match value {
            Data::List(items) => items.to_vec(),
            Data::Map(map) => map
                .iter()
                .map(|(name, member)| {
                    let key = Data::Text(name.clone());
                    super::state::map_of([("key", key), ("value", member.clone())])
                })
                .collect(),
            Data::Text(text) => {
                let mut pieces: Vec<Data> = text
                    .split(&self.separator)
                    .take(most)
                    .map(|piece| Data::Text(piece.into()))
                    .collect();
                while matches!(pieces.last(), Some(Data::Text(last)) if last.is_empty()) {
                    pieces.pop();
                }
                pieces
            }
            other => {
                let found = describe(other);
                return Err(bad_input(format!(
                    "a list, an object or a text is split, not {found}"
                )));
            }
        })
    }

    fn wrap(&self, input: &Data, index: usize, piece: Data) -> Data {
        if !self.envelope {
            return piece;
        }
        let index = Data::Int(i64::try_from(index).unwrap_or(i64::MAX));
        input.with_field("value", piece).with_field("index", index)
    }
}

#[cfg(test)]
mod tests {
    use crate::step::Outcome;
    use crate::steps::testing::{FakeContext, assert_is, data, name_of, text};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn sends_the_items_of_a_list_one_by_one_and_in_order() {
        let mut run = FakeContext::new();
        let step = run.step("split", json!({}));
        let outs = run.outs(&step, data(json!({"value": [1, "b", null]})));
        let items: Vec<Data> = outs.into_iter().map(|(_, item)| item).collect();
        assert_eq!(items, [Data::Int(1), text("b"), Data::Null]);
        let empty = run.run(&step, data(json!([])));
        assert!(matches!(empty, Ok(Outcome::Nothing)), "nothing to send: {}", name_of(&empty));
    }

    #[test]
    fn splits_texts_and_objects() {
        let mut run = FakeContext::new();
        let step = run.step("split", json!({"separator": ";"}));
        let outs = run.outs(&step, text("a;;b;;"));
        let items: Vec<Data> = outs.into_iter().map(|(_, item)| item).collect();
        assert_eq!(items, [text("a"), text(""), text("b")], "empty pieces at the end are dropped");
        let outs = run.outs(&step, data(json!({"x": 1, "y": 2})));
        assert_is(&outs[1].1, json!({"key": "y", "value": 2}));
    }

    #[test]
    fn groups_and_wraps_pieces() {
        let mut run = FakeContext::new();
        let step = run.step("split", json!({"size": 2, "envelope": true}));
        let outs = run.outs(&step, data(json!({"value": [1, 2, 3], "path": "p"})));
        assert_eq!(outs.len(), 2);
        assert_is(&outs[0].1, json!({"value": [1, 2], "path": "p", "index": 0}));
        assert_is(&outs[1].1, json!({"value": [3], "path": "p", "index": 1}));
    }

    #[test]
    fn refuses_too_many_pieces_and_what_has_none() {
        let mut run = FakeContext::new();
        let step = run.step("split", json!({"pieces_max": 2, "separator": ","}));
        assert_eq!(run.fault(&step, text("1,2,3")).code, "limit");
        assert_eq!(run.outs(&step, text("1,2,")).len(), 2, "exactly as many as allowed");
        assert!(run.fault(&step, Data::Int(5)).message.contains("not number 5"));
    }
}
