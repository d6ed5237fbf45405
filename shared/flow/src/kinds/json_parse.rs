//! `json.parse`: reads JSON text.

use crate::kind::field::FieldForm::{Enum, Json};
use crate::kind::{FieldSpec, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "json.parse",
    summary: "Reads JSON text; whole numbers keep all 64 bits.",
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::preset(
            "on_failure",
            Enum(&["fail", "fallback"]),
            "\"fail\"",
            "What happens with text that is no JSON, or nested more than 64 deep.",
        ),
        FieldSpec::preset("fallback", Json, "null", "Result instead of a failure.").evaluated(),
        FieldSpec::INTO,
    ],
    ..PLAIN
};
