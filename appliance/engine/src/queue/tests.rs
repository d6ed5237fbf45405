//! Lanes, order, overlap, limits, and workers that do not come back.

use crate::config::Config;
use crate::testing::{Plant, noted, wires};
use serde_json::{Value as Json, json};
use std::time::Duration;

fn noting(filter: &str, settings: &Json) -> Json {
    json!({
        "settings": settings,
        "steps": {
            "start": { "kind": "uns.subscribe", "fields": { "filters": [filter] } },
            "note": { "kind": "test.note" }
        },
        "wires": wires(&["start > note"])
    })
}

fn gated(settings: &Json) -> Json {
    json!({
        "settings": settings,
        "steps": {
            "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
            "gate": { "kind": "test.gate" },
            "note": { "kind": "test.note" }
        },
        "wires": wires(&["start > note", "note > gate"])
    })
}

/// Values that were noted.
fn values() -> Vec<i64> {
    noted().iter().map(|(_, data)| data.get("value").as_i64().unwrap()).collect()
}

#[test]
fn the_higher_lane_goes_first_and_a_starved_one_gets_a_run() {
    let mut config = Config::new(1);
    config.starvation_threshold = 10;
    let mut plant = Plant::with(config);
    plant.deploy(1, noting("high", &json!({ "priority": "high", "order": "in_order" })));
    plant.deploy(2, noting("low", &json!({ "priority": "low", "order": "in_order" })));
    for value in 0..5 {
        plant.device("low", 100 + value);
    }
    for value in 0..40 {
        plant.device("high", value);
    }
    plant.settle();
    let seen = values();
    let low: Vec<usize> = (0..seen.len()).filter(|place| seen[*place] >= 100).collect();
    // One of low after each ten of high, then the last one.
    assert_eq!(low, [10, 21, 32, 43, 44], "{seen:?}");
    let lanes = plant.engine.stats().lanes;
    assert_eq!((lanes[0].taken, lanes[2].taken, lanes[2].taken_starved), (40, 5, 4));
}

#[test]
fn a_starved_lane_whose_work_belongs_to_one_worker_gets_a_run_of_that_worker() {
    let mut config = Config::new(2);
    config.starvation_threshold = 10;
    let mut plant = Plant::with(config);
    // Given a low pipeline that has one worker of its own, and a high one that any may take
    plant.deploy(1, noting("high", &json!({ "priority": "high" })));
    plant.deploy(2, noting("low", &json!({ "priority": "low", "order": "in_order_all" })));
    let at = millrace_supervisor::Clock::monotonic(&*plant.clock);
    plant.device("low", 100);
    for value in 0..400 {
        plant.device("high", value);
    }
    plant.commit();
    let core = std::sync::Arc::clone(&plant.engine.core);
    let mut taken = Vec::new();
    // When both take turns, the other one first
    let mut order = Vec::new();
    for _ in 0..4 {
        for worker in [1, 0, 1] {
            taken.clear();
            order.extend(
                core.queue
                    .take(worker, at, &mut taken, |_, _, _| ())
                    .map(|number| (worker, number)),
            );
        }
    }
    // Then the worker that may take it does so, though the other one cannot
    assert!(order.iter().any(|(_, number)| *number == 2), "{order:?}");
    assert_eq!(core.queue.lanes()[2].taken_starved, 1, "{order:?}");
}

