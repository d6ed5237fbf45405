//! `debounce`: waits for quiet, then passes the last datum on.
//!
//! **Invariants**: `most_ms` is not shorter than `quiet_ms`.

use crate::kind::field::SOME_TIME;
use crate::kind::{Complaints, FieldSpec, Fields, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "debounce",
    summary: "Passes a datum on when no other of its key came for a while.",
    fields: &[
        FieldSpec::KEY,
        FieldSpec::required("quiet_ms", SOME_TIME, "How long it must be quiet."),
        FieldSpec::optional(
            "most_ms",
            SOME_TIME,
            "Passes the last datum on after this time even if it never was quiet.",
        ),
    ],
    is_stateful: true,
    timeout_ms: None,
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    let number = |name| fields.get(name).and_then(serde_json::Value::as_u64);
    if let (Some(quiet), Some(most)) = (number("quiet_ms"), number("most_ms"))
        && most < quiet
    {
        complaints.field("most_ms", "is shorter than `quiet_ms`: it would never be quiet");
    }
}
