//! `schedule`: a run at times of a cron expression or of an interval.
//!
//! The trigger's datum: `{ time, time_ms }`, the time at which the run was due.
//!
//! **Invariants**: exactly one of `cron` and `every_ms` is given.

use crate::kind::field::LONGEST_MS;
use crate::kind::{Complaints, FieldForm, FieldSpec, Fields, Kind, TRIGGER};

const INTERVAL: FieldForm = FieldForm::Duration { least_ms: 100, most_ms: LONGEST_MS };

pub(crate) static KIND: Kind = Kind {
    name: "schedule",
    summary: "Starts runs at set times or intervals.",
    fields: &[
        FieldSpec::optional(
            "cron",
            FieldForm::Cron,
            "Minute, hour, day of the month, month, day of the week; with 6 fields \
             seconds stand first.",
        ),
        FieldSpec::optional(
            "every_ms",
            INTERVAL,
            "Interval; runs are due at whole multiples of it since 1970, so every 60,000 \
             is on the minute.",
        ),
        FieldSpec::preset(
            "zone",
            FieldForm::Zone,
            "\"UTC\"",
            "The zone in which `cron` is read. A time that summer time skips is left \
             out, one that comes twice counts once.",
        ),
        FieldSpec::preset(
            "missed",
            FieldForm::Enum(&["skip", "once"]),
            "\"skip\"",
            "Times that passed while the box was off: left out, or made up for by one \
             run at the start.",
        ),
    ],
    check,
    ..TRIGGER
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    super::exactly_one(fields, ["cron", "every_ms"], complaints);
}
