//! `deadband`: lets through what has changed enough.
//!
//! **Invariants**: exactly one of `deadband` and `deadband_percent` is given.

use crate::kind::field::{PERCENT, POSITIVE, SOME_TIME};
use crate::kind::{Complaints, FieldSpec, Fields, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "deadband",
    summary: "Lets a number through when it has left the deadband around the last one let \
             through.",
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::KEY,
        FieldSpec::optional(
            "deadband",
            POSITIVE,
            "Half width in the value's own unit; a difference above it passes.",
        )
        .evaluated(),
        FieldSpec::optional(
            "deadband_percent",
            PERCENT,
            "Half width in percent of the last value let through.",
        )
        .evaluated(),
        FieldSpec::optional(
            "at_least_every_ms",
            SOME_TIME,
            "Lets a value through anyway if the last one is older than this.",
        ),
    ],
    is_stateful: true,
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    super::exactly_one(fields, ["deadband", "deadband_percent"], complaints);
}
