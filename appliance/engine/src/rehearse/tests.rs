//! Rehearsals, single steps, and stored cases.

use super::*;
use crate::testing::{Plant, START, draft, noted, wires};
use serde_json::{Value as Json, json};

fn scaler(factor_field: &str) -> Json {
    json!({
        "steps": {
            "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"], "when": "change" } },
            "count": { "kind": "javascript", "fields": { "code": "return count;" } },
            "publish": { "kind": "uns.publish", "fields": { "path": "out", "value": factor_field } },
            "pause": { "kind": "wait", "fields": { "for_ms": 60_000 } },
            "last": { "kind": "uns.publish", "fields": { "path": "late", "value": "{{ $trigger.value }}" } }
        },
        "wires": wires(&["start > count", "count > publish", "publish > pause", "pause > last"])
    })
}

fn fed(value: i64, second: i64) -> Fed {
    let time = START.plus_nanos(second * 1_000_000_000);
    Fed { value: Value::Int(value), time, received: time, quality: Quality::GOOD }
}

fn published(outputs: &[Output]) -> Vec<(usize, String, i64)> {
    outputs
        .iter()
        .filter_map(|output| match &output.form {
            OutputForm::Publish(publish) => {
                Some((output.run, publish.path.clone(), publish.value.as_i64().unwrap()))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn a_draft_is_rehearsed_and_nothing_leaves_the_room() {
    let plant = Plant::new();
    let draft = draft(1, scaler("{{ $item }}"), 0);
    let mut rehearsal = plant.engine.rehearse(&draft, START, true, Keep::Failed(10)).unwrap();
    assert_eq!(rehearsal.filters(), ["in/#"]);
    assert!(rehearsal.feed("in/a", &fed(5, 0)));
    assert!(!rehearsal.feed("in/a", &fed(5, 10)), "it has not changed");
    assert!(!rehearsal.feed("other", &fed(5, 20)));
    assert!(rehearsal.feed("in/a", &fed(6, 90)), "the pause of the first is over");
    rehearsal.finish();
    let (outputs, left_out) = rehearsal.take_outputs();
    let expected = [(0, "out", 1), (0, "late", 5), (3, "out", 2), (3, "late", 6)];
    let expected = expected.map(|(run, path, value)| (run, path.to_owned(), value));
    assert_eq!((published(&outputs).as_slice(), left_out), (&expected[..], 0));
    assert_eq!((rehearsal.done, rehearsal.failed), (2, 0));
    assert!(plant.world.reports.lock().is_empty());
    assert_eq!(plant.seen(), 0, "the journal saw nothing");
    let mut again = plant.engine.rehearse(&draft, START, true, Keep::Failed(10)).unwrap();
    assert!(again.feed("in/a", &fed(5, 0)));
    let count = published(&again.take_outputs().0)[0].2;
    assert_eq!(count, 1, "its state was its own");
}

#[test]
fn what_fails_in_a_rehearsal_is_kept_with_its_reason() {
    let plant = Plant::new();
    let mut document = scaler("1");
    document["steps"]["count"] = json!({ "kind": "test.fail" });
    let draft = draft(1, document, 0);
    let mut rehearsal = plant.engine.rehearse(&draft, START, true, Keep::Failed(1)).unwrap();
    rehearsal.feed("in/a", &fed(1, 0));
    rehearsal.feed("in/a", &fed(2, 1));
    assert_eq!((rehearsal.failed, rehearsal.runs.len()), (2, 1));
    assert_eq!(&*rehearsal.runs[0].fault.as_ref().unwrap().step, "count");
    drop(noted());
}

#[test]
fn one_step_is_tried_with_an_input_and_what_others_gave() {
    let plant = Plant::new();
    let document = json!({
        "steps": {
            "go": { "kind": "manual" },
            "a": { "kind": "set", "fields": { "fields": { "n": 1 } } },
            "b": { "kind": "set", "fields": { "fields": { "m": "{{ $step.a.n }}", "t": "{{ $trigger.x }}" } } },
            "wait": { "kind": "wait", "fields": { "for_ms": 1_000 } }
        },
        "wires": wires(&["go > a", "a > b", "b > wait"])
    });
    let draft = draft(1, document, 0);
    let data = |json: Json| Data::from(json);
    let trial = plant
        .engine
        .try_step(
            &draft,
            ("b", data(json!({ "k": 0 }))),
            data(json!({ "x": 9 })),
            &[("a".to_owned(), data(json!({ "n": 7 })))],
        )
        .unwrap()
        .unwrap();
    assert_eq!(trial.given, [(0, data(json!({ "k": 0, "m": 7, "t": 9 })))]);
    let trial = plant.engine.try_step(&draft, ("wait", Data::Int(3)), Data::Null, &[]);
    assert_eq!(trial.unwrap().unwrap().given, [(0, Data::Int(3))], "a pause passes at once");
    assert!(plant.engine.try_step(&draft, ("no", Data::Null), Data::Null, &[]).unwrap().is_none());
    let input = plant.engine.upstream_input(&draft, "b", ("go", data(json!({ "x": 2 })))).unwrap();
    assert_eq!(input, Some(data(json!({ "x": 2, "n": 1 }))));
}

fn case(json: Json) -> millrace_flow::case::Case {
    serde_json::from_value(json).unwrap()
}

#[test]
fn a_case_passes_and_a_wrong_one_says_what_happened() {
    let plant = Plant::new();
    let mut document = scaler("{{ $variable.factor }}");
    document["steps"]["set"] = json!({ "kind": "variable.set", "fields": { "name": "seen", "value": "{{ $trigger.value }}" } });
    document["wires"].as_array_mut().unwrap().push(json!({ "from": "start", "to": "set" }));
    let draft = draft(1, document, 0);
    let right = json!({
        "name": "two changes",
        "given": { "variables": { "factor": 3 } },
        "when": [
            { "trigger": "start", "with": { "path": "in/a", "value": 1 } },
            { "trigger": "start", "at_ms": 1_000, "with": { "path": "in/a", "value": 1 } },
            { "trigger": "start", "at_ms": 2_000, "with": { "path": "in/a", "value": 2.5 } }
        ],
        "then": [
            { "publish": { "path": "out", "value": 3 } },
            { "publish": { "path": "out", "value": 3 } },
            { "publish": { "path": "late", "value": 1 } },
            { "publish": { "path": "late", "value": 2.5 } },
            { "variable": { "name": "seen", "value": 2.5 } },
            "nothing_else"
        ]
    });
    let report = plant.engine.run_case(&draft, &case(right.clone())).unwrap();
    assert!(report.has_passed(), "{:?}", report.complaints);
    assert_eq!(
        report,
        plant.engine.run_case(&draft, &case(right.clone())).unwrap(),
        "the same again"
    );
    let mut wrong = right.clone();
    wrong["then"][0]["publish"]["value"] = json!(4);
    let report = plant.engine.run_case(&draft, &case(wrong)).unwrap();
    assert!(report.complaints[0].contains("did not publish `out` = 4"), "{:?}", report.complaints);
    assert!(report.complaints.iter().any(|complaint| complaint.contains("also publish `out` = 3")));
    let mut unknown = right;
    unknown["when"][0]["trigger"] = json!("nobody");
    let report = plant.engine.run_case(&draft, &case(unknown)).unwrap();
    assert!(report.complaints[0].contains("no trigger `nobody`"), "{:?}", report.complaints);
}

#[test]
fn a_case_expects_failures_by_their_reason() {
    let plant = Plant::new();
    let mut document = scaler("1");
    document["steps"]["count"] = json!({ "kind": "test.fail" });
    let draft = draft(1, document, 0);
    let with = |then: Json| {
        let when = json!([{ "trigger": "start", "with": { "path": "in/a", "value": 1 } }]);
        let case = case(json!({ "name": "x", "when": when, "then": then }));
        plant.engine.run_case(&draft, &case).unwrap().complaints
    };
    assert!(with(json!([{ "fails": { "run": 0, "reason": "told to" } }])).is_empty());
    assert!(with(json!([{ "fails": { "run": 0, "reason": "other" } }]))[0].contains("instead of"));
    assert!(with(json!([]))[0].contains("run 0 failed at step `count`"));
    drop(noted());
}

#[test]
fn the_clock_starts_runs_in_a_rehearsal_too() {
    let watchdog = |every: i64| {
        json!({
            "steps": {
                "up": { "kind": "startup", "fields": { "after_ms": 500 } },
                "tick": { "kind": "schedule", "fields": { "every_ms": every } },
                "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
                "seen": { "kind": "issue" },
                "go": { "kind": "manual" },
                "last": { "kind": "uns.last", "fields": { "path": "in/a" } },
                "other": { "kind": "uns.last", "fields": { "path": "elsewhere" } },
                "publish": {
                    "kind": "uns.publish",
                    "fields": { "path": "out", "value": "{{ $step[\"last\"].value }}" }
                }
            },
            "wires": wires(&[
                "tick > last", "last > other", "other > publish", "up > last",
            ])
        })
    };
    let plant = Plant::new();
    let last = |value: i64| Last {
        value: Data::Int(value),
        time: START,
        received: START,
        quality: Quality::GOOD,
    };
    plant.world.lasts.lock().insert("elsewhere".to_owned(), last(9));
    let rehearse = |every: i64, most: u64| {
        let draft = draft(1, watchdog(every), 0);
        let mut rehearsal = plant.engine.rehearse(&draft, START, true, Keep::All).unwrap();
        rehearsal.keep_time(START.plus_nanos(40 * 1_000_000_000));
        rehearsal.by_clock.most = rehearsal.by_clock.most.min(most);
        rehearsal.feed("in/a", &fed(5, 0));
        rehearsal.feed("in/a", &fed(6, 15));
        rehearsal.advance_to(START.plus_nanos(100 * 1_000_000_000));
        rehearsal.finish();
        rehearsal
    };
    // A watchdog that looks each ten seconds sees what was known then, and no run comes after the end.
    let mut ten = rehearse(10_000, u64::MAX);
    let (outputs, _) = ten.take_outputs();
    let seen: Vec<_> = published(&outputs)
        .into_iter()
        .map(|(run, _, value)| {
            let time = ten.time_of(run).unwrap().nanos_since(START) / 1_000_000;
            (time, value)
        })
        .collect();
    assert_eq!(seen, [(500, 5), (10_000, 5), (20_000, 6), (30_000, 6)]);
    assert_eq!((ten.clock_runs(), ten.failed, ten.fed()), ((4, false), 0, 2), "{:?}", ten.runs);
    let left_out: Vec<_> = ten.triggers_left_out().iter().map(ToString::to_string).collect();
    assert_eq!(left_out, ["go", "seen"]);
    assert_eq!(ten.todays_values(), ["elsewhere"], "in/a was fed, this was not");
    // Another schedule differs by the runs that it does not have, and by nothing else.
    let (twenty, _) = rehearse(20_000, u64::MAX).take_outputs();
    let (found, count) = differences(&outputs, &twenty, 10);
    assert_eq!(count, 2, "{found:?}");
    assert!(found.iter().all(|found| found.added.is_empty() && found.removed.len() == 1));
    // What would never end is cut, and told.
    assert_eq!(rehearse(1, 50).clock_runs(), (50, true));
}
