//! `variable.get`: a variable of the workspace.

use crate::kind::field::FieldForm::{Into, Json, Text};
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "variable.get",
    group: Group::System,
    summary: "Gives a variable of the workspace.",
    fields: &[
        FieldSpec::required("name", Text, "Its name.").evaluated(),
        FieldSpec::preset("fallback", Json, "null", "What is given if it was never set.")
            .evaluated(),
        FieldSpec::optional(
            "into",
            Into,
            "Field of the input that takes the result; it is the whole output if left \
             out.",
        ),
    ],
    ..PLAIN
};
