//! Endless scripts beside what a person does: cancel, undeploy, deploy, switch off.

use crate::engine::{Asking, Deployed, Engine};
use crate::queue::Bell;
use crate::queued::RunId;
use crate::report::{OpenState, RunReport, StepStatus};
use crate::testing::{Plant, cancel, draft, next_deed, wires};
use millrace_flow::Data;
use millrace_journal::Seq;
use millrace_model::{ClientNumber, Quality, SampleRecord, TagId, ValueRef};
use millrace_supervisor::Clock as _;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Counts, computes a word, publishes what it gave.
fn counts_and(word: &str, settings: &Json) -> Json {
    let code = format!("return {word};");
    json!({
        "settings": settings,
        "steps": {
            "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
            "count": { "kind": "javascript", "fields": { "code": "return count;" } },
            "before": { "kind": "uns.publish", "fields": { "path": "before", "value": "{{ $item }}" } },
            "work": { "kind": "javascript", "fields": { "code": code } },
            "after": { "kind": "uns.publish", "fields": { "path": "after", "value": "{{ $item }}" } }
        },
        "wires": wires(&["start > count", "count > before", "before > work", "work > after"])
    })
}

fn spins() -> Json {
    counts_and("spin", &json!({}))
}

/// The same as another revision.
fn revision(number: u32, document: Json) -> Deployed {
    Deployed { revision: 2, ..draft(number, document, 0) }
}

/// Deploys a corrected revision out of the script, and lets the time of the run pass.
fn correct(plant: &Plant, corrected: Deployed) {
    let (engine, clock) = (plant.engine.clone(), Arc::clone(&plant.clock));
    next_deed(move || {
        engine.deploy(&corrected).unwrap();
        clock.advance(Duration::from_secs(1));
    });
}

fn only_report(plant: &Plant) -> RunReport {
    let mut reports = plant.world.reports.lock();
    assert_eq!(reports.len(), 1, "{reports:?}");
    reports.remove(0)
}

#[test]
fn canceling_ends_a_run_within_its_script() {
    let mut plant = Plant::new();
    plant.deploy(1, spins());
    let engine = plant.engine.clone();
    next_deed(move || {
        let id = RunId { pipeline: 1, seq: 1 };
        assert_eq!(cancel(&engine, id, "canceled by anna"), Some(OpenState::Running));
    });
    plant.device("in/a", 1);
    plant.settle();
    // Then it says who, and where it was
    let report = only_report(&plant);
    let fault = report.fault.unwrap();
    assert_eq!((fault.code, &*fault.step, fault.line), ("canceled", "work", Some(3)));
    assert_eq!(fault.message, "canceled by anna while the step `work` computed");
    assert!(matches!(report.steps[3].status, StepStatus::Failed(_)), "{:?}", report.steps);
    // And it is no failure and no kill: the pipeline goes on
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.canceled.count, stats.failed, stats.kills.count), (1, 0, 0));
    assert_eq!((stats.running, plant.ints("before")), (0, vec![1]));
    assert_eq!(plant.engine.stats().open, 0);
}

#[test]
fn a_later_run_that_restarts_interrupts_the_script_of_the_earlier_one() {
    let mut plant = Plant::new();
    plant.deploy(1, counts_and("spin", &json!({ "overlap": "restart" })));
    let (engine, now) = (plant.engine.clone(), plant.clock.now());
    next_deed(move || {
        // The next value comes while the script of the first one computes.
        let mut batch = engine.committed();
        batch.sample(
            Seq(1_000),
            &SampleRecord {
                tag: TagId(1),
                client: ClientNumber(7),
                source_time: now,
                receive_time: now,
                quality: Quality::GOOD,
                has_source_time: true,
                hops: 0,
                value: ValueRef::Int(2),
            },
        );
        batch.done(Seq(1));
        let engine = engine.clone();
        next_deed(move || {
            let later = RunId { pipeline: 1, seq: 1_000 };
            assert_eq!(cancel(&engine, later, "by anna"), Some(OpenState::Running));
        });
    });
    plant.device("in/a", 1);
    plant.settle();
    // Then the earlier one says why and where it ended, and the later one ran
    let reports = plant.world.reports.lock();
    let of = |seq| reports.iter().find(|report| report.id.seq == seq).unwrap().fault.clone();
    let fault = of(1).unwrap();
    assert_eq!((fault.code, &*fault.step, fault.line), ("restarted", "work", Some(3)));
    assert!(fault.message.ends_with("while the step `work` computed"), "{}", fault.message);
    assert_eq!(of(1_000).unwrap().code, "canceled");
    drop(reports);
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.restarted.count, stats.kills.count, stats.failed), (1, 0, 0));
    assert_eq!((stats.running, plant.ints("before")), (0, vec![1, 2]));
    assert_eq!(plant.engine.stats().open, 0);
}

