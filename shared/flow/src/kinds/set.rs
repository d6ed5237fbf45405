//! `set`: sets and removes fields of the input.

use crate::kind::field::TEXTS;
use crate::kind::{FieldForm, FieldSpec, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "set",
    summary: "Sets and removes fields of the input; the rest passes on as it is.",
    fields: &[
        FieldSpec::preset(
            "fields",
            FieldForm::Map,
            "{}",
            "Fields to set: name, or names with dots between, to value. All values see \
             the input as it came. A value that is missing (undefined) removes its \
             field.",
        )
        .evaluated(),
        FieldSpec::preset("remove", TEXTS, "[]", "Fields to remove, before `fields` are set."),
        FieldSpec::preset(
            "keep",
            FieldForm::Bool,
            "true",
            "Whether the other fields stay. An input that is no object stays as the \
             field `value`.",
        ),
    ],
    ..PLAIN
};
