//! `history.query`: samples of a tag from the history.

use crate::kind::field::FieldForm::{Integer, Into, Json, Path};
use crate::kind::{FieldSpec, Group, Kind, OUTSIDE_MS, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "history.query",
    group: Group::System,
    summary: "Gives samples of a tag in order of time: a list of `{ time, value, quality \
             }`.",
    fields: &[
        FieldSpec::required("path", Path, "The tag's path.").evaluated(),
        FieldSpec::required(
            "from",
            Json,
            "From when, inclusive: RFC 3339, milliseconds since 1970, or a span before \
             now: `-90s`, `-15m`, `-8h`, `-7d`.",
        )
        .evaluated(),
        FieldSpec::optional(
            "to",
            Json,
            "Until when, exclusive, in the same forms; the time of the run if left out.",
        )
        .evaluated(),
        FieldSpec::preset(
            "limit",
            Integer { least: 1, most: 10_000 },
            "1000",
            "Most samples, the earliest.",
        ),
        FieldSpec::optional(
            "into",
            Into,
            "Field of the input that takes the result; it is the whole output if left \
             out.",
        ),
    ],
    timeout_ms: OUTSIDE_MS,
    ..PLAIN
};