#[test]
fn nothing_that_a_step_does_on_errors_outlives_a_cancel() {
    let mut plant = Plant::new();
    let mut document = spins();
    document["steps"]["work"]["on_error"] = json!("continue");
    document["steps"]["work"]["retry"] = json!({ "times": 3, "first_ms": 1 });
    plant.deploy(1, document);
    let engine = plant.engine.clone();
    next_deed(move || assert!(cancel(&engine, RunId { pipeline: 1, seq: 1 }, "by anna").is_some()));
    plant.device("in/a", 1);
    plant.settle();
    assert_eq!(only_report(&plant).fault.unwrap().code, "canceled");
    assert!(plant.ints("after").is_empty());
    assert_eq!(plant.world.spinning.load(Ordering::SeqCst), 1);
}

#[test]
fn undeploying_ends_a_run_within_its_script() {
    let mut plant = Plant::new();
    plant.deploy(1, spins());
    let engine = plant.engine.clone();
    next_deed(move || assert!(engine.undeploy(1)));
    plant.device("in/a", 1);
    plant.device("in/a", 2);
    plant.settle();
    let reports = plant.world.reports.lock();
    let faults: Vec<_> = reports.iter().filter_map(|report| report.fault.clone()).collect();
    assert!(faults.iter().all(|fault| fault.code == "undeployed"), "{faults:?}");
    assert!(faults.iter().any(|fault| &*fault.step == "work"), "{faults:?}");
    assert_eq!(faults.len(), 2);
    drop(reports);
    assert_eq!(plant.world.spinning.load(Ordering::SeqCst), 1);
    assert_eq!(plant.engine.stats().open, 0);
}

#[test]
fn a_corrected_revision_takes_over_what_computes_and_what_has_not_begun() {
    let mut plant = Plant::new();
    plant.deploy(1, counts_and("spin", &json!({ "history": "full" })));
    let corrected = revision(1, counts_and("double", &json!({ "history": "full" })));
    correct(&plant, corrected);
    for value in 1..=3 {
        plant.device("in/a", value);
    }
    plant.settle();
    // Then all three ran on it, in their order, each counted and published once
    assert_eq!((plant.ints("before"), plant.ints("after")), (vec![1, 2, 3], vec![2, 4, 6]));
    let reports = plant.world.reports.lock();
    let first = reports.iter().find(|report| report.id.seq == 1).unwrap();
    assert_eq!((first.revision, first.attempt, first.fault.is_none()), (2, 2, true));
    assert!(reports.iter().all(|report| report.revision == 2), "{reports:?}");
    drop(reports);
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.begun, stats.done, stats.running, stats.kills.count), (3, 3, 0, 0));
    assert_eq!(plant.world.spinning.load(Ordering::SeqCst), 1);
    assert_eq!(plant.engine.stats().open, 0);
}

#[test]
fn a_run_has_its_time_to_end_on_the_revision_under_which_it_began() {
    let mut plant = Plant::new();
    let mut document = counts_and("double", &json!({}));
    document["steps"]["before"] = json!({ "kind": "test.do" });
    plant.deploy(1, document);
    let (engine, clock) = (plant.engine.clone(), Arc::clone(&plant.clock));
    next_deed(move || {
        engine.deploy(&revision(1, counts_and("throw", &json!({})))).unwrap();
        clock.advance(Duration::from_millis(999));
    });
    plant.device("in/a", 4);
    plant.settle();
    assert_eq!(plant.ints("after"), [8]);
    assert_eq!(only_report(&plant).revision, 1);
}

