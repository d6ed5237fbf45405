//! What cannot be guarded costs a thread, a pipeline, and never the box.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use millrace_engine::script::{Compiled, FaultKind, Form, Overrun, Report, ScriptHost};
use millrace_engine_quickjs::{QuickJs, Settings};
use millrace_flow::Data;
use millrace_supervisor::{Issues, SystemClock, spawn};

use crate::stage::{BUDGET, Run, Stage};

/// Multiplies integers of 12,700 bits, 10,000 times before QuickJS asks its handler.
const STUCK: &str = "const b = 3n ** 8000n; for (;;) b * b";

fn stuck(host: &Arc<QuickJs>, unit: Compiled) -> mpsc::Receiver<(u64, Report, bool)> {
    let (done, ended) = mpsc::sync_channel(1);
    let host = Arc::clone(host);
    spawn::thread("stuck", move || {
        let mut worker = host.worker();
        let report = worker.call(&unit, 0, &mut Run::default(), &BUDGET);
        let given_up = worker.is_given_up();
        let number = worker.number();
        drop(worker);
        done.send((number, report, given_up)).unwrap();
    })
    .unwrap();
    ended
}

/// Waits until so many workers were given up.
fn overruns(host: &QuickJs, count: usize) -> Vec<Overrun> {
    let (_keep, never) = mpsc::sync_channel::<()>(1);
    let mut overruns = Vec::new();
    for _ in 0..2000 {
        overruns.extend(host.overruns());
        if overruns.len() >= count {
            return overruns;
        }
        assert!(never.recv_timeout(Duration::from_millis(5)).is_err());
    }
    panic!("only {overruns:?} in ten seconds");
}

#[test]
fn gives_up_threads_that_do_not_come_back_and_takes_them_off_when_they_do() {
    // Given three threads in a script that does not ask.
    let issues = Arc::new(Issues::new(Arc::new(SystemClock::new())));
    let host = Arc::new(QuickJs::new(Settings::default(), Some(Arc::clone(&issues))).unwrap());
    let mut stage = Stage::new();
    let unit = |stage: &Stage, pipeline, body| {
        host.compile(&stage.unit(pipeline, &[(Form::Body, body)])).unwrap()
    };
    let first = stuck(&host, unit(&stage, 1, STUCK));
    // When the watchdog has found the first.
    let lost = overruns(&host, 1);
    assert_eq!(lost[0].pipeline, 1);
    let issue = issues.list().into_iter().find(|issue| issue.key == "script-overrun:1").unwrap();
    assert!(issue.what.contains(&format!("`{}`", stage.unit(1, &[]).name)), "{}", issue.what);
    assert!(host.is_quarantined(1) && !host.is_quarantined(2));
    // Then its pipeline runs no scripts, and others do.
    let mut worker = host.worker();
    let good = unit(&stage, 9, "return 1");
    let report = worker.call(&unit(&stage, 1, "return 1"), 0, &mut stage.run, &BUDGET);
    assert_eq!(report.result.unwrap_err().kind, FaultKind::Quarantined);
    assert_eq!(worker.call(&good, 0, &mut stage.run, &BUDGET).result, Ok(Data::Int(1)));
    // When two more are lost while the first one is.
    let others = [stuck(&host, unit(&stage, 2, STUCK)), stuck(&host, unit(&stage, 3, STUCK))];
    let lost_too = overruns(&host, 2);
    assert!(lost_too.iter().all(|overrun| overrun.pipeline != 1), "{lost_too:?}");
    let is_refused = issues.list().iter().any(|issue| issue.key == "scripts-refused");
    let report = worker.call(&good, 0, &mut stage.run, &BUDGET);
    // The first may be back already on a fast machine; then nothing is refused.
    assert_eq!(report.result.is_err(), is_refused, "{report:?}");
    // When they come back, they are told off, and all is well again.
    let mut numbers = Vec::new();
    for ended in [first].into_iter().chain(others) {
        let (number, report, given_up) = ended.recv_timeout(Duration::from_secs(60)).unwrap();
        eprintln!("came back after {:?} of CPU time", report.cpu);
        assert_eq!(report.result.unwrap_err().kind, FaultKind::Cpu);
        assert!(given_up);
        numbers.push(number);
    }
    assert!(lost.iter().chain(&lost_too).all(|overrun| numbers.contains(&overrun.worker)));
    assert_eq!(worker.call(&good, 0, &mut stage.run, &BUDGET).result, Ok(Data::Int(1)));
    assert!(!issues.list().iter().any(|issue| issue.key == "scripts-refused"));
    // A pipeline that was released runs again.
    host.release(1);
    assert!(!issues.list().iter().any(|issue| issue.key == "script-overrun:1"));
    let report = worker.call(&unit(&stage, 1, "return 2"), 0, &mut stage.run, &BUDGET);
    assert_eq!(report.result, Ok(Data::Int(2)));
}

#[test]
fn leaves_a_script_alone_that_ends_at_its_budget() {
    let mut stage = Stage::new();
    stage.budget.cpu = Duration::from_millis(700);
    assert_eq!(stage.fault("for (;;) {}").kind, FaultKind::Cpu);
    assert!(!stage.worker.is_given_up());
    assert_eq!(stage.host.overruns(), []);
}
