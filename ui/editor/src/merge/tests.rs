//! Concurrent edits of one pipeline.

use super::*;
use crate::testing::{document, wire};
use millrace_flow::Edit;
use proptest::prelude::*;
use serde_json::json;

fn base() -> Document {
    document("t:manual@0,0 a:map@260,0 b:map@520,0 | t-a a-b")
}

fn with(edits: &[Edit]) -> Document {
    let mut document = base();
    for edit in edits {
        edit.apply(&mut document).unwrap();
    }
    document
}

fn set(step: &str, field: &str, value: i32) -> Edit {
    Edit::SetField { step: step.into(), field: field.into(), value: json!(value) }
}

fn merged(ours: &[Edit], theirs: &[Edit]) -> Merged {
    merge(&base(), &with(ours), &with(theirs), &BTreeMap::new())
}

#[test]
fn changes_of_different_parts_come_together() {
    let step = crate::change::new_step("filter");
    let ours = [set("a", "output", 1), Edit::AddStep { id: "f".into(), step }];
    let theirs = [
        set("b", "output", 2),
        Edit::RemoveWire(wire("t-a")),
        Edit::AddWire(wire("t-b")),
        Edit::SetDescription("what it is for".into()),
    ];
    let merged = merged(&ours, &theirs);
    assert_eq!(merged.conflicts, []);
    let document = merged.document;
    assert_eq!(document.steps["a"].fields["output"], 1);
    assert_eq!(document.steps["b"].fields["output"], 2);
    assert!(document.steps.contains_key("f"));
    assert_eq!(document.wires, [wire("a-b"), wire("t-b")]);
    assert_eq!(document.description, "what it is for");
}

#[test]
fn the_same_field_changed_twice_is_a_conflict_until_somebody_chooses() {
    let (ours, theirs) = (with(&[set("a", "output", 1)]), with(&[set("a", "output", 2)]));
    let part = Part::Field("a".into(), "output".into());
    let open = merge(&base(), &ours, &theirs, &BTreeMap::new());
    assert!(!open.is_decided());
    assert_eq!(open.conflicts[0].part.to_string(), "step `a`, field `output`");
    assert_eq!((&open.conflicts[0].base, &open.conflicts[0].theirs), (&None, &Some(json!(2))));
    assert_eq!(open.document, ours);
    let decided = merge(&base(), &ours, &theirs, &BTreeMap::from([(part, Side::Theirs)]));
    assert!(decided.is_decided());
    assert_eq!(decided.document, theirs);
}

#[test]
fn a_step_removed_here_and_changed_there_is_a_conflict() {
    let mut ours = base();
    crate::change::remove(&base(), &BTreeSet::from(["b".into()]), &BTreeSet::new())
        .apply(&mut ours)
        .unwrap();
    let theirs = with(&[set("b", "output", 2)]);
    let open = merge(&base(), &ours, &theirs, &BTreeMap::new());
    assert_eq!(open.conflicts[0].part, Part::Step("b".into()));
    assert_eq!(open.document, ours, "removed, and no wire or place is left of it");
    let choice = BTreeMap::from([(Part::Step("b".into()), Side::Theirs)]);
    assert!(merge(&base(), &ours, &theirs, &choice).document.steps.contains_key("b"));
}

#[test]
fn a_wire_to_a_step_that_they_removed_is_dropped() {
    let mut theirs = base();
    crate::change::remove(&base(), &BTreeSet::from(["b".into()]), &BTreeSet::new())
        .apply(&mut theirs)
        .unwrap();
    let ours = with(&[Edit::AddWire(wire("t-b"))]);
    let merged = merge(&base(), &ours, &theirs, &BTreeMap::new());
    assert_eq!(merged.conflicts, []);
    assert_eq!(merged.document.wires, [wire("t-a")]);
}

#[test]
fn places_are_never_a_conflict() {
    let to = |x| Edit::MoveStep { step: "a".into(), to: Some([x, 0]) };
    let merged = merged(&[to(20)], &[to(40)]);
    assert_eq!((merged.document.layout["a"], merged.conflicts.len()), ([20, 0], 0));
}

#[test]
fn cases_are_told_apart_by_name() {
    let case = |name: &str, at_ms: u64| -> Case {
        let when = json!([{"trigger": "t", "at_ms": at_ms}]);
        serde_json::from_value(json!({"name": name, "when": when, "then": []})).unwrap()
    };
    let add = |name, at_ms| Edit::AddCase { at: 0, case: case(name, at_ms) };
    let merged = merged(&[add("cold", 1)], &[add("hot", 2)]);
    let names: Vec<_> = merged.document.cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!((names, merged.conflicts.len()), (vec!["cold", "hot"], 0));
}

fn edit() -> impl Strategy<Value = Edit> {
    let id = || proptest::sample::select(vec!["a", "b", "t", "new"]).prop_map(str::to_owned);
    prop_oneof![
        (id(), 0..3_i32).prop_map(|(step, value)| set(&step, "output", value)),
        id().prop_map(|id| Edit::RemoveStep { id }),
        id().prop_map(|id| Edit::AddStep { id, step: crate::change::new_step("map") }),
        (id(), id())
            .prop_map(|(from, to)| { Edit::AddWire(Wire { from, port: "out".into(), to }) }),
        (id(), id())
            .prop_map(|(from, to)| { Edit::RemoveWire(Wire { from, port: "out".into(), to }) }),
        (id(), 0..3_i32).prop_map(|(step, x)| Edit::MoveStep { step, to: Some([x, 0]) }),
        (id(), any::<bool>()).prop_map(|(step, disabled)| Edit::SetDisabled { step, disabled }),
        "[ab]".prop_map(Edit::SetDescription),
    ]
}

fn edited() -> impl Strategy<Value = Document> {
    proptest::collection::vec(edit(), 0..8).prop_map(|edits| {
        let mut document = base();
        for edit in edits {
            // What does not fit is left out.
            drop(edit.apply(&mut document));
        }
        document
    })
}

proptest! {
    #[test]
    fn if_one_side_changed_nothing_the_other_is_the_result(side in edited()) {
        let none = BTreeMap::new();
        let base = base();
        let ours = merge(&base, &side, &base, &none);
        prop_assert_eq!((&ours.document, ours.conflicts.len()), (&side, 0));
        let theirs = merge(&base, &base, &side, &none);
        prop_assert_eq!((&theirs.document, theirs.conflicts.len()), (&side, 0));
        let both = merge(&base, &side, &side, &none);
        prop_assert_eq!((&both.document, both.conflicts.len()), (&side, 0));
    }

    #[test]
    fn without_conflicts_it_does_not_matter_who_was_first(one in edited(), other in edited()) {
        let none = BTreeMap::new();
        let (here, there) = (merge(&base(), &one, &other, &none), merge(&base(), &other, &one, &none));
        prop_assert_eq!(here.conflicts.len(), there.conflicts.len());
        if here.conflicts.is_empty() {
            let mut there = there.document;
            // Places are ours on either side.
            there.layout = here.document.layout.clone();
            prop_assert_eq!(here.document, there);
        }
    }
}
