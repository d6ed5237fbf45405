//! The table of kinds holds what it promises.

use super::*;
use std::collections::BTreeSet;

#[test]
fn every_kind_of_the_contract_is_there_once() {
    let names: BTreeSet<_> = ALL.iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), ALL.len(), "a name stands twice");
    assert_eq!(ALL.len(), 53);
    for name in ["uns.subscribe", "try", "switch", "window", "uns.publish_batch", "issue.clear"] {
        assert_eq!(find(name).map(|kind| kind.name), Some(name));
    }
    assert!(find("uns.subscribed").is_none());
}

#[test]
fn names_ports_and_fields_are_plain_and_unique() {
    for kind in ALL {
        assert!(kind.summary.ends_with('.'), "{}: {}", kind.name, kind.summary);
        let ports: BTreeSet<_> = kind.ports.iter().collect();
        assert_eq!(ports.len(), kind.ports.len(), "{}", kind.name);
        assert!(kind.ports.len() <= 33);
        let fields: BTreeSet<_> = kind.fields.iter().map(|field| field.name).collect();
        assert_eq!(fields.len(), kind.fields.len(), "{}", kind.name);
        for field in kind.fields {
            let what = format!("{}.{}", kind.name, field.name);
            assert!(field.doc.ends_with(['.', '"']), "{what}: {}", field.doc);
            let is_duration = matches!(field.form, FieldForm::Duration { .. });
            assert_eq!(is_duration, field.name.ends_with("_ms"), "{what}: units stand last");
            assert!(!(field.is_required && field.default.is_some()), "{what}");
            if let Some(default) = field.default {
                assert!(field.default_value().is_some(), "{what}: {default} is no JSON");
            }
            if matches!(field.form, FieldForm::Secret | FieldForm::Code | FieldForm::Sql) {
                assert!(!field.allows_expression, "{what}");
            }
        }
        assert!(kind.group != Group::Trigger || kind.fields.iter().all(|f| !f.allows_expression));
    }
}

#[test]
fn what_other_tools_call_a_kind_is_understood() {
    assert_eq!(meant("function"), Some("javascript"));
    assert_eq!(meant("If"), Some("condition"));
    assert_eq!(meant("uns.publihs"), Some("uns.publish"));
    assert_eq!(meant("teleport"), None);
    for (word, kind) in CALLED_ELSEWHERE {
        assert!(find(word).is_none() && find(kind).is_some(), "{word} is {kind}");
    }
}

#[test]
fn a_switch_has_a_port_for_each_case_and_otherwise() {
    let switch = find("switch").unwrap();
    let fields =
        Fields::from([("cases".to_owned(), serde_json::json!([{"equals": 1}, {"from": 2}]))]);
    assert_eq!(switch.ports_of(&fields), ["1", "2", "otherwise"]);
    assert_eq!(switch.port("1"), Some(0));
    assert_eq!(switch.port("otherwise"), Some(32));
    assert_eq!(find("condition").unwrap().ports_of(&fields), ["true", "false"]);
}

#[test]
fn units_convert_within_their_quantity() {
    use crate::kinds::unit::{UNITS, conversion};
    let check = |value: f64, from, to, expected: f64| {
        let (factor, offset) = conversion(from, to).unwrap();
        let result = value * factor + offset;
        assert!(
            (result - expected).abs() < 1e-9 * expected.abs().max(1.0),
            "{value} {from} = {result} {to}"
        );
    };
    check(100.0, "°C", "°F", 212.0);
    check(32.0, "°F", "°C", 0.0);
    check(0.0, "°C", "K", 273.15);
    check(1.0, "bar", "psi", 14.503_773_773_020_92);
    check(1.0, "m³/h", "l/min", 16.666_666_666_666_667);
    check(1.0, "kWh", "MJ", 3.6);
    check(60.0, "rpm", "°/s", 360.0);
    assert_eq!(conversion("bar", "°C"), None);
    assert_eq!(conversion("bar", "smoot"), None);
    let symbols: BTreeSet<_> = UNITS.iter().map(|unit| unit.symbol).collect();
    assert_eq!(symbols.len(), UNITS.len());
}
