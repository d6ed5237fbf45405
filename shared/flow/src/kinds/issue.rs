//! `issue`: a run when an issue of the box is raised or cleared.
//!
//! The trigger's datum: `{ key, raised, severity, what, effect, remedy }`.

use crate::kind::field::TEXTS;
use crate::kind::{FieldForm, FieldSpec, Kind, TRIGGER};

pub(crate) static KIND: Kind = Kind {
    name: "issue",
    summary: "Starts a run when an issue is raised or cleared.",
    fields: &[
        FieldSpec::preset(
            "keys",
            TEXTS,
            "[\"*\"]",
            "Keys of issues; a `*` at the end stands for any rest. The pipeline's own \
             issues never start it.",
        ),
        FieldSpec::preset(
            "on",
            FieldForm::Enum(&["raised", "cleared", "both"]),
            "\"raised\"",
            "Which change starts a run.",
        ),
        FieldSpec::preset(
            "severity_min",
            FieldForm::Enum(&["notice", "warning", "critical"]),
            "\"notice\"",
            "Lowest severity that starts a run.",
        ),
    ],
    ..TRIGGER
};
