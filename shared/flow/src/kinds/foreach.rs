//! `foreach`: a branch for each item of a list.

use crate::kind::field::FieldForm::Integer;
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "foreach",
    group: Group::Logic,
    summary: "Runs the branch at `item` for each item of a list, then sends the list of \
             what the branches gave out at `done`.",
    ports: &["item", "done"],
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::preset(
            "items_max",
            Integer { least: 1, most: 100_000 },
            "10000",
            "More items than this fail the step.",
        ),
    ],
    timeout_ms: None,
    ..PLAIN
};