#[test]
fn a_starved_pipeline_that_one_worker_alone_runs_is_not_forgotten_for_the_others() {
    let mut config = Config::new(2);
    config.starvation_threshold = 10;
    let mut plant = Plant::with(config);
    // Keeps order, so one worker alone runs it: the first.
    plant.deploy(1, noting("low", &json!({ "priority": "low", "order": "in_order" })));
    plant.deploy(2, noting("high", &json!({ "priority": "high" })));
    let at = millrace_supervisor::Clock::monotonic(&*plant.clock);
    let mut taken = Vec::new();
    let mut take = |plant: &Plant, worker: usize| {
        let queue = &plant.engine.core.queue;
        let pipeline = queue.take(worker, at, &mut taken, |_, _, _| ())?;
        let ended: Vec<_> = taken
            .drain(..)
            .map(|taken| match taken {
                crate::queue::Taken::New(run, _) => {
                    (run.id(), run.key.load(std::sync::atomic::Ordering::Relaxed))
                }
                _ => panic!("a new run"),
            })
            .collect();
        let count = ended.len();
        // So dear that a batch is one run.
        let cpu = Duration::from_millis(10);
        queue.finish(&crate::queue::Finished { pipeline, ended, count, cpu });
        Some((pipeline, count))
    };
    plant.device("high", 0);
    plant.commit();
    assert_eq!(take(&plant, 0), Some((2, 1)), "from now on its cost is known");
    for value in 0..3 {
        plant.device("low", value);
    }
    for value in 0..100 {
        plant.device("high", value);
    }
    plant.commit();
    let order: Vec<_> = (0..60).map(|turn| take(&plant, turn % 2).unwrap()).collect();
    let low: Vec<_> = (0..60).filter(|turn| order[*turn] == (1, 1)).collect();
    // After ten runs that the first worker took elsewhere; the second one looks in between.
    assert_eq!(low, [20, 42], "{order:?}");
}

#[test]
fn a_pipeline_whose_scripts_reach_their_limits_runs_behind_all_others_until_it_is_deployed_anew() {
    let mut plant = Plant::with(Config::new(1));
    let (worker, aside) = (0, 1);
    let low = noting("low", &json!({ "order": "in_order" }));
    plant.deploy(1, low.clone());
    plant.deploy(2, noting("high", &json!({})));
    let take = |plant: &Plant, worker: usize| {
        let at = millrace_supervisor::Clock::monotonic(&*plant.clock);
        let mut taken = Vec::new();
        plant
            .engine
            .core
            .queue
            .take(worker, at, &mut taken, |_, _, _| ())
            .map(|pipeline| (pipeline, taken))
    };
    let finish = |plant: &Plant, (pipeline, taken): (u32, Vec<crate::queue::Taken>)| {
        let ended = taken.iter().map(|taken| match taken {
            crate::queue::Taken::New(run, _) => {
                (run.id(), run.key.load(std::sync::atomic::Ordering::Relaxed))
            }
            _ => panic!("a new run"),
        });
        let (ended, cpu) = (ended.collect(), Duration::from_millis(10));
        let finished = crate::queue::Finished { pipeline, ended, count: taken.len(), cpu };
        plant.engine.core.queue.finish(&finished);
        pipeline
    };
    plant.device("low", 0);
    plant.commit();
    let killed = take(&plant, worker).expect("its worker has it");
    let at = millrace_supervisor::Clock::monotonic(&*plant.clock);
    plant.engine.core.queue.hold_back(1, at + Duration::from_secs(2));
    assert_eq!(finish(&plant, killed), 1);
    plant.device("low", 1);
    plant.device("high", 2);
    plant.commit();
    assert!(take(&plant, aside).is_none(), "it is held back, and others are no business of aside");
    assert_eq!(take(&plant, worker).map(|found| finish(&plant, found)), Some(2));
    assert!(take(&plant, worker).is_none());
    plant.advance(Duration::from_secs(2));
    assert!(take(&plant, worker).is_none(), "it has another worker now");
    let moved = take(&plant, aside).expect("the last one");
    // Deployed anew while it runs: it comes back when that run has ended.
    plant.deploy(1, low);
    plant.device("low", 3);
    plant.commit();
    assert_eq!(finish(&plant, moved), 1);
    assert!(take(&plant, aside).is_none());
    assert_eq!(take(&plant, worker).map(|found| finish(&plant, found)), Some(1));
}

