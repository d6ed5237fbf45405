//! Runs that have not ended: what is told of them, and how they are canceled.

use crate::Config;
use crate::queued::RunId;
use crate::report::{OpenRun, OpenState, RunReport, WaitFor};
use crate::testing::{Plant, cancel, next_deed, wires};
use crate::{RecordsFault, RunEnd, record};
use millrace_flow::Data;
use millrace_model::{Record, RunEvent, RunRecord};
use serde_json::{Value as Json, json};
use std::time::Duration;

const ALL: [OpenState; 3] = [OpenState::Queued, OpenState::Running, OpenState::Waiting];

/// Waits at a gate between two steps.
fn gated(settings: &Json) -> Json {
    json!({
        "settings": settings,
        "steps": {
            "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
            "before": { "kind": "test.note" },
            "gate": { "kind": "test.gate" },
            "publish": { "kind": "uns.publish", "fields": { "path": "out" } }
        },
        "wires": wires(&["start > before", "before > gate", "gate > publish"])
    })
}

/// Values on `in/a`, one after the other, each settled.
fn values(plant: &mut Plant, count: i64) {
    for value in 0..count {
        plant.device("in/a", value);
        plant.settle();
    }
}

fn states(plant: &Plant) -> Vec<OpenState> {
    plant.engine.open_runs(1, &ALL, None, 100).iter().map(|run| run.state).collect()
}

fn seqs(runs: &[OpenRun]) -> Vec<u64> {
    runs.iter().map(|run| run.report.id.seq).collect()
}

/// Why the reported runs did not end well, in the order of their ids.
fn faults(plant: &Plant) -> Vec<(u64, &'static str)> {
    let reports = plant.world.reports.lock();
    let code = |report: &RunReport| report.fault.as_ref().map_or("ok", |fault| fault.code);
    let mut found: Vec<_> = reports.iter().map(|report| (report.id.seq, code(report))).collect();
    found.sort_unstable();
    found
}

#[test]
fn runs_that_have_not_ended_are_listed_newest_first_with_what_they_wait_for() {
    // Given a run that waits for an answer and two behind it
    let mut plant = Plant::new();
    plant.deploy(1, gated(&json!({ "order": "in_order_all" })));
    values(&mut plant, 3);
    plant.advance(Duration::from_secs(90));
    // When they are looked at
    let runs = plant.engine.open_runs(1, &ALL, None, 100);
    // Then each says how it stands, and the one that waits for what, where and since when
    let stands: Vec<_> = runs.iter().map(|run| run.state).collect();
    assert_eq!(stands, [OpenState::Queued, OpenState::Queued, OpenState::Waiting]);
    assert!(seqs(&runs).is_sorted_by(|one, other| one > other), "{runs:?}");
    let [wait] = runs[2].waits.as_slice() else { panic!("{:?}", runs[2].waits) };
    assert_eq!((&*wait.step, wait.what, wait.until), ("gate", WaitFor::Answer, None));
    let now = millrace_supervisor::Clock::now(&*plant.clock);
    assert_eq!(now.nanos_since(wait.since), 90_000_000_000);
    // And a page is a page
    let first = plant.engine.open_runs(1, &ALL, None, 2);
    let second = plant.engine.open_runs(1, &ALL, Some(first[1].report.id.seq), 2);
    assert_eq!([seqs(&first), seqs(&second)].concat(), seqs(&runs));
    let queued = plant.engine.open_runs(1, &[OpenState::Queued], None, 100);
    assert_eq!(seqs(&queued), seqs(&first));
    assert!(plant.engine.open_runs(2, &ALL, None, 100).is_empty());
}

#[test]
fn a_waiting_run_is_opened_with_its_steps_so_far() {
    let mut plant = Plant::new();
    plant.deploy(1, gated(&json!({ "history": "full" })));
    values(&mut plant, 1);
    let id = plant.engine.open_runs(1, &ALL, None, 1)[0].report.id;
    let run = plant.engine.open_run(id).unwrap();
    let steps: Vec<_> = run.report.steps.iter().map(|step| &*step.step).collect();
    assert_eq!(steps, ["start", "before", "gate"]);
    assert_eq!(run.report.input.get("value"), &Data::Int(0));
    assert_eq!(run.report.steps[1].output.as_ref().unwrap().get("path"), &Data::text("in/a"));
    plant.answer("gate", 7);
    plant.settle();
    assert!(plant.engine.open_run(id).is_none(), "it has ended");
}

