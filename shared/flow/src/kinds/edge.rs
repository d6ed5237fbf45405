//! `edge`: notices when a signal rises or falls.
//!
//! **Invariants**: `fall_at` is below `rise_at`; neither is given without the other.

use crate::kind::field::FieldForm::Bool;
use crate::kind::field::NUMBER;
use crate::kind::{Complaints, FieldSpec, Fields, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "edge",
    group: Group::Logic,
    summary: "Sends the input out when a signal goes on (`rising`) or off (`falling`); \
             with hysteresis for numbers.",
    ports: &["rising", "falling"],
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::KEY,
        FieldSpec::optional(
            "rise_at",
            NUMBER,
            "The signal is on when the number reaches this or more. Without `rise_at` \
             and `fall_at`, the truth of the value is the signal.",
        )
        .evaluated(),
        FieldSpec::optional(
            "fall_at",
            NUMBER,
            "The signal is off when the number reaches this or less; between the two it \
             stays.",
        )
        .evaluated(),
        FieldSpec::optional(
            "initial",
            Bool,
            "What the signal was before its first value. If left out, the first value is \
             no edge.",
        ),
    ],
    is_stateful: true,
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    if fields.contains_key("rise_at") != fields.contains_key("fall_at") {
        complaints.field("rise_at", "`rise_at` and `fall_at` are given together or not at all");
    }
    let number = |name| fields.get(name).and_then(serde_json::Value::as_f64);
    if let (Some(rise), Some(fall)) = (number("rise_at"), number("fall_at"))
        && fall >= rise
    {
        complaints.field("fall_at", "must be below `rise_at`");
    }
}
