//! The published worked example and mixes, and what must hold of every estimate.

use super::{Estimate, State, Verdict, estimate, percent_below};
use crate::plan::{Machine, OpcUaGroup, Payload, Plan, RouteGroup, SubscriberGroup, Trigger};
use crate::profile::Profile;
use proptest::prelude::*;

fn reference() -> Profile {
    Profile::named("reference").unwrap()
}

fn millrace() -> Profile {
    Profile::named("millrace").unwrap()
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
}

fn cores(estimate: &Estimate, row: usize) -> f64 {
    estimate.cpu.items[row].cores.unwrap()
}

/// A load of values beside runs, as the published mixes are.
fn mix(values_per_s: f64, runs_per_s: f64, script_ms: f64) -> Plan {
    let mut plan = Plan::example();
    plan.devices[0].count = values_per_s;
    plan.devices[0].tags = 1.0;
    plan.pipelines.truncate(1);
    plan.pipelines[0].count = 20.0;
    plan.pipelines[0].runs_per_s = runs_per_s / 20.0;
    plan.pipelines[0].script_ms = script_ms;
    plan
}

#[test]
fn the_worked_example_is_as_published() {
    let found = estimate(&Plan::example(), &reference()).unwrap();
    close(found.load.device_values_per_s, 10_000.0);
    close(cores(&found, 0), 1.0);
    close(cores(&found, 1), 0.24);
    close(cores(&found, 2), 0.35);
    assert_eq!(format!("{:.1}", found.cpu.busy_cores), "1.6");
    let fit = found.fit.unwrap();
    close(fit.line_cores, 3.0);
    assert_eq!(fit.cpu, Verdict::Fits);
    close(percent_below(fit.growth), 85.0);
    assert!(fit.text.contains("about 85 %"), "{}", fit.text);
    assert_eq!(found.smallest.unwrap().logical_cores, 4.0);
    let workspace = found.checks.iter().find(|check| check.setting.contains("perWorkspace"));
    assert_eq!(workspace.unwrap().state, State::Good);
    assert_eq!(found.profile.name, "reference");
}

#[test]
fn the_worked_example_doubled_moves_to_eight_and_raises_the_workspace_limit() {
    let mut plan = Plan::example();
    plan.devices[0].count = 800.0;
    plan.pipelines[0].count = 600.0;
    let found = estimate(&plan, &reference()).unwrap();
    assert_eq!(format!("{:.1}", found.cpu.busy_cores), "2.8");
    assert_eq!(found.fit.unwrap().cpu, Verdict::Close);
    assert_eq!(found.smallest.unwrap().logical_cores, 8.0);
    let workspace = found.checks.iter().find(|check| check.setting.contains("perWorkspace"));
    let workspace = workspace.unwrap();
    assert_eq!(workspace.state, State::Reached);
    assert!(workspace.sentence.contains("raise it"), "{}", workspace.sentence);
    // With the limit raised there is nothing left to say.
    plan.settings.insert(workspace.setting.clone(), 60_000.0);
    let found = estimate(&plan, &reference()).unwrap();
    assert!(found.checks.iter().all(|check| check.state != State::Reached), "{:?}", found.checks);
}

#[test]
fn the_two_mixes_are_as_published_and_within_the_band_of_what_was_measured() {
    for (runs, script_ms, published, measured) in
        [(1_700.0, 0.0, "3.3", 3.59), (65.0, 20.0, "4.2", 3.52)]
    {
        let found = estimate(&mix(19_500.0, runs, script_ms), &reference()).unwrap();
        let busy = found.cpu.busy_cores;
        assert_eq!(format!("{busy:.1}"), published);
        let cpu = &found.cpu;
        assert!((cpu.least..cpu.most).contains(&measured), "{cpu:?} against {measured}");
    }
}