#[test]
fn a_pause_says_until_when() {
    let mut plant = Plant::new();
    let mut document = gated(&json!({}));
    document["steps"]["gate"] = json!({ "kind": "wait", "fields": { "for_ms": 60_000 } });
    plant.deploy(1, document);
    values(&mut plant, 1);
    let run = plant.engine.open_runs(1, &ALL, None, 1).remove(0);
    let wait = run.waits[0].clone();
    assert_eq!(wait.what, WaitFor::Time);
    assert_eq!(wait.until.unwrap().nanos_since(wait.since), 60_000_000_000);
}

#[test]
fn since_when_a_run_waits_stays_the_same_however_often_it_is_asked_and_through_a_restart() {
    // Given runs that wait: for a time, and for the branch of a `try` around it
    let mut config = Config::new(1);
    config.carry_records_min = 1;
    let mut plant = Plant::with(config);
    let mut document = gated(&json!({}));
    document["steps"]["before"] = json!({ "kind": "try" });
    document["steps"]["gate"] = json!({ "kind": "wait", "fields": { "for_ms": 600_000 } });
    document["wires"] = wires(&["start > before", "before:body > gate", "before:done > publish"]);
    plant.deploy(1, document);
    values(&mut plant, 1);
    let since = |plant: &Plant| -> Vec<_> {
        let run = plant.engine.open_runs(1, &ALL, None, 1).remove(0);
        run.waits.iter().map(|wait| (wait.step.to_string(), wait.since)).collect()
    };
    let first = since(&plant);
    assert_eq!(first.len(), 2, "{first:?}");
    // When time passes and it is carried forward, then they say the same
    plant.advance(Duration::from_secs(90));
    plant.settle();
    assert_eq!(since(&plant), first);
    // And when the box has died, they still do
    let mut plant = plant.crash();
    plant.settle();
    plant.advance(Duration::from_secs(5));
    assert_eq!(since(&plant), first);
}

#[test]
fn a_run_in_a_workers_hands_is_running() {
    let mut plant = Plant::new();
    let mut document = gated(&json!({}));
    document["steps"]["before"] = json!({ "kind": "test.do" });
    plant.deploy(1, document);
    let engine = plant.engine.clone();
    let seen = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let sees = std::rc::Rc::clone(&seen);
    next_deed(move || {
        let runs = engine.open_runs(1, &ALL, None, 10);
        let id = runs[0].report.id;
        sees.borrow_mut().push((runs[0].state, engine.open_run(id).map(|run| run.state)));
        assert_eq!(cancel(&engine, id, "by anna"), Some(OpenState::Running));
    });
    values(&mut plant, 1);
    assert_eq!(*seen.borrow(), [(OpenState::Running, Some(OpenState::Running))]);
    assert_eq!(faults(&plant), [(1, "canceled")], "it ended when it would have waited");
    assert!(states(&plant).is_empty());
}

#[test]
fn a_canceled_run_ends_as_canceled_and_lets_the_next_of_its_key_begin() {
    let mut plant = Plant::new();
    plant.deploy(1, gated(&json!({ "order": "in_order_all" })));
    values(&mut plant, 3);
    let runs = plant.engine.open_runs(1, &ALL, None, 100);
    let ids: Vec<RunId> = runs.iter().map(|run| run.report.id).collect();
    // When one that has not begun and the one that waits are canceled
    assert_eq!(cancel(&plant.engine, ids[1], "canceled by anna"), Some(OpenState::Queued));
    assert_eq!(cancel(&plant.engine, ids[2], "canceled by anna"), Some(OpenState::Waiting));
    plant.settle();
    // Then both have an entry, and the third has begun
    assert_eq!(faults(&plant), [(ids[2].seq, "canceled"), (ids[1].seq, "canceled")]);
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.canceled.count, stats.failed, stats.parked), (2, 0, 1));
    assert_eq!(plant.engine.stats().canceled, 2);
    assert_eq!(states(&plant), [OpenState::Waiting]);
    assert_eq!(cancel(&plant.engine, ids[2], "again"), None);
    // And a crash does not bring them back
    plant.move_cursor();
    let plant = plant.crash();
    assert_eq!(seqs(&plant.engine.open_runs(1, &ALL, None, 100)), [ids[0].seq]);
}

