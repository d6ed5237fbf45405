//! The engine as a whole: deployments, crashes, triggers, state, threads.

use crate::answers::RunEnd;
use crate::testing::{Plant, cpu_readings, draft, noted, wires};
use millrace_flow::Data;
use millrace_model::{Quality, Value};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::time::Duration;

/// Device value on `in/#`, doubled, published on `out`.
fn pass_through(settings: &Json) -> Json {
    json!({
        "settings": settings,
        "steps": {
            "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
            "note": { "kind": "test.note" },
            "publish": { "kind": "uns.publish", "fields": { "path": "out" } }
        },
        "wires": wires(&["start > note", "note > publish"])
    })
}

#[test]
fn a_value_starts_a_run_that_publishes() {
    let mut plant = Plant::new();
    plant.deploy(1, pass_through(&json!({})));
    plant.device("in/a", 21);
    plant.device("other/a", 1);
    plant.settle();
    assert_eq!(plant.ints("out"), [21]);
    let seen = noted();
    assert_eq!(seen.len(), 1);
    let trigger = &seen[0].1;
    assert_eq!(trigger.get("path"), &Data::text("in/a"));
    assert_eq!(trigger.get("topic"), &Data::text("mr/v1/plant/in/a"));
    assert_eq!(trigger.get("value"), &Data::Int(21));
    assert_eq!(trigger.get("client"), &Data::text("client-7"));
    assert_eq!(trigger.get("quality"), &Data::text("good"));
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.begun, stats.done, stats.waiting, stats.running), (1, 1, 0, 0));
    assert_eq!(plant.move_cursor(), plant.seen(), "nothing is open");
}

#[test]
fn a_crash_at_any_point_runs_again_and_stores_once() {
    // How much of the way is gone before the plug is pulled: value appended, value committed, run
    // executed, effects appended but not committed, effects committed.
    for point in 0..5 {
        let mut plant = Plant::new();
        plant.deploy(1, pass_through(&json!({})));
        plant.device("in/a", 5);
        if point >= 1 {
            plant.commit();
        }
        if point >= 2 {
            plant.hand.run_ready();
        }
        if point >= 4 {
            plant.commit();
        }
        plant.move_cursor();
        let mut plant = plant.crash();
        plant.settle();
        let expected: &[i64] = if point == 0 { &[] } else { &[5] };
        assert_eq!(plant.ints("out"), expected, "crash at point {point}");
        plant.move_cursor();
        let mut plant = plant.crash();
        plant.settle();
        assert_eq!(plant.ints("out"), expected, "second crash after point {point}");
    }
}

#[test]
fn a_run_that_waited_goes_on_where_it_stood() {
    let mut plant = Plant::new();
    plant.deploy(
        1,
        json!({
            "steps": {
                "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
                "before": { "kind": "uns.publish", "fields": { "path": "before" } },
                "wait": { "kind": "wait", "fields": { "for_ms": 3_600_000 } },
                "after": { "kind": "uns.publish", "fields": { "path": "after" } }
            },
            "wires": wires(&["start > before", "before > wait", "wait > after"])
        }),
    );
    plant.device("in/a", 5);
    plant.settle();
    assert_eq!((plant.ints("before"), plant.ints("after")), (vec![5], vec![]));
    assert_eq!(plant.engine.stats().parked, 1);
    plant.advance(Duration::from_secs(1_800));
    plant.move_cursor();
    let mut plant = plant.crash();
    plant.settle();
    assert_eq!(plant.ints("before"), [5], "what was published is not published again");
    plant.advance(Duration::from_secs(1_799));
    plant.settle();
    assert!(plant.ints("after").is_empty(), "the pause keeps its time");
    plant.advance(Duration::from_secs(1));
    plant.settle();
    assert_eq!(plant.ints("after"), [5]);
    assert_eq!(plant.move_cursor(), plant.seen());
}

