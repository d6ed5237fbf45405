//! `throttle`: lets through so many per interval.

use crate::kind::field::{FieldForm, SOME_TIME};
use crate::kind::{FieldSpec, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "throttle",
    summary: "Lets the first few data of each interval through and drops the rest.",
    fields: &[
        FieldSpec::KEY,
        FieldSpec::required(
            "every_ms",
            SOME_TIME,
            "Length of the interval, which begins with the first datum let through.",
        ),
        FieldSpec::preset(
            "count",
            FieldForm::Integer { least: 1, most: 1_000_000 },
            "1",
            "How many pass per interval.",
        ),
    ],
    is_stateful: true,
    ..PLAIN
};