#[test]
fn a_run_that_waited_meanwhile_has_its_time_from_when_it_goes_on() {
    let mut plant = Plant::new();
    let mut document = counts_and("double", &json!({}));
    document["steps"]["before"] = json!({ "kind": "test.gate" });
    plant.deploy(1, document);
    plant.device("in/a", 4);
    plant.settle();
    plant.engine.deploy(&revision(1, counts_and("throw", &json!({})))).unwrap();
    plant.advance(Duration::from_secs(3_600));
    plant.answer("before", 0);
    plant.settle();
    assert_eq!(plant.ints("after"), [8]);
    assert_eq!(only_report(&plant).revision, 1);
}

#[test]
fn a_run_that_waited_and_computes_begins_on_the_new_revision() {
    let mut plant = Plant::new();
    let gated = |word| {
        let mut document = counts_and(word, &json!({}));
        document["steps"]["before"] = json!({ "kind": "test.gate" });
        document
    };
    plant.deploy(1, gated("spin"));
    plant.device("in/a", 4);
    plant.settle();
    correct(&plant, revision(1, gated("double")));
    plant.answer("before", 0);
    plant.settle();
    // It stands where its last record left it: behind what it had counted
    plant.answer("before", 0);
    plant.settle();
    assert_eq!(plant.ints("after"), [8]);
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().parked, 0);
    let report = only_report(&plant);
    assert_eq!((report.revision, report.attempt), (2, 2));
    plant.device("in/a", 5);
    plant.settle();
    assert_eq!(plant.outside(), 1, "the stopped attempt's work is gone");
}

#[test]
fn a_revision_without_its_trigger_ends_what_computes_and_says_why() {
    let mut plant = Plant::new();
    plant.deploy(1, spins());
    let mut other = counts_and("double", &json!({}));
    other["steps"]["begin"] = other["steps"]["start"].take();
    other["steps"].as_object_mut().unwrap().remove("start");
    other["wires"] = wires(&["begin > count", "count > before", "before > work", "work > after"]);
    correct(&plant, revision(1, other));
    plant.device("in/a", 1);
    plant.settle();
    let fault = only_report(&plant).fault.unwrap();
    assert_eq!(fault.code, "undeployed");
    assert!(fault.message.contains("without its trigger"), "{}", fault.message);
    assert!(plant.ints("before").is_empty(), "nothing of the attempt remains");
    assert_eq!(plant.engine.stats().open, 0);
}

#[test]
fn the_key_of_an_order_is_interrupted_too() {
    let mut plant = Plant::new();
    let order = |word: &str| json!({ "order": { "in_order_by": format!("{{{{ {word} }}}}") } });
    plant.deploy(1, counts_and("double", &order("spin")));
    correct(&plant, revision(1, counts_and("double", &order("double"))));
    for value in 1..=3 {
        plant.device("in/a", value);
    }
    plant.settle();
    assert_eq!(plant.ints("after"), [2, 4, 6]);
    assert_eq!(plant.engine.stats().open, 0);
}

#[test]
fn what_an_old_revision_reached_is_no_pause_for_the_new_one() {
    let mut plant = Plant::new();
    let mut document = counts_and("kill", &json!({}));
    document["steps"]["before"] = json!({ "kind": "test.do" });
    plant.deploy(1, document);
    let engine = plant.engine.clone();
    next_deed(move || {
        engine.deploy(&revision(1, counts_and("double", &json!({})))).unwrap();
    });
    plant.device("in/a", 1);
    plant.settle();
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().kills.count, 1);
    plant.device("in/a", 2);
    plant.settle();
    assert_eq!(plant.ints("after"), [4], "without a pause");
}

#[test]
fn switching_off_leaves_what_computes_to_the_next_start() {
    let mut plant = Plant::new();
    plant.deploy(1, spins());
    let core = Arc::clone(&plant.engine.core);
    next_deed(move || core.stage.is_stopping.store(true, Ordering::Release));
    plant.device("in/a", 1);
    plant.device("in/a", 2);
    plant.settle();
    // Then nothing of it is told or kept
    assert!(plant.world.reports.lock().is_empty());
    assert!(plant.ints("before").is_empty());
    plant.move_cursor();
    // And after the start it runs again, and once
    let mut plant = plant.crash();
    let engine = plant.engine.clone();
    let ids = [1, 2].map(|seq| RunId { pipeline: 1, seq });
    next_deed(move || assert_eq!(cancel(&engine, ids[0], "by anna"), Some(OpenState::Running)));
    cancel(&plant.engine, ids[1], "by anna").unwrap();
    plant.settle();
    assert_eq!(plant.ints("before"), [1]);
}

