//! `json.format`: writes JSON text.

use crate::kind::field::FieldForm::Bool;
use crate::kind::{FieldSpec, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "json.format",
    summary: "Writes a value as JSON text; NaN and infinities become null.",
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::preset(
            "pretty",
            Bool,
            "false",
            "Whether lines are broken and indented by two spaces.",
        ),
        FieldSpec::INTO,
    ],
    ..PLAIN
};
