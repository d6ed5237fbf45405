//! Tests of the steps that say what the run does.

use crate::step::{Outcome, StepFault};
use crate::steps::testing::{FakeContext, assert_is, data, listed, name_of, text};
use millrace_flow::Data;
use serde_json::json;

#[test]
fn merge_makes_one_datum_of_what_came() {
    let mut run = FakeContext::new();
    let came = json!([{"a": 1, "b": 1}, {"b": 2}]);
    for (form, wanted) in [
        ("list", came.clone()),
        ("object", json!({"a": 1, "b": 2})),
        ("first", json!({"a": 1, "b": 1})),
        ("last", json!({"b": 2})),
    ] {
        let step = run.step("merge", json!({ "form": form }));
        let outcome = run.run(&step, Data::Int(1));
        assert!(matches!(outcome, Ok(Outcome::Gather)), "{}", name_of(&outcome));
        let outs = listed(step.resume(&mut run, data(came.clone())));
        assert_is(&outs[0].1, wanted);
    }
    let step = run.step("merge", json!({"form": "object"}));
    let fault = step.resume(&mut run, data(json!([1]))).err().expect("refused");
    assert_eq!(fault.message, "only objects become one object, not number 1");
}

#[test]
fn foreach_takes_lists_up_to_its_limit() {
    let mut run = FakeContext::new();
    let step = run.step("foreach", json!({"items_max": 2}));
    let each = run.run(&step, data(json!({"value": [1, 2]})));
    assert!(matches!(&each, Ok(Outcome::Each(items)) if items.len() == 2), "{}", name_of(&each));
    assert_eq!(run.fault(&step, data(json!([1, 2, 3]))).code, "limit");
    let fault = run.fault(&step, data(json!({"a": 1})));
    assert_eq!(fault.message, "`value` must be a list, but is an object of 1");
}

#[test]
fn try_guards_its_input() {
    let mut run = FakeContext::new();
    let step = run.step("try", json!({}));
    let outcome = run.run(&step, Data::Int(7));
    assert!(matches!(outcome, Ok(Outcome::Guard(Data::Int(7)))), "{}", name_of(&outcome));
}

#[test]
fn call_hands_its_input_over_and_passes_the_result_on() {
    let mut run = FakeContext::new();
    let step = run.step("call", json!({"pipeline": "oee", "input": {"n": "{{ $item }}"}}));
    match run.run(&step, Data::Int(7)) {
        Ok(Outcome::Call { pipeline, input }) => {
            assert_eq!(pipeline, "oee");
            assert_is(&input, json!({"n": 7}));
        }
        other => panic!("a call was expected, not {}", name_of(&other)),
    }
    assert_eq!(listed(step.resume(&mut run, text("done"))), [(0, text("done"))]);
}

#[test]
fn stop_ends_well_or_as_failed() {
    let mut run = FakeContext::new();
    let well = run.step("stop", json!({}));
    let outcome = run.run(&well, Data::Int(7));
    assert!(matches!(outcome, Ok(Outcome::Stop(Data::Int(7)))), "{}", name_of(&outcome));
    let failed =
        run.step("stop", json!({"fail": "{{ $item.bad }}", "message": "batch {{ $item.n }}"}));
    let fault = run.fault(&failed, data(json!({"bad": true, "n": 5})));
    assert_eq!((fault.code, fault.message.as_str()), ("stopped", "batch 5"));
    assert!(!fault.is_transient, "trying again does not help");
}

#[test]
fn a_script_that_returns_nothing_ends_the_branch() {
    let mut run = FakeContext::new();
    run.function("return $item.a", |item, _| crate::steps::state::get(item, "a"));
    let step = run.step("javascript", json!({"code": "return $item.a"}));
    assert_eq!(run.out(&step, data(json!({"a": null}))), (0, Data::Null), "null is something");
    assert!(run.outs(&step, data(json!({}))).is_empty(), "undefined is nothing");
    run.functions.insert(
        "return $item.a".into(),
        Box::new(|_, _| Err(StepFault::lasting("script", "boom"))),
    );
    assert_eq!(run.fault(&step, Data::Int(1)).message, "boom");
}
