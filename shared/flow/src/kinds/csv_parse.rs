//! `csv.parse`: reads CSV text (RFC 4180) into a list of objects.
//!
//! **Invariants**: separator and quote are one ASCII character each and differ.

use crate::kind::field::FieldForm::{Bool, Integer, Text};
use crate::kind::field::TEXTS;
use crate::kind::{Complaints, FieldSpec, Fields, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "csv.parse",
    summary: "Reads CSV text into a list of objects, one for each row.",
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::preset("separator", Text, "\",\"", "One ASCII character."),
        FieldSpec::preset(
            "quote",
            Text,
            "\"\\\"\"",
            "One ASCII character; doubled within quotes it stands for itself.",
        ),
        FieldSpec::preset("header", Bool, "true", "Whether the first row has the names."),
        FieldSpec::preset(
            "columns",
            TEXTS,
            "[]",
            "Names, used instead of the header's. Without names, columns are `1`, `2`, \
             ...",
        ),
        FieldSpec::preset(
            "numbers",
            Bool,
            "true",
            "Whether cells that are JSON numbers become numbers; the rest is text.",
        ),
        FieldSpec::preset("decimal_comma", Bool, "false", "Whether numbers write `1.234,5`."),
        FieldSpec::preset(
            "trim",
            Bool,
            "true",
            "Whether spaces around unquoted cells are dropped.",
        ),
        FieldSpec::preset(
            "rows_max",
            Integer { least: 1, most: 100_000 },
            "10000",
            "More rows than this fail the step.",
        ),
        FieldSpec::INTO,
    ],
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    super::check_separators(fields, complaints);
}
