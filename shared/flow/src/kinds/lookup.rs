//! `lookup`: translates a value by a table.

use crate::kind::field::FieldForm::{Enum, Json, Map};
use crate::kind::{FieldSpec, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "lookup",
    summary: "Translates a value by a table.",
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::required(
            "table",
            Map,
            "The table: value, as text, to result. An expression may take it from a \
             variable.",
        )
        .evaluated(),
        FieldSpec::preset(
            "on_missing",
            Enum(&["fallback", "fail"]),
            "\"fallback\"",
            "What happens with a value that the table does not have.",
        ),
        FieldSpec::preset(
            "fallback",
            Json,
            "null",
            "Result for a value that the table does not have.",
        )
        .evaluated(),
        FieldSpec::INTO,
    ],
    ..PLAIN
};
