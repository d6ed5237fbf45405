//! `issue.clear`: clears an issue of the pipeline.

use crate::kind::field::FieldForm::Text;
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "issue.clear",
    group: Group::System,
    summary: "Clears an issue if it is there, and passes the input on.",
    fields: &[FieldSpec::required("key", Text, "The key with which it was raised.").evaluated()],
    ..PLAIN
};
