//! `issue.raise`: raises an issue of the pipeline.

use crate::kind::field::FieldForm::{Enum, Text};
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "issue.raise",
    group: Group::System,
    summary: "Raises an issue, or renews it, and passes the input on.",
    fields: &[
        FieldSpec::required("key", Text, "Its key; `pipeline:<pipeline>:` is put in front.")
            .evaluated(),
        FieldSpec::preset(
            "severity",
            Enum(&["notice", "warning", "critical"]),
            "\"warning\"",
            "How bad it is.",
        )
        .evaluated(),
        FieldSpec::required("what", Text, "What is wrong.").evaluated(),
        FieldSpec::preset("effect", Text, "\"\"", "What it affects.").evaluated(),
        FieldSpec::preset("remedy", Text, "\"\"", "What to do.").evaluated(),
    ],
    ..PLAIN
};
