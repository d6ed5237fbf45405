//! `dedupe`: drops repetitions.

use crate::kind::field::SOME_TIME;
use crate::kind::{FieldSpec, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "dedupe",
    summary: "Drops a value that equals the last one let through.",
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::KEY,
        FieldSpec::optional(
            "within_ms",
            SOME_TIME,
            "A repetition passes if the last one let through is older than this; never \
             if left out.",
        ),
    ],
    is_stateful: true,
    ..PLAIN
};
