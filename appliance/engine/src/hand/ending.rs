//! The end of a run: its record, its counters, its report, and the pause after a killed script.
//!
//! **Invariants**: whether a run is reported is decided before anything of the report is built.

use super::{Hand, fault_of};
use crate::answers::RunEnd;
use crate::engine::Core;
use crate::record;
use crate::report::RunReport;
use crate::run::{End, Run};
use crate::stats::PipelineCounters;
use millrace_flow::Data;
use millrace_flow::document::HistoryDetail;
use millrace_model::time::NANOS_PER_SECOND;
use millrace_model::{RunEvent, Timestamp};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Longest reason that a record holds.
const REASON_BYTES_MAX: usize = 1_000;
/// Longest pause after a killed script.
const PAUSE_MAX: Duration = Duration::from_secs(60);

impl Hand {
    /// A run has ended in memory; it is done when its record is durable.
    pub(super) fn end(&mut self, run: &Run) {
        let core = Arc::clone(&self.core);
        let id = run.queued.id();
        let fault = fault_of(run.end.as_ref());
        self.body.clear();
        let reason = fault.map(|fault| {
            let text = &fault.message;
            let mut end = text.len().min(REASON_BYTES_MAX);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.get(..end).unwrap_or_default()
        });
        record::ended(&run.notes, reason, &mut self.body);
        self.push(RunEvent::Ended, id);
        core.answers.said(id, || match &run.end {
            Some(End::Failed(fault)) => RunEnd::Failed(fault.clone()),
            Some(End::Done(data)) => RunEnd::Done(data.clone()),
            None => RunEnd::Done(Data::Missing),
        });
        let now = core.stage.clock.now();
        let Some(deployment) = core.deployments.get(id.pipeline) else { return };
        let counters = &deployment.counters;
        let count = if fault.is_some() { &counters.failed } else { &counters.done };
        count.fetch_add(1, Ordering::Relaxed);
        let script_ns = u64::try_from(run.notes.script_cpu.as_nanos()).unwrap_or(u64::MAX);
        if script_ns > 0 {
            counters.script_cpu_ns.fetch_add(script_ns, Ordering::Relaxed);
            note_script(&core, counters, run, now);
        }
        if fault.is_some() || run.queued.is_manual || is_second_free(counters, now) {
            core.parts.sink.ended(report(run, now));
        }
    }
}

/// A pipeline whose script reached a limit pauses: one second, two, four, up to a minute.
fn note_script(core: &Core, counters: &PipelineCounters, run: &Run, now: Timestamp) {
    counters.script_memory_bytes_max.fetch_max(run.notes.script_memory_bytes, Ordering::Relaxed);
    if !run.notes.is_killed {
        counters.kills_in_a_row.store(0, Ordering::Relaxed);
        return;
    }
    counters.kills.add(1, now);
    let before = counters.kills_in_a_row.fetch_add(1, Ordering::Relaxed);
    let pause = Duration::from_secs(1 << before.min(6)).min(PAUSE_MAX);
    let until = core.stage.clock.monotonic() + pause;
    core.queue.hold_back(run.plan().number, until);
    core.due_at(Some(until));
}

/// Whether no successful run of the pipeline was reported in this second yet.
fn is_second_free(counters: &PipelineCounters, now: Timestamp) -> bool {
    let second = now.0.div_euclid(NANOS_PER_SECOND);
    counters.reported_second.swap(second, Ordering::Relaxed) != second
}

fn report(run: &Run, ended: Timestamp) -> RunReport {
    let plan = run.plan();
    let trigger = plan.triggers.get(usize::from(run.queued.trigger));
    let step = trigger.and_then(|trigger| plan.step(trigger.step));
    let nothing: Arc<str> = "".into();
    let detail = plan.settings.history;
    let notes = &run.notes;
    let secrets = notes.secrets.borrow();
    let shown = |data: &Data| match secrets.is_empty() {
        true => data.clone(),
        false => secrets.scrub_data(data),
    };
    let is_minimal = detail == HistoryDetail::Minimal;
    RunReport {
        id: run.queued.id(),
        workspace: plan.workspace,
        pipeline: Arc::clone(&plan.name),
        revision: plan.revision,
        trigger: trigger.map_or_else(|| Arc::clone(&nothing), |trigger| Arc::clone(&trigger.id)),
        trigger_kind: step.map_or(nothing, |step| Arc::clone(&step.kind)),
        is_manual: run.queued.is_manual,
        attempt: run.attempt,
        asked: run.queued.asked,
        begun: notes.now,
        ended,
        script_cpu: notes.script_cpu,
        fault: fault_of(run.end.as_ref()).cloned(),
        detail,
        input: shown(&run.queued.start.data()),
        result: match &run.end {
            Some(End::Done(data)) => shown(data),
            _ => Data::Missing,
        },
        steps: if is_minimal { Vec::new() } else { notes.steps() },
        steps_left_out: notes.trace_left_out,
        log: notes.log.clone(),
        log_left_out: notes.log_left_out,
    }
}
