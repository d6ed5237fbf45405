//! `enrich`: adds last known values of tags.

use crate::kind::field::FieldForm::{Bool, Enum, Into, Map};
use crate::kind::field::SOME_TIME;
use crate::kind::{Complaints, FieldSpec, Fields, Kind, PLAIN};
use serde_json::Value;

/// Most tags of one step.
const PATHS_MAX: usize = 100;

pub(crate) static KIND: Kind = Kind {
    name: "enrich",
    summary: "Adds the last known values of other tags to the input.",
    fields: &[
        FieldSpec::required("paths", Map, "Name to tag path, 1 to 100.").evaluated(),
        FieldSpec::preset(
            "into",
            Into,
            "\"last\"",
            "Field of the input that takes the object of name to value. An input that is \
             no object stays as the field `value`.",
        ),
        FieldSpec::preset(
            "whole",
            Bool,
            "false",
            "Whether each is `{ value, time, received, quality }` instead of the bare \
             value.",
        ),
        FieldSpec::optional(
            "age_max_ms",
            SOME_TIME,
            "A value received longer ago counts as missing.",
        ),
        FieldSpec::preset(
            "on_missing",
            Enum(&["null", "fail"]),
            "\"null\"",
            "What a tag without a value gives.",
        ),
    ],
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    let Some(paths) = fields.get("paths").and_then(Value::as_object) else { return };
    if paths.is_empty() || paths.len() > PATHS_MAX {
        complaints.field("paths", format!("takes 1 to {PATHS_MAX} paths, not {}", paths.len()));
    }
    for (name, path) in paths {
        let path = path.as_str().map(crate::expression::outline);
        if path.is_none_or(|path| millrace_model::topic::check_path(&path).is_err()) {
            complaints.field("paths", format!("`{name}` is no tag path"));
        }
    }
}
