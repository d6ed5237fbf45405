//! `counter`: counts, durably.
//!
//! **Invariants**: `limit` is above `start`.

use crate::kind::field::FieldForm::{Into, Json, Test};
use crate::kind::field::NUMBER;
use crate::kind::{Complaints, FieldSpec, Fields, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "counter",
    group: Group::Logic,
    summary: "Counts what passes, durably, and adds the count to the input.",
    fields: &[
        FieldSpec::KEY,
        FieldSpec::preset(
            "by",
            Json,
            "1",
            "What is added; must give a number. Whole numbers count exactly.",
        )
        .evaluated(),
        FieldSpec::preset("start", NUMBER, "0", "Where the count begins and begins again."),
        FieldSpec::optional(
            "limit",
            NUMBER,
            "A count that reaches this begins again at `start`, the excess added.",
        )
        .evaluated(),
        FieldSpec::preset(
            "reset",
            Test,
            "false",
            "If true, the count is set to `start` before anything is added.",
        )
        .evaluated(),
        FieldSpec::preset(
            "into",
            Into,
            "\"count\"",
            "Field of the input that takes the count. An input that is no object stays \
             as the field `value`.",
        ),
    ],
    is_stateful: true,
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    let number = |name| fields.get(name).and_then(serde_json::Value::as_f64);
    if let Some(limit) = number("limit")
        && limit <= number("start").unwrap_or(0.0)
    {
        complaints.field("limit", "must be above `start`");
    }
}
