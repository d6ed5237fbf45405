//! `uns.search`: finds tags.

use crate::kind::field::FieldForm::{Bool, Filter, Integer, Into};
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "uns.search",
    group: Group::System,
    summary: "Finds tags by a filter: a list of `{ path, unit }` in the order of their \
             paths.",
    fields: &[
        FieldSpec::required("filter", Filter, "The filter.").evaluated(),
        FieldSpec::preset("limit", Integer { least: 1, most: 10_000 }, "100", "Most tags."),
        FieldSpec::preset(
            "with_last",
            Bool,
            "false",
            "Whether each has its last known `value`, `time` and `quality` too.",
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
