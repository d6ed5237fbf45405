//! Documents as people and git see them.

use crate::document::Document;

/// A document with one of everything that has a form of its own.
const GOLDEN: &str = r#"{
  "millrace": 1,
  "name": "hourly",
  "description": "Mean per hour.",
  "settings": {
    "priority": "low",
    "order": {
      "in_order_by": "{{ $trigger.path }}"
    },
    "overlap": "queue",
    "history": "standard",
    "branches": "sequential",
    "limits": {}
  },
  "steps": {
    "publish": {
      "kind": "uns.publish",
      "fields": {
        "path": "{{ $trigger.path }}/hourly",
        "value": "{{ $item.mean }}"
      },
      "timeout_ms": 5000,
      "retry": {
        "times": 3,
        "first_ms": 100,
        "factor": 2.0,
        "most_ms": 60000
      },
      "on_error": {
        "go_to": "script"
      }
    },
    "script": {
      "kind": "javascript",
      "fields": {
        "code": [
          "const a = 1;",
          "return a;",
          ""
        ]
      }
    },
    "values": {
      "kind": "uns.subscribe",
      "label": "Values",
      "fields": {
        "deadband": 18446744073709551615,
        "filters": ["press-4/+/temperature"]
      }
    }
  },
  "wires": [
    { "from": "script", "port": "out", "to": "publish" },
    { "from": "values", "port": "out", "to": "script" }
  ],
  "cases": [
    {
      "name": "one value",
      "when": [
        {
          "trigger": "values",
          "at_ms": 0,
          "with": {
            "path": "press-4/a/temperature",
            "value": 1.5
          }
        }
      ],
      "then": [
        {
          "publish": {
            "path": "x",
            "value": -9223372036854775808
          }
        },
        "nothing_else"
      ]
    }
  ],
  "layout": {
    "values": [-40, 80]
  }
}
"#;

#[test]
fn the_canonical_text_reads_and_writes_as_itself() {
    let document = Document::parse(GOLDEN).unwrap();
    assert_eq!(document.to_text(), GOLDEN);
    let code = document.steps["script"].fields["code"].as_str().unwrap();
    assert_eq!(code, "const a = 1;\nreturn a;\n", "lines are joined");
}

#[test]
fn however_it_was_written_it_is_written_the_same() {
    let mut value: serde_json::Value = serde_json::from_str(GOLDEN).unwrap();
    value["wires"].as_array_mut().unwrap().reverse();
    let again = value["wires"][0].clone();
    value["wires"].as_array_mut().unwrap().push(again);
    value["steps"]["script"]["fields"]["code"] = "const a = 1;\nreturn a;\n".into();
    let document = Document::parse(&value.to_string()).unwrap();
    assert_eq!(document.to_text(), GOLDEN);
}

fn fault(text: &str) -> String {
    Document::parse(text).unwrap_err().to_string()
}

fn with(from: &str, to: &str) -> String {
    assert!(GOLDEN.contains(from));
    GOLDEN.replacen(from, to, 1)
}

#[test]
fn faults_name_path_and_line() {
    assert_eq!(
        fault(&with("\"times\": 3", "\"times\": \"3\"")),
        "line 24, column 9, at `steps.publish.retry.times`: takes a whole number, 0 to \
         4294967295, not \"3\""
    );
    let twice = with("\"script\": {", "\"values\": { \"kind\": \"map\" }, \"script\": {");
    assert!(fault(&twice).contains("at `steps.values`: the key stands twice"), "{}", fault(&twice));
    let long = with("18446744073709551615", "18446744073709551616");
    assert!(fault(&long).contains(
        "at `steps.values.fields.deadband`: 18446744073709551616 is too large to be held exactly"
    ));
    let unknown = fault(&with("\"label\"", "\"lable\""));
    assert!(unknown.contains("no such key here; did you mean `label`?"), "{unknown}");
    assert!(fault(&with("\"millrace\": 1", "\"millrace\": 2, \"new\": 3")).contains("format 2"));
    assert!(fault(&format!("{GOLDEN}x")).contains("more text behind the end"));
    assert!(fault("").contains("ends too early"));
    assert!(fault("{\"millrace\": 1, \"name\": ").contains("ends too early"));
}

#[test]
fn what_is_too_deep_or_too_long_is_refused_before_it_is_read() {
    let deep = with("\"one value\"", &format!("{}1{}", "[".repeat(80), "]".repeat(80)));
    assert!(fault(&deep).contains("nested more than 64 deep"));
    let endless = format!("{{\"name\": {}", "[".repeat(1_000_000));
    assert!(fault(&endless).contains("nested more than 64 deep"));
    let long = " ".repeat(super::DOCUMENT_BYTES_MAX + 1);
    assert!(fault(&long).contains("4194304 at most"));
    let fault = Document::parse_bytes(b"{\xff").unwrap_err();
    assert_eq!(fault.message, "no UTF-8 from byte 1 on");
}