#[test]
fn old_runs_are_carried_forward_so_that_the_journal_may_go() {
    let mut config = crate::Config::new(1);
    config.carry_records_min = 2;
    let mut plant = Plant::with(config);
    plant.deploy(
        1,
        json!({
            "steps": {
                "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
                "wait": { "kind": "wait", "fields": { "for_ms": 3_600_000 } },
                "after": { "kind": "uns.publish", "fields": { "path": "after" } }
            },
            "wires": wires(&["start > wait", "wait > after"])
        }),
    );
    plant.device("in/a", 5);
    plant.settle();
    let before = plant.move_cursor();
    plant.advance(Duration::from_secs(60));
    plant.settle();
    let after = plant.move_cursor();
    assert!(after > before, "{after} > {before}");
    let seen = plant.seen();
    plant.advance(Duration::from_secs(60));
    plant.settle();
    assert_eq!(plant.seen(), seen, "a box at rest does not carry it again and again");
    // The record that triggered it is gone with everything up to the cursor.
    let mut plant = plant.crash();
    plant.advance(Duration::from_secs(3_600));
    plant.settle();
    assert_eq!(plant.ints("after"), [5]);
    assert_eq!(plant.move_cursor(), plant.seen());
}

#[test]
fn an_invalid_document_leaves_the_old_revision_running() {
    let mut plant = Plant::new();
    plant.deploy(1, pass_through(&json!({})));
    let mut broken = pass_through(&json!({}));
    broken["steps"]["note"] =
        json!({ "kind": "set", "fields": { "fields": { "a": "{{ syntax }}" } } });
    let faults = plant.try_deploy(1, broken).unwrap_err();
    assert_eq!(faults[0].step, "note");
    plant.device("in/a", 1);
    plant.settle();
    assert_eq!(plant.ints("out"), [1]);
}

#[test]
fn waiting_runs_finish_on_the_plan_that_triggered_them() {
    let mut plant = Plant::new();
    plant.deploy(1, pass_through(&json!({})));
    plant.device("in/a", 1);
    plant.commit();
    let mut next = pass_through(&json!({}));
    next["steps"]["publish"]["fields"]["path"] = json!("new");
    plant.deploy(1, next);
    plant.device("in/a", 2);
    plant.settle();
    assert_eq!((plant.ints("out"), plant.ints("new")), (vec![1], vec![2]));
}

#[test]
fn a_run_costs_one_reading_of_the_cpu_clock_and_is_the_last_that_began() {
    let mut plant = Plant::new();
    plant.deploy(1, pass_through(&json!({})));
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().last_begun, None);
    for value in 0..5 {
        plant.advance(Duration::from_secs(1));
        plant.device("in/a", value);
        cpu_readings();
        plant.settle();
        assert_eq!(cpu_readings(), 1, "each is a system call");
        let now = millrace_supervisor::Clock::now(&*plant.clock);
        assert_eq!(plant.engine.pipeline_stats(1).unwrap().last_begun, Some(now));
    }
}

#[test]
fn an_undeployed_pipeline_drops_what_waits_and_stays_silent() {
    let mut plant = Plant::new();
    plant.deploy(1, pass_through(&json!({})));
    plant.device("in/a", 1);
    plant.commit();
    plant.undeploy(1);
    plant.device("in/a", 2);
    plant.settle();
    assert!(plant.ints("out").is_empty());
    assert_eq!(plant.move_cursor(), plant.seen());
    plant.deploy(1, pass_through(&json!({})));
    let mut plant = plant.crash();
    plant.settle();
    assert!(plant.ints("out").is_empty(), "values of before the deployment start nothing");
}

#[test]
fn on_change_survives_a_crash() {
    let mut document = pass_through(&json!({}));
    document["steps"]["start"]["fields"]["when"] = json!("change");
    let mut plant = Plant::new();
    plant.deploy(1, document);
    for value in [1, 1, 2, 2, 1] {
        plant.device("in/a", value);
        plant.settle();
    }
    assert_eq!(plant.ints("out"), [1, 2, 1]);
    plant.device("in/a", 3);
    plant.commit();
    // The state is stored while the run of 3 is open; then the plug is pulled.
    plant.advance(Duration::from_secs(10));
    plant.engine.tick();
    plant.move_cursor();
    let mut plant = plant.crash();
    plant.settle();
    plant.device("in/a", 3);
    plant.settle();
    assert_eq!(plant.ints("out"), [1, 2, 1, 3]);
}

