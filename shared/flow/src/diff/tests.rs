//! A difference leads from one document to the other, and reads well.

use super::*;
use crate::edit::tests::document;
use proptest::prelude::*;
use serde_json::json;

proptest! {
    #[test]
    fn a_difference_leads_from_one_to_the_other(from in document(), to in document()) {
        let difference = diff(&from, &to);
        let mut document = from.clone();
        let undo = difference.apply(&mut document).unwrap();
        prop_assert_eq!(&document, &to);
        undo.apply(&mut document).unwrap();
        prop_assert_eq!(&document, &from);
        prop_assert!(diff(&from, &from).is_empty());
        let shown = lines(&from, &difference);
        prop_assert!(shown.len() <= difference.edits.len());
        prop_assert!(shown.iter().all(|line| line.len() < 400));
    }
}

#[test]
fn a_difference_reads_like_a_change_note() {
    let from = json!({
        "millrace": 1, "name": "p",
        "steps": {
            "values": {"kind": "uns.subscribe", "fields": {"filters": ["a/#"], "when": "change"}},
            "scale": {"kind": "unit", "fields": {"factor": 2, "offset": 1}},
            "script": {"kind": "javascript", "fields": {"code": "return 1"}},
            "old": {"kind": "log", "fields": {"message": "x"}},
        },
        "wires": [{"from": "values", "to": "scale"}],
        "layout": {"scale": [0, 0]},
    });
    let mut to = from.clone();
    to["settings"] = json!({"priority": "high"});
    to["steps"]["to-bar"] = to["steps"]["scale"].take();
    to["steps"].as_object_mut().unwrap().remove("scale");
    to["steps"].as_object_mut().unwrap().remove("old");
    to["steps"]["script"]["fields"]["code"] = json!("const a = 1;\nreturn a");
    to["steps"]["values"] =
        json!({"kind": "uns.subscribe", "fields": {"filters": ["b/#"]}, "timeout_ms": 5});
    to["wires"] = json!([{"from": "values", "to": "to-bar"}, {"from": "to-bar", "to": "script"}]);
    to["layout"] = json!({"to-bar": [5, 5]});
    let document = |value: serde_json::Value| Document::parse(&value.to_string()).unwrap();
    let (from, to) = (document(from), document(to));
    assert_eq!(
        lines(&from, &diff(&from, &to)),
        [
            "step `scale` renamed to `to-bar`",
            "settings: priority \"normal\" → \"high\"",
            "step `old` removed",
            "step `script`, `code`: changed (1 → 2 lines)",
            "step `values`, `when`: \"change\" → none",
            "step `values`, `filters`: [\"a/#\"] → [\"b/#\"]",
            "step `values`, timeout_ms: none → 5",
            "wire to-bar.out → script added",
        ]
    );
}