#[test]
fn the_own_profile_gives_back_what_the_lab_measured() {
    // Values a second, values a send, measured busy cores (perf/lab, 2026-11-30).
    for (rate, at_once, measured) in
        [(5_000.0, 1.0, 0.21), (20_000.0, 1.0, 0.385), (400_000.0, 20.0, 0.56)]
    {
        let mut plan = mix(rate, 1.0, 0.0);
        plan.pipelines.clear();
        plan.devices[0].at_once = at_once;
        let busy = estimate(&plan, &millrace()).unwrap().cpu.busy_cores;
        assert!((busy / measured - 1.0).abs() < 0.1, "{rate}: {busy} against {measured}");
    }
    for (runs, measured) in [(2_000.0, 0.191), (8_000.0, 0.326)] {
        let mut plan = mix(1.0, runs, 0.0);
        plan.devices.clear();
        let busy = estimate(&plan, &millrace()).unwrap().cpu.busy_cores;
        assert!((busy / measured - 1.0).abs() < 0.1, "{runs}: {busy} against {measured}");
    }
}

#[test]
fn a_trigger_among_the_devices_values_is_not_counted_twice() {
    let mut plan = Plan::example();
    let twice = estimate(&plan, &reference()).unwrap();
    for group in &mut plan.pipelines {
        group.trigger = Trigger::Device;
    }
    let once = estimate(&plan, &reference()).unwrap();
    close(twice.cpu.busy_cores - once.cpu.busy_cores, 310.0 * 100.0 / 1e6);
    close(twice.load.stored_values_per_s - once.load.stored_values_per_s, 310.0);
    assert!(twice.notes.iter().any(|note| note.contains("trigger = \"device\"")));
    assert!(!once.notes.iter().any(|note| note.contains("trigger = \"device\"")));
}

#[test]
fn what_was_not_measured_has_a_row_without_a_number_and_a_note() {
    let mut plan = Plan::example();
    plan.devices[0].payload = Payload::Structured;
    plan.devices[0].payload_bytes = Some(400.0);
    plan.subscribers.push(SubscriberGroup { name: "Wall".into(), count: 3.0, values_per_s: 9.0 });
    plan.opcua.push(OpcUaGroup { name: "PLC".into(), items: 100.0, interval_ms: 500.0 });
    plan.routes.push(RouteGroup { name: "MES".into(), count: 2.0, values_per_s: 10.0 });
    for profile in [reference(), millrace()] {
        let found = estimate(&plan, &profile).unwrap();
        for name in ["Devices", "Wall", "PLC", "MES"] {
            let item = found.cpu.items.iter().find(|item| item.name == name).unwrap();
            assert_eq!((item.us_each, item.cores), (None, None), "{name}");
            let note = format!("'{name}' is not in the total");
            assert!(found.notes.iter().any(|text| text.contains(&note)), "{name}");
        }
    }
}

#[test]
fn runs_that_wait_are_held_against_slots_or_parked_places() {
    let mut plan = mix(100.0, 12_000.0, 0.0);
    plan.pipelines[0].waiting_ms = 20.0;
    let found = estimate(&plan, &reference()).unwrap();
    let slots = found.checks.iter().find(|check| check.setting.contains("maxAckPending")).unwrap();
    // The published bound: 256 slots carry about 11,000 runs of 22 ms a second.
    assert_eq!(slots.state, State::Reached);
    plan.pipelines[0].runs_per_s = 10_000.0 / 20.0;
    let found = estimate(&plan, &reference()).unwrap();
    let slots = found.checks.iter().find(|check| check.setting.contains("maxAckPending")).unwrap();
    assert_eq!(slots.state, State::Good);
    plan.pipelines[0].waiting_ms = 5_000.0;
    let found = estimate(&plan, &millrace()).unwrap();
    let parked = found.checks.iter().find(|check| check.setting == "pipelines.parked_max").unwrap();
    assert_eq!((parked.needed, parked.state), (Some(50_000.0), State::Reached));
    assert!(parked.sentence.contains("pipelines.parked_max"), "{}", parked.sentence);
}