#[test]
fn one_killed_script_puts_its_pipeline_aside_and_ten_good_runs_call_it_back() {
    let mut plant = Plant::with(Config::new(1));
    let mut document = noting("in", &json!({}));
    document["steps"]["note"] =
        json!({ "kind": "javascript", "fields": { "code": "return kill at zero;" } });
    plant.deploy(1, document);
    let runs_aside = |plant: &mut Plant, value: i64| {
        plant.device("in", value);
        plant.settle();
        // The pause after a kill.
        plant.advance(Duration::from_secs(61));
        plant.settle();
        let inner = plant.engine.core.queue.inner.lock();
        let pipe = inner.pipes.get(&1).expect("it is deployed");
        (pipe.is_aside, pipe.home)
    };
    assert_eq!(runs_aside(&mut plant, 1), (false, Some(0)));
    assert_eq!(runs_aside(&mut plant, 0), (true, Some(1)), "one kill is enough");
    for run in 1..10 {
        assert_eq!(runs_aside(&mut plant, run), (true, Some(1)), "after {run} good runs");
    }
    assert_eq!(runs_aside(&mut plant, 0), (true, Some(1)), "and they count in a row only");
    for run in 1..10 {
        assert_eq!(runs_aside(&mut plant, run), (true, Some(1)), "after {run} good runs");
    }
    assert_eq!(runs_aside(&mut plant, 10), (false, Some(0)));
    assert_eq!(runs_aside(&mut plant, 11), (false, Some(0)));
}

#[test]
fn a_pipeline_that_may_compute_longer_than_the_box_lets_others_is_behind_them_from_the_start() {
    let mut plant = Plant::with(Config::new(1));
    let calculating = |cpu_ms: u64| {
        json!({
            "settings": { "limits": { "cpu_ms": cpu_ms } },
            "steps": {
                "start": { "kind": "uns.subscribe", "fields": { "filters": ["in"] } },
                "note": { "kind": "test.note" },
                "map": { "kind": "map", "fields": { "output": "{{ double; }}" } }
            },
            "wires": wires(&["start > map", "map > note"])
        })
    };
    let mut worker_of = |cpu_ms: u64| {
        plant.deploy(1, calculating(cpu_ms));
        plant.device("in", 1);
        plant.commit();
        let at = millrace_supervisor::Clock::monotonic(&*plant.clock);
        let mut taken = Vec::new();
        let found = (0..2).find(|worker| {
            plant.engine.core.queue.take(*worker, at, &mut taken, |_, _, _| ()).is_some()
        });
        plant.engine.core.queue.give_back(1, taken);
        plant.settle();
        found
    };
    assert_eq!(worker_of(100), Some(0), "the box's own limit");
    assert_eq!(worker_of(101), Some(1));
    assert_eq!(worker_of(50), Some(0), "deployed anew");
}

#[test]
fn pipelines_that_used_less_go_first() {
    let mut plant = Plant::new();
    let mut burning = noting("burn", &json!({}));
    burning["steps"]["note"]["kind"] = json!("test.burn");
    plant.deploy(1, burning);
    plant.deploy(2, noting("light", &json!({ "order": "in_order" })));
    // What it costs is known after its first run.
    plant.device("burn", 0);
    plant.settle();
    for value in 1..=50 {
        plant.device("burn", value);
    }
    for value in 1..=50 {
        plant.device("light", 100 + value);
    }
    plant.settle();
    let seen = values();
    let last = seen.iter().rposition(|value| *value > 100).unwrap();
    assert_eq!(seen.len(), 101);
    let burnt = seen.iter().take(last).filter(|value| **value <= 50).count();
    assert!(burnt <= 2, "the light one waited for {burnt} runs of the other: {seen:?}");
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!(stats.cpu, Duration::from_millis(510));
    assert_eq!(&*plant.engine.top_cpu(3)[0].pipeline.name, "p1");
}

