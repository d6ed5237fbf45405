//! `variable.set`: sets a variable of the workspace.

use crate::kind::field::FieldForm::{Bool, Text};
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "variable.set",
    group: Group::System,
    summary: "Sets a variable of the workspace, durably with the end of the run, and \
             passes the input on.",
    fields: &[
        FieldSpec::required("name", Text, "Its name.").evaluated(),
        FieldSpec::VALUE,
        FieldSpec::preset("remove", Bool, "false", "Whether the variable is removed instead."),
    ],
    ..PLAIN
};