#[test]
fn loops_between_pipelines_are_stopped() {
    let mut plant = Plant::new();
    let ring = |from: &str, to: &str| {
        json!({
            "steps": {
                "start": { "kind": "uns.subscribe", "fields": { "filters": [from] } },
                "publish": { "kind": "uns.publish", "fields": { "path": to } }
            },
            "wires": wires(&["start > publish"])
        })
    };
    plant.deploy(1, ring("a", "b"));
    plant.deploy(2, ring("b", "a"));
    plant.device("a", 1);
    plant.settle();
    assert_eq!(plant.ints("a").len() + plant.ints("b").len(), 9, "the first and eight more");
    plant.advance(Duration::from_secs(2));
    assert!(plant.issues.is_open("pipeline-loop:1"), "{:?}", plant.issues.list());
    plant.advance(Duration::from_secs(601));
    assert!(!plant.issues.is_open("pipeline-loop:1"), "cleared when it is over");
}

#[test]
fn state_counts_each_run_once_over_crashes() {
    let document = json!({
        "steps": {
            "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
            "count": { "kind": "javascript", "fields": { "code": "return count;" } },
            "publish": { "kind": "uns.publish", "fields": { "path": "out", "value": "{{ $item }}" } }
        },
        "wires": wires(&["start > count", "count > publish"])
    });
    let mut plant = Plant::new();
    plant.deploy(1, document);
    for value in 0..3 {
        plant.device("in/a", value);
        plant.settle();
    }
    plant.device("in/a", 3);
    plant.commit();
    plant.hand.run_ready();
    // Executed and appended, never committed.
    plant.advance(Duration::from_secs(10));
    plant.move_cursor();
    let mut plant = plant.crash();
    plant.settle();
    assert_eq!(plant.ints("out"), [1, 2, 3, 4]);
    plant.advance(Duration::from_secs(10));
    plant.settle();
    plant.move_cursor();
    let mut plant = plant.crash();
    plant.device("in/a", 4);
    plant.settle();
    assert_eq!(plant.ints("out"), [1, 2, 3, 4, 5]);
}

#[test]
fn a_full_journal_holds_everything_and_loses_nothing() {
    let mut plant = Plant::new();
    plant.deploy(1, pass_through(&json!({})));
    plant.set_full(true);
    for value in 0..10 {
        plant.device("in/a", value);
    }
    plant.settle();
    assert!(plant.ints("out").is_empty());
    assert_eq!(plant.engine.stats().full_waits, 1);
    assert!(noted().len() <= 10);
    plant.set_full(false);
    plant.settle();
    assert_eq!(plant.ints("out"), (0..10).collect::<Vec<_>>());
}

#[test]
fn a_person_asks_for_a_run_and_is_told_when_it_is_durable() {
    let mut plant = Plant::new();
    plant.deploy(
        1,
        json!({
            "steps": {
                "go": { "kind": "manual", "fields": { "input": { "a": 1, "b": 2 } } },
                "stop": { "kind": "stop", "fields": { "output": "{{ $trigger.a }}" } }
            },
            "wires": wires(&["go > stop"])
        }),
    );
    let ticket = plant.run(1, &json!({ "a": 7 }));
    assert_eq!(ticket.end(), Some(RunEnd::Done(Data::Int(7))));
    let reports = plant.world.reports.lock();
    assert_eq!((reports.len(), reports[0].is_manual), (1, true));
    assert_eq!(reports[0].input, Data::from(json!({ "a": 7, "b": 2 })));
    assert_eq!(reports[0].id, ticket.id);
}

#[test]
fn one_successful_run_per_second_is_reported_and_all_that_failed() {
    let mut plant = Plant::new();
    plant.deploy(1, pass_through(&json!({})));
    for value in 0..5 {
        plant.device("in/a", value);
    }
    plant.settle();
    assert_eq!(plant.world.reports.lock().len(), 1);
    plant.advance(Duration::from_secs(1));
    plant.device("in/a", 5);
    plant.settle();
    assert_eq!(plant.world.reports.lock().len(), 2);
    let mut failing = pass_through(&json!({}));
    failing["steps"]["publish"]["fields"]["path"] = json!("refused/x");
    plant.deploy(1, failing);
    for value in 0..3 {
        plant.device("in/a", value);
    }
    plant.settle();
    let reports = plant.world.reports.lock();
    assert_eq!(reports.len(), 5);
    let fault = reports[4].fault.as_ref().unwrap();
    assert_eq!((&*fault.step, fault.code), ("publish", "refused"));
    assert!(fault.message.contains("not authorized"), "{}", fault.message);
}

