//! `delay`: on-delay and off-delay of a signal.

use crate::kind::field::{NUMBER, SPAN};
use crate::kind::{Complaints, FieldSpec, Fields, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "delay",
    group: Group::Logic,
    summary: "Sends the input out at `on` when a signal has stayed on for a while, at \
             `off` when it has stayed off.",
    ports: &["on", "off"],
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::KEY,
        FieldSpec::preset(
            "on_ms",
            SPAN,
            "0",
            "How long the signal must stay on. It goes out once, with the input that \
             turned it on.",
        ),
        FieldSpec::preset("off_ms", SPAN, "0", "How long the signal must stay off."),
        FieldSpec::optional(
            "rise_at",
            NUMBER,
            "As in `edge`: the signal is on when the number reaches this or more.",
        )
        .evaluated(),
        FieldSpec::optional(
            "fall_at",
            NUMBER,
            "As in `edge`: the signal is off when the number reaches this or less.",
        )
        .evaluated(),
    ],
    is_stateful: true,
    timeout_ms: None,
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    (super::edge::KIND.check)(fields, complaints);
}
