//! `join`: makes one datum of many.

use crate::kind::field::FieldForm::{Bool, Enum, Json, Text};
use crate::kind::{FieldSpec, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "join",
    summary: "Makes one list, text or object of the pieces that reach it in a run.",
    fields: &[
        FieldSpec::optional(
            "value",
            Json,
            "The piece, or the list if `gather` is false; the input's own value if left \
             out. With `gather` it is a plain path of `$item`.",
        )
        .evaluated(),
        FieldSpec::preset(
            "gather",
            Bool,
            "true",
            "Whether all data that reach the step in this run are gathered, each one's \
             own value a piece. Else each input's value is a list that is joined by \
             itself.",
        ),
        FieldSpec::preset(
            "form",
            Enum(&["list", "text", "object"]),
            "\"list\"",
            "What becomes of the pieces: a list in order of arrival; one text; an object \
             of pieces `{ key, value }`, later ones winning.",
        ),
        FieldSpec::preset(
            "separator",
            Text,
            "\"\"",
            "With `text`: what stands between the pieces.",
        ),
        FieldSpec::preset(
            "key_field",
            Text,
            "\"key\"",
            "With `object`: field of a piece with its name.",
        ),
        FieldSpec::preset(
            "value_field",
            Text,
            "\"value\"",
            "With `object`: field of a piece with its value.",
        ),
    ],
    timeout_ms: None,
    ..PLAIN
};
