//! `switch`: one of many ways.
//!
//! Case n goes out at port `n` (the first is `1`, port number 0); what no case takes at
//! `otherwise`, which is always the kind's last port.
//!
//! **Invariants**: a case has exactly one way of matching.

use crate::kind::field::FieldForm::{Bool, Items, Json, Test};
use crate::kind::field::{FieldForm, NUMBER};
use crate::kind::{CASES_MAX, Complaints, FieldSpec, Fields, Group, Kind, PLAIN};
use serde_json::Value;

const CASE: FieldForm = Items(&[
    FieldSpec::optional(
        "equals",
        Json,
        "The value equals this; numbers by value, all else by type and content.",
    )
    .evaluated(),
    FieldSpec::optional("in", FieldForm::List(&Json), "The value equals one of these.").evaluated(),
    FieldSpec::optional("from", NUMBER, "The value is a number and at least this.").evaluated(),
    FieldSpec::optional(
        "below",
        NUMBER,
        "The value is a number and below this; `from` and `below` together are a \
             range.",
    )
    .evaluated(),
    FieldSpec::optional("test", Test, "This is true; the value does not count.").evaluated(),
]);

const PORTS: &[&str] = &[
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "10",
    "11",
    "12",
    "13",
    "14",
    "15",
    "16",
    "17",
    "18",
    "19",
    "20",
    "21",
    "22",
    "23",
    "24",
    "25",
    "26",
    "27",
    "28",
    "29",
    "30",
    "31",
    "32",
    "otherwise",
];

pub(crate) static KIND: Kind = Kind {
    name: "switch",
    group: Group::Logic,
    summary: "Sends the input the way of the first case that matches, or of all that \
             match.",
    ports: PORTS,
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::required(
            "cases",
            CASE,
            "1 to 32 cases; case n goes out at port `n`. Each has one of `equals`, `in`, \
             `test`, or `from` and/or `below`.",
        ),
        FieldSpec::preset(
            "first_only",
            Bool,
            "true",
            "Whether the search ends with the first case that matches.",
        ),
    ],
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    let Some(cases) = fields.get("cases").and_then(Value::as_array) else { return };
    if cases.is_empty() || cases.len() > CASES_MAX {
        complaints.field("cases", format!("takes 1 to {CASES_MAX} cases, not {}", cases.len()));
    }
    for (number, case) in (1..).zip(cases) {
        let has = |name| usize::from(case.get(name).is_some());
        let range = usize::from(has("from") + has("below") > 0);
        if has("equals") + has("in") + has("test") + range != 1 {
            complaints.field(
                "cases",
                format!(
                    "case {number} needs exactly one of `equals`, `in`, `test`, or a range of \
             `from` and `below`"
                ),
            );
        }
    }
}
