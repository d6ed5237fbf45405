//! Ended runs on their way into the history of runs.
//!
//! The engine tells executions one by one, the history keeps one row per step: the worst status,
//! the number of executions, their time, input and output of the last.

use millrace_engine::report::SKIPPED;
use millrace_engine::script::Level;
use millrace_engine::{RunFault, RunReport, RunSink, StepReport, StepStatus};
use millrace_flow::Data;
use millrace_flow::document::HistoryDetail;
use millrace_runs as runs;
use std::sync::Arc;
use std::time::Duration;

/// Hands runs over to the history.
pub(in crate::wiring) struct Sink(pub(in crate::wiring) Arc<runs::History>);

impl RunSink for Sink {
    fn ended(&self, report: RunReport) {
        self.0.keep(run(report));
    }
}

/// A report as the history keeps it; one of a run that has not ended has no meaning in its status.
pub(in crate::wiring) fn run(report: RunReport) -> runs::Run {
    let detail = match report.detail {
        HistoryDetail::Minimal => runs::Detail::Minimal,
        HistoryDetail::Standard => runs::Detail::Standard,
        HistoryDetail::Full => runs::Detail::Full,
    };
    let fault = report.fault.as_ref().map(|fault| runs::Fault {
        code: fault.code.into(),
        // The line of a script's fault stands in its message, in front.
        text: fault.message.as_str().into(),
        step: Arc::clone(&fault.step),
    });
    let status = match &fault {
        None => runs::Status::Ok,
        Some(_) if report.fault.as_ref().is_some_and(RunFault::is_cancel) => runs::Status::Stopped,
        Some(fault) if &*fault.code == SKIPPED => runs::Status::Skipped,
        Some(_) => runs::Status::Failed,
    };
    let by = report.is_manual.then(|| {
        let by = report.input.get("by").as_text().unwrap_or("unknown");
        Arc::from(by)
    });
    let trace = (detail != runs::Detail::Minimal).then(|| Box::new(trace(&report)));
    runs::Run {
        workspace: report.workspace,
        pipeline: report.id.pipeline,
        seq: report.id.seq,
        name: report.pipeline,
        revision: report.revision,
        trigger: report.trigger,
        started: report.begun,
        duration: span(report.ended.nanos_since(report.begun)),
        waited: span(report.begun.nanos_since(report.asked)),
        cpu: report.cpu,
        status,
        fault,
        attempt: report.attempt,
        by,
        detail,
        trace,
    }
}

fn span(nanos: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

fn trace(report: &RunReport) -> runs::Trace {
    let lines = report.log.iter().map(|line| runs::Line {
        level: match line.level {
            Level::Debug => runs::Level::Debug,
            Level::Info => runs::Level::Info,
            Level::Warn => runs::Level::Warn,
            Level::Error => runs::Level::Error,
        },
        step: Arc::clone(&line.step),
        text: line.text.as_str().into(),
    });
    let mut trace = runs::Trace {
        input: item(Some(&report.input)),
        output: item(Some(&report.result)),
        lines: lines.collect(),
        left_out: u64::from(report.steps_left_out) + u64::from(report.log_left_out),
        ..runs::Trace::default()
    };
    for execution in &report.steps {
        trace.add(step(execution));
    }
    trace
}

fn step(execution: &StepReport) -> runs::StepRun {
    let (status, fault) = status(&execution.status);
    runs::StepRun {
        step: Arc::clone(&execution.step),
        status,
        count: 1,
        began: execution.after,
        took: execution.took,
        fault,
        input: item(execution.input.as_ref()),
        output: item(execution.output.as_ref()),
    }
}

fn status(status: &StepStatus) -> (runs::StepStatus, Option<runs::Fault>) {
    let fault = |text: &String| {
        Some(runs::Fault { code: "step".into(), text: text.as_str().into(), step: "".into() })
    };
    match status {
        StepStatus::Done => (runs::StepStatus::Ok, None),
        StepStatus::Waited => (runs::StepStatus::Unfinished, None),
        StepStatus::Retried(text) => (runs::StepStatus::Passed, fault(text)),
        StepStatus::Failed(text) => (runs::StepStatus::Failed, fault(text)),
    }
}

fn item(data: Option<&Data>) -> Option<runs::Item> {
    let data = data.filter(|data| !matches!(data, Data::Missing))?;
    Some(runs::Item::new(data.to_json_text()))
}
