//! How runs walk: scopes, faults, gathering, calls, waits, limits.

use crate::testing::{Plant, noted, wires};
use millrace_flow::Data;
use serde_json::{Value as Json, json};
use std::time::Duration;

fn manual(steps: &Json, list: &[&str]) -> Json {
    let mut steps = steps.clone();
    steps["go"] = json!({ "kind": "manual" });
    json!({ "steps": steps, "wires": wires(list) })
}

fn run(document: Json, input: &Json) -> (Plant, crate::RunEnd) {
    let mut plant = Plant::new();
    plant.deploy(1, document);
    let ticket = plant.run(1, input);
    let end = ticket.end().unwrap();
    (plant, end)
}

fn done(json: &Json) -> crate::RunEnd {
    crate::RunEnd::Done(Data::from(json))
}

fn names() -> Vec<String> {
    noted().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn branches_in_sequence_are_walked_one_after_the_other() {
    let steps = json!({
        "a": { "kind": "test.note" }, "a2": { "kind": "test.note" },
        "b": { "kind": "test.note" }, "b2": { "kind": "test.note" },
    });
    let list = ["go > a", "a > a2", "go > b", "b > b2"];
    drop(run(manual(&steps, &list), &json!({})));
    assert_eq!(names(), ["a", "a2", "b", "b2"]);
    let mut parallel = manual(&steps, &list);
    parallel["settings"] = json!({ "branches": "parallel" });
    drop(run(parallel, &json!({})));
    assert_eq!(names(), ["a", "b", "a2", "b2"]);
}

#[test]
fn foreach_gives_the_list_of_what_its_branches_gave() {
    let steps = json!({
        "each": { "kind": "foreach", "fields": { "value": "{{ $trigger.list }}" } },
        "scale": { "kind": "set", "fields": { "fields": { "of": "{{ $item.n }}" } } },
        "stop": { "kind": "stop" },
    });
    let list = ["go > each", "each:item > scale", "each:done > stop"];
    for branches in ["sequential", "parallel"] {
        let mut document = manual(&steps, &list);
        document["settings"] = json!({ "branches": branches });
        let (_, end) = run(document, &json!({ "list": [{ "n": 1 }, { "n": 2 }] }));
        let expected = json!([{ "n": 1, "of": 1 }, { "n": 2, "of": 2 }]);
        let crate::RunEnd::Done(data) = end else { panic!("{end:?}") };
        let result = data.get("list").clone();
        let result = if result == Data::Missing { data } else { result };
        assert_eq!(result, Data::from(expected), "{branches}");
    }
}

#[test]
fn an_empty_list_is_an_empty_list() {
    let steps = json!({
        "each": { "kind": "test.list" },
        "note": { "kind": "test.note" },
    });
    // The test's list step gives its items at its first port and the results at its second.
    let mut plant = Plant::new();
    let mut document = manual(&steps, &["go > each"]);
    document["wires"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "from": "each", "port": "1", "to": "note" }));
    plant.deploy(1, document);
    plant.run(1, &json!({}));
    assert_eq!(noted(), [("note".to_owned(), Data::from(json!([])))]);
}

#[test]
fn a_guarded_branch_catches_what_fails_in_it() {
    let steps = json!({
        "try": { "kind": "try" },
        "fail": { "kind": "test.fail" },
        "never": { "kind": "test.note" },
        "caught": { "kind": "test.note" },
        "done": { "kind": "test.note" },
    });
    let list =
        ["go > try", "try:body > fail", "fail > never", "try:caught > caught", "try:done > done"];
    drop(run(manual(&steps, &list), &json!({ "x": 1 })));
    let seen = noted();
    let seen: Vec<_> = seen.iter().map(|(name, data)| (name.as_str(), data)).collect();
    assert_eq!(seen.len(), 2);
    assert_eq!((seen[0].0, seen[1].0), ("fail", "caught"));
    assert_eq!(seen[1].1.get("error").get("step"), &Data::text("fail"));
    assert_eq!(seen[1].1.get("error").get("code"), &Data::text("bad_input"));
    assert_eq!(seen[1].1.get("item").get("x"), &Data::Int(1));

    let mut well = steps;
    well["fail"]["kind"] = json!("test.note");
    drop(run(manual(&well, &list), &json!({ "x": 1 })));
    assert_eq!(names(), ["fail", "never", "done"]);
}

