//! The end of a run: its record, its counters, its report, and the pause after a killed script.
//!
//! **Invariants**: whether a run is reported is decided before anything of the report is built.

use super::{Hand, fault_of};
use crate::answers::RunEnd;
use crate::engine::Core;
use crate::queue::lane_of;
use crate::record;
use crate::report::{RunFault, RunReport};
use crate::run::{End, Run, issue_key};
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
/// A killed run puts its pipeline behind all others; so many runs in a row within the limits bring
/// it back.
const RUNS_TO_COME_BACK: u32 = 10;
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
        let is_canceled = fault.is_some_and(RunFault::is_cancel);
        let deployment = core.deployments.get(id.pipeline);
        // One that is undeployed has its counters at the queue until its last run has gone.
        let left = if deployment.is_none() { core.queue.counters(id.pipeline) } else { None };
        let counters = deployment.as_ref().map(|known| &known.counters).or(left.as_ref());
        let plan = run.plan();
        let is_wanted = counters.is_none_or(|counters| {
            let is_in_force =
                deployment.as_ref().is_some_and(|known| Arc::ptr_eq(&known.plan, plan));
            count(&core, counters, run, (is_canceled, is_in_force), now);
            is_second_free(counters, now)
        });
        if deployment.is_none() && core.deployments.by_name(plan.workspace, &plan.name).is_none() {
            // It may have raised something after the others were cleared.
            core.stage.issues.clear_all(&issue_key(&plan.name, ""));
        }
        if fault.is_some() || run.queued.is_manual || is_wanted {
            core.parts.sink.ended(report(run, now));
        }
    }
}

fn count(
    core: &Core,
    counters: &PipelineCounters,
    run: &Run,
    (is_canceled, is_in_force): (bool, bool),
    now: Timestamp,
) {
    let totals = &core.totals;
    if is_canceled {
        counters.canceled.add(1, now);
        totals.canceled.fetch_add(1, Ordering::Relaxed);
    } else if fault_of(run.end.as_ref()).is_some() {
        counters.failed.fetch_add(1, Ordering::Relaxed);
        totals.failed.fetch_add(1, Ordering::Relaxed);
    } else {
        counters.done.fetch_add(1, Ordering::Relaxed);
        totals.done.fetch_add(1, Ordering::Relaxed);
    }
    if let Some(times) = totals.runs.get(lane_of(run.plan())) {
        times.add(run.took());
    }
    let script_ns = u64::try_from(run.notes.script_cpu.as_nanos()).unwrap_or(u64::MAX);
    if script_ns > 0 {
        counters.script_cpu_ns.fetch_add(script_ns, Ordering::Relaxed);
        note_script(core, counters, run, is_in_force, now);
    }
}

/// A pipeline whose script reached a limit pauses: one second, two, four, up to a minute. It runs
/// behind all others from then on, until it has shown that it keeps within the limits.
fn note_script(
    core: &Core,
    counters: &PipelineCounters,
    run: &Run,
    is_in_force: bool,
    now: Timestamp,
) {
    counters.script_memory_bytes_max.fetch_max(run.notes.script_memory_bytes, Ordering::Relaxed);
    if !run.notes.is_killed {
        counters.kills_in_a_row.store(0, Ordering::Relaxed);
        if is_in_force && counters.proves_itself() {
            core.queue.call_back(run.plan().number);
        }
        return;
    }
    counters.kills.add(1, now);
    if !is_in_force {
        // What an earlier revision did is nothing that the one in force is to pause for.
        run.plan().fate.give_up();
        return;
    }
    let before = counters.kills_in_a_row.fetch_add(1, Ordering::Relaxed);
    let pause = Duration::from_secs(1 << before.min(6)).min(PAUSE_MAX);
    let until = core.stage.clock.monotonic() + pause;
    counters.runs_to_come_back.store(RUNS_TO_COME_BACK, Ordering::Relaxed);
    core.queue.hold_back(run.plan().number, until);
    core.due_at(Some(until));
}

/// Whether no successful run of the pipeline was reported in this second yet.
fn is_second_free(counters: &PipelineCounters, now: Timestamp) -> bool {
    let second = now.0.div_euclid(NANOS_PER_SECOND);
    counters.reported_second.swap(second, Ordering::Relaxed) != second
}

fn report(run: &Run, ended: Timestamp) -> RunReport {
    let head = so_far(run, ended);
    let secrets = run.notes.secrets.borrow();
    RunReport {
        fault: fault_of(run.end.as_ref()).cloned(),
        result: match &run.end {
            Some(End::Done(data)) if secrets.is_empty() => data.clone(),
            Some(End::Done(data)) => secrets.scrub_data(data),
            _ => Data::Missing,
        },
        ..head
    }
}

/// What is known of a run that has begun.
pub(crate) fn so_far(run: &Run, now: Timestamp) -> RunReport {
    let head = RunReport::of(&run.queued, now);
    let notes = &run.notes;
    let secrets = notes.secrets.borrow();
    let is_minimal = head.detail == HistoryDetail::Minimal;
    RunReport {
        attempt: run.attempt,
        begun: notes.now,
        cpu: notes.cpu,
        script_cpu: notes.script_cpu,
        input: if secrets.is_empty() { head.input } else { secrets.scrub_data(&head.input) },
        steps: if is_minimal { Vec::new() } else { notes.steps() },
        steps_left_out: notes.trace_left_out,
        log: notes.log.clone(),
        log_left_out: notes.log_left_out,
        ..head
    }
}