#[test]
fn a_key_keeps_its_order_and_others_do_not_wait_for_it() {
    let mut plant = Plant::new();
    plant.deploy(1, gated(&json!({ "order": "in_order" })));
    for value in 0..3 {
        plant.device("in/a", value);
        plant.device("in/b", 10 + value);
    }
    plant.settle();
    assert_eq!(values(), [0, 10], "the first of each topic waits at the gate");
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().waiting, 4);
    plant.answer("gate", 0);
    plant.settle();
    let next = values();
    assert!(next == [1] || next == [11], "one gate opened, one run of its topic follows: {next:?}");
}

#[test]
fn the_order_of_a_key_by_expression_is_kept() {
    let mut plant = Plant::new();
    let mut document = gated(&json!({ "order": { "in_order_by": "{{ $trigger.quality }}" } }));
    document["steps"]["start"]["fields"]["filters"] = json!(["in/#"]);
    plant.deploy(1, document);
    for value in 0..3 {
        plant.device("in/a", value);
    }
    plant.settle();
    assert_eq!(values(), [0], "all have the same key");
    plant.answer("gate", 0);
    plant.settle();
    assert_eq!(values(), [1]);
}

#[test]
fn an_overlapping_run_is_skipped_and_counted() {
    let mut plant = Plant::new();
    plant.deploy(1, gated(&json!({ "overlap": "skip" })));
    for value in 0..3 {
        plant.device("in/a", value);
        plant.settle();
    }
    assert_eq!(values(), [0]);
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().skipped.count, 2);
    plant.answer("gate", 0);
    plant.settle();
    plant.device("in/a", 3);
    plant.settle();
    assert_eq!(values(), [3]);
    plant.answer("gate", 0);
    plant.settle();
    assert_eq!(plant.move_cursor(), plant.seen(), "skipped runs are told to the journal");
}

#[test]
fn an_overlapping_run_stops_the_earlier_one() {
    let mut plant = Plant::new();
    plant.deploy(1, gated(&json!({ "overlap": "restart" })));
    plant.device("in/a", 0);
    plant.settle();
    plant.device("in/a", 1);
    plant.settle();
    assert_eq!(values(), [0, 1]);
    assert_eq!(plant.outside(), 1, "the work of the earlier one was stopped");
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.restarted.count, stats.parked), (1, 1));
    plant.answer("gate", 0);
    plant.settle();
    assert_eq!(plant.move_cursor(), plant.seen());
}

#[test]
fn a_full_queue_sheds_the_oldest_and_says_so() {
    let mut config = Config::new(1);
    config.queue_bytes_max = 100 * 256;
    let mut plant = Plant::with(config);
    plant.deploy(1, noting("in/#", &json!({})));
    for value in 0..150 {
        plant.device("in/a", value);
    }
    plant.commit();
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.waiting, stats.shed.count), (95, 55), "down to 95 % at once");
    assert!(stats.shed.first.is_some());
    plant.settle();
    assert_eq!(values(), (55..150).collect::<Vec<_>>());
    plant.advance(Duration::from_secs(2));
    assert!(plant.issues.is_open("runs-shed:1"));
    plant.advance(Duration::from_secs(599));
    assert!(!plant.issues.is_open("runs-shed:1"), "cleared ten minutes after the last");
    plant.settle();
    assert_eq!(plant.move_cursor(), plant.seen());
    let mut plant = plant.crash();
    plant.settle();
    assert!(values().is_empty(), "what was shed stays shed");
}

#[test]
fn a_full_queue_refuses_new_runs_if_told_so() {
    let mut config = Config::new(1);
    config.queue_bytes_max = 100 * 256;
    config.discard_new_on_full = true;
    let mut plant = Plant::with(config);
    plant.deploy(1, noting("in/#", &json!({ "order": "in_order" })));
    for value in 0..150 {
        plant.device("in/a", value);
    }
    plant.settle();
    assert_eq!(values(), (0..100).collect::<Vec<_>>());
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().shed.count, 50);
    plant.advance(Duration::from_secs(2));
    let issue = plant.issues.list().remove(0);
    assert!(issue.what.contains("50 runs of the pipeline `p1` were refused"), "{}", issue.what);
}

