//! `cast`: turns a value into another type.

use crate::kind::field::FieldForm::{Bool, Enum, Json};
use crate::kind::{FieldSpec, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "cast",
    summary: "Turns a value into a bool, a whole number, a number, or text.",
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::required(
            "to",
            Enum(&["bool", "int", "float", "text"]),
            "The type. `bool`: from true/false, numbers (0 is false), and the texts \
             true, false, on, off, yes, no, 1, 0 in any case. `int`, `float`: from \
             numbers, bools (1 and 0) and texts, spaces around ignored. `text`: numbers \
             as JSON, objects and lists as JSON text.",
        ),
        FieldSpec::preset(
            "rounding",
            Enum(&["nearest", "down", "up", "toward_zero", "exact"]),
            "\"nearest\"",
            "How `int` treats fractions; halves go away from zero; `exact` fails on \
             any.",
        ),
        FieldSpec::preset(
            "decimal_comma",
            Bool,
            "false",
            "Whether texts write `1.234,5`: dots are ignored, the comma is the decimal \
             point.",
        ),
        FieldSpec::preset(
            "on_failure",
            Enum(&["fail", "fallback"]),
            "\"fail\"",
            "What happens with a value that cannot be turned: the step fails, or gives \
             `fallback`.",
        ),
        FieldSpec::preset("fallback", Json, "null", "Result instead of a failure.").evaluated(),
        FieldSpec::INTO,
    ],
    ..PLAIN
};