/// Calls a pipeline whose script computes a word.
fn caller() -> Json {
    json!({
        "steps": {
            "go": { "kind": "manual" },
            "call": { "kind": "call", "fields": { "pipeline": "p2" }, "on_error": "continue" },
            "out": { "kind": "uns.publish", "fields": { "path": "out", "value": "{{ $item.error.code }}" } }
        },
        "wires": wires(&["go > call", "call > out"])
    })
}

fn called(word: &str) -> Json {
    json!({
        "steps": {
            "go": { "kind": "manual" },
            "work": { "kind": "javascript", "fields": { "code": format!("return {word};") } }
        },
        "wires": wires(&["go > work"])
    })
}

fn ask(engine: &Engine, pipeline: u32) -> crate::Ticket {
    let input = Data::from(&json!({ "value": 7 }));
    let asking = Asking { pipeline, trigger: None, input, is_manual: true, hops: 0 };
    engine.ask(&asking).unwrap()
}

#[test]
fn a_called_pipeline_that_is_deployed_anew_is_called_again() {
    let mut plant = Plant::new();
    plant.deploy(2, called("spin"));
    let mut document = caller();
    document["steps"]["out"]["fields"]["value"] = json!("{{ $item }}");
    plant.deploy(1, document);
    correct(&plant, revision(2, called("double")));
    let _ticket = ask(&plant.engine, 1);
    plant.settle();
    assert_eq!(plant.ints("out"), [14]);
    assert_eq!(only_report(&plant).attempt, 2);
}

#[test]
fn a_called_pipeline_that_is_undeployed_fails_its_call() {
    let mut plant = Plant::new();
    plant.deploy(2, called("spin"));
    plant.deploy(1, caller());
    let engine = plant.engine.clone();
    next_deed(move || assert!(engine.undeploy(2)));
    let _ticket = ask(&plant.engine, 1);
    plant.settle();
    let report = only_report(&plant);
    assert!(report.fault.is_none(), "the caller deals with it: {:?}", report.fault);
    assert_eq!(plant.values("out"), [millrace_model::Value::Text("call".into())]);
}

/// Waits for something that other threads do; the limit is only for when it never comes.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..60_000 {
        if is_so() {
            return;
        }
        let _is_rung = Bell::default().sleep(Duration::from_millis(1));
    }
    panic!("waited in vain until {what}");
}

#[test]
fn endless_scripts_on_threads_of_their_own_are_stopped_from_outside() {
    // Given two pipelines that may compute for a minute, so that both are on the one thread aside
    let mut plant = Plant::new();
    let long = json!({ "limits": { "cpu_ms": 60_000 } });
    for number in [1, 2] {
        let mut document = counts_and("spin", &long);
        document["steps"]["start"]["fields"]["filters"] = json!([format!("in/{number}")]);
        plant.deploy(number, document);
    }
    let threads = plant.engine.run_threads().unwrap();
    let spinning = |plant: &Plant| plant.world.spinning.load(Ordering::SeqCst);
    plant.device("in/1", 1);
    plant.commit();
    until("the first computes", || spinning(&plant) == 1);
    plant.device("in/2", 2);
    plant.commit();
    // When the one that holds the thread is canceled
    let id = RunId { pipeline: 1, seq: 1 };
    assert_eq!(cancel(&plant.engine, id, "by anna"), Some(OpenState::Running));
    // Then the other has its turn
    until("the second computes", || spinning(&plant) == 2);
    // And a stop of the box waits for neither
    threads.stop();
    let reports = plant.world.reports.lock();
    let ends: Vec<_> = reports.iter().map(|report| report.id.pipeline).collect();
    assert_eq!(ends, [1], "the second one is left as it is");
    drop(reports);
    plant.commit();
    plant.move_cursor();
    let plant = plant.crash();
    let open = plant.engine.open_runs(2, &[OpenState::Queued], None, 10);
    assert_eq!(open.len(), 1, "and runs again after the start");
}
