//! Stories of starvation: recorded texts and a clock that is told to move, and one real hog.

use super::*;
use crate::clock::TestClock;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

/// What the kernel says, as the test sets it.
#[derive(Clone, Debug, Default)]
struct Recorded {
    threads: Vec<(u64, String)>,
    pressure: Option<String>,
    stat: Option<String>,
}

#[derive(Clone, Debug, Default)]
struct Replay(Arc<Mutex<Recorded>>);

impl Source for Replay {
    fn threads(&self) -> Vec<(u64, String)> {
        self.0.lock().threads.clone()
    }
    fn pressure(&self) -> Option<String> {
        self.0.lock().pressure.clone()
    }
    fn group_stat(&self) -> Option<String> {
        self.0.lock().stat.clone()
    }
}

struct Pipelines(Arc<Mutex<Vec<(u32, Duration)>>>);

impl Consumers for Pipelines {
    fn totals(&self) -> Vec<(u32, Duration)> {
        self.0.lock().clone()
    }
    fn name(&self, number: u32) -> String {
        format!("line-{number}")
    }
}

struct World {
    clock: Arc<TestClock>,
    issues: Arc<Issues>,
    said: Replay,
    used: Arc<Mutex<Vec<(u32, Duration)>>>,
    probe: Probe,
}

impl World {
    fn new() -> Self {
        Self::with(Box::new(Replay::default()), Limits::default())
    }

    fn recorded() -> Self {
        let said = Replay::default();
        let mut world = Self::with(Box::new(said.clone()), Limits::default());
        world.said = said;
        world
    }

    fn with(source: Box<dyn Source>, limits: Limits) -> Self {
        let clock = Arc::new(TestClock::new(Timestamp(0)));
        let issues = Arc::new(Issues::new(clock.clone()));
        let used = Arc::new(Mutex::new(Vec::new()));
        let consumers = Box::new(Pipelines(used.clone()));
        let probe = Probe::new(clock.clone(), issues.clone(), source, consumers, limits);
        Self { clock, issues, said: Replay::default(), used, probe }
    }

    /// Wakes in time for so many seconds, judging each second.
    fn well_for(&mut self, seconds: u32) -> Reading {
        let mut reading = Reading::default();
        for _ in 0..seconds {
            for _ in 0..20 {
                self.clock.advance(lateness::TICK);
                self.probe.woke(Duration::from_micros(80));
            }
            reading = self.probe.judge();
        }
        reading
    }

    /// Stands still for so long.
    fn stand_still(&mut self, time: Duration) -> Reading {
        self.clock.advance(time + lateness::TICK);
        self.probe.woke(time);
        self.probe.judge()
    }

    fn issue(&self) -> Option<(Severity, String)> {
        let list = self.issues.list();
        list.iter()
            .find(|issue| issue.key == ISSUE)
            .map(|issue| (issue.severity, issue.what.clone()))
    }
}

#[test]
fn a_box_with_time_to_spare_raises_nothing() {
    let mut world = World::new();
    let reading = world.well_for(60);
    assert!(reading.delay_p99 < Duration::from_millis(1), "{reading:?}");
    assert!(reading.waited_share.abs() < 0.01, "{reading:?}");
    assert_eq!((reading.since, world.issue()), (None, None));
}

#[test]
fn a_wait_of_a_second_raises_and_thirty_good_seconds_clear() {
    let mut world = World::new();
    world.well_for(20);
    // Given work that waits 0.9 s once: p99 over the last 10 s is below 1 s
    assert_eq!(world.stand_still(Duration::from_millis(900)).since, None);
    // When it waits 1.3 s again and again
    for _ in 0..3 {
        world.stand_still(Duration::from_millis(1_300));
    }
    // Then the box is starved and the issue says by how much
    let (severity, text) = world.issue().expect("raised");
    assert_eq!(severity, Severity::Warning);
    assert!(text.contains("1.2 s (p99)") || text.contains("1.3 s (p99)"), "{text}");
    assert!(text.contains("timers alone"), "says what it could not read: {text}");
    // And it stays for 30 s after the last bad reading, which is 10 s after the last wait
    world.well_for(38);
    assert!(world.issue().is_some(), "too early");
    let reading = world.well_for(5);
    assert_eq!((reading.since, world.issue()), (None, None));
}

