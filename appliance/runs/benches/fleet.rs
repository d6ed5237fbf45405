//! What a fleet's run history costs the disk: bytes and write calls a second, by `/proc/self/io`.
//!
//! `cargo bench -p millrace-runs [-- seconds]`. Runs are handed over at the plant's pace: 2,000
//! pipelines, each once a second, three steps each; then the same at the byte cap, where as much
//! is deleted as is written; then one pipeline alone. The process writes nothing else. The target
//! is 2 MB/s and 50 operations/s for 2,000 runs/s.
#![expect(clippy::print_stdout, reason = "a bench tells its figures")]
#![expect(clippy::unwrap_used, reason = "a bench may end at trouble")]
#![expect(clippy::indexing_slicing, reason = "its own lists")]
#![expect(clippy::disallowed_methods, reason = "it keeps a pace")]

use millrace_model::Timestamp;
use millrace_runs::{
    Detail, Finish, History, HistoryConfig, PlainFiles, Query, Run, Status, StepRun, StepStatus,
    Trace,
};
use millrace_supervisor::{Clock, Issues, SystemClock};
use std::sync::Arc;
use std::time::{Duration, Instant};

const STEPS: [&str; 3] = ["source", "scale", "publish"];
/// Each second's runs come in so many portions.
const PORTIONS: u32 = 20;

fn main() {
    let seconds = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(20);
    println!("case                          runs/s   MB/s   write calls/s   bytes a run");
    measure("2,000 pipelines", 2_000, 512 << 20, seconds, Detail::Standard);
    measure("2,000 pipelines at the cap", 2_000, 1 << 20, seconds, Detail::Standard);
    measure("2,000 pipelines, Minimal", 2_000, 512 << 20, seconds, Detail::Minimal);
    measure("one pipeline", 1, 512 << 20, seconds, Detail::Standard);
    println!("questions over {} runs", 2_000 * u64::from(seconds) * 15);
    ask(u64::from(seconds) * 15);
}

fn measure(case: &str, pipelines: u32, bytes_max: u64, seconds: u32, detail: Detail) {
    let folder = tempfile::tempdir().unwrap();
    let mut config = HistoryConfig::new(folder.path());
    config.bytes_max = bytes_max;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let issues = Arc::new(Issues::new(Arc::clone(&clock)));
    let history = History::open(config, Arc::new(PlainFiles), issues, Arc::clone(&clock)).unwrap();
    let names: Vec<Arc<str>> =
        (0..pipelines).map(|number| Arc::from(format!("line-{number}-derived"))).collect();
    let steps = STEPS.map(Arc::<str>::from);
    // The tables are made before the measurement.
    history.keep(run(0, &names[0], &steps, 1, clock.now(), detail));
    assert!(history.settle(Duration::from_secs(10)));
    let (start, before) = (Instant::now(), written());
    let mut seq = 1_000_000;
    for portion in 0..seconds * PORTIONS {
        let due = start + Duration::from_secs(1) / PORTIONS * portion;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let place = portion % PORTIONS;
        for number in (0..pipelines).filter(|number| number % PORTIONS == place) {
            seq += 2;
            let run = run(number, &names[number as usize], &steps, seq, clock.now(), detail);
            let (duration, waited, cpu) = (run.duration, run.waited, run.cpu);
            let (pipeline, status, is_manual) = (number, Status::Ok, false);
            if history.finished(&Finish { pipeline, status, is_manual, duration, waited, cpu }) {
                history.keep(run);
            }
        }
    }
    assert!(history.settle(Duration::from_secs(10)));
    // With what is still to be moved into the file.
    let stats = history.stats();
    history.close();
    let (bytes, calls) = (written().0 - before.0, written().1 - before.1);
    let passed = start.elapsed().as_secs_f64();
    let kept = stats.kept - 1;
    println!(
        "{case:<28} {:>7.0} {:>6.3} {:>15.1} {:>13.0}   dropped {}",
        kept as f64 / passed,
        bytes as f64 / 1e6 / passed,
        calls as f64 / passed,
        bytes as f64 / kept as f64,
        stats.dropped_quiet + stats.dropped_notable,
    );
}

/// What questions cost over so many seconds of a fleet's runs, one failure among them.
fn ask(seconds: u64) {
    let folder = tempfile::tempdir().unwrap();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let issues = Arc::new(Issues::new(Arc::clone(&clock)));
    let config = HistoryConfig::new(folder.path());
    let history = History::open(config, Arc::new(PlainFiles), issues, Arc::clone(&clock)).unwrap();
    let name = Arc::from("line-derived");
    let steps = STEPS.map(Arc::<str>::from);
    for second in 0..seconds {
        for pipeline in 0..2_000 {
            let seq = second * 4_000 + u64::from(pipeline) * 2;
            let mut run = run(pipeline, &name, &steps, seq, clock.now(), Detail::Standard);
            if (second, pipeline) == (1, 7) {
                run.status = Status::Failed;
            }
            history.keep(run);
        }
        assert!(history.settle(Duration::from_secs(10)));
    }
    let time = |what: &str, question: &dyn Fn() -> usize| {
        let start = Instant::now();
        let found = question();
        println!("{what:<40} {:>8.1} ms, {found} found", start.elapsed().as_secs_f64() * 1e3);
    };
    let list = |query: Query| history.list(&query).unwrap().runs.len();
    let all = || Query { limit: 100, ..Query::default() };
    time("the newest 100 of all", &|| list(all()));
    time("the newest 100 of one pipeline", &|| list(Query { pipeline: Some(7), ..all() }));
    let failed = || Query { statuses: vec![Status::Failed], ..all() };
    time("all failures", &|| list(failed()));
    time("runs of a pipeline that there is not", &|| {
        list(Query { pipeline: Some(9_999), ..all() })
    });
    time("open the oldest run", &|| usize::from(history.find(7, 14).unwrap().is_some()));
}

fn run(
    pipeline: u32,
    name: &Arc<str>,
    steps: &[Arc<str>; 3],
    seq: u64,
    now: Timestamp,
    detail: Detail,
) -> Run {
    // Times that differ from run to run, as they do.
    let micros = |spread: u64| Duration::from_micros(20 + seq * 7_919 % spread);
    let step = |(place, step): (u64, &Arc<str>)| StepRun {
        step: Arc::clone(step),
        status: StepStatus::Ok,
        count: 1,
        began: micros(50) * u32::try_from(place).unwrap(),
        took: micros(90),
        fault: None,
        input: None,
        output: None,
    };
    let steps = (0..).zip(steps).map(step).collect();
    Run {
        workspace: 1,
        pipeline,
        seq,
        name: Arc::clone(name),
        revision: 3,
        trigger: Arc::from("source"),
        started: now,
        duration: micros(900),
        waited: micros(3_000),
        cpu: micros(80),
        status: Status::Ok,
        fault: None,
        attempt: 1,
        by: None,
        detail,
        trace: Some(Box::new(Trace { steps, ..Trace::default() })),
    }
}

/// Bytes and calls that this process has written.
fn written() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let figure = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|figure| figure.trim().parse().ok()).unwrap_or(0)
    };
    (figure("wchar:"), figure("syscw:"))
}