#[test]
fn schedules_are_due_once_and_a_gap_is_one_run() {
    let mut plant = Plant::new();
    plant.deploy(
        1,
        json!({
            "steps": {
                "tick": { "kind": "schedule", "fields": { "every_ms": 1_000 } },
                "note": { "kind": "test.note" }
            },
            "wires": wires(&["tick > note"])
        }),
    );
    plant.advance(Duration::from_secs(1));
    plant.settle();
    assert_eq!(noted().len(), 1);
    plant.advance(Duration::from_secs(10));
    plant.settle();
    let seen = noted();
    assert_eq!(seen.len(), 1, "after a gap");
    let expected = crate::testing::START.0 / 1_000_000 + 11_000;
    assert_eq!(seen[0].1.get("time_ms"), &Data::Int(expected));
}

#[test]
fn what_is_due_next_is_told() {
    let mut plant = Plant::new();
    plant.deploy(
        1,
        json!({
            "steps": {
                "tick": { "kind": "schedule", "fields": { "every_ms": 60_000 } },
                "go": { "kind": "manual" },
                "note": { "kind": "test.note" }
            },
            "wires": wires(&["tick > note", "go > note"])
        }),
    );
    let next = |plant: &Plant| {
        let times = plant.engine.next_times(1);
        times.iter().map(|(step, time)| (step.to_string(), time.0)).collect::<Vec<_>>()
    };
    let minute = 60_000_000_000;
    assert_eq!(next(&plant), [("tick".to_owned(), crate::testing::START.0 + minute)]);
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().last_begun, None);
    plant.advance(Duration::from_secs(60));
    plant.settle();
    assert_eq!(next(&plant), [("tick".to_owned(), crate::testing::START.0 + 2 * minute)]);
    let begun = plant.engine.pipeline_stats(1).unwrap().last_begun.unwrap();
    assert_eq!(begun.0, crate::testing::START.0 + minute);
}

#[test]
fn a_report_tells_the_cpu_time_of_its_run_also_without_scripts() {
    let mut plant = Plant::new();
    let mut document = pass_through(&json!({}));
    document["steps"]["note"]["kind"] = json!("test.burn");
    plant.deploy(1, document);
    for value in 0..2 {
        plant.device("in/a", value);
        plant.advance(Duration::from_secs(1));
        plant.settle();
    }
    let reports = plant.world.reports.lock();
    let spans: Vec<_> = reports.iter().map(|report| (report.cpu, report.script_cpu)).collect();
    assert_eq!(spans, [(Duration::from_millis(10), Duration::ZERO); 2]);
}

#[test]
fn a_run_that_has_waited_knows_what_time_it_is() {
    let mut plant = Plant::new();
    plant.deploy(
        1,
        json!({
            "steps": {
                "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
                "wait": { "kind": "wait", "fields": { "for_ms": 60_000 } },
                "publish": {
                    "kind": "uns.publish",
                    "fields": { "path": "out", "value": "{{ $run.now }} after {{ $run.started }}" }
                }
            },
            "wires": wires(&["start > wait", "wait > publish"])
        }),
    );
    plant.device("in/a", 5);
    plant.settle();
    plant.advance(Duration::from_secs(60));
    plant.settle();
    let start = crate::testing::START;
    let now = start.plus_nanos(60_000_000_000);
    let text = format!("{} after {}", now.to_rfc3339(), start.to_rfc3339());
    assert_eq!(plant.values("out"), [Value::Text(text.into())]);
}

#[test]
fn startup_comes_after_a_deployment_and_after_a_start() {
    let mut plant = Plant::new();
    plant.deploy(
        1,
        json!({
            "steps": {
                "up": { "kind": "startup", "fields": { "after_ms": 500 } },
                "note": { "kind": "test.note" }
            },
            "wires": wires(&["up > note"])
        }),
    );
    plant.settle();
    assert!(noted().is_empty());
    plant.advance(Duration::from_millis(500));
    plant.settle();
    assert_eq!(noted()[0].1.get("on"), &Data::text("deploy"));
    plant.move_cursor();
    let mut plant = plant.crash();
    plant.advance(Duration::from_millis(500));
    plant.settle();
    let seen = noted();
    assert_eq!((seen.len(), seen[0].1.get("on")), (1, &Data::text("start")));
}