#[test]
fn waiting_in_half_of_the_time_raises_though_no_wait_is_long() {
    let mut world = World::new();
    // Given a thread that is late by 5/4 of each of its ticks: 55 % of the time
    let late = lateness::TICK * 5 / 4;
    let wake = |world: &mut World, times: u32| {
        for _ in 0..times {
            world.clock.advance(lateness::TICK + late);
            world.probe.woke(late);
        }
        world.probe.judge()
    };
    wake(&mut world, 70);
    assert_eq!(world.issue(), None, "4.4 of 10 s");
    wake(&mut world, 24);
    let reading = world.probe.judge();
    assert!((0.5..0.6).contains(&reading.waited_share), "{reading:?}");
    assert!(reading.delay_p99 < SECOND && reading.since.is_some());
}

#[test]
fn a_minute_of_delay_is_critical() {
    let mut world = World::new();
    world.well_for(10);
    assert!(!world.stand_still(Duration::from_secs(59)).is_critical);
    let reading = world.stand_still(Duration::from_secs(60));
    assert!(reading.is_critical && reading.longest == Duration::from_secs(60));
    assert_eq!(world.issue().expect("raised").0, Severity::Critical);
    // The clock's time since the first bad reading is kept.
    assert_eq!(reading.since, Some(Timestamp(69_050_000_000)), "{reading:?}");
}

#[test]
fn a_quota_that_throttles_is_told_with_its_share() {
    let mut world = World::recorded();
    let stat = |periods: u64, throttled: u64, micros: u64| {
        Some(format!(
            "usage_usec 1\nnr_periods {periods}\nnr_throttled {throttled}\nthrottled_usec {micros}\n"
        ))
    };
    world.said.0.lock().stat = stat(100, 3, 9_000);
    world.well_for(10);
    // When 60 of 100 periods are throttled for 7 s, summed over the CPUs
    world.said.0.lock().stat = stat(200, 63, 7_009_000);
    let reading = world.well_for(1);
    assert!((reading.throttled_share - 0.6).abs() < 0.001, "{reading:?}");
    let (_, text) = world.issue().expect("raised");
    assert!(text.contains("quota held the process back in 60 %"), "{text}");
    let remedy = world.issues.list()[0].remedy.clone();
    assert!(remedy.contains("raise its CPU quota"), "{remedy}");
}

#[test]
fn own_threads_in_run_queues_count_and_others_pressure_does_not() {
    let mut world = World::recorded();
    let set = |world: &World, wait_ms: u64, turns: u64, percent: f64| {
        let mut said = world.said.0.lock();
        said.threads = vec![
            (1, format!("5000000 {} {turns}\n", wait_ms * 1_000_000)),
            (2, format!("5000000 {} {turns}\n", wait_ms * 1_000_000)),
        ];
        said.pressure = Some(format!("some avg10={percent:.2} avg60=0.00 avg300=0.00 total=1\n"));
    };
    set(&world, 0, 0, 0.0);
    world.well_for(1);
    // Given a machine under pressure while our threads wait 50 us a turn
    set(&world, 3_000, 60_000, 95.0);
    let reading = world.well_for(9);
    assert_eq!((reading.since, reading.waited_share), (None, 0.0), "{reading:?}");
    // When they wait 30 ms a turn, 3 s each of 10, at different times as pressure says
    set(&world, 3_000, 100, 58.0);
    let reading = world.well_for(1);
    assert!((reading.waited_share - 0.58).abs() < 0.001, "{reading:?}");
    assert_eq!(reading.delay_p99, Duration::from_millis(30));
    assert!(reading.since.is_some());
    let (_, text) = world.issue().expect("raised");
    assert!(!text.contains("timers alone"), "{text}");
}

