//! `wait`: goes on later.
//!
//! **Invariants**: exactly one of `for_ms` and `until` is given.

use crate::kind::field::FieldForm::Json;
use crate::kind::field::SPAN;
use crate::kind::{ACTION, Complaints, FieldSpec, Fields, Kind};

pub(crate) static KIND: Kind = Kind {
    name: "wait",
    summary: "Passes the input on later; holds no slot, and survives a restart.",
    fields: &[
        FieldSpec::optional("for_ms", SPAN, "How long.").evaluated(),
        FieldSpec::optional(
            "until",
            Json,
            "Until when: RFC 3339, or milliseconds since 1970. A time that has passed \
             does not wait; 400 days at most.",
        )
        .evaluated(),
    ],
    timeout_ms: None,
    is_outside: false,
    check,
    ..ACTION
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    super::exactly_one(fields, ["for_ms", "until"], complaints);
}
