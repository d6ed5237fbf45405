//! `enrich`: adds last known values of tags.

use crate::kind::field::FieldForm::{Bool, Enum, Into, Map};
use crate::kind::field::SOME_TIME;
use crate::kind::{FieldSpec, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "enrich",
    summary: "Adds the last known values of other tags to the input.",
    fields: &[
        FieldSpec::required("paths", Map, "Name to tag path, 1 to 100.").evaluated(),
        FieldSpec::preset(
            "into",
            Into,
            "\"last\"",
            "Field of the input that takes the object of name to value. An input that is \
             no object stays as the field `value`.",
        ),
        FieldSpec::preset(
            "whole",
            Bool,
            "false",
            "Whether each is `{ value, time, received, quality }` instead of the bare \
             value.",
        ),
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
    ],
    ..PLAIN
};
