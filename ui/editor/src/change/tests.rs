//! Each change does what it says to the graph, and is undone as one.

use super::*;
use crate::testing::{document, wire};
use serde_json::json;

/// The wires of a document after a transaction, which must be undone exactly.
fn wires(document: &Document, transaction: &Transaction) -> String {
    let mut after = document.clone();
    let back = transaction.apply(&mut after).unwrap();
    let shown: Vec<_> =
        after.wires.iter().map(|wire| format!("{}.{}-{}", wire.from, wire.port, wire.to)).collect();
    back.apply(&mut after).unwrap();
    assert_eq!(after, *document);
    shown.join(" ")
}

fn ids(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn removing_takes_wires_and_places_along() {
    let document = document("t:manual@0,0 a:map@300,0 b:map | t-a a-b t-b");
    let removed = remove(&document, &ids("a"), &BTreeSet::from([wire("t-b")]));
    assert_eq!(wires(&document, &removed), "");
    let mut after = document.clone();
    removed.apply(&mut after).unwrap();
    assert!(!after.layout.contains_key("a") && !after.steps.contains_key("a"));
}

#[test]
fn reconnecting_joins_both_sides_through_a_whole_chain() {
    let document = document("t:manual a:map b:condition c:map d:map | t-a a-b b.true-c b.false-d");
    let removed = remove_and_reconnect(&document, &ids("a b"));
    assert_eq!(wires(&document, &removed), "t.out-c");
    let removed = remove_and_reconnect(&document, &ids("t"));
    assert_eq!(wires(&document, &removed), "a.out-b b.false-d b.true-c");
}

#[test]
fn a_step_is_spliced_where_it_fits() {
    let document = document("t:manual a:map b:map c:condition u:manual | t-a a-b");
    let spliced = splice(&document, "c", &wire("t-a")).unwrap();
    assert_eq!(wires(&document, &spliced), "a.out-b c.true-a t.out-c");
    assert!(splice(&document, "u", &wire("t-a")).is_none(), "a trigger has no input");
    assert!(splice(&document, "b", &wire("t-a")).is_none(), "a leads to b already");
    assert!(splice(&document, "a", &wire("t-a")).is_none());
}

#[test]
fn moving_says_nothing_where_nothing_moves() {
    let document = document("a:map@3,0 b:map@20,40");
    let moved = move_steps(&document, &ids("a b"), Point::new(17.0, 0.0));
    let to = |step: &str, to| Edit::MoveStep { step: step.into(), to: Some(to) };
    assert_eq!(moved.edits, [to("a", [20, 0]), to("b", [37, 40])]);
    assert!(move_steps(&document, &ids("b"), Point::new(0.3, -0.2)).is_empty());
}

#[test]
fn a_new_step_finds_a_free_place() {
    let document = document("a:map@0,0 b:map@0,60");
    assert_eq!(free_place(&document, [0, 0]), [0, 120]);
    assert_eq!(free_place(&document, [300, 0]), [300, 0]);
}

#[test]
fn the_cases_of_a_switch_take_their_wires_along() {
    let mut document = document("s:switch a:map b:map c:map o:map");
    document.steps.get_mut("s").unwrap().fields = BTreeMap::from([(
        "cases".to_owned(),
        json!([{"equals": 1}, {"equals": 2}, {"equals": 3}]),
    )]);
    document.wires = ["s.1-a", "s.2-b", "s.3-c", "s.otherwise-o"].map(wire).to_vec();
    let moved = reorder(&document, "s", "cases", 2, 0).unwrap();
    assert_eq!(wires(&document, &moved), "s.1-c s.2-a s.3-b s.otherwise-o");
    let mut after = document.clone();
    moved.apply(&mut after).unwrap();
    assert_eq!(
        after.steps["s"].fields["cases"],
        json!([{"equals": 3}, {"equals": 1}, {"equals": 2}])
    );
    assert!(reorder(&document, "s", "cases", 1, 1).is_none());
    assert!(reorder(&document, "s", "cases", 0, 3).is_none());
    assert!(reorder(&document, "a", "output", 0, 1).is_none());
}
