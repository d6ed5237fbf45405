//! The table and the types of documents agree.

use super::*;
use crate::document::Document;

/// A document with one of every key.
fn whole() -> Value {
    json!({
        "millrace": 1,
        "name": "a",
        "description": "d",
        "settings": {
            "priority": "low",
            "order": { "in_order_by": "{{ $trigger.path }}" },
            "overlap": "skip",
            "history": "full",
            "branches": "parallel",
            "limits": { "cpu_ms": 5, "memory_bytes": 6 }
        },
        "steps": {
            "in": {
                "kind": "manual", "label": "l", "fields": { "a": [1, { "b": null }] },
                "timeout_ms": 7, "on_error": { "go_to": "in" }, "disabled": true,
                "retry": { "times": 1, "first_ms": 2, "factor": 2.5, "most_ms": 3 }
            }
        },
        "wires": [{ "from": "in", "port": "out", "to": "in" }],
        "cases": [{
            "name": "c",
            "given": {
                "last": { "p": 1 }, "variables": { "v": null },
                "answers": { "x": [] }, "faults": { "x": "down" }
            },
            "when": [{ "trigger": "in", "at_ms": 4, "with": { "value": 1 } }],
            "then": [
                { "publish": { "path": "p", "value": 1 } },
                { "call": { "step": "x", "with": { "a": 1 } } },
                { "variable": { "name": "v", "value": 2 } },
                { "issue": { "key": "k", "raised": true } },
                { "fails": { "run": 0, "reason": "r" } },
                "nothing_else"
            ]
        }],
        "layout": { "in": [1, -2] }
    })
}

/// All values that are the document with one place changed.
fn changed(value: &Value) -> Vec<Value> {
    let mut all: Vec<Value> = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!("zz"),
        json!([]),
        json!([1, 2, 3]),
        json!({}),
        json!({ "zz": 1 }),
    ]
    .to_vec();
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                let mut without = object.clone();
                without.remove(name);
                all.push(Value::Object(without));
                for inner in changed(inner) {
                    let mut with = object.clone();
                    with.insert(name.clone(), inner);
                    all.push(Value::Object(with));
                }
            }
            let mut more = object.clone();
            more.insert("zz".into(), json!(1));
            all.push(Value::Object(more));
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                for inner in changed(inner) {
                    let mut with = items.clone();
                    with[at] = inner;
                    all.push(Value::Array(with));
                }
            }
        }
        _ => {}
    }
    all
}

#[test]
fn whatever_the_reader_refuses_has_a_fault_and_what_is_left_reads() {
    assert_eq!(mend(&mut whole()), []);
    let mut refused = 0;
    for mut value in changed(&whole()) {
        let text = value.to_string();
        let read: Result<Document, _> = serde_json::from_value(value.clone());
        let faults = mend(&mut value);
        if let Err(error) = read {
            refused += 1;
            assert!(!faults.is_empty(), "{text}: {error}");
        }
        // The reader takes a list for an object; the format does not say so.
        let again: Result<Document, _> = serde_json::from_value(value);
        assert!(again.is_ok(), "{text}: {faults:?}: {again:?}");
    }
    assert!(refused > 300, "{refused}");
}

#[test]
fn what_the_reader_takes_as_it_is_written_has_no_fault() {
    for mut value in changed(&whole()) {
        let Ok(document) = serde_json::from_value::<Document>(value.clone()) else { continue };
        let is_as_written = serde_json::to_value(&document).is_ok_and(|again| {
            // A list in place of an object is the one thing that reads and is not written so.
            again == value || !value.to_string().contains("[]")
        });
        let text = value.to_string();
        let has_list_for_object = text.contains("[1,2,3]") || text.contains("[]");
        if is_as_written && !has_list_for_object {
            assert_eq!(mend(&mut value), [], "{text}");
        }
    }
}