#[test]
fn a_fault_in_an_item_fails_its_foreach_and_what_else_is_in_it_goes() {
    let steps = json!({
        "each": { "kind": "foreach", "on_error": "continue", "fields": { "value": "{{ $trigger.list }}" } },
        "fail": { "kind": "test.fail" },
        "after": { "kind": "test.note" },
    });
    let list = ["go > each", "each:item > fail", "each:done > after"];
    let mut document = manual(&steps, &list);
    document["settings"] = json!({ "branches": "parallel" });
    let (_, end) = run(document, &json!({ "list": [1, 2, 3] }));
    assert!(matches!(end, crate::RunEnd::Done(_)), "{end:?}");
    let seen = noted();
    let (name, data) = seen.last().unwrap();
    assert_eq!(name, "after");
    assert!(data.get("error").get("message").to_js_text().contains("step `fail`"), "{data:?}");
}

#[test]
fn merge_waits_for_all_that_can_come_and_not_for_more() {
    let steps = json!({
        "a": { "kind": "test.note" },
        "b": { "kind": "test.gate" },
        "other": { "kind": "test.gate" },
        "merge": { "kind": "merge" },
        "after": { "kind": "test.note" },
    });
    let list = ["go > a", "go > b", "go > other", "a > merge", "b > merge", "merge > after"];
    let mut document = manual(&steps, &list);
    document["settings"] = json!({ "branches": "parallel" });
    let mut plant = Plant::new();
    plant.deploy(1, document);
    plant.run(1, &json!({ "x": 1 }));
    assert_eq!(names(), ["a"], "the branch of b may still come");
    plant.answer("b", 5);
    plant.settle();
    let seen = noted();
    assert_eq!(seen.len(), 1, "the other branch does not lead here");
    assert_eq!(seen[0].1.as_list().unwrap().len(), 2);
    assert_eq!(seen[0].1.as_list().unwrap()[1], Data::Int(5));
    plant.answer("other", 1);
    plant.settle();
    assert_eq!(plant.engine.stats().open, 0);
}

#[test]
fn a_call_runs_another_pipeline_and_gives_its_result() {
    let mut plant = Plant::new();
    let callee = manual(
        &json!({
            "publish": { "kind": "uns.publish", "fields": { "path": "called", "value": "{{ $trigger.n }}" } },
            "stop": { "kind": "stop", "fields": { "output": { "n": "{{ $trigger.n }}" } } },
        }),
        &["go > publish", "publish > stop"],
    );
    plant.deploy(2, callee);
    let caller = manual(
        &json!({
            "call": { "kind": "call", "fields": { "pipeline": "p2", "input": { "n": 7 } } },
            "note": { "kind": "test.note" },
        }),
        &["go > call", "call > note"],
    );
    plant.deploy(1, caller);
    plant.run(1, &json!({}));
    assert_eq!(plant.ints("called"), [7]);
    assert_eq!(noted(), [("note".to_owned(), Data::from(json!({ "n": 7 })))]);
}

#[test]
fn calls_go_eight_deep_and_say_so() {
    let mut plant = Plant::new();
    let caller = manual(
        &json!({ "call": { "kind": "call", "fields": { "pipeline": "p1" } } }),
        &["go > call"],
    );
    plant.deploy(1, caller);
    let end = plant.run(1, &json!({})).end().unwrap();
    let crate::RunEnd::Failed(fault) = end else { panic!("{end:?}") };
    assert!(fault.message.contains("more than 8 deep"), "{}", fault.message);
    assert_eq!(&*fault.step, "call");
    let absent = manual(
        &json!({ "call": { "kind": "call", "fields": { "pipeline": "nobody" } } }),
        &["go > call"],
    );
    plant.deploy(3, absent);
    let end = plant.run(3, &json!({})).end().unwrap();
    assert!(end.to_string().contains("`nobody` is not deployed"), "{end}");
}

#[test]
fn a_passing_fault_is_tried_again_with_longer_waits_and_holds_no_slot() {
    let mut plant = Plant::new();
    let document = manual(
        &json!({
            "flaky": { "kind": "test.flaky", "retry": { "times": 3, "first_ms": 1_000, "factor": 2.0, "most_ms": 60_000 } },
            "after": { "kind": "test.note" },
        }),
        &["go > flaky", "flaky > after"],
    );
    plant.deploy(1, document);
    let ticket = plant.run(1, &json!({}));
    assert_eq!(names(), ["flaky"]);
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.running, stats.parked), (0, 1));
    plant.advance(Duration::from_millis(999));
    plant.settle();
    assert!(names().is_empty());
    plant.advance(Duration::from_millis(1));
    plant.settle();
    assert_eq!(names(), ["flaky"]);
    plant.advance(Duration::from_millis(1_999));
    plant.settle();
    assert!(names().is_empty(), "the second wait is twice as long");
    plant.advance(Duration::from_millis(1));
    plant.settle();
    assert_eq!(names(), ["flaky", "after"]);
    assert!(matches!(ticket.end(), Some(crate::RunEnd::Done(_))));
    let reports = plant.world.reports.lock();
    let statuses: Vec<_> = reports[0].steps.iter().map(|step| &step.status).collect();
    assert!(matches!(statuses[1], crate::StepStatus::Retried(_)), "{statuses:?}");
}

