//! `window`: aggregates over time.
//!
//! **Invariants**: `tumbling` takes `size_ms`; `sliding` takes `size_ms` and `every_ms`, which
//! divides it into at most [`PANES_MAX`] panes; `session` takes `gap_ms`.

use crate::kind::field::FieldForm::{Enum, Integer, List};
use crate::kind::field::{FieldForm, SOME_TIME, SPAN};
use crate::kind::{Complaints, FieldSpec, Fields, Kind, PLAIN};

const AGGREGATE: FieldForm = Enum(&[
    "min", "max", "mean", "sum", "count", "first", "last", "stddev", "range", "delta", "median",
    "p01", "p05", "p10", "p25", "p75", "p90", "p95", "p99",
]);
/// Most panes that a sliding window is kept in.
pub const PANES_MAX: u64 = 1_000;

pub(crate) static KIND: Kind = Kind {
    name: "window",
    summary: "Aggregates values over a tumbling, sliding or session window; when one \
             closes, gives `{ key, start, end, value, late }` and the aggregates by name. \
             `value` is the first aggregate, `late` counts values dropped as too late.",
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::KEY,
        FieldSpec::preset(
            "mode",
            Enum(&["tumbling", "sliding", "session"]),
            "\"tumbling\"",
            "Windows one after the other; overlapping ones; or as long as values keep \
             coming.",
        ),
        FieldSpec::optional(
            "size_ms",
            SOME_TIME,
            "Length of a tumbling or sliding window. Windows begin at whole multiples of \
             it (sliding: of `every_ms`) since midnight in `zone` if it divides a day, \
             since 1970 UTC if not.",
        ),
        FieldSpec::optional(
            "every_ms",
            SOME_TIME,
            "Distance of the beginnings of sliding windows; divides `size_ms`, at most \
             1,000 times.",
        ),
        FieldSpec::optional("gap_ms", SOME_TIME, "A session ends when no value came for so long."),
        FieldSpec::preset(
            "aggregates",
            List(&AGGREGATE),
            "[\"mean\"]",
            "What is computed. `stddev` is that of the population, `range` the largest \
             less the smallest, `delta` the last less the first. `median` and `p01` to \
             `p99` are exact up to 200 numbers, within 2 % of the rank beyond. Values \
             that are no finite number count for `count`, `first` and `last` only.",
        ),
        FieldSpec::preset(
            "time",
            Enum(&["source", "receive"]),
            "\"source\"",
            "Which time puts a value into a window: `$trigger.time`, or the time of the \
             run. Without the former, the latter.",
        ),
        FieldSpec::preset(
            "lateness_ms",
            SPAN,
            "0",
            "How long a window stays open after its end for late values; later ones are \
             dropped and counted.",
        ),
        FieldSpec::preset(
            "zone",
            FieldForm::Zone,
            "\"UTC\"",
            "Zone of whole days and parts of them.",
        ),
        FieldSpec::preset(
            "keys_max",
            Integer { least: 1, most: 100_000 },
            "10000",
            "Most keys with an open window; more fail the step.",
        ),
    ],
    is_stateful: true,
    timeout_ms: None,
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    let number = |name| fields.get(name).and_then(serde_json::Value::as_u64);
    let mode = fields.get("mode").and_then(serde_json::Value::as_str).unwrap_or("tumbling");
    let takes: &[&'static str] = match mode {
        "sliding" => &["size_ms", "every_ms"],
        "session" => &["gap_ms"],
        "tumbling" => &["size_ms"],
        // The word itself is wrong: what it needs is not known.
        _ => return,
    };
    for name in ["size_ms", "every_ms", "gap_ms"] {
        match (takes.contains(&name), fields.contains_key(name)) {
            (true, false) => complaints.field(name, format!("is needed by the mode `{mode}`")),
            (false, true) => complaints.field(name, format!("has no meaning in the mode `{mode}`")),
            _ => {}
        }
    }
    if mode == "sliding"
        && let (Some(size), Some(every)) = (number("size_ms"), number("every_ms"))
        && every > 0
        && (size % every != 0 || size / every > PANES_MAX)
    {
        complaints.field("every_ms", format!("must divide `size_ms`, at most {PANES_MAX} times"));
    }
    let aggregates = fields.get("aggregates").and_then(serde_json::Value::as_array);
    if aggregates.is_some_and(Vec::is_empty) {
        complaints.field("aggregates", "names nothing to compute");
    }
}
