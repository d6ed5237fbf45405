//! Tests of `unit`.

use super::*;
use crate::steps::testing::{FakeContext, assert_is, data, text};
use proptest::prelude::*;
use serde_json::json;

fn convert(from: &str, to: &str, value: Data) -> Data {
    let mut run = FakeContext::new();
    let step = run.step("unit", json!({"from": from, "to": to}));
    run.out(&step, value).1
}

#[test]
fn converts_what_plants_measure() {
    for (from, to, value, wanted) in [
        ("°F", "°C", 212.0, 100.0),
        ("°F", "°C", -40.0, -40.0),
        ("°C", "K", 20.0, 293.15),
        ("psi", "bar", 100.0, 6.894_757_293_168_36),
        ("bar", "kPa", 1.5, 150.0),
        ("l/min", "m³/h", 100.0, 6.0),
        ("gpm", "l/min", 1.0, 3.785_411_784),
        ("in", "mm", 0.5, 12.7),
        ("lb", "kg", 1.0, 0.453_592_37),
        ("kWh", "MJ", 2.5, 9.0),
        ("hp", "kW", 1.0, 0.745_699_871_582_27),
        ("h", "min", 1.5, 90.0),
        ("km/h", "m/s", 36.0, 10.0),
        ("lbf·ft", "Nm", 1.0, 1.355_817_948_331_4),
        ("ppm", "%", 500.0, 0.05),
        ("rpm", "°/s", 1.5, 9.0),
    ] {
        assert_is(&convert(from, to, Data::Float(value)), json!(wanted));
    }
}

#[test]
fn integers_stay_integers_where_the_factor_is_whole() {
    assert_eq!(convert("kg", "g", Data::Int(5)), Data::Int(5000));
    let nanos = convert("ms", "ns", Data::Int(9_007_199_254_741));
    assert_eq!(nanos, Data::Int(9_007_199_254_741_000_000), "exact beyond 2^53");
    assert_eq!(convert("g", "kg", Data::Int(5)), Data::Float(0.005), "a fraction needs a double");
    assert_eq!(convert("bar", "bar", Data::UInt(u64::MAX)), Data::UInt(u64::MAX));
}

#[test]
fn refuses_other_quantities_and_what_has_no_unit() {
    let mut run = FakeContext::new();
    let fault = run.compile("unit", json!({"from": "bar", "to": "°C"})).err().expect("refused");
    assert_eq!(fault.field.as_deref(), Some("to"));
    assert!(fault.message.contains("not of one quantity"), "{}", fault.message);
    let fault = run.compile("unit", json!({"from": "furlong", "to": "m"})).err().expect("refused");
    assert!(fault.message.contains("`furlong` is no unit"), "{}", fault.message);
    let step = run.step("unit", json!({"from": "bar", "to": "Pa"}));
    let fault = run.fault(&step, text("5"));
    assert!(fault.message.contains("not text \"5\""), "{}", fault.message);
    let fault = run.fault(&step, Data::Int(i64::MAX));
    assert_eq!(fault.code, "limit", "an integer that does not fit is not wrapped");
}

#[test]
fn scales_by_factor_and_offset_and_rounds() {
    let mut run = FakeContext::new();
    let fields = json!({"factor": "{{ $item.k }}", "offset": 4, "decimals": 2, "value": "{{ $item.raw }}", "into": "scaled"});
    let step = run.step("unit", fields);
    let (_, out) = run.out(&step, data(json!({"k": 0.1, "raw": 10.05})));
    assert_is(&out, json!({"k": 0.1, "raw": 10.05, "scaled": 5.01}));
    let whole = run.step("unit", json!({"factor": 3}));
    assert_eq!(run.out(&whole, Data::Int(7)).1, Data::Int(21));
}

proptest! {
    /// There and back again is the same, to fourteen digits.
    #[test]
    fn every_conversion_has_its_way_back(
        from in 0..unit::UNITS.len(),
        to in 0..unit::UNITS.len(),
        value in -1e6_f64..1e6,
    ) {
        let (from, to) = (&unit::UNITS[from], &unit::UNITS[to]);
        if let (Some(there), Some(back)) = (
            unit::conversion(from.symbol, to.symbol),
            unit::conversion(to.symbol, from.symbol),
        ) {
            let far = scale(Number::Float(value), Number::Float(there.0), Number::Float(there.1));
            let far = Number::of(&far.expect("a double")).expect("a number");
            let near = scale(far, Number::Float(back.0), Number::Float(back.1));
            let near = Number::of(&near.expect("a double")).expect("a number").to_f64();
            // An offset far larger than the value leaves it fewer digits.
            let size = value.abs().max((there.1 / there.0).abs());
            prop_assert!((near - value).abs() <= 1e-12 * size, "{} {} {value} {near}", from.symbol, to.symbol);
        }
    }
}
