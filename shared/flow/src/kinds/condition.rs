//! `condition`: one of two ways.

use crate::kind::field::FieldForm::Test;
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "condition",
    group: Group::Logic,
    summary: "Sends the input one of two ways.",
    ports: &["true", "false"],
    fields: &[FieldSpec::required(
        "test",
        Test,
        "What decides; its truth counts as in JavaScript.",
    )
    .evaluated()],
    ..PLAIN
};