#[test]
fn issues_start_runs_but_not_of_their_own_pipeline() {
    let mut plant = Plant::new();
    let watcher = json!({
        "steps": {
            "seen": { "kind": "issue", "fields": { "keys": ["*"], "on": "both" } },
            "note": { "kind": "test.note" },
            "raise": { "kind": "issue.raise", "fields": { "key": "x", "what": "what" } }
        },
        "wires": wires(&["seen > note", "note > raise"])
    });
    plant.deploy(1, watcher);
    plant.advance(Duration::from_secs(2));
    plant.issues.raise(millrace_supervisor::Issue {
        key: "disk-low".into(),
        severity: millrace_supervisor::Severity::Warning,
        what: "w".into(),
        effect: "e".into(),
        remedy: "r".into(),
    });
    plant.advance(Duration::from_secs(2));
    plant.settle();
    plant.issues.clear("disk-low");
    plant.advance(Duration::from_secs(2));
    plant.settle();
    plant.advance(Duration::from_secs(2));
    plant.settle();
    let seen: Vec<_> = noted().into_iter().map(|(_, data)| data.get("raised").clone()).collect();
    assert_eq!(seen, [Data::Bool(true), Data::Bool(false)]);
}

#[test]
fn a_script_at_its_limit_is_told_becomes_critical_and_is_cleared() {
    let mut plant = Plant::new();
    let mut killed = pass_through(&json!({}));
    killed["steps"]["note"] = json!({ "kind": "javascript", "fields": { "code": "return kill;" } });
    plant.deploy(1, killed);
    let severity = |plant: &Plant| {
        let issues = plant.issues.list();
        issues.iter().find(|issue| issue.key == "script-at-limit:1").map(|issue| issue.severity)
    };
    for kill in 1..=10 {
        plant.device("in/a", kill);
        plant.settle();
        // The pause after a kill is a minute at most.
        plant.advance(Duration::from_secs(61));
        plant.settle();
        let expected = match kill {
            10 => millrace_supervisor::Severity::Critical,
            _ => millrace_supervisor::Severity::Warning,
        };
        assert_eq!(severity(&plant), Some(expected), "after {kill} kills");
    }
    plant.advance(Duration::from_secs(600));
    assert_eq!(severity(&plant), None);
}

#[test]
fn an_issue_that_becomes_worse_starts_those_who_waited_for_that() {
    let mut plant = Plant::new();
    let watcher = |severity: &str| {
        json!({
            "steps": {
                "seen": {
                    "kind": "issue",
                    "fields": { "keys": ["disk-*"], "severity_min": severity }
                },
                "note": { "kind": "test.note" }
            },
            "wires": wires(&["seen > note"])
        })
    };
    plant.deploy(1, watcher("critical"));
    plant.deploy(2, watcher("warning"));
    plant.advance(Duration::from_secs(2));
    let mut seen = Vec::new();
    for severity in
        [millrace_supervisor::Severity::Warning, millrace_supervisor::Severity::Critical]
    {
        let text = String::new;
        plant.issues.raise(millrace_supervisor::Issue {
            key: "disk-low".into(),
            severity,
            what: text(),
            effect: text(),
            remedy: text(),
        });
        plant.advance(Duration::from_secs(2));
        plant.settle();
        let told = noted().into_iter().map(|(_, data)| data.get("severity").clone());
        seen.push(told.collect::<Vec<_>>());
    }
    assert_eq!(seen, [[Data::text("warning")], [Data::text("critical")]], "each is told once");
}

#[test]
fn undeploying_clears_what_the_pipeline_has_raised() {
    let mut plant = Plant::new();
    let document = json!({
        "steps": {
            "go": { "kind": "manual" },
            "raise": { "kind": "issue.raise", "fields": { "key": "x", "what": "what" } }
        },
        "wires": wires(&["go > raise"])
    });
    plant.deploy(1, document.clone());
    plant.run(1, &json!({}));
    assert!(plant.issues.is_open("pipeline:p1:x"));
    plant.deploy(1, document);
    assert!(plant.issues.is_open("pipeline:p1:x"), "a new revision goes on with it");
    plant.undeploy(1);
    assert!(!plant.issues.is_open("pipeline:p1:x"));
}

