//! `javascript`: a script of one's own.

use crate::kind::field::FieldForm::Code;
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "javascript",
    group: Group::Logic,
    summary: "Runs a script on the input; what it returns is the output, and nothing \
             (undefined) ends the branch.",
    fields: &[FieldSpec::required(
        "code",
        Code,
        "Statements over `$item`, `$trigger`, `$step`, `$run`, `$variable`; lasting \
             state through `state.get` and `state.set`.",
    )],
    is_stateful: true,
    ..PLAIN
};
