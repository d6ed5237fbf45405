//! Data passes exactly, and means what JavaScript means.

use super::*;
use crate::expression::Key;
use millrace_model::{Value, ValueRef};
use proptest::prelude::*;

fn json(text: &str) -> Data {
    Data::from_json_text(text).unwrap()
}

#[test]
fn whole_numbers_keep_all_bits_both_ways() {
    for text in ["9223372036854775807", "-9223372036854775808", "18446744073709551615", "0"] {
        assert_eq!(json(text).to_json_text(), text);
        assert_eq!(json(text).to_json().to_string(), text);
        assert_eq!(Data::from(&json(text).to_json()), json(text));
    }
    assert_eq!(json("9223372036854775808"), Data::UInt(1 << 63));
    assert_eq!(Data::from(5_u64), Data::Int(5));
    assert_eq!(json("1.0").to_json_text(), "1.0", "a float stays one");
}

#[test]
fn what_json_cannot_hold_is_told_and_written_as_null() {
    let fields: Map = [("a", Data::Float(f64::NAN)), ("b", Data::Missing), ("c", Data::Null)]
        .into_iter()
        .collect();
    let data = Data::from(fields);
    assert_eq!(data.to_json_text(), r#"{"a":null,"c":null}"#);
    assert_eq!(data.to_json().to_string(), r#"{"a":null,"c":null}"#);
    assert_eq!(serde_json::to_string(&data).unwrap(), r#"{"a":null,"c":null}"#);
    assert_eq!(data.json_loss(), Some(Loss::NotFinite));
    assert_eq!(json("[1,null]").json_loss(), None);
    assert_eq!(Data::from(vec![Data::Missing]).to_json_text(), "[null]");
}

#[test]
fn deep_text_is_refused_not_followed() {
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(Data::from_json_text(&deep(DEPTH_MAX)).is_ok());
    assert_eq!(Data::from_json_text(&deep(DEPTH_MAX + 1)), Err(JsonFault::TooDeep));
    assert_eq!(Data::from_json_text(&deep(100_000)), Err(JsonFault::TooDeep));
    let fault = Data::from_json_text("{\n \"a\": }").unwrap_err();
    assert!(matches!(fault, JsonFault::Syntax { line: 2, .. }), "{fault}");
}

#[test]
fn values_of_samples_pass_exactly() {
    for value in [
        Value::Null,
        Value::Bool(true),
        Value::Int(i64::MIN),
        Value::UInt(u64::MAX),
        Value::Float(f64::NAN),
        Value::Text("ö".into()),
        Value::Json(r#"{"b":1,"a":[2.5]}"#.into()),
    ] {
        assert_eq!(Data::from(&value).to_value(), Some(value));
    }
    assert_eq!(Data::from_value(ValueRef::Json("{")), Data::text("{"));
    assert_eq!(Data::Missing.to_value(), None);
}

#[test]
fn paths_mean_what_they_mean_in_javascript() {
    let data = json(r#"{"a":{"b":[1,{"c":"héy"}]},"n":null,"0":"zero"}"#);
    let keys = |path: &str| -> Vec<Key> {
        path.split('/')
            .map(|key| key.parse().map_or_else(|_| Key::Name(key.into()), Key::Index))
            .collect()
    };
    let check = |path, expected: Data| assert_eq!(data.follow(&keys(path)), Ok(expected), "{path}");
    check("a/b/0", Data::Int(1));
    check("a/b/1/c", Data::text("héy"));
    check("a/b/1/c/1", Data::text("é"));
    check("a/b/1/c/length", Data::Int(3));
    check("a/b/length", Data::Int(2));
    check("a/b/7", Data::Missing);
    check("0", Data::text("zero"));
    check("x", Data::Missing);
    check("a/b/0/x", Data::Missing);
    let fault = data.follow(&keys("x/y")).unwrap_err();
    assert_eq!(fault.to_string(), "cannot read property 'y' of undefined");
    let fault = data.follow(&keys("n/0")).unwrap_err();
    assert_eq!(fault.to_string(), "cannot read property '0' of null");
}

#[test]
fn text_of_numbers_is_that_of_javascript() {
    let check = |value: f64, expected| assert_eq!(Data::Float(value).to_js_text(), expected);
    check(1.0, "1");
    check(-0.0, "0");
    check(0.1 + 0.2, "0.30000000000000004");
    check(1e21, "1e+21");
    check(123_456_789_012_345_680_000.0, "123456789012345680000");
    check(1e-7, "1e-7");
    check(0.000_001, "0.000001");
    check(-1.5e-9, "-1.5e-9");
    check(f64::NEG_INFINITY, "-Infinity");
    assert_eq!(json(r#"[1,null,"a",[2,3],{}]"#).to_js_text(), "1,,a,2,3,[object Object]");
    assert_eq!(format!("{} {}", Data::Missing, json(r#"{"a":"b"}"#)), r#"undefined {"a":"b"}"#);
}

#[test]
fn truth_and_sameness() {
    for falsy in [Data::Missing, Data::Null, Data::Int(0), Data::Float(f64::NAN), Data::text("")] {
        assert!(!falsy.is_true(), "{falsy:?}");
    }
    for truthy in [Data::text("0"), json("[]"), json("{}"), Data::Float(-1.0)] {
        assert!(truthy.is_true(), "{truthy:?}");
    }
    assert!(Data::Int(1).is_same(&Data::Float(1.0)));
    assert!(Data::Float(f64::NAN).is_same(&Data::Float(f64::NAN)));
    assert!(!Data::Int(i64::MAX).is_same(&Data::Float(9_223_372_036_854_775_807.0)));
    assert!(Data::UInt(1 << 63).is_same(&Data::Float(9_223_372_036_854_775_808.0)));
    assert!(json(r#"{"a":1,"b":[2]}"#).is_same(&json(r#"{"b":[2.0],"a":1}"#)));
    assert!(!json("[1]").is_same(&json("[1,2]")));
}

#[test]
fn results_go_where_the_rule_says() {
    let trigger = json(r#"{"path":"a","value":5}"#);
    let check = |input: &Data, into, given, expected| {
        assert_eq!(input.with_result(into, given, Data::Int(9)).to_json_text(), expected);
    };
    check(&trigger, None, false, r#"{"path":"a","value":9}"#);
    check(&trigger, None, true, "9");
    check(&trigger, Some("x.y"), true, r#"{"path":"a","value":5,"x":{"y":9}}"#);
    check(&Data::Int(5), None, false, "9");
    check(&Data::Int(5), Some("count"), false, r#"{"value":5,"count":9}"#);
    check(&Data::Missing, Some("count"), false, r#"{"count":9}"#);
    assert_eq!(trigger.own_value(), &Data::Int(5));
    assert_eq!(Data::Int(5).own_value(), &Data::Int(5));
    let cleared = json(r#"{"a":{"b":1,"c":2}}"#).with_field("a.b", Data::Missing);
    assert_eq!(cleared.to_json_text(), r#"{"a":{"c":2}}"#);
}

#[test]
fn a_map_of_many_fields_stays_fast_and_keeps_its_order() {
    let mut map = Map::new();
    for number in 0..20_000_i64 {
        map.set(format!("f{number}"), Data::Int(number));
    }
    map.set("f5", Data::Null);
    assert_eq!(map.get("f19999"), Some(&Data::Int(19_999)));
    assert_eq!(map.remove("f0"), Some(Data::Int(0)));
    assert_eq!(map.get("f0"), None);
    assert_eq!(map.get("f19999"), Some(&Data::Int(19_999)));
    let names: Vec<_> = map.iter().take(5).map(|(name, _)| &**name).collect();
    assert_eq!(names, ["f1", "f2", "f3", "f4", "f5"]);
}

#[test]
fn size_and_depth_are_known() {
    assert_eq!(json("[[],{\"a\":[1]}]").depth(), 3);
    assert_eq!(Data::Int(1).depth(), 0);
    assert!(Data::text(&"x".repeat(1_000)).size_bytes() >= 1_000);
    assert!(size_of::<Data>() <= 24);
}

fn any_data() -> impl Strategy<Value = Data> {
    let leaf = prop_oneof![
        Just(Data::Null),
        any::<bool>().prop_map(Data::from),
        any::<i64>().prop_map(Data::from),
        any::<u64>().prop_map(Data::from),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Data::from),
        ".{0,8}".prop_map(Data::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Data::from),
            proptest::collection::vec((".{0,4}", inner), 0..6)
                .prop_map(|fields| fields.into_iter().collect::<Map>().into()),
        ]
    })
}

proptest! {
    #[test]
    fn json_text_reads_back_as_it_was(data in any_data()) {
        let text = data.to_json_text();
        prop_assert_eq!(&json(&text), &data);
        prop_assert_eq!(serde_json::from_str::<Data>(&data.to_json_text_pretty()).unwrap(), data.clone());
        prop_assert_eq!(Data::from(data.to_json()), data);
    }
}
