//! `filter`: lets through or drops.

use crate::kind::field::FieldForm::Test;
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "filter",
    group: Group::Logic,
    summary: "Lets the input through if a test is true; else its branch ends.",
    fields: &[FieldSpec::required(
        "test",
        Test,
        "What decides; its truth counts as in JavaScript.",
    )
    .evaluated()],
    ..PLAIN
};
