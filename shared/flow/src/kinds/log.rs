//! `log`: a line for the run's history and the box's log.

use crate::kind::field::FieldForm::{Enum, Text};
use crate::kind::{ACTION, FieldSpec, Kind};

pub(crate) static KIND: Kind = Kind {
    name: "log",
    summary: "Writes a line into the run's history and the box's log, and passes the \
             input on.",
    fields: &[
        FieldSpec::required("message", Text, "The line; 4 KiB at most, the rest is cut.")
            .evaluated(),
        FieldSpec::preset(
            "level",
            Enum(&["debug", "info", "warn", "error"]),
            "\"info\"",
            "Its level.",
        ),
    ],
    timeout_ms: crate::kind::COMPUTING_MS,
    is_outside: false,
    ..ACTION
};
