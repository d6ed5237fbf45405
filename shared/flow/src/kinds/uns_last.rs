//! `uns.last`: the last known value of a tag.

use crate::kind::field::FieldForm::{Enum, Into, Path};
use crate::kind::field::SOME_TIME;
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "uns.last",
    group: Group::System,
    summary: "Gives the last known value of a tag: `{ path, value, time, received, \
             quality }`.",
    fields: &[
        FieldSpec::required("path", Path, "The tag's path.").evaluated(),
        FieldSpec::optional(
            "age_max_ms",
            SOME_TIME,
            "A value received longer ago counts as missing.",
        ),
        FieldSpec::preset(
            "on_missing",
            Enum(&["null", "fail"]),
            "\"null\"",
            "What a tag without a value gives.",
        ),
        FieldSpec::optional(
            "into",
            Into,
            "Field of the input that takes the result; it is the whole output if left \
             out.",
        ),
    ],
    ..PLAIN
};