#[test]
fn a_full_queue_that_refuses_new_runs_refuses_who_asks_for_one() {
    let mut config = Config::new(1);
    config.queue_bytes_max = 100 * 256;
    config.discard_new_on_full = true;
    let mut plant = Plant::with(config);
    plant.deploy(1, noting("in/#", &json!({ "order": "in_order" })));
    plant.deploy(
        2,
        json!({
            "steps": { "go": { "kind": "manual" }, "note": { "kind": "test.note" } },
            "wires": wires(&["go > note"])
        }),
    );
    let asking = crate::Asking {
        pipeline: 2,
        trigger: None,
        input: json!({ "value": -1 }).into(),
        is_manual: true,
        hops: 0,
    };
    for value in 0..98 {
        plant.device("in/a", value);
    }
    plant.commit();
    // There is room for one; the other one comes at the same moment, and both are told so.
    let tickets = [plant.engine.ask(&asking).unwrap(), plant.engine.ask(&asking).unwrap()];
    plant.device("in/a", 98);
    plant.commit();
    let seen = plant.seen();
    assert_eq!(plant.engine.ask(&asking).unwrap_err(), crate::AskFault::QueueFull);
    plant.commit();
    assert_eq!(plant.seen(), seen, "nothing of it is durable");
    plant.settle();
    let ended: Vec<_> = tickets.iter().map(|ticket| ticket.end().is_some()).collect();
    assert_eq!(ended, [true, true]);
    let values = values();
    assert_eq!(values.iter().filter(|value| **value == -1).count(), 2, "both ran: {values:?}");
    assert_eq!(values.len(), 100, "the value that came last was refused: {values:?}");
    plant.engine.ask(&asking).unwrap();
}

#[test]
fn who_asked_for_a_run_that_is_shed_is_told_and_finds_it_in_the_history() {
    let mut plant = Plant::new();
    plant.deploy(
        1,
        json!({
            "settings": { "order": "in_order_all" },
            "steps": { "go": { "kind": "manual" }, "gate": { "kind": "test.gate" } },
            "wires": wires(&["go > gate"])
        }),
    );
    let _first = plant.run(1, &json!({}));
    let second = plant.run(1, &json!({}));
    plant.advance(Duration::from_secs(3_601));
    plant.settle();
    assert_eq!(second.end(), Some(crate::RunEnd::NotRun("shed")));
    let reports = plant.world.reports.lock();
    let report = reports.iter().find(|report| report.id == second.id).unwrap();
    assert_eq!((report.is_manual, report.fault.as_ref().unwrap().code), (true, "shed"));
}

#[test]
fn a_full_queue_that_refuses_tells_who_asks_before_anything_is_durable() {
    let mut config = Config::new(1);
    config.queue_bytes_max = 10 * 256;
    config.discard_new_on_full = true;
    let mut plant = Plant::with(config);
    let mut document = noting("in/#", &json!({}));
    document["steps"]["go"] = json!({ "kind": "manual" });
    document["wires"] = wires(&["start > note", "go > note"]);
    plant.deploy(1, document);
    let asking = crate::Asking {
        pipeline: 1,
        trigger: Some("go".into()),
        input: millrace_flow::Data::Missing,
        is_manual: true,
        hops: 0,
    };
    for value in 0..20 {
        plant.device("in/a", value);
    }
    plant.commit();
    let refused = plant.engine.ask(&asking).map(|ticket| ticket.id);
    assert_eq!(refused, Err(crate::AskFault::QueueFull));
    plant.settle();
    assert!(plant.engine.ask(&asking).is_ok(), "there is room again");
}

