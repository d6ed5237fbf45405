//! `file.append`: adds a line to a file in an allowed folder.

use crate::kind::field::FieldForm::{Enum, Integer, Text};
use crate::kind::{ACTION, Complaints, FieldSpec, Fields, Kind};

pub(crate) static KIND: Kind = Kind {
    name: "file.append",
    summary: "Appends a line to a file in the folder that the box's settings allow.",
    fields: &[
        FieldSpec::required(
            "file",
            Text,
            "The file, relative to the allowed folder; `/` between folders, which are \
             created. No `..`, no symbolic links.",
        )
        .evaluated(),
        FieldSpec::VALUE,
        FieldSpec::preset(
            "line_end",
            Enum(&["lf", "crlf", "none"]),
            "\"lf\"",
            "What follows it. Text is written as it is, anything else as JSON in one \
             line.",
        ),
        FieldSpec::preset(
            "size_bytes_max",
            Integer { least: 1_024, most: 16 * 1024 * 1024 * 1024 },
            "104857600",
            "A file that would grow beyond this is renamed to `<file>.1` first, `.1` to \
             `.2`, and so on.",
        ),
        FieldSpec::preset(
            "keep_files",
            Integer { least: 0, most: 100 },
            "5",
            "How many renamed files are kept.",
        ),
    ],
    check,
    ..ACTION
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    if let Some(file) = fields.get("file").and_then(serde_json::Value::as_str) {
        super::check_file("file", file, complaints);
    }
}