#[test]
fn undeploying_cancels_what_waits_and_what_has_not_begun_with_an_entry_each() {
    let mut plant = Plant::new();
    plant.deploy(1, gated(&json!({ "order": "in_order_all" })));
    values(&mut plant, 3);
    let ids = seqs(&plant.engine.open_runs(1, &ALL, None, 100));
    plant.undeploy(1);
    plant.settle();
    let told = ids.iter().rev().map(|seq| (*seq, "undeployed")).collect::<Vec<_>>();
    assert_eq!(faults(&plant), told);
    assert!(plant.world.reports.lock().iter().all(|report| report.fault.is_some()));
    assert_eq!(plant.engine.stats().canceled, 3);
    assert_eq!(plant.outside(), 0, "its work outside was stopped");
    assert_eq!(plant.move_cursor(), plant.seen());
}

#[test]
fn a_run_whose_pipeline_is_undeployed_under_it_does_not_wait_on() {
    let mut plant = Plant::new();
    let mut document = gated(&json!({}));
    document["steps"]["before"] = json!({ "kind": "test.do" });
    plant.deploy(1, document);
    let engine = plant.engine.clone();
    next_deed(move || assert!(engine.undeploy(1)));
    values(&mut plant, 1);
    assert_eq!(faults(&plant), [(1, "undeployed")]);
    assert_eq!((plant.engine.stats().parked, plant.engine.stats().canceled), (0, 1));
}

#[test]
fn a_restarted_run_has_an_entry_and_is_no_failure() {
    let mut plant = Plant::new();
    plant.deploy(1, gated(&json!({ "overlap": "restart" })));
    values(&mut plant, 3);
    let codes: Vec<_> = faults(&plant).iter().map(|(_, code)| *code).collect();
    assert_eq!(codes, ["restarted", "restarted"]);
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.canceled.count, stats.restarted.count, stats.failed), (2, 2, 0));
}

#[test]
fn a_skipped_run_has_one_entry_a_second() {
    let mut plant = Plant::new();
    plant.deploy(1, gated(&json!({ "overlap": "skip" })));
    values(&mut plant, 10);
    let codes: Vec<_> = faults(&plant).iter().map(|(_, code)| *code).collect();
    assert_eq!(codes, ["skipped"]);
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().skipped.count, 9);
}

#[test]
fn one_pipeline_takes_its_share_of_parked_runs_and_others_go_on() {
    let mut config = Config::new(1);
    config.parked_runs_max = 10;
    config.parked_share_percent = 50;
    assert_eq!(config.parked_share(), (5, 32 * 1024 * 1024));
    let mut plant = Plant::with(config);
    plant.deploy(1, gated(&json!({})));
    let mut other = gated(&json!({}));
    other["steps"]["start"]["fields"]["filters"] = json!(["other/#"]);
    plant.deploy(2, other);
    values(&mut plant, 8);
    // Its ninth run fails and says which limit, the other pipeline's waits
    let reports = plant.world.reports.lock();
    let fault = reports.last().unwrap().fault.clone().unwrap();
    drop(reports);
    assert_eq!(fault.code, "limit");
    assert!(fault.message.contains("limits of one pipeline: 5 runs"), "{}", fault.message);
    plant.device("other/a", 1);
    plant.settle();
    let of = |number| plant.engine.pipeline_stats(number).unwrap();
    assert_eq!((of(1).parked, of(1).failed, of(2).parked, of(2).failed), (5, 3, 1, 0));
    let most = plant.engine.parked_most().unwrap();
    assert_eq!((&*most.pipeline, most.percent), ("p1", 100));
}

/// Gated, with a script that computes until it is stopped in place of the gate.
fn endless() -> Json {
    let mut document = gated(&json!({ "order": "in_order_all" }));
    document["steps"]["gate"] =
        json!({ "kind": "javascript", "fields": { "code": "return spin;" } });
    document
}