#[test]
fn runs_that_waited_too_long_are_shed() {
    let mut plant = Plant::new();
    plant.deploy(1, gated(&json!({ "order": "in_order_all" })));
    plant.device("in/a", 0);
    plant.settle();
    plant.device("in/a", 1);
    plant.settle();
    plant.advance(Duration::from_secs(3_601));
    plant.settle();
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().shed.count, 1);
}

#[test]
fn a_stuck_target_fills_the_limits_and_no_more() {
    let mut config = Config::new(1);
    config.parked_runs_max = 50;
    config.queue_bytes_max = 100 * 256;
    let mut plant = Plant::with(config);
    plant.deploy(1, gated(&json!({})));
    let mut sizes = Vec::new();
    for hour in 0..4 {
        for value in 0..200 {
            plant.device("in/a", hour * 200 + value);
        }
        plant.settle();
        for _ in 0..60 {
            plant.advance(Duration::from_secs(60));
            plant.settle();
        }
        let stats = plant.engine.stats();
        assert!(stats.parked <= 50, "{stats:?}");
        sizes.push((stats.parked, stats.parked_bytes, stats.queue_bytes, plant.outside()));
    }
    assert!(sizes.windows(2).all(|pair| pair[0] == pair[1]), "{sizes:?}");
    let failed = plant.engine.pipeline_stats(1).unwrap().failed;
    assert!(failed > 0, "runs beyond the limit fail and say why");
    let reports = plant.world.reports.lock();
    let fault = reports.iter().find_map(|report| report.fault.as_ref()).unwrap();
    assert!(fault.message.contains("no room"), "{}", fault.message);
}

#[test]
fn a_target_that_is_down_for_an_hour_costs_no_memory_and_is_used_again_when_it_is_back() {
    // Given calls outside that are not answered within 20 s, and a value every 30 s for an hour.
    let mut document = gated(&json!({}));
    document["steps"]["gate"]["timeout_ms"] = json!(20_000);
    let mut plant = Plant::new();
    plant.deploy(1, document);
    let mut first = None;
    for value in 0..120 {
        plant.device("in/a", value);
        plant.settle();
        let stats = plant.engine.stats();
        assert_eq!((stats.parked, stats.open, plant.outside()), (1, 1, 1), "{stats:?}");
        let (parked, queued) = *first.get_or_insert((stats.parked_bytes, stats.queue_bytes));
        assert!(stats.parked_bytes <= parked + 16 && stats.queue_bytes <= queued + 16, "{stats:?}");
        for seconds in [20, 10] {
            plant.advance(Duration::from_secs(seconds));
            plant.settle();
        }
    }
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().failed, 120, "each said so");
    // When it is back, then the next value reaches it.
    plant.device("in/a", 120);
    plant.settle();
    plant.answer("gate", 1);
    plant.settle();
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.done, stats.failed, plant.outside()), (1, 120, 0));
}

#[test]
fn a_worker_that_does_not_come_back_is_replaced_and_its_run_taken_again() {
    let mut plant = Plant::new();
    plant.deploy(1, noting("in/#", &json!({})));
    plant.device("in/a", 1);
    plant.commit();
    // As a worker that took it and went away.
    let mut taken = Vec::new();
    let at = millrace_supervisor::Clock::monotonic(&*plant.clock);
    let core = &plant.engine.core;
    assert_eq!(core.queue.take(0, at, &mut taken, |_, _, _| ()), Some(1));
    {
        let crate::queue::Taken::New(run, attempt) = &taken[0] else { panic!("a new run") };
        let mut held = core.held[0].lock();
        held.since = Some(at);
        held.pipeline = 1;
        held.runs = [(std::sync::Arc::clone(run), *attempt)].into();
    }
    plant.advance(Duration::from_secs(299));
    plant.settle();
    assert!(values().is_empty());
    plant.advance(Duration::from_secs(1));
    // The old hand was given up; this is the new worker's.
    plant.hand = plant.engine.hand(0);
    plant.settle();
    assert_eq!(values(), [1]);
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.late.count, stats.running, stats.waiting), (1, 0, 0));
    plant.advance(Duration::from_secs(2));
    let issues = plant.issues.list();
    let late = issues.iter().find(|issue| issue.key == "runs-late:1").unwrap();
    assert!(late.remedy.starts_with("See first whether the box is starved of CPU"), "{late:?}");
    assert_eq!(plant.world.reports.lock()[0].attempt, 2);
    plant.advance(Duration::from_secs(599));
    assert!(!plant.issues.is_open("runs-late:1"), "cleared ten minutes after the last");
}