#[test]
fn scripts_of_a_document_with_other_faults_are_checked_too() {
    let plant = Plant::new();
    let mut document = pass_through(&json!({}));
    document["steps"]["note"] = json!({ "kind": "javascript", "fields": { "code": "return syntax;" }, "timeout_ms": "soon" });
    document["steps"]["lost"] = json!({ "kind": "teleport" });
    let examined = millrace_flow::examine(&document.to_string());
    let read = examined.document.expect("it can be read");
    let mut wrong = draft(1, pass_through(&json!({})), 0);
    wrong.document = Arc::new(read);
    let found = plant.engine.check_rest(&wrong, &examined.faults);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&*found[0].step, found[0].field.as_deref()), ("note", Some("code")));
    // A field that has a fault is not told twice.
    let known: Vec<_> = examined
        .faults
        .into_iter()
        .map(|fault| millrace_flow::Fault {
            step: Some("note".into()),
            field: Some("code".into()),
            ..fault
        })
        .collect();
    assert_eq!(plant.engine.check_rest(&wrong, &known), []);
}

#[test]
fn a_killed_script_fails_its_run_and_pauses_its_pipeline_alone() {
    let mut plant = Plant::new();
    let mut killed = pass_through(&json!({}));
    killed["steps"]["note"] = json!({ "kind": "javascript", "fields": { "code": "return kill;" } });
    plant.deploy(1, killed);
    let mut good = pass_through(&json!({}));
    good["steps"]["publish"]["fields"]["path"] = json!("good");
    plant.deploy(2, good);
    for value in 0..3 {
        plant.device("in/a", value);
    }
    plant.settle();
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.failed, stats.kills.count), (1, 1));
    assert_eq!(stats.waiting, 2, "the others wait");
    assert_eq!(plant.ints("good").len(), 3);
    let fault = plant.world.reports.lock().iter().find_map(|report| report.fault.clone()).unwrap();
    assert_eq!((fault.code, fault.line), ("limit", Some(3)));
    plant.advance(Duration::from_secs(1));
    plant.settle();
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().failed, 2);
    plant.advance(Duration::from_secs(1));
    plant.settle();
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().failed, 2, "the pause has doubled");
    assert!(plant.issues.is_open("script-at-limit:1"));
}

#[test]
fn variables_are_shared_durable_and_set_by_people_too() {
    let mut plant = Plant::new();
    plant.deploy(
        1,
        json!({
            "steps": {
                "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
                "set": { "kind": "variable.set", "fields": { "name": "limit" } },
                "publish": {
                    "kind": "uns.publish",
                    "fields": { "path": "out", "value": "{{ $variable.limit }}" }
                }
            },
            "wires": wires(&["start > set", "set > publish"])
        }),
    );
    plant.device("in/a", 5);
    plant.settle();
    assert_eq!(plant.ints("out"), [5]);
    plant.engine.set_variable(1, "other", &Data::Int(9)).unwrap();
    plant.settle();
    let mut plant = plant.crash();
    plant.settle();
    let variables: Vec<_> = plant
        .engine
        .variables(1)
        .into_iter()
        .map(|(name, data)| (name.to_string(), data))
        .collect();
    assert_eq!(variables, [("limit".into(), Data::Int(5)), ("other".into(), Data::Int(9))]);
}

#[test]
fn quality_below_the_lowest_starts_nothing() {
    let mut document = pass_through(&json!({}));
    document["steps"]["start"]["fields"]["quality_min"] = json!("good");
    let mut plant = Plant::new();
    plant.deploy(1, document);
    for quality in [Quality::BAD, Quality::UNCERTAIN, Quality::GOOD] {
        plant.device_with("in/a", &Value::Int(1), 0, quality);
    }
    plant.settle();
    assert_eq!(plant.ints("out").len(), 1);
}

