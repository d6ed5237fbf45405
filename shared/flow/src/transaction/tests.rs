//! Transactions are all or nothing.

use super::*;
use crate::edit::tests::{document, edit};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #[test]
    fn undo_and_redo_are_exact(before in document(), edits in vec(edit(), 1..6)) {
        let mut document = before.clone();
        let transaction = Transaction { edits };
        match transaction.apply(&mut document) {
            Err(_) => prop_assert_eq!(document, before),
            Ok(undo) => {
                let after = document.clone();
                let redo = undo.apply(&mut document).unwrap();
                prop_assert_eq!(&document, &before);
                let undo = redo.apply(&mut document).unwrap();
                prop_assert_eq!(&document, &after);
                undo.apply(&mut document).unwrap();
                prop_assert_eq!(&document, &before);
            }
        }
    }
}

#[test]
fn a_step_is_added_behind_another_and_removed_with_its_wires() {
    let mut document: Document = serde_json::from_value(serde_json::json!({
        "millrace": 1, "name": "p", "steps": {"a": {"kind": "manual"}},
    }))
    .unwrap();
    let before = document.clone();
    let step: Step = serde_json::from_value(serde_json::json!({"kind": "stop"})).unwrap();
    let adding = Transaction::adding("end", step, Some(("a", "out")), Some([10, 20]));
    let undo = adding.apply(&mut document).unwrap();
    assert_eq!(document.wires[0].to_string(), "a.out → end");
    let added = document.clone();
    let undo_removing = Transaction::removing(&document, "end").apply(&mut document).unwrap();
    assert_eq!(document, before);
    undo_removing.apply(&mut document).unwrap();
    assert_eq!(document, added);
    undo.apply(&mut document).unwrap();
    assert_eq!(document, before);
}

#[test]
fn the_edit_at_fault_is_named() {
    let mut document: Document = serde_json::from_value(serde_json::json!({
        "millrace": 1, "name": "p", "steps": {},
    }))
    .unwrap();
    let edits = vec![Edit::SetName("q".into()), Edit::RemoveStep { id: "x".into() }];
    let error = Transaction { edits }.apply(&mut document).unwrap_err();
    assert_eq!(error.to_string(), "edit 1: there is no step `x`");
    assert_eq!(document.name, "p");
    let edits = vec![Edit::SetName("q".into()); EDITS_MAX + 1];
    let error = Transaction { edits }.apply(&mut document).unwrap_err();
    assert_eq!(error.error, EditError::TooMany(EDITS_MAX + 1));
}
