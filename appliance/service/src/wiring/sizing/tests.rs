//! Fifteen minutes above the plan raise an issue, a minute within it clears it.

use super::{Load, PlanWatch, Sizing};
use millrace_contract::v1;
use millrace_model::Timestamp;
use millrace_sizing::Plan;
use millrace_supervisor::watch::Watch as _;
use millrace_supervisor::{Clock, Issues, TestClock};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A box with a load that the test sets.
struct Plant {
    clock: Arc<TestClock>,
    issues: Arc<Issues>,
    sizing: Arc<Sizing>,
    load: Arc<Mutex<Load>>,
    watch: PlanWatch,
}

impl Plant {
    fn new(data: &Path) -> Self {
        let clock = Arc::new(TestClock::new(Timestamp(0)));
        let any: Arc<dyn Clock> = clock.clone();
        let issues = Arc::new(Issues::new(Arc::clone(&any)));
        let sizing = Arc::new(Sizing::open(data, &any, &issues));
        let load = Arc::new(Mutex::new(Load::default()));
        let given = Arc::clone(&load);
        let watch = PlanWatch::new(Arc::clone(&sizing), Box::new(move || Some(*given.lock())));
        Self { clock, issues, sizing, load, watch }
    }

    fn plan(&self, per_s: f64) {
        let mut plan = Plan::example();
        plan.pipelines.clear();
        plan.devices[0].count = per_s / 25.0;
        let stored = v1::StoredPlan {
            plan: serde_json::to_value(&plan).unwrap(),
            at: String::new(),
            by: "local".into(),
        };
        self.sizing.set(stored, plan).unwrap();
    }

    /// Lets time pass with so many values a second.
    fn run(&mut self, seconds: u64, per_s: u64) {
        for _ in 0..seconds {
            self.clock.advance(Duration::from_secs(1));
            self.load.lock().values += per_s;
            self.watch.tick();
        }
    }

    fn told(&self) -> Option<String> {
        self.issues.list().first().map(|issue| issue.what.clone())
    }
}

#[test]
fn raises_after_fifteen_minutes_above_the_plan_and_clears_within_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = Plant::new(folder.path());
    plant.plan(10_000.0);
    plant.run(300, 10_000);
    assert_eq!(plant.told(), None);
    plant.run(14 * 60, 13_400);
    assert_eq!(plant.told(), None, "too early");
    plant.run(2 * 60, 13_400);
    let told = plant.told().expect("raised");
    assert!(told.contains("planned 10,000 values per second, now 13,400"), "{told}");
    let found = plant.sizing.comparison().unwrap();
    assert!(found.items[0].exceeded && found.items[0].over_s >= 900.0, "{found:?}");
    plant.run(90, 9_000);
    assert_eq!(plant.told(), None, "cleared");
    assert_eq!(plant.sizing.comparison().unwrap().items[0].now, Some(9_000.0));
}

#[test]
fn a_break_starts_the_fifteen_minutes_anew_and_a_burst_is_no_growth() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = Plant::new(folder.path());
    plant.plan(10_000.0);
    plant.run(14 * 60, 20_000);
    plant.run(120, 5_000);
    plant.run(14 * 60, 20_000);
    assert_eq!(plant.told(), None);
    plant.run(120, 5_000);
    // Within the margin it is the plan.
    plant.run(40 * 60, 10_100);
    assert_eq!(plant.told(), None);
}

#[test]
fn another_plan_takes_the_issue_with_it_and_a_plan_outlives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = Plant::new(folder.path());
    plant.plan(100.0);
    plant.run(20 * 60, 200);
    assert!(plant.told().is_some());
    plant.plan(1_000.0);
    assert_eq!(plant.told(), None);
    drop(plant);
    let plant = Plant::new(folder.path());
    let found = plant.sizing.comparison().unwrap();
    assert_eq!((found.plan.as_str(), found.items[0].planned), ("Worked example", 1_000.0));
    assert_eq!(found.items[0].now, None, "nothing was seen yet");
    assert!(plant.sizing.clear().unwrap());
    assert_eq!(plant.sizing.comparison(), None);
    assert!(!plant.sizing.clear().unwrap());
}

#[test]
fn a_plan_that_cannot_be_read_is_no_plan() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["{", "{\"plan\":{\"format\":9},\"at\":\"\",\"by\":\"\"}"] {
        super::keep(folder.path(), super::FILE, text.as_bytes()).unwrap();
        assert_eq!(Plant::new(folder.path()).sizing.plan(), None, "{text}");
    }
}