#[test]
fn a_cancel_that_was_answered_outlives_a_kill_at_any_point() {
    // How the run stands, and whether its end is durable too when the plug is pulled.
    let cases = [OpenState::Queued, OpenState::Running, OpenState::Waiting];
    for (state, has_ended) in cases.into_iter().flat_map(|state| [(state, false), (state, true)]) {
        let mut plant = Plant::new();
        let is_computing = state == OpenState::Running;
        plant.deploy(1, if is_computing { endless() } else { gated(&json!({})) });
        let (engine, world) = (plant.engine.clone(), std::sync::Arc::clone(&plant.world));
        let id = RunId { pipeline: 1, seq: 1 };
        plant.device("in/a", 1);
        let cancels = move || {
            assert_eq!(cancel(&engine, id, "canceled by anna"), Some(state));
            world.sync();
        };
        match state {
            OpenState::Queued => {
                plant.commit();
                cancels();
            }
            OpenState::Running => {
                plant.commit();
                next_deed(cancels);
                plant.hand.run_ready();
            }
            OpenState::Waiting => {
                plant.settle();
                cancels();
            }
        }
        if has_ended {
            plant.settle();
            assert_eq!(faults(&plant), [(1, "canceled")], "{state:?}");
        }
        plant.move_cursor();
        // When the history had not written it
        plant.world.reports.lock().clear();
        let mut plant = plant.crash();
        plant.answer("gate", 7);
        plant.settle();
        // Then it does not run, and what had not ended has its entry
        assert!(plant.ints("out").is_empty(), "{state:?} {has_ended}");
        let told: &[_] = if has_ended { &[] } else { &[(1, "canceled")] };
        assert_eq!(faults(&plant), told, "{state:?}");
        let spun = plant.world.spinning.load(std::sync::atomic::Ordering::SeqCst);
        assert_eq!(spun, u64::from(is_computing), "its script is not begun again");
        assert!(states(&plant).is_empty() && plant.engine.stats().open == 0);
        let message = |report: &RunReport| report.fault.clone().unwrap().message;
        assert!(plant.world.reports.lock().iter().all(|it| message(it).contains("by anna")));
    }
}

#[test]
fn a_cancel_that_the_journal_does_not_take_changes_nothing() {
    let mut plant = Plant::new();
    plant.deploy(1, gated(&json!({})));
    values(&mut plant, 1);
    plant.set_full(true);
    let id = RunId { pipeline: 1, seq: 1 };
    assert_eq!(plant.engine.cancel(id, "by anna").map(drop), Err(RecordsFault::Full));
    plant.set_full(false);
    plant.settle();
    assert_eq!(states(&plant), [OpenState::Waiting]);
    plant.answer("gate", 7);
    plant.settle();
    assert_eq!(plant.ints("out").len(), 1);
}

#[test]
fn who_cancels_is_told_when_the_end_is_durable() {
    let mut plant = Plant::new();
    plant.deploy(1, gated(&json!({})));
    values(&mut plant, 1);
    let id = RunId { pipeline: 1, seq: 1 };
    let canceled = plant.engine.cancel(id, "by anna").unwrap().unwrap();
    let ended = canceled.ended.unwrap();
    plant.hand.run_ready();
    assert_eq!(ended.end(), None, "it has ended, and nothing is durable");
    plant.settle();
    assert!(matches!(ended.end(), Some(RunEnd::Failed(fault)) if fault.code == "canceled"));
    assert!(plant.engine.cancel(id, "by anna").unwrap().is_none());
}

#[test]
fn a_canceled_run_is_not_carried_past_what_says_so() {
    let mut plant = Plant::new();
    plant.deploy(1, gated(&json!({})));
    values(&mut plant, 1);
    let seen = plant.seen();
    // Given a run that is written down to be carried forward, and canceled before that is appended
    let core = std::sync::Arc::clone(&plant.engine.core);
    let (run, saved) = core.queue.unfinished(seen, 10, Duration::ZERO).remove(0);
    let mut body = Vec::new();
    record::carried(&run, saved.as_deref(), &mut body);
    assert_eq!(cancel(&plant.engine, run.id(), "by anna"), Some(OpenState::Waiting));
    let carried = RunRecord { event: RunEvent::Carried, pipeline: 1, run: 1, body: &body };
    core.parts.records.append(&[Record::Run(carried)]).unwrap();
    plant.commit();
    // When the plug is pulled before its end
    assert!(plant.move_cursor() < run.seq, "its records are needed");
    let mut plant = plant.crash();
    plant.settle();
    // Then it is canceled all the same
    assert_eq!(faults(&plant), [(1, "canceled")]);
    assert_eq!(plant.engine.stats().open, 0);
}
