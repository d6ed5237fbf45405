//! `lookup`: translates a value by a table, or by ranges.
//!
//! **Invariants**: at least one of `table` and `ranges` is there; a range has `from`, `below` or both,
//! and is not empty.

use crate::kind::field::FieldForm::{Enum, Items, Json, Map};
use crate::kind::field::{FieldForm, NUMBER};
use crate::kind::{Complaints, FieldSpec, Fields, Kind, PLAIN, RANGES_MAX};
use serde_json::Value;

const RANGE: FieldForm = Items(&[
    FieldSpec::optional("from", NUMBER, "The value is a number and at least this."),
    FieldSpec::optional("below", NUMBER, "The value is a number and below this."),
    FieldSpec::required("result", Json, "The result.").evaluated(),
]);

pub(crate) static KIND: Kind = Kind {
    name: "lookup",
    summary: "Translates a value by a table, or a number by the range that it lies in.",
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::optional(
            "table",
            Map,
            "The table: value, as text, to result. An expression may take it from a \
             variable.",
        )
        .evaluated(),
        FieldSpec::optional(
            "ranges",
            RANGE,
            "Up to 1,000 ranges, `from` inclusive, `below` not; the first that holds the \
             number counts. With a table too, they are for what it does not have.",
        ),
        FieldSpec::preset(
            "on_missing",
            Enum(&["fallback", "fail"]),
            "\"fallback\"",
            "What happens with a value that neither table nor ranges have.",
        ),
        FieldSpec::preset(
            "fallback",
            Json,
            "null",
            "Result for a value that neither table nor ranges have.",
        )
        .evaluated(),
        FieldSpec::INTO,
    ],
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    if !fields.contains_key("table") && !fields.contains_key("ranges") {
        complaints.step("needs a `table` or `ranges` to look in");
    }
    let Some(ranges) = fields.get("ranges").and_then(Value::as_array) else { return };
    if ranges.is_empty() || ranges.len() > RANGES_MAX {
        let count = ranges.len();
        complaints.field("ranges", format!("takes 1 to {RANGES_MAX} ranges, not {count}"));
    }
    for (number, range) in (1..).zip(ranges) {
        let bound = |name| range.get(name).and_then(Value::as_f64);
        match (bound("from"), bound("below")) {
            (None, None) => {
                complaints.field("ranges", format!("range {number} needs `from`, `below` or both"));
            }
            (Some(from), Some(below)) if from >= below => {
                complaints.field("ranges", format!("range {number} is empty"));
            }
            _ => {}
        }
    }
}