#[test]
fn a_lasting_fault_is_not_tried_again() {
    let (_, end) = run(
        manual(
            &json!({ "fail": { "kind": "test.fail", "retry": { "times": 3, "first_ms": 1 } } }),
            &["go > fail"],
        ),
        &json!({}),
    );
    assert!(matches!(end, crate::RunEnd::Failed(_)));
    assert_eq!(names(), ["fail"]);
}

#[test]
fn a_fault_can_go_to_another_step() {
    let steps = json!({
        "fail": { "kind": "test.fail", "on_error": { "go_to": "mend" } },
        "never": { "kind": "test.note" },
        "mend": { "kind": "test.note" },
    });
    let (_, end) = run(manual(&steps, &["go > fail", "fail > never"]), &json!({ "x": 1 }));
    assert!(matches!(end, crate::RunEnd::Done(_)));
    let seen = noted();
    assert_eq!(seen[1].0, "mend");
    assert_eq!(seen[1].1.get("item").get("x"), &Data::Int(1));
}

#[test]
fn a_circle_of_jumps_ends_at_the_limit() {
    let steps = json!({
        "a": { "kind": "test.fail", "on_error": { "go_to": "b" } },
        "b": { "kind": "test.fail", "on_error": { "go_to": "a" } },
    });
    let mut config = crate::Config::new(1);
    config.executions_max = 1_000;
    let mut plant = Plant::with(config);
    plant.deploy(1, manual(&steps, &["go > a"]));
    let end = plant.run(1, &json!({})).end().unwrap();
    assert!(end.to_string().contains("more than 1000 steps"), "{end}");
}

#[test]
fn guards_within_guards_end_at_a_depth() {
    let steps = json!({
        "try": { "kind": "try" },
        "fail": { "kind": "test.fail", "on_error": { "go_to": "try" } },
    });
    let mut plant = Plant::new();
    plant.deploy(1, manual(&steps, &["go > try", "try:body > fail"]));
    let end = plant.run(1, &json!({})).end().unwrap();
    assert!(matches!(end, crate::RunEnd::Done(_)), "caught by the outermost but one: {end:?}");
    assert!(noted().len() <= 101);
}

#[test]
fn what_waits_too_long_fails_with_a_timeout_and_is_stopped() {
    let steps = json!({ "gate": { "kind": "test.gate", "timeout_ms": 2_000 } });
    let mut plant = Plant::new();
    plant.deploy(1, manual(&steps, &["go > gate"]));
    let ticket = plant.run(1, &json!({}));
    assert_eq!(plant.outside(), 1);
    plant.advance(Duration::from_secs(2));
    plant.settle();
    assert_eq!(plant.outside(), 0, "the work was stopped");
    let Some(crate::RunEnd::Failed(fault)) = ticket.end() else { panic!("{:?}", ticket.end()) };
    assert_eq!(fault.code, "timeout");
}

#[test]
fn a_crash_during_work_outside_begins_it_again() {
    let steps = json!({
        "before": { "kind": "uns.publish", "fields": { "path": "before", "value": 1 } },
        "gate": { "kind": "test.gate" },
        "after": { "kind": "uns.publish", "fields": { "path": "after", "value": "{{ $item }}" } },
    });
    let mut plant = Plant::new();
    plant.deploy(1, manual(&steps, &["go > before", "before > gate", "gate > after"]));
    plant.run(1, &json!({}));
    assert_eq!(plant.outside(), 1);
    plant.move_cursor();
    let mut plant = plant.crash();
    plant.settle();
    assert_eq!(plant.outside(), 1, "asked again");
    plant.answer("gate", 5);
    plant.settle();
    assert_eq!((plant.ints("before"), plant.ints("after")), (vec![1], vec![5]));
}

