//! `csv.format`: writes a list of objects or lists as CSV text (RFC 4180).

use crate::kind::field::FieldForm::{Bool, Enum, Text};
use crate::kind::field::TEXTS;
use crate::kind::{Complaints, FieldSpec, Fields, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "csv.format",
    summary: "Writes a list of objects, or of lists, as CSV text; one object is one row.",
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::preset("separator", Text, "\",\"", "One ASCII character."),
        FieldSpec::preset(
            "quote",
            Text,
            "\"\\\"\"",
            "One ASCII character around cells that need it.",
        ),
        FieldSpec::preset(
            "columns",
            TEXTS,
            "[]",
            "Fields to write, in order; those of the first row if empty.",
        ),
        FieldSpec::preset("header", Bool, "true", "Whether the first row has the names."),
        FieldSpec::preset(
            "decimal_comma",
            Bool,
            "false",
            "Whether numbers are written with a comma.",
        ),
        FieldSpec::preset(
            "line_end",
            Enum(&["lf", "crlf"]),
            "\"lf\"",
            "End of each row, the last one included.",
        ),
        FieldSpec::INTO,
    ],
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    super::check_separators(fields, complaints);
}
