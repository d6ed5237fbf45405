//! `stop`: ends the run.

use crate::kind::field::FieldForm::{Bool, Json, Text};
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "stop",
    group: Group::Logic,
    summary: "Ends the whole run, well or as failed, with a result.",
    ports: &[],
    fields: &[
        FieldSpec::preset(
            "output",
            Json,
            "\"{{ $item }}\"",
            "The run's result: a webhook's answer, a call's value.",
        )
        .evaluated(),
        FieldSpec::preset("fail", Bool, "false", "Whether the run counts as failed.").evaluated(),
        FieldSpec::preset("message", Text, "\"stopped as failed\"", "With `fail`: the reason.")
            .evaluated(),
    ],
    ..PLAIN
};
