//! Tests of `csv.format`, and of both directions together.

use crate::steps::testing::{FakeContext, assert_is, data, text};
use millrace_flow::{Data, Map};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;

#[test]
fn writes_objects_with_a_header() {
    let mut run = FakeContext::new();
    let step = run.step("csv.format", json!({}));
    let rows = data(json!([{"a": 1, "b": "x,y"}, {"b": "say \"hi\"", "a": 2.5}, {"a": null}]));
    let (_, out) = run.out(&step, rows);
    assert_eq!(out, text("a,b\n1,\"x,y\"\n2.5,\"say \"\"hi\"\"\"\n,\n"));
}

#[test]
fn writes_lists_one_object_and_chosen_columns() {
    let mut run = FakeContext::new();
    let fields = json!({"separator": ";", "decimal_comma": true, "line_end": "crlf"});
    let step = run.step("csv.format", fields);
    assert_eq!(run.out(&step, data(json!([[1.5, "1,5", true]]))).1, text("1,5;\"1,5\";true\r\n"));
    assert_eq!(run.out(&step, data(json!({"n": 1}))).1, text("n\r\n1\r\n"));
    let chosen = run.step("csv.format", json!({"columns": ["b", "c"], "header": false}));
    assert_eq!(run.out(&chosen, data(json!([{"a": 1, "b": 2}]))).1, text("2,\n"));
}

#[test]
fn refuses_what_is_no_table() {
    let mut run = FakeContext::new();
    let step = run.step("csv.format", json!({}));
    assert!(run.fault(&step, Data::Int(1)).message.contains("not number 1"));
    let fault = run.fault(&step, data(json!([{"a": 1}, 5])));
    assert_eq!(fault.message, "row 2 is number 5: neither object nor list");
}

#[test]
fn refuses_a_separator_that_is_the_decimal_comma() {
    let mut run = FakeContext::new();
    for kind in ["csv.format", "csv.parse"] {
        let fault = run.compile(kind, json!({"decimal_comma": true})).err().expect("refused");
        assert_eq!(fault.field.as_deref(), Some("separator"));
        let fault = run.compile(kind, json!({"quote": ","})).err().expect("refused");
        assert_eq!(fault.message, "is the separator");
    }
}

#[test]
fn text_that_looks_like_a_number_stays_text() {
    let mut run = FakeContext::new();
    let (writes, reads) = (run.step("csv.format", json!({})), run.step("csv.parse", json!({})));
    let rows = data(json!([{"batch": "4711", "count": 4711, "empty": "", "gap": " x "}]));
    let (_, csv) = run.out(&writes, rows);
    let (_, back) = run.out(&reads, csv);
    assert_is(&back, json!([{"batch": "4711", "count": 4711, "empty": "", "gap": " x "}]));
}

fn cell() -> impl Strategy<Value = Data> {
    prop_oneof![
        any::<i64>().prop_map(Data::Int),
        (u64::MAX / 2 + 1..=u64::MAX).prop_map(Data::UInt),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(Data::Float),
        "[a-z0-9,;.\"\r\n -]{0,12}".prop_map(|cell| text(&cell)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever separators and cells: what was written reads back the same.
    #[test]
    fn what_is_written_reads_back(
        rows in prop::collection::vec(prop::collection::vec(cell(), 3), 1..8),
        separator in prop::sample::select(vec![",", ";", "\t", "|"]),
        decimal_comma in any::<bool>(),
        line_end in prop::sample::select(vec!["lf", "crlf"]),
    ) {
        let decimal_comma = decimal_comma && separator != ",";
        let mut run = FakeContext::new();
        let both = json!({"separator": separator, "decimal_comma": decimal_comma});
        let mut fields = both.clone();
        fields["line_end"] = json!(line_end);
        let (writes, reads) = (run.step("csv.format", fields), run.step("csv.parse", both));
        let rows: Vec<Data> = rows
            .into_iter()
            .map(|cells| {
                let mut map = Map::new();
                for (name, cell) in ["a", "b", "c"].into_iter().zip(cells) {
                    map.set(name, cell);
                }
                Data::Map(Arc::new(map))
            })
            .collect();
        let rows = Data::List(rows.into());
        let (_, csv) = run.out(&writes, rows.clone());
        let (_, back) = run.out(&reads, csv);
        prop_assert_eq!(back, rows);
    }

    /// Whatever the text: rows or a fault, no panic.
    #[test]
    fn no_text_does_harm(csv in "(?s).{0,60}", marks in "[,;\"'\n\r \u{feff}x]{0,30}") {
        let mut run = FakeContext::new();
        let step = run.step("csv.parse", json!({"quote": "'", "separator": ";"}));
        for text in [csv, marks] {
            if let Err(fault) = run.run(&step, crate::steps::testing::text(&text)) {
                prop_assert_eq!(fault.code, "bad_input");
            }
        }
    }
}