#[test]
fn without_run_queues_pressure_counts_while_the_probe_is_late_too() {
    let mut world = World::recorded();
    world.said.0.lock().pressure =
        Some("some avg10=71.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00\n".to_owned());
    assert_eq!(world.well_for(10).since, None, "waits of microseconds");
    for _ in 0..10 {
        world.clock.advance(Duration::from_millis(24));
        world.probe.woke(Duration::from_millis(4));
    }
    let reading = world.probe.judge();
    assert!((reading.waited_share - 0.71).abs() < 0.001, "{reading:?}");
}

#[test]
fn text_that_is_not_understood_counts_as_not_there() {
    let mut world = World::recorded();
    {
        let mut said = world.said.0.lock();
        said.threads = vec![(1, "what".to_owned()), (2, String::new())];
        said.pressure = Some("some avg10=NaN".to_owned());
        said.stat = Some("nr_periods -1\nnr_throttled\n".to_owned());
    }
    assert_eq!(world.well_for(12).since, None);
}

#[test]
fn names_the_three_pipelines_that_used_the_most_in_the_last_quarter_hour() {
    let mut world = World::new();
    let set = |world: &World, used: &[(u32, u64)]| {
        *world.used.lock() =
            used.iter().map(|(number, s)| (*number, Duration::from_secs(*s))).collect();
    };
    // Given one that was busy an hour ago and four that are busy now
    set(&world, &[(1, 900), (2, 1), (3, 1), (4, 1), (5, 1)]);
    for _ in 0..20 {
        world.clock.advance(Duration::from_mins(1));
        world.probe.judge();
    }
    set(&world, &[(1, 901), (2, 31), (3, 61), (4, 11), (5, 1)]);
    world.stand_still(Duration::from_secs(2));
    let (_, text) = world.issue().expect("raised");
    assert!(text.contains("line-3 (60.0 s), line-2 (30.0 s), line-4 (10.0 s)."), "{text}");
    let mut out = Vec::new();
    world.probe.judge().measures(&mut out);
    let names: Vec<_> = out.iter().map(|measure| measure.name).collect();
    assert!(names.contains(&"runtime_sched_latency_p99_seconds"));
    assert!(names.contains(&"runtime_cpu_pressure_percent"));
}

/// Goal: the probe sees a real hog on the real system. Method: more busy threads than cores for a
/// short while, with a lowered limit; the clock of window and hysteresis is the test's own, moved by
/// the time that really passed, so that the 30 s of recovery take none.
#[test]
fn a_real_hog_is_seen_and_its_end_too() {
    let limits = Limits { share: 0.04, ..Limits::default() };
    let mut world = World::with(Box::new(SystemSource::new()), limits);
    let is_on = Arc::new(AtomicBool::new(true));
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let hogs: Vec<_> = (0..cores * 4)
        .map(|_| {
            let is_on = is_on.clone();
            let started = Instant::now();
            crate::spawn::thread("hog", move || {
                let mut spun = 0u64;
                while is_on.load(Ordering::Relaxed) && started.elapsed() < 3 * SECOND {
                    spun = std::hint::black_box(spun.wrapping_add(1));
                }
            })
            .expect("a thread")
        })
        .collect();
    let (lock, never) = (Mutex::new(()), parking_lot::Condvar::new());
    let begun = Instant::now();
    let mut seen = Reading::default();
    while seen.since.is_none() && begun.elapsed() < 3 * SECOND {
        let asked = Instant::now();
        let deadline = asked + lateness::TICK;
        let _timed_out = never.wait_until(&mut lock.lock(), deadline);
        world.clock.advance(asked.elapsed());
        world.probe.woke(Instant::now().saturating_duration_since(deadline));
        seen = world.probe.judge();
    }
    is_on.store(false, Ordering::Relaxed);
    for hog in hogs {
        hog.join().expect("ended");
    }
    assert!(seen.since.is_some(), "nothing was seen: {seen:?}");
    let (_, text) = world.issue().expect("raised");
    assert!(text.contains("Work waits for a CPU"), "{text}");
    // The other tests of this run may still want the cores: the system is asked no more.
    world.probe.source = Box::new(Replay::default());
    assert_eq!(world.well_for(45).since, None);
    assert_eq!(world.issue(), None);
}
