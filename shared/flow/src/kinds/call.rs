//! `call`: runs another pipeline.

use crate::kind::field::FieldForm::{Json, Pipeline};
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "call",
    group: Group::Logic,
    summary: "Runs another pipeline of the workspace within this run and gives its \
             result.",
    fields: &[
        FieldSpec::required(
            "pipeline",
            Pipeline,
            "Its name. It must be deployed and have a `manual` trigger; calls go 8 deep \
             at most.",
        ),
        FieldSpec::preset("input", Json, "\"{{ $item }}\"", "What its `$trigger` holds.")
            .evaluated(),
    ],
    timeout_ms: Some(60_000),
    ..PLAIN
};
