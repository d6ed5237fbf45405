//! `startup`: a run when the pipeline begins to run.
//!
//! The trigger's datum: `{ time, time_ms, on }`, where `on` is `start` or `deploy`.

use crate::kind::field::SPAN;
use crate::kind::{FieldForm, FieldSpec, Kind, TRIGGER};

pub(crate) static KIND: Kind = Kind {
    name: "startup",
    summary: "Starts a run when the box has started, or when the pipeline is deployed.",
    fields: &[
        FieldSpec::preset(
            "on",
            FieldForm::Enum(&["start", "deploy", "both"]),
            "\"both\"",
            "The box's start, a deployment, or both.",
        ),
        FieldSpec::preset("after_ms", SPAN, "0", "Time after it; gives sources time to connect."),
    ],
    ..TRIGGER
};
