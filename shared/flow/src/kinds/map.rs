//! `map`: builds the output from a template.

use crate::kind::{FieldForm, FieldSpec, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "map",
    summary: "Builds the output from a template: any JSON with expressions in it.",
    fields: &[FieldSpec::required(
        "output",
        FieldForm::Json,
        "The template. Fields whose expression is missing (undefined) are left out; \
             in lists they become null.",
    )
    .evaluated()],
    ..PLAIN
};
