//! `merge`: waits for all branches.

use crate::kind::field::FieldForm::Enum;
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "merge",
    group: Group::Logic,
    summary: "Waits until all branches that lead here have ended and makes one datum of \
             what came.",
    fields: &[FieldSpec::preset(
        "form",
        Enum(&["list", "object", "first", "last"]),
        "\"list\"",
        "All inputs in order of arrival; one object of the fields of all, later ones \
             winning; or the first or last alone.",
    )],
    timeout_ms: None,
    ..PLAIN
};