#[test]
fn threads_work_it_off_in_order_and_end_when_told() {
    use std::sync::atomic::{AtomicBool, Ordering};
    const PIPELINES: u32 = 8;
    const VALUES: i64 = 200;
    let mut plant = Plant::with(crate::Config::new(3));
    for number in 1..=PIPELINES {
        let order = if number % 2 == 0 { "in_order" } else { "parallel" };
        plant.deploy(
            number,
            json!({
                "settings": { "order": order },
                "steps": {
                    "start": { "kind": "uns.subscribe", "fields": { "filters": [format!("in/{number}")] } },
                    "publish": { "kind": "uns.publish", "fields": { "path": format!("out/{number}") } }
                },
                "wires": wires(&["start > publish"])
            }),
        );
    }
    let threads = plant.engine.run_threads().unwrap();
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    for value in 0..VALUES {
        for number in 1..=PIPELINES {
            plant.device(&format!("in/{number}"), value);
        }
        plant.commit();
    }
    // Commits go on until all ends are durable; bounded by the count of turns.
    for _ in 0..20_000 {
        plant.commit();
        if plant.engine.stats().open == 0 {
            IS_DONE.store(true, Ordering::SeqCst);
            break;
        }
        std::thread::yield_now();
        let _is_rung = crate::queue::Bell::default().sleep(Duration::from_micros(200));
    }
    assert!(IS_DONE.load(Ordering::SeqCst), "{:?}", plant.engine.stats());
    threads.stop();
    for number in 1..=PIPELINES {
        let mut values = plant.ints(&format!("out/{number}"));
        if number % 2 != 0 {
            values.sort_unstable();
        }
        assert_eq!(values, (0..VALUES).collect::<Vec<_>>(), "pipeline {number}");
    }
}

#[test]
fn a_batch_is_published_whole_or_not_at_all() {
    let document = |on_error: Json| {
        json!({
            "steps": {
                "go": { "kind": "manual" },
                "first": { "kind": "uns.publish", "fields": { "path": "first", "value": 1 } },
                "all": {
                    "kind": "uns.publish_batch",
                    "fields": { "values": "{{ $trigger.values }}" },
                    "on_error": on_error
                },
                "note": { "kind": "test.note" }
            },
            "wires": wires(&["go > first", "first > all", "all > note"])
        })
    };
    let values = json!({ "values": [
        { "path": "ok/a", "value": 1 },
        { "path": "refused/b", "value": 2 },
        { "path": "ok/c", "value": 3 },
        { "path": "refused/d", "value": 4 }
    ] });
    let mut plant = Plant::new();
    plant.deploy(1, document(json!("stop")));
    let ticket = plant.run(1, &values);
    let Some(RunEnd::Failed(fault)) = ticket.end() else { panic!("{:?}", ticket.end()) };
    assert_eq!(
        fault.message,
        "2 of 4 values were refused, so none is published; value 1 (`refused/b`): not authorized; \
         value 3 (`refused/d`): not authorized"
    );
    let all = (plant.ints("first"), plant.ints("ok/a"), plant.ints("ok/c"));
    assert_eq!(all, (vec![1], vec![], vec![]), "what was published before stays");
    // Steps that deal with the fault see each refusal
    plant.deploy(1, document(json!("continue")));
    plant.run(1, &values);
    let seen = noted().remove(0).1;
    let details = seen.get("error").get("details");
    assert_eq!(details.get("refused"), &Data::Int(2));
    let second = &details.get("values").as_list().unwrap()[1];
    assert_eq!(
        (second.get("index"), second.get("path")),
        (&Data::Int(3), &Data::text("refused/d"))
    );
    assert!(plant.ints("ok/a").is_empty());
    // And a batch that is whole goes through
    plant.run(1, &json!({ "values": { "ok/a": 5, "ok/c": 6 } }));
    assert_eq!((plant.ints("ok/a"), plant.ints("ok/c")), (vec![5], vec![6]));
    // An element that is none is told by its place
    plant.deploy(1, document(json!("stop")));
    let ticket =
        plant.run(1, &json!({ "values": [{ "path": "ok/a", "value": 1 }, { "value": 1 }] }));
    let Some(RunEnd::Failed(fault)) = ticket.end() else { panic!("{:?}", ticket.end()) };
    assert!(fault.message.contains("1 of 2 values") && fault.message.contains("value 1 (``)"));
    assert_eq!(plant.ints("ok/a"), [5]);
}
