//! `throttle`: lets through so many per interval.
//!
//! **Invariants**: with `keep` `last` one datum passes per interval, so `count` has no meaning.

use crate::kind::field::{FieldForm, SOME_TIME};
use crate::kind::{Complaints, FieldSpec, Fields, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "throttle",
    summary: "Lets the first few data of each interval through, or the last one when it ends, \
              and drops the rest.",
    fields: &[
        FieldSpec::KEY,
        FieldSpec::required(
            "every_ms",
            SOME_TIME,
            "Length of the interval, which begins with the first datum let through; with \
             `last` with the first that comes after the one before.",
        ),
        FieldSpec::preset(
            "keep",
            FieldForm::Enum(&["first", "last"]),
            "\"first\"",
            "Which data of an interval pass: the first `count`, at once; or the last one, at \
             the interval's end.",
        ),
        FieldSpec::preset(
            "count",
            FieldForm::Integer { least: 1, most: 1_000_000 },
            "1",
            "How many pass per interval.",
        ),
    ],
    is_stateful: true,
    // With `last` it waits for the interval's end.
    timeout_ms: None,
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    let keeps_last = fields.get("keep").and_then(serde_json::Value::as_str) == Some("last");
    if keeps_last && fields.contains_key("count") {
        complaints.field("count", "has no meaning with `keep` `last`: one passes per interval");
    }
}