#[test]
fn a_run_that_takes_longer_than_is_set_is_taken_again_while_it_runs() {
    let mut config = Config::new(1);
    config.run_redelivery = Duration::from_secs(7);
    let mut plant = Plant::with(config);
    plant.deploy(
        1,
        json!({
            "steps": {
                "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
                "before": { "kind": "uns.publish", "fields": { "path": "before" } },
                "slow": { "kind": "test.do" },
                "after": { "kind": "uns.publish", "fields": { "path": "after" } }
            },
            "wires": wires(&["start > before", "before > slow", "slow > after"])
        }),
    );
    let takes = |plant: &Plant, seconds: u64| {
        let (clock, engine) = (std::sync::Arc::clone(&plant.clock), plant.engine.clone());
        crate::testing::next_deed(move || {
            clock.advance(Duration::from_secs(seconds));
            engine.tick();
        });
    };
    // A run that ends just in time is nobody's business.
    takes(&plant, 6);
    plant.device("in/a", 1);
    plant.settle();
    assert_eq!((plant.ints("before"), plant.ints("after")), (vec![1], vec![1]));
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().late.count, 0);
    // One that does not is given to another worker, while the first one still has it.
    takes(&plant, 7);
    plant.device("in/a", 2);
    plant.commit();
    assert_eq!(plant.hand.run_ready(), 0, "its worker was given up");
    plant.hand = plant.engine.hand(0);
    plant.settle();
    assert_eq!((plant.ints("before"), plant.ints("after")), (vec![1, 2], vec![1, 2]), "once");
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.done, stats.late.count, stats.running, stats.waiting), (2, 1, 0, 0));
    let reports = plant.world.reports.lock();
    assert_eq!(reports.iter().map(|report| report.attempt).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_worker_that_its_script_host_gave_up_changes_nothing_any_more() {
    let mut plant = Plant::new();
    plant.deploy(
        1,
        json!({
            "steps": {
                "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
                "publish": { "kind": "uns.publish", "fields": { "path": "out", "value": 1 } },
                "script": { "kind": "javascript", "fields": { "code": "return overrun;" } }
            },
            "wires": wires(&["start > publish", "publish > script"])
        }),
    );
    plant.device("in/a", 1);
    plant.commit();
    assert_eq!(plant.hand.run_ready(), 0, "it was given up in the middle");
    plant.engine.tick();
    plant.commit();
    assert!(plant.ints("out").is_empty(), "what it had collected is dropped");
    assert_eq!(plant.engine.pipeline_stats(1).unwrap().waiting, 1, "its run is taken again");
    plant.hand = plant.engine.hand(0);
    plant.settle();
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.failed, stats.late.count, stats.running), (1, 1, 0));
    let fault = plant.world.reports.lock()[0].fault.clone().unwrap();
    assert!(fault.message.contains("kept from running"), "{}", fault.message);
    assert_eq!(plant.ints("out"), [1], "published once");
}

#[test]
fn slots_are_a_limit_of_what_computes_and_not_of_what_waits() {
    let mut config = Config::new(1);
    config.slots_per_lane = 4;
    let mut plant = Plant::with(config);
    plant.deploy(1, gated(&json!({})));
    for value in 0..100 {
        plant.device("in/a", value);
    }
    plant.settle();
    let stats = plant.engine.pipeline_stats(1).unwrap();
    assert_eq!((stats.parked, stats.running, stats.waiting), (100, 0, 0));
}
