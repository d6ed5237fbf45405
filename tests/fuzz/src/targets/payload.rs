//! The payload parser of the gate.
//!
//! **Invariants** held: a batch gives out as many elements as it announced; a number or text
//! written as JSON is read back as the same value; a structured value is itself a payload.

use super::{bytes_of, ensure};
use crate::runner::Target;
use millrace_admission::shape::{Parser, Sent, Sink};
use millrace_model::limits::{BATCH_ELEMENTS_MAX, VALUE_TEXT_BYTES_MAX};
use millrace_model::{Refusal, Value, ValueRef};

pub(super) const TARGET: Target = Target {
    name: "payload",
    corpus,
    words: &[
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b",",
        b"\"",
        b"\\",
        b"null",
        b"true",
        b"-0",
        b"1e400",
        b"5e-324",
        b"18446744073709551615",
        b"9223372036854775808",
        b"{\"value\":",
        b"\"values\":{",
        b"\"timestamp\":",
        b"\"quality\":",
        b"\"path\":",
        b"\\ud83d",
        b"\\ude00",
        b"\\u0061",
        b"NaN",
        b".",
        b"0",
        b"[[[[[[[[",
        b"\xc3\xa4",
        b"\xed\xa0\x80",
        b"\"2023-11-30T14:05:37.123456789Z\"",
        b"1701353137.5",
    ],
    check,
};

fn corpus() -> Vec<Vec<u8>> {
    bytes_of(&[
        "42.7",
        "-0",
        "true",
        "null",
        "\"text with \\u00e4 and \\ud83d\\ude00\"",
        "{\"value\": 484.81953300000004}",
        "{\"value\": 1, \"timestamp\": \"2023-11-30T14:05:37.123456789Z\", \"quality\": \"good\"}",
        "{\"timestamp\": 1701353137123, \"value\": {\"x\": [1, {\"y\": null}]}, \"quality\": 1083179008}",
        "{\"x\": 1.50, \"y\" :[ 1, 2 ], \"z\": {\"a\": \"b\"}}",
        "{\"timestamp\": 1701353137.25, \"values\": {\"a\": 1, \"b/c\": {\"value\": \"x\"}, \"d\": [1]}}",
        "[{\"value\": 1, \"timestamp\": 1}, {\"value\": \"x\", \"path\": \"a/b\"}, {\"value\": null}]",
        "[1, 2.5, \"three\"]",
    ])
}

fn check(input: &[u8]) -> Result<(), String> {
    let mut held = Held::default();
    if Parser::new().parse(input, &mut held).is_err() {
        return ensure(held.is_untouched(), "a refused payload gave something out");
    }
    ensure(
        held.announced.is_none_or(|count| count == held.elements),
        "another number of elements",
    )?;
    ensure(held.announced.is_none_or(|count| count <= BATCH_ELEMENTS_MAX), "too many elements")?;
    ensure(held.announced.is_some() != held.is_one, "neither or both of one and batch")?;
    held.values.iter().try_for_each(reads_back)
}

#[derive(Default)]
struct Held {
    is_one: bool,
    announced: Option<usize>,
    elements: usize,
    values: Vec<Value>,
}

impl Held {
    fn is_untouched(&self) -> bool {
        !self.is_one && self.announced.is_none() && self.elements == 0
    }
}

impl Sink for Held {
    fn one(&mut self, sent: Sent<'_>) {
        self.is_one = true;
        self.values.push(sent.value.to_value());
    }
    fn batch(&mut self, element_count: usize) {
        self.announced = Some(element_count);
    }
    fn element(&mut self, _path: Option<&str>, sent: Result<Sent<'_>, Refusal>) {
        self.elements += 1;
        self.values.extend(sent.map(|sent| sent.value.to_value()));
    }
}

fn reads_back(value: &Value) -> Result<(), String> {
    let value = value.as_ref();
    ensure(
        value.text().is_none_or(|text| text.len() <= VALUE_TEXT_BYTES_MAX),
        "a text above the limit",
    )?;
    let mut json = String::from("{\"value\":");
    value.write_json(&mut json);
    json.push('}');
    let mut held = Held::default();
    if let Err(refusal) = Parser::new().parse(json.as_bytes(), &mut held) {
        // One level more than the limit: the only structured value that does not fit again.
        let is_deep = matches!(value, ValueRef::Json(_)) && refusal.sentence().contains("deeper");
        return ensure(is_deep, &format!("{json} is refused: {}", refusal.sentence()));
    }
    let same = held.values.first().is_some_and(|again| again.as_ref() == value);
    ensure(same, &format!("{value:?} came back as {:?}", held.values))
}
