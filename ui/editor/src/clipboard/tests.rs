//! Copy, paste, and texts that are not ours.

use super::*;
use crate::testing::{document, wire};
use serde_json::json;

fn source() -> Document {
    let mut document = document("t:manual@0,0 a:map@300,0 b:map@600,0 | t-a a-b");
    let fields = &mut document.steps.get_mut("b").unwrap().fields;
    fields.insert("output".into(), json!("{{ $step.a.value + $step.t.x }}"));
    document
}

fn clip(ids: &str) -> Clip {
    Clip::of(&source(), &ids.split(' ').map(str::to_owned).collect()).unwrap()
}

#[test]
fn pasted_steps_get_free_ids_and_name_one_another_by_them() {
    let (transaction, ids) = clip("a b").paste(&source(), None).unwrap();
    assert_eq!(ids.iter().map(String::as_str).collect::<Vec<_>>(), ["a_2", "b_2"]);
    let mut after = source();
    transaction.apply(&mut after).unwrap();
    assert_eq!(after.steps["b_2"].fields["output"], "{{ $step.a_2.value + $step.t.x }}");
    assert!(after.wires.contains(&wire("a_2-b_2")));
    assert!(!after.wires.iter().any(|wire| wire.from == "t" && wire.to == "a_2"));
    assert_eq!(after.layout["a_2"], [340, 40]);
    // A second paste lies on nothing either.
    let (again, _) = clip("a b").paste(&after, None).unwrap();
    again.apply(&mut after).unwrap();
    assert_eq!(after.layout["a_3"], [380, 80]);
}

#[test]
fn pasting_at_a_point_puts_the_middle_there() {
    let (transaction, _) = clip("a b").paste(&source(), Some(Point::new(1_000.0, 500.0))).unwrap();
    let mut after = source();
    transaction.apply(&mut after).unwrap();
    assert_eq!((after.layout["a_2"], after.layout["b_2"]), ([760, 480], [1_060, 480]));
}

#[test]
fn the_text_reads_back_and_a_whole_document_can_be_pasted() {
    let copied = clip("a b");
    assert_eq!(Clip::parse(&copied.to_text()), Ok(copied));
    assert_eq!(Clip::parse(&source().to_text()).unwrap().len(), 3);
}

#[test]
fn other_texts_are_refused_with_a_reason() {
    for text in ["", "hello", "[1]", "{\"steps\": {}}", "{\"millrace_steps\": 1, \"steps\": {}}"] {
        assert_eq!(Clip::parse(text), Err(PasteError::NoSteps), "{text}");
    }
    let broken = |text: &str| Clip::parse(text).unwrap_err().to_string();
    assert!(broken("{\"millrace_steps\": 9}").contains("format 9 is not known"));
    assert!(broken("{\"millrace_steps\": 1, \"steps\": {\"a\": 3}}").contains("cannot be read"));
    assert!(broken(&" ".repeat(millrace_flow::text::DOCUMENT_BYTES_MAX + 1)).contains("at most"));
}

#[test]
fn a_full_document_takes_no_more_steps() {
    let text: String = (0..STEPS_MAX - 1).map(|step| format!("s{step}:map ")).collect();
    let full = document(&text);
    assert_eq!(clip("a b").paste(&full, None), Err(PasteError::TooMany(STEPS_MAX + 1)));
    assert!(clip("a").paste(&full, None).is_ok());
}
