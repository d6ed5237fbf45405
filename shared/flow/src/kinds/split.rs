//! `split`: sends the pieces of a list, object or text out one by one.

use crate::kind::field::FieldForm::{Bool, Integer, Text};
use crate::kind::{Complaints, FieldSpec, Fields, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "split",
    summary: "Sends the pieces of a list, an object or a text out one by one.",
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::preset(
            "separator",
            Text,
            "\"\\n\"",
            "Text is cut at this; empty pieces at the end are dropped.",
        ),
        FieldSpec::preset(
            "size",
            Integer { least: 1, most: 10_000 },
            "1",
            "Pieces are lists of so many items if more than 1.",
        ),
        FieldSpec::preset(
            "envelope",
            Bool,
            "false",
            "Whether each piece goes out within the input, in place of the value that \
             was split, with `index` beside it. Else bare. An object's pieces are `{ key, \
             value }`.",
        ),
        FieldSpec::preset(
            "pieces_max",
            Integer { least: 1, most: 100_000 },
            "10000",
            "More pieces than this fail the step.",
        ),
    ],
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    if fields.get("separator").and_then(serde_json::Value::as_str) == Some("") {
        complaints.field("separator", "is empty: text cannot be cut at nothing");
    }
}
