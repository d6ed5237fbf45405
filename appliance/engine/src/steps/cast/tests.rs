//! Tests of `cast`.

use super::*;
use crate::steps::testing::{FakeContext, assert_is, data, text};
use serde_json::{Value, json};

/// Casts a value with a step of these fields.
fn cast(fields: Value, value: Data) -> Result<Data, String> {
    let mut run = FakeContext::new();
    let step = run.step("cast", fields);
    match run.run(&step, value) {
        Ok(Outcome::Out(0, data)) => Ok(data),
        Ok(_) => Err("another outcome".into()),
        Err(fault) => Err(fault.message),
    }
}

#[test]
fn keeps_integers_of_64_bits_exact() {
    for (from, wanted) in [
        (text(" 9007199254740993 "), Data::Int(9_007_199_254_740_993)),
        (text("18446744073709551615"), Data::UInt(u64::MAX)),
        (text("-9223372036854775808"), Data::Int(i64::MIN)),
        (Data::UInt(u64::MAX), Data::UInt(u64::MAX)),
        (Data::Bool(true), Data::Int(1)),
        (Data::Float(-2.5), Data::Int(-3)),
        (text("1.5e3"), Data::Int(1500)),
    ] {
        assert_eq!(cast(json!({"to": "int"}), from.clone()), Ok(wanted), "{from:?}");
    }
}

#[test]
fn rounds_as_told() {
    for (rounding, wanted) in [("nearest", -3), ("down", -3), ("up", -2), ("toward_zero", -2)] {
        let found = cast(json!({"to": "int", "rounding": rounding}), Data::Float(-2.5));
        assert_eq!(found, Ok(Data::Int(wanted)), "{rounding}");
    }
}

#[test]
fn refuses_what_does_not_fit_and_says_why() {
    let exact = json!({"to": "int", "rounding": "exact"});
    let fault = cast(exact, Data::Float(1.5)).expect_err("a fraction");
    assert_eq!(
        fault,
        "number 1.5 does not become an int: it has a fraction, and `rounding` is `exact`"
    );
    for (value, why) in [
        (Data::Float(f64::NAN), "not finite"),
        (Data::Float(1e30), "64 bits"),
        (text("99999999999999999999"), "64 bits"),
        (text("0x10"), "no number"),
        (text("inf"), "no number"),
        (text(""), "no number"),
        (Data::Null, "only numbers"),
        (data(json!([1])), "only numbers"),
    ] {
        let fault = cast(json!({"to": "int"}), value.clone()).expect_err("refused");
        assert!(fault.contains(why), "{value:?}: {fault}");
    }
}

#[test]
fn float_loses_digits_only_if_that_is_allowed() {
    let big = Data::Int(9_007_199_254_740_993);
    assert_eq!(cast(json!({"to": "float"}), big.clone()), Ok(Data::Float(9_007_199_254_740_992.0)));
    let fault = cast(json!({"to": "float", "rounding": "exact"}), big).expect_err("inexact");
    assert!(fault.contains("last digits would be lost"), "{fault}");
    assert_eq!(
        cast(json!({"to": "float", "rounding": "exact"}), Data::Int(5)),
        Ok(Data::Float(5.0))
    );
}

#[test]
fn reads_decimal_commas() {
    let fields = json!({"to": "float", "decimal_comma": true});
    assert_eq!(cast(fields.clone(), text("1.234,5")), Ok(Data::Float(1234.5)));
    assert_eq!(cast(fields, text("-0,25")), Ok(Data::Float(-0.25)));
    let plain = cast(json!({"to": "float"}), text("1,5")).expect_err("no comma without it");
    assert!(plain.contains("no number"), "{plain}");
}

#[test]
fn bool_knows_the_words_of_plants() {
    for (value, wanted) in [
        (text("ON"), true),
        (text(" no "), false),
        (Data::Int(2), true),
        (Data::Float(0.0), false),
        (Data::Bool(true), true),
    ] {
        assert_eq!(cast(json!({"to": "bool"}), value.clone()), Ok(Data::Bool(wanted)), "{value:?}");
    }
    assert!(
        cast(json!({"to": "bool"}), text("maybe")).expect_err("no bool").contains("text \"maybe\"")
    );
    assert!(cast(json!({"to": "bool"}), Data::Float(f64::NAN)).is_err(), "NaN is neither");
}

#[test]
fn text_reads_back_the_same() {
    assert_eq!(cast(json!({"to": "text"}), Data::Float(32.0)), Ok(text("32.0")));
    assert_eq!(cast(json!({"to": "text"}), Data::UInt(u64::MAX)), Ok(text("18446744073709551615")));
    assert_eq!(cast(json!({"to": "text"}), data(json!({"a": [1]}))), Ok(text("{\"a\":[1]}")));
    assert!(
        cast(json!({"to": "text"}), Data::Null).expect_err("nothing").contains("nothing to write")
    );
}

#[test]
fn falls_back_and_puts_the_result_where_it_belongs() {
    let mut run = FakeContext::new();
    let fields = json!({"to": "int", "on_failure": "fallback", "fallback": -1});
    let step = run.step("cast", fields);
    let (_, out) = run.out(&step, data(json!({"value": "x", "path": "p"})));
    assert_is(&out, json!({"value": -1, "path": "p"}));
    let into = run.step("cast", json!({"to": "int", "value": "{{ $item.raw }}", "into": "clean"}));
    assert_is(&run.out(&into, data(json!({"raw": "7"}))).1, json!({"raw": "7", "clean": 7}));
    let whole = run.step("cast", json!({"to": "int", "value": "{{ $item.raw }}"}));
    assert_is(&run.out(&whole, data(json!({"raw": "7"}))).1, json!(7));
}