#[test]
fn history_takes_what_its_class_keeps() {
    let mut plan = mix(1_000.0, 1.0, 0.0);
    plan.pipelines.clear();
    plan.devices[0].retention = millrace_model::Retention::Days14;
    let disk = estimate(&plan, &millrace()).unwrap().disk;
    close(disk.history[0].bytes_per_day.unwrap(), 1_000.0 * 86_400.0 * 2.4);
    close(disk.total_bytes.unwrap(), 1_000.0 * 86_400.0 * 2.4 * 14.0);
    close(disk.writes_per_s.unwrap(), 500.0 * 2.44);
    let found = estimate(&plan, &reference()).unwrap();
    assert_eq!(found.disk.total_bytes, None);
    assert!(found.notes.iter().any(|note| note.contains("Disk space of history")));
    close(found.disk.writes_per_s.unwrap(), 1.3);
}

#[test]
fn a_machine_that_is_too_small_is_told_so_and_none_that_fits_is_none() {
    let mut plan = mix(1_000_000.0, 1.0, 0.0);
    plan.machine.as_mut().unwrap().memory_gb = 0.001;
    let found = estimate(&plan, &reference()).unwrap();
    let fit = found.fit.unwrap();
    assert_eq!((fit.cpu, fit.memory), (Verdict::Over, Verdict::Over));
    assert!(fit.growth < 0.0 && fit.text.contains("too small"), "{}", fit.text);
    assert_eq!(found.smallest, None);
}

#[test]
fn a_setting_that_the_product_has_not_is_refused() {
    let mut plan = Plan::example();
    plan.settings.insert("admission.workspace_rate_per_s".into(), 1.0);
    assert!(estimate(&plan, &millrace()).is_ok());
    let problems = estimate(&plan, &reference()).unwrap_err();
    assert!(problems[0].sentence.contains("knows no such setting"), "{problems:?}");
}

#[test]
fn hardware_threads_count_as_cores_only_where_there_are_two() {
    let mut machine = Plan::example().machine.unwrap();
    close(machine.logical_cores(), 4.0);
    machine.hyper_threads = false;
    close(machine.logical_cores(), 2.0);
}

/// Whether every number of the JSON is there: what is not finite becomes null.
fn nulls(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Null => 1,
        serde_json::Value::Array(all) => all.iter().map(nulls).sum(),
        serde_json::Value::Object(all) => all.values().map(nulls).sum(),
        _ => 0,
    }
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (1_u32..5_000).prop_map(f64::from),
        1 => Just(0.0),
        1 => Just(-1.0),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(1e300),
        1 => Just(f64::MIN_POSITIVE),
        1 => any::<f64>(),
    ]
}

proptest! {
    #[test]
    fn whatever_the_numbers_the_answer_is_finite_or_a_sentence(
        n in proptest::collection::vec(any_number(), 12),
    ) {
        let mut plan = Plan::example();
        let group = &mut plan.devices[0];
        (group.count, group.tags, group.interval_ms, group.at_once) = (n[0], n[1], n[2], n[3]);
        let group = &mut plan.pipelines[0];
        (group.count, group.runs_per_s, group.script_ms) = (n[4], n[5], n[6]);
        (group.waiting_ms, group.publishes) = (n[7], n[8]);
        plan.subscribers.push(SubscriberGroup { name: "s".into(), count: n[9], values_per_s: n[10] });
        plan.machine = Some(Machine { cores: n[11], ..plan.machine.unwrap() });
        let whole = serde_json::to_value(estimate(&Plan::example(), &millrace()).unwrap()).unwrap();
        match estimate(&plan, &millrace()) {
            // Beside the rows that the profile has no figure for, no number is missing.
            Ok(found) => {
                let value = serde_json::to_value(&found).unwrap();
                prop_assert!(found.cpu.busy_cores.is_finite() && found.memory.total_mb.is_finite());
                prop_assert!(nulls(&value) <= nulls(&whole) + 6, "{value}");
            }
            Err(problems) => {
                prop_assert!(!problems.is_empty());
                for problem in problems {
                    prop_assert!(problem.sentence.ends_with('.'), "{problem}");
                }
            }
        }
    }
}