#[test]
fn everything_that_waits_survives_a_crash_in_its_place() {
    // A foreach over a guarded pause, in the middle of its second item, beside a merge that waits.
    let steps = json!({
        "each": { "kind": "foreach", "fields": { "value": "{{ $trigger.list }}" } },
        "try": { "kind": "try" },
        "pause": { "kind": "wait", "fields": { "for_ms": 60_000 } },
        "note": { "kind": "uns.publish", "fields": { "path": "item", "value": "{{ $item }}" } },
        "merge": { "kind": "merge" },
        "count": { "kind": "uns.publish", "fields": { "path": "count", "value": "{{ $item.length }}" } },
    });
    let list = [
        "go > each",
        "each:item > try",
        "try:body > pause",
        "pause > note",
        "each:done > merge",
        "go > merge",
        "merge > count",
    ];
    let mut plant = Plant::new();
    plant.deploy(1, manual(&steps, &list));
    plant.run(1, &json!({ "list": [10, 20, 30] }));
    for _ in 0..3 {
        plant.move_cursor();
        plant = plant.crash();
        plant.settle();
        plant.advance(Duration::from_secs(60));
        plant.settle();
    }
    assert_eq!(plant.ints("item"), [10, 20, 30]);
    assert_eq!(plant.ints("count"), [2]);
    assert_eq!(plant.move_cursor(), plant.seen());
}

#[test]
fn a_run_that_would_wait_with_too_much_ends() {
    let mut config = crate::Config::new(1);
    config.saved_bytes_max = 10_000;
    let mut plant = Plant::with(config);
    let steps = json!({ "wait": { "kind": "wait", "fields": { "for_ms": 60_000 } } });
    plant.deploy(1, manual(&steps, &["go > wait"]));
    let end = plant.run(1, &json!({ "text": "x".repeat(20_000) })).end().unwrap();
    assert!(end.to_string().contains("waits with more than 10000 bytes"), "{end}");
    assert_eq!(plant.engine.stats().parked, 0);
}

#[test]
fn a_disabled_step_passes_its_input_on_and_a_disabled_trigger_starts_nothing() {
    let steps = json!({
        "off": { "kind": "test.fail", "disabled": true },
        "note": { "kind": "test.note" },
    });
    drop(run(manual(&steps, &["go > off", "off > note"]), &json!({ "x": 1 })));
    assert_eq!(names(), ["note"]);
    let mut plant = Plant::new();
    plant.deploy(
        1,
        json!({
            "steps": {
                "start": { "kind": "uns.subscribe", "disabled": true, "fields": { "filters": ["#"] } },
                "note": { "kind": "test.note" }
            },
            "wires": wires(&["start > note"])
        }),
    );
    plant.device("a", 1);
    plant.settle();
    assert!(noted().is_empty());
}

#[test]
fn outputs_of_steps_are_known_by_name() {
    let steps = json!({
        "a": { "kind": "set", "fields": { "fields": { "n": 5 } } },
        "b": { "kind": "set", "fields": { "fields": { "m": 1 } } },
        "stop": { "kind": "stop", "fields": { "output": "{{ $step.a.n }}" } },
    });
    let (_, end) = run(manual(&steps, &["go > a", "a > b", "b > stop"]), &json!({}));
    assert_eq!(end, done(&json!(5)));
}

#[test]
fn too_much_data_fails_the_run_and_not_the_box() {
    let mut config = crate::Config::new(1);
    config.datum_bytes_max = 10_000;
    config.run_bytes_max = 20_000;
    let mut plant = Plant::with(config);
    let steps = json!({
        "a": { "kind": "test.pass" }, "b": { "kind": "test.pass" }, "c": { "kind": "test.pass" },
    });
    plant.deploy(1, manual(&steps, &["go > a", "a > b", "b > c"]));
    let big = json!({ "text": "x".repeat(20_000) });
    let end = plant.run(1, &big).end().unwrap();
    assert!(end.to_string().contains("10000 bytes"), "{end}");
    let middle = json!({ "text": "x".repeat(8_000) });
    let end = plant.run(1, &middle).end().unwrap();
    assert!(end.to_string().contains("20000 bytes in all"), "{end}");
}

