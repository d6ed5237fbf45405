//! Documents with many faults: each is told once, with its place, and nothing that only follows.

use super::*;

fn told(text: &str) -> Vec<String> {
    let place = |fault: &Fault| {
        format!(
            "{} {} {}",
            fault.code,
            fault.step.as_deref().unwrap_or("-"),
            fault.field.as_deref().unwrap_or("-")
        )
    };
    examine(text).faults.iter().map(place).collect()
}

#[test]
fn all_faults_are_told_at_once_whatever_their_sort() {
    let text = r#"{
  "millrace": 1,
  "name": "Nine Lives",
  "descripton": "x",
  "settings": { "priority": "urgent", "limits": { "cpu_ms": 0 } },
  "steps": {
    "in": { "kind": "uns.subscribe", "fields": { "filters": ["a/#"] } },
    "calc": { "kind": "javascript", "lable": "x", "timeout_ms": "soon", "fields": { "cod": "1" } },
    "far": { "kind": "teleport", "retry": { "times": "3" }, "disabled": 1 },
    "out": { "kind": "uns.publish", "on_error": "retry", "fields": { "path": "a//b" } }
  },
  "wires": [
    { "from": "in", "to": "calc" },
    { "from": "calc", "too": "far" },
    { "from": "calc", "to": "out" },
    { "from": "calc", "to": "nowhere" }
  ],
  "cases": [{ "name": "one", "when": [{ "trigger": "calc" }] }]
}"#;
    let mut faults = told(text);
    faults.sort();
    let mut expected = [
        "unknown_field - descripton",
        "bad_shape - settings.priority",
        "unknown_field calc lable",
        "bad_shape calc timeout_ms",
        "bad_shape far retry.times",
        "missing_field far retry.first_ms",
        "bad_shape far disabled",
        "bad_shape out on_error",
        "unknown_field - wires[1].too",
        "missing_field - wires[1].to",
        "missing_field - cases[0].then",
        "bad_name - name",
        "bad_setting - settings.limits.cpu_ms",
        "unknown_field calc cod",
        "missing_field calc code",
        "unknown_kind far kind",
        "bad_field out path",
        "dangling_wire calc wires",
    ];
    expected.sort_unstable();
    assert_eq!(faults, expected);
    let lines: Vec<_> = examine(text).faults.iter().filter_map(|fault| fault.line).collect();
    assert!(lines.contains(&4) && lines.contains(&8) && lines.contains(&14), "{lines:?}");
}

#[test]
fn a_fault_is_in_the_words_of_this_program() {
    let check = |steps: &str, expected: &str| {
        let text = format!(
            r#"{{"millrace":1,"name":"a","steps":{{"in":{{"kind":"manual"}},{steps}}},"wires":[]}}"#
        );
        let faults = examine(&text).faults;
        let found = faults.iter().any(|fault| fault.to_string().contains(expected));
        assert!(found, "{expected}: {faults:#?}");
        for word in ["serde", "invalid type", "u32", "u64", "variant", "expected", "struct", "EOF"]
        {
            let raw = faults.iter().find(|fault| fault.to_string().contains(word));
            assert!(raw.is_none(), "{raw:?} says `{word}`");
        }
    };
    check(
        r#""x":{"kind":"filter","timeout_ms":"soon"}"#,
        "step `x`, field `timeout_ms`, line 1: takes a whole number, not below 0, not \"soon\"",
    );
    check(r#""x":7"#, "step `x`, line 1: takes an object, not 7");
    check(r#""x":{}"#, "step `x`, field `kind`, line 1: is required");
    check(
        r#""x":{"kind":"filter","lable":"y"}"#,
        "field `lable`, line 1: there is no such key here; did you mean `label`?",
    );
    check(
        r#""x":{"kind":"filter","on_error":{"goto":"in"}}"#,
        "takes `stop`, `continue`, { \"go_to\": ... }, not an object",
    );
    check(r#""x":{"kind":"fliter"}"#, "did you mean `filter`? `millrace pipeline kinds` lists all");
    check(
        r#""x":{"kind":"teleport"}"#,
        "kind `teleport` is not known; `millrace pipeline kinds` lists all",
    );
}

#[test]
fn what_is_no_json_has_one_fault_and_its_line() {
    let faults = examine("{\n  \"millrace\": 1,\n  \"name\": \"a\"\n  \"steps\": {}\n}").faults;
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!((faults[0].code, faults[0].line), ("not_json", Some(4)));
    assert!(examine("7").document.is_some_and(|document| document.steps.is_empty()));
    assert_eq!(told("7"), ["bad_shape - -"]);
    assert_eq!(told("{}").len(), 3, "millrace, name, steps: {:?}", told("{}"));
    assert_eq!(told(r#"{"millrace":9,"steps":1}"#), ["format - millrace"]);
    let twice = r#"{"millrace":1,"name":"a","name":"a","steps":{},"steps":{}}"#;
    assert_eq!(
        told(twice),
        ["duplicate_key - name", "duplicate_key - steps", "no_trigger - steps"]
    );
}

#[test]
fn only_a_good_document_is_given_as_one() {
    let good = r#"{"millrace":1,"name":"a","steps":{"in":{"kind":"manual"}}}"#;
    assert!(examine(good).good().is_some());
    let bad = good.replace("\"manual\"", "\"manual\", \"label\": 3");
    let examined = examine(&bad);
    assert!(examined.good().is_none() && examined.document.is_some(), "{examined:?}");
}

#[test]
fn a_hundred_thousand_faults_are_bounded_and_quick() {
    let steps: Vec<_> = (0..100_000).map(|n| format!("\"s{n}\":7")).collect();
    let text = format!(r#"{{"millrace":1,"name":"a","steps":{{{}}}}}"#, steps.join(","));
    let faults = examine(&text).faults;
    assert_eq!(faults.len(), FAULTS_MAX + 1);
    assert_eq!(faults.last().map(|fault| fault.code), Some("too_many_faults"));
}
