//! Panics of workers: what they cost, and what goes on.

use crate::testing::{Plant, next_deed, noted, wires};
use serde_json::{Value as Json, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Publishes before and after a step that panics when it is told to.
fn shaky(settings: &Json) -> Json {
    json!({
        "settings": settings,
        "steps": {
            "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
            "before": { "kind": "uns.publish", "fields": { "path": "before" } },
            "shake": { "kind": "test.panic" },
            "after": { "kind": "uns.publish", "fields": { "path": "after" } }
        },
        "wires": wires(&["start > before", "before > shake", "shake > after"])
    })
}

/// Lets the worker run into its panic, as its thread would.
fn fall(plant: &mut Plant) {
    let fallen = catch_unwind(AssertUnwindSafe(|| plant.hand.run_ready()));
    assert!(fallen.is_err(), "it panics");
    let core = std::sync::Arc::clone(&plant.engine.core);
    core.fall(0, Some(&mut plant.hand), "told to panic");
    plant.hand = plant.engine.hand(0);
}

#[test]
fn a_run_in_which_a_worker_panicked_is_taken_again_at_once() {
    let mut plant = Plant::new();
    plant.deploy(1, shaky(&json!({ "order": "in_order" })));
    // Given a batch of three, in the second of which the worker panics
    plant.device("in/a", 1);
    plant.settle();
    for value in 2..=4 {
        plant.device("in/a", value);
    }
    plant.commit();
    plant.world.panics.store(1, Ordering::SeqCst);
    fall(&mut plant);
    // Then it goes on at once, in order, and nothing is there twice
    plant.settle();
    assert_eq!(plant.ints("before"), [1, 2, 3, 4]);
    assert_eq!(plant.ints("after"), [1, 2, 3, 4]);
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.done, stats.failed, stats.late.count), (4, 0, 0));
    assert_eq!((stats.running, stats.waiting, stats.parked), (0, 0, 0));
    assert_eq!(plant.move_cursor(), plant.seen());
    // And it is told, and cleared when it does not come again
    let issue = plant.issues.list().into_iter().find(|issue| issue.key == "engine-panicked");
    let issue = issue.expect("raised");
    assert!(issue.what.contains("pipeline `p1`: told to panic"), "{}", issue.what);
    plant.advance(Duration::from_secs(601));
    assert!(!plant.issues.is_open("engine-panicked"));
}

#[test]
fn what_ended_before_the_panic_in_the_same_batch_is_not_run_again() {
    let mut plant = Plant::new();
    plant.deploy(
        1,
        json!({
            "steps": {
                "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
                "note": { "kind": "test.note" },
                "shake": { "kind": "test.panic" },
                "do": { "kind": "test.do" }
            },
            "wires": wires(&["start > note", "note > shake", "shake > do"])
        }),
    );
    plant.device("in/a", 0);
    plant.settle();
    // Given a batch of two, of which the first lets the second panic
    let world = std::sync::Arc::clone(&plant.world);
    next_deed(move || world.panics.store(1, Ordering::SeqCst));
    drop(noted());
    plant.device("in/a", 1);
    plant.device("in/a", 2);
    plant.commit();
    fall(&mut plant);
    plant.settle();
    let seen: Vec<_> =
        noted().iter().map(|(_, data)| data.get("value").as_i64().unwrap()).collect();
    assert_eq!(seen, [1, 2, 2], "the first one ran once");
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.done, stats.failed, stats.running), (3, 0, 0));
    assert_eq!(plant.move_cursor(), plant.seen(), "and its end is durable");
}

#[test]
fn a_run_in_which_workers_panic_again_and_again_fails_with_the_reason() {
    let mut plant = Plant::new();
    plant.deploy(1, shaky(&json!({})));
    plant.device("in/a", 1);
    plant.commit();
    plant.world.panics.store(9, Ordering::SeqCst);
    fall(&mut plant);
    fall(&mut plant);
    plant.settle();
    let reports = plant.world.reports.lock();
    let fault = reports[0].fault.as_ref().unwrap();
    assert_eq!((fault.code, reports[0].attempt), ("defect", 3));
    assert!(fault.message.contains("failed 2 times") && fault.message.contains("told to panic"));
    drop(reports);
    assert!(plant.ints("before").is_empty(), "nothing of it was published");
    assert_eq!(plant.move_cursor(), plant.seen());
}

#[test]
fn a_worker_thread_outlives_a_panic() {
    let mut plant = Plant::new();
    plant.deploy(1, shaky(&json!({})));
    plant.world.panics.store(1, Ordering::SeqCst);
    assert!(!plant.engine.health().is_alive(), "nothing was started");
    let threads = plant.engine.run_threads().unwrap();
    plant.device("in/a", 7);
    for _ in 0..20_000 {
        plant.commit();
        if plant.engine.stats().done == 1 {
            break;
        }
        let _is_rung = crate::queue::Bell::default().sleep(Duration::from_micros(200));
    }
    assert!(plant.engine.health().is_alive());
    threads.stop();
    plant.commit();
    assert_eq!((plant.ints("before"), plant.ints("after")), (vec![7], vec![7]));
    assert!(plant.issues.is_open("engine-panicked"));
}
