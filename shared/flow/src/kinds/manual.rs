//! `manual`: a run that a person starts.
//!
//! The trigger's datum: the input with `by` set to who started it.

use crate::kind::{FieldForm, FieldSpec, Kind, TRIGGER};

pub(crate) static KIND: Kind = Kind {
    name: "manual",
    summary: "Starts a run when a person, the command line or the API asks for it.",
    fields: &[FieldSpec::preset(
        "input",
        FieldForm::Map,
        "{}",
        "What the input holds where the person gives nothing else.",
    )],
    ..TRIGGER
};
