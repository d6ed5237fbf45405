//! Stories of steps within a whole engine: what they remember survives the plug being pulled.
//!
//! Goal: with the plug pulled at any point between any two values, what a pipeline publishes is
//! what it publishes without. Method: the same values once without a crash, then once for every
//! value and point of the way; windows, counters, waits and edges each with their own pipeline.

use crate::testing::{Plant, wires};
use serde_json::{Value as Json, json};
use std::time::Duration;

/// How much of the way a value has gone when the plug is pulled: appended, committed, executed,
/// effects committed.
const POINTS: usize = 4;

/// A pipeline of one stateful step between a tag and another.
fn document(step: &Json, more: &[&str]) -> Json {
    let mut list = vec!["start > it"];
    list.extend(more);
    json!({
        "steps": {
            "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
            "it": step,
            "out": { "kind": "uns.publish", "fields": { "path": "out" } },
        },
        "wires": wires(&list),
    })
}

/// Feeds values, each so many milliseconds after the one before, and gives what came out.
fn feed(document: &Json, values: &[(u64, i64)], crash: Option<(usize, usize)>) -> Vec<String> {
    let mut plant = Plant::new();
    plant.deploy(1, document.clone());
    for (place, (after, value)) in values.iter().enumerate() {
        // In small steps, so that what waits wakes at its time.
        for _ in 0..*after / 100 {
            plant.advance(Duration::from_millis(100));
            plant.settle();
        }
        plant.device("in/a", *value);
        if let Some((at, point)) = crash
            && at == place
        {
            if point >= 1 {
                plant.commit();
            }
            if point >= 2 {
                plant.hand.run_ready();
            }
            if point >= 3 {
                plant.commit();
            }
            plant.move_cursor();
            plant = plant.crash();
            if point == 0 {
                // It was never acknowledged: the device sends it again.
                plant.device("in/a", *value);
            }
        }
        plant.settle();
    }
    for _ in 0..100 {
        plant.advance(Duration::from_millis(100));
        plant.settle();
    }
    plant.values("out").iter().map(|value| format!("{:?}", value.as_ref())).collect()
}

/// Asserts that crashes change nothing; gives what comes out.
fn survives(document: &Json, values: &[(u64, i64)]) -> Vec<String> {
    let wanted = feed(document, values, None);
    for place in 0..values.len() {
        for point in 0..POINTS {
            let found = feed(document, values, Some((place, point)));
            assert_eq!(found, wanted, "crash at value {place}, point {point}");
        }
    }
    wanted
}

#[test]
fn windows_lose_and_double_nothing() {
    let fields = json!({"size_ms": 2000, "aggregates": ["sum"], "lateness_ms": 500});
    let step = json!({"kind": "window", "fields": fields});
    let values = [(0, 1), (300, 2), (900, 4), (1500, 8), (300, 16), (5000, 32)];
    let out = survives(&document(&step, &["it > out"]), &values);
    let sum: i64 = out
        .iter()
        .map(|value| value.trim_start_matches("Int(").trim_end_matches(')').parse::<i64>())
        .map(|value| value.expect("sums of integers are integers"))
        .sum();
    assert_eq!(sum, 63, "each value in one window: {out:?}");
    assert!(out.len() >= 3, "several windows: {out:?}");
}

#[test]
fn counters_count_once() {
    let step = json!({"kind": "counter", "fields": {"into": "value", "by": "{{ $item.value }}"}});
    let values = [(0, 1), (100, 10), (0, 100), (100, 1000)];
    let out = survives(&document(&step, &["it > out"]), &values);
    assert_eq!(out, ["Int(1)", "Int(11)", "Int(111)", "Int(1111)"]);
}

#[test]
fn waits_of_debounce_and_delay_go_on() {
    let debounce = json!({"kind": "debounce", "fields": {"quiet_ms": 1000}});
    let values = [(0, 1), (500, 2), (500, 3), (2000, 4)];
    let out = survives(&document(&debounce, &["it > out"]), &values);
    assert_eq!(out, ["Int(3)", "Int(4)"], "the last of each burst");
    let delay = json!({"kind": "delay", "fields": {"on_ms": 1000, "off_ms": 500}});
    let values = [(0, 1), (500, 0), (400, 5), (2000, 0), (200, 7), (2000, 0), (3000, 0)];
    let out = survives(&document(&delay, &["it:on > out", "it:off > out"]), &values);
    assert_eq!(out, ["Int(5)", "Int(0)"], "what was too short is not seen");
}

#[test]
fn edges_and_bands_are_not_forgotten() {
    let edge = json!({"kind": "edge", "fields": {"rise_at": 80, "fall_at": 70}});
    let values = [(0, 60), (100, 85), (100, 75), (100, 82), (100, 65), (100, 90)];
    let out = survives(&document(&edge, &["it:rising > out", "it:falling > out"]), &values);
    assert_eq!(out, ["Int(85)", "Int(65)", "Int(90)"]);
    let deadband = json!({"kind": "deadband", "fields": {"deadband": 5}});
    let out = survives(&document(&deadband, &["it > out"]), &values);
    assert_eq!(out, ["Int(60)", "Int(85)", "Int(75)", "Int(82)", "Int(65)", "Int(90)"]);
    let dedupe = json!({"kind": "dedupe", "fields": {}});
    let out = survives(&document(&dedupe, &["it > out"]), &[(0, 1), (0, 1), (100, 2), (100, 2)]);
    assert_eq!(out, ["Int(1)", "Int(2)"]);
}

#[test]
fn a_step_that_waits_for_later_values_holds_no_other_branch() {
    for step in [
        json!({"kind": "window", "fields": {"size_ms": 3_600_000}}),
        json!({"kind": "debounce", "fields": {"quiet_ms": 3_600_000}}),
        json!({"kind": "delay", "fields": {"on_ms": 3_600_000}}),
    ] {
        let document = document(&step, &["start > out"]);
        let out = survives(&document, &[(0, 1), (100, 2), (100, 3)]);
        assert_eq!(out, ["Int(1)", "Int(2)", "Int(3)"], "at once: {step}");
    }
}
