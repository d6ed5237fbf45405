//! `issue`: a run when an issue of the box is raised or cleared.
//!
//! The trigger's datum: `{ key, raised, severity, what, effect, remedy }`.

use crate::kind::field::TEXTS;
use crate::kind::{FieldForm, FieldSpec, Kind, TRIGGER};

pub(crate) static KIND: Kind = Kind {
    name: "issue",
    summary: "Starts a run when an issue is raised or cleared, also one that came and went at once.",
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
            "Lowest severity that counts: an issue is raised when it comes to it, also by becoming \
             worse, and cleared when it is gone or falls below.",
        ),
    ],
    ..TRIGGER
};
