//! Undo is identity, redo the same again, and the limit is kept.

use super::*;
use crate::testing::document;
use serde_json::json;

fn set(value: &str) -> Transaction {
    let (step, field) = ("a".to_owned(), "output".to_owned());
    Edit::SetField { step, field, value: json!(value) }.into()
}

fn grain() -> Option<Grain> {
    Some(Grain::Field { step: "a".into(), field: "output".into() })
}

#[test]
fn typing_into_one_field_is_one_entry() {
    let before = document("a:map");
    let mut document = before.clone();
    let mut history = History::default();
    for text in ["4", "42", "421", "42"] {
        history.apply(&mut document, "edit", &set(text), grain()).unwrap();
    }
    assert_eq!(history.len(), 1);
    history.undo(&mut document).unwrap();
    assert_eq!(document, before);
    history.redo(&mut document).unwrap();
    assert_eq!(document.steps["a"].fields["output"], "42");
    history.apply(&mut document, "edit", &set("5"), grain()).unwrap();
    assert_eq!(history.len(), 2, "an entry that was undone and done again is closed");
    history.seal();
    history.apply(&mut document, "edit", &set("6"), grain()).unwrap();
    assert_eq!(history.len(), 3);
}

#[test]
fn what_was_set_and_taken_out_again_leaves_no_entry() {
    let before = document("a:map");
    let mut document = before.clone();
    let mut history = History::default();
    history.apply(&mut document, "edit", &set("4"), grain()).unwrap();
    let unset = Edit::UnsetField { step: "a".into(), field: "output".into() }.into();
    history.apply(&mut document, "edit", &unset, grain()).unwrap();
    assert!(history.is_empty());
    assert_eq!(document, before);
}

#[test]
fn a_new_change_forgets_what_could_be_redone() {
    let mut document = document("a:map");
    let mut history = History::default();
    history.apply(&mut document, "one", &set("1"), None).unwrap();
    history.undo(&mut document).unwrap();
    assert_eq!(history.redo_name(), Some("one"));
    history.apply(&mut document, "two", &set("2"), None).unwrap();
    assert_eq!((history.redo_name(), history.undo_name()), (None, Some("two")));
    assert_eq!(history.redo(&mut document), Ok(None));
}

#[test]
fn over_its_limit_the_oldest_entries_are_forgotten_and_the_newest_never() {
    let mut document = document("a:map");
    let mut history = History::with_limit(1_000);
    for number in 0..100 {
        history.apply(&mut document, "edit", &set(&number.to_string()), None).unwrap();
    }
    assert!(history.len() > 5 && history.len() < 20, "{}", history.len());
    assert_eq!(history.forgotten() + history.len() as u64, 100);
    history.apply(&mut document, "large", &set(&"x".repeat(5_000)), None).unwrap();
    history.apply(&mut document, "after", &set("y"), None).unwrap();
    assert_eq!(history.len(), 1, "the entry that undoes `large` alone is over the limit");
    history.undo(&mut document).unwrap();
    assert_eq!(document.steps["a"].fields["output"].as_str().unwrap().len(), 5_000);
}

#[test]
fn what_cannot_be_applied_changes_neither_document_nor_history() {
    let mut document = document("a:map");
    let mut history = History::default();
    let transaction = Edit::RemoveStep { id: "gone".into() }.into();
    assert!(history.apply(&mut document, "x", &transaction, None).is_err());
    assert!(history.is_empty());
}