#[test]
fn a_secret_that_a_server_gives_back_is_in_no_report_log_or_fault() {
    let steps = json!({
        "ask": { "kind": "test.secret" },
        "tell": { "kind": "log", "fields": { "message": "{{ $item }}" } },
        "see": { "kind": "test.note" },
        "throw": { "kind": "test.throw" },
    });
    let mut document = manual(&steps, &["go > ask", "ask > tell", "tell > see", "see > throw"]);
    document["settings"] = json!({ "history": "full" });
    let (plant, end) = run(document, &json!({}));
    assert_eq!(noted()[0].1, Data::text("Bearer open-sesame-4711"), "the run works with it");
    let crate::RunEnd::Failed(fault) = end else { panic!("{end:?}") };
    assert_eq!(fault.message, "got \"Bearer <secret key>\"");
    let reports = plant.world.reports.lock();
    let report = reports.last().unwrap();
    assert_eq!(report.log[0].text, "Bearer <secret key>");
    let outputs: Vec<_> = report.steps.iter().filter_map(|step| step.output.as_ref()).collect();
    assert!(outputs.contains(&&Data::text("Bearer <secret key>")), "{outputs:?}");
    assert!(!format!("{report:?}").contains("sesame"), "{report:?}");
    assert!(!String::from_utf8_lossy(&plant.journal()).contains("sesame"), "nor in the journal");
}

#[test]
fn a_secret_is_hidden_after_a_crash_too() {
    let steps = json!({
        "ask": { "kind": "test.secret" },
        "wait": { "kind": "wait", "fields": { "for_ms": 60_000 } },
        "throw": { "kind": "test.throw" },
    });
    let mut document = manual(&steps, &["go > ask", "ask > wait", "wait > throw"]);
    document["settings"] = json!({ "history": "full" });
    let mut plant = Plant::new();
    plant.deploy(1, document);
    let _ticket = plant.run(1, &json!({}));
    plant.commit();
    let mut plant = plant.crash();
    plant.settle();
    plant.advance(Duration::from_secs(61));
    plant.settle();
    let reports = plant.world.reports.lock();
    let fault = reports.last().and_then(|report| report.fault.as_ref()).expect("it failed");
    assert_eq!(fault.message, "got \"Bearer <secret key>\"");
    assert!(!format!("{reports:?}").contains("sesame"), "{reports:?}");
}

/// Counts, then a script that counts by itself and does as the word says.
fn keeps(word: &str) -> Json {
    let code = |word: &str| json!({ "code": format!("return {word};") });
    json!({
        "steps": {
            "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
            "first": { "kind": "javascript", "fields": code("count") },
            "seen": { "kind": "uns.publish", "fields": { "path": "seen", "value": "{{ $item }}" } },
            "work": { "kind": "javascript", "fields": code(word) },
            "out": { "kind": "uns.publish", "fields": { "path": "out", "value": "{{ $item }}" } }
        },
        "wires": wires(&["start > first", "first > seen", "seen > work", "work > out"])
    })
}

#[test]
fn a_step_that_fails_keeps_nothing_of_what_it_had_set() {
    for word in ["throw", "kill", "bulk"] {
        let mut plant = Plant::new();
        let value = |plant: &mut Plant| {
            plant.device("in/a", 1);
            plant.settle();
            // A killed script lets its pipeline pause.
            plant.advance(Duration::from_secs(120));
            plant.settle();
        };
        // Given a script that has counted once
        plant.deploy(1, keeps("count"));
        value(&mut plant);
        // When it sets its state and fails, twice
        plant.deploy(1, keeps(&format!("count, then {word}")));
        value(&mut plant);
        value(&mut plant);
        assert_eq!(plant.engine.pipeline_stats(1).unwrap().failed, 2, "{word}");
        // Then it goes on behind what it had; steps that ended well keep theirs
        plant.deploy(1, keeps("count"));
        value(&mut plant);
        assert_eq!((plant.ints("seen"), plant.ints("out")), (vec![1, 2, 3, 4], vec![1, 2]));
        // And so it is in the journal and in the store
        for _ in 0..2 {
            plant.move_cursor();
            plant = plant.crash();
            value(&mut plant);
        }
        assert_eq!(plant.ints("out"), [1, 2, 3, 4], "{word}");
    }
}

#[test]
fn each_try_of_a_step_begins_with_the_state_of_before() {
    let mut plant = Plant::new();
    let document = manual(
        &json!({
            "flaky": { "kind": "test.flaky", "retry": { "times": 3, "first_ms": 1 } },
            "out": { "kind": "uns.publish", "fields": { "path": "out", "value": "{{ $item }}" } },
        }),
        &["go > flaky", "flaky > out"],
    );
    plant.deploy(1, document);
    let _ticket = plant.run(1, &json!({}));
    for _ in 0..3 {
        plant.advance(Duration::from_secs(60));
        plant.settle();
    }
    assert_eq!(plant.world.flaws.load(std::sync::atomic::Ordering::SeqCst), 3);
    assert_eq!(plant.ints("out"), [1], "it has counted once");
}
