//! `uns.subscribe`: a run for values stored on tags.
//!
//! The trigger's datum: `{ path, topic, value, time, time_ms, received, quality, client }`.
//!
//! **Invariants**: exactly one of `deadband` and `deadband_percent` goes with `when: "deadband"`.

use crate::kind::field::{PERCENT, POSITIVE, SOME_TIME};
use crate::kind::{Complaints, FieldForm, FieldSpec, Fields, Kind, TRIGGER};

const FILTERS: FieldForm = FieldForm::List(&FieldForm::Filter);

pub(crate) static KIND: Kind = Kind {
    name: "uns.subscribe",
    summary: "Starts a run when a value is stored on a tag that one of the filters \
             matches.",
    fields: &[
        FieldSpec::required(
            "filters",
            FILTERS,
            "Tag paths below the workspace, `+` and `#` allowed; 1 to 100.",
        ),
        FieldSpec::preset(
            "when",
            FieldForm::Enum(&["every", "change", "deadband"]),
            "\"every\"",
            "On every value; when value or quality differ from the tag's last one; or \
             when the value has left the deadband around the one that last started a run. \
             The first value of a tag always starts one.",
        ),
        FieldSpec::optional(
            "deadband",
            POSITIVE,
            "Half width of the deadband in the value's own unit.",
        ),
        FieldSpec::optional(
            "deadband_percent",
            PERCENT,
            "Half width of the deadband in percent of the value that last started a \
             run.",
        ),
        FieldSpec::optional(
            "at_least_every_ms",
            SOME_TIME,
            "With `change` or `deadband`: a value starts a run anyway if the last \
             run-starting one of its tag is older than this.",
        ),
        FieldSpec::preset(
            "quality_min",
            FieldForm::Enum(&["bad", "uncertain", "good"]),
            "\"bad\"",
            "Lowest quality of a value that starts a run.",
        ),
    ],
    check,
    ..TRIGGER
};

/// Most filters of one trigger.
const FILTERS_MAX: usize = 100;

fn check(fields: &Fields, complaints: &mut Complaints) {
    let filters = fields.get("filters").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
    if filters == 0 || filters > FILTERS_MAX {
        complaints.field("filters", format!("takes 1 to {FILTERS_MAX} filters, not {filters}"));
    }
    let bands =
        ["deadband", "deadband_percent"].iter().filter(|name| fields.contains_key(**name)).count();
    let when = fields.get("when").and_then(serde_json::Value::as_str).unwrap_or("every");
    if when == "deadband" && bands != 1 {
        complaints
            .field("when", "`deadband` needs exactly one of `deadband` and `deadband_percent`");
    }
    if when != "deadband" && bands > 0 {
        complaints.field(
            "when",
            "`deadband` and `deadband_percent` count only with `when: \"deadband\"`",
        );
    }
    if when == "every" && fields.contains_key("at_least_every_ms") {
        complaints.field("at_least_every_ms", "counts only with `change` or `deadband`");
    }
}
