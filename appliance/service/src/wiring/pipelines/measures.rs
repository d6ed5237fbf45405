//! The engine's figures at `/metrics` (docs/operate/metrics.md).
//!
//! **Invariants**: a pipeline is labeled by its name; one that is deployed anew counts on.

use crate::wiring::state::Shared;
use millrace_engine::TIME_BUCKETS_MS;
use millrace_supervisor::{Buckets, Measure};
use std::time::Duration;

/// All of them.
pub(in crate::wiring) fn measures(shared: &Shared, out: &mut Vec<Measure>) {
    lanes(shared, out);
    pipelines(shared, out);
    shared.run_history.measures(out);
}

#[expect(clippy::cast_precision_loss, reason = "gauges are doubles")]
fn lanes(shared: &Shared, out: &mut Vec<Measure>) {
    let stats = shared.engine.stats();
    for lane in &stats.lanes {
        let text = "Runs that wait, by priority";
        let waiting = Measure::gauge("engine_queue_pending", text, lane.waiting as f64);
        out.push(waiting.with_label("priority", lane.name));
        let text = "Runs that compute, by priority";
        let running = Measure::gauge("engine_queue_running", text, lane.running as f64);
        out.push(running.with_label("priority", lane.name));
        let text = "Time that runs waited in the queue, by priority";
        out.push(times(
            "engine_queue_wait_seconds",
            text,
            lane.wait_total,
            &lane.wait_buckets,
            lane.name,
        ));
        let text = "Time from a run's beginning to its end, waits included, by priority";
        out.push(times("engine_run_seconds", text, lane.run_total, &lane.run_buckets, lane.name));
        let text = "Runs taken because their priority had been passed over, by priority";
        let starved = Measure::counter("engine_queue_starved_runs", text, lane.taken_starved);
        out.push(starved.with_label("priority", lane.name));
        let text = "Runs taken from the queue, by priority";
        let taken = Measure::counter("engine_queue_taken_runs", text, lane.taken);
        out.push(taken.with_label("priority", lane.name));
    }
    let text = "Bytes of runs that wait in the queue";
    out.push(Measure::gauge("engine_queue_bytes", text, stats.queue_bytes as f64));
    let text = "Runs that wait for a time or an answer";
    out.push(Measure::gauge("engine_parked_runs", text, stats.parked as f64));
    let text = "Bytes of runs that wait for a time or an answer";
    out.push(Measure::gauge("engine_parked_bytes", text, stats.parked_bytes as f64));
    out.push(Measure::counter("engine_runs_done", "Runs that ended well", stats.done));
    out.push(Measure::counter("engine_runs_failed", "Runs that failed", stats.failed));
    let text = "Runs canceled by a person, a later run or an undeployment";
    out.push(Measure::counter("engine_runs_canceled", text, stats.canceled));
    let text = "Runs dropped at the queue's limits";
    out.push(Measure::counter("engine_runs_shed", text, stats.shed));
    let text = "Runs that were taken again because they took too long";
    out.push(Measure::counter("engine_runs_late", text, stats.late));
    let text = "Bytes of the pipelines' lasting state";
    out.push(Measure::gauge("engine_state_bytes", text, stats.state_bytes as f64));
    let text = "Times that a worker waited for the journal";
    out.push(Measure::counter("engine_full_waits", text, stats.full_waits));
    let text = "Pipelines that are deployed";
    out.push(Measure::gauge("engine_pipelines", text, stats.pipelines as f64));
}

#[expect(clippy::cast_precision_loss, reason = "gauges are doubles")]
fn pipelines(shared: &Shared, out: &mut Vec<Measure>) {
    for pipeline in shared.engine.deployments() {
        let Some(stats) = shared.engine.pipeline_stats(pipeline.number) else { continue };
        let name = &*pipeline.name;
        let text = "CPU time used, by pipeline";
        out.push(labeled("pipeline_cpu_seconds", text, stats.cpu, name));
        let text = "CPU time of scripts, by pipeline";
        out.push(labeled("pipeline_script_cpu_seconds", text, stats.script_cpu, name));
        let text = "Runs that ended well, by pipeline";
        let runs = Measure::counter("pipeline_done_runs", text, stats.done);
        out.push(runs.with_label("pipeline", name));
        if stats.failed > 0 {
            let text = "Runs that failed, by pipeline";
            let runs = Measure::counter("pipeline_failed_runs", text, stats.failed);
            out.push(runs.with_label("pipeline", name));
        }
        if stats.canceled.count > 0 {
            let text = "Runs canceled, by pipeline";
            let runs = Measure::counter("pipeline_canceled_runs", text, stats.canceled.count);
            out.push(runs.with_label("pipeline", name));
        }
        let tallies = [
            ("pipeline_shed_runs", "Runs dropped at the queue's limits, by pipeline", stats.shed),
            ("pipeline_late_runs", "Runs that were taken again, by pipeline", stats.late),
            (
                "pipeline_skipped_runs",
                "Runs skipped for an earlier one, by pipeline",
                stats.skipped,
            ),
            (
                "pipeline_restarted_runs",
                "Runs replaced by a later one, by pipeline",
                stats.restarted,
            ),
            ("pipeline_looped_runs", "Runs refused in a circle of pipelines", stats.looped),
        ];
        for (figure, text, tally) in tallies.into_iter().filter(|(.., tally)| tally.count > 0) {
            out.push(Measure::counter(figure, text, tally.count).with_label("pipeline", name));
        }
        if stats.script_memory_bytes_max > 0 {
            let text = "Most memory that scripts have used, by pipeline";
            let bytes = stats.script_memory_bytes_max as f64;
            let most = Measure::gauge("pipeline_script_memory_peak_bytes", text, bytes);
            out.push(most.with_label("pipeline", name));
        }
        if stats.kills.count > 0 {
            let text = "Scripts stopped at a limit, by pipeline";
            let kills = Measure::counter("pipeline_script_kills", text, stats.kills.count);
            out.push(kills.with_label("pipeline", name));
        }
    }
}

/// The ends of the engine's buckets in seconds.
static ENDS: [f64; TIME_BUCKETS_MS.len()] =
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 30.0, 300.0];

fn times(
    name: &'static str,
    help: &'static str,
    sum: Duration,
    counts: &[u64],
    priority: &'static str,
) -> Measure {
    let buckets = Buckets { ends: &ENDS, counts: counts.to_vec() };
    Measure::histogram(name, help, sum.as_secs_f64(), buckets).with_label("priority", priority)
}

fn labeled(name: &'static str, help: &'static str, time: Duration, pipeline: &str) -> Measure {
    let measure = Measure { value: time.as_secs_f64(), ..Measure::counter(name, help, 0) };
    measure.with_label("pipeline", pipeline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_told_in_seconds() {
        for (seconds, millis) in ENDS.iter().zip(TIME_BUCKETS_MS) {
            assert_eq!((seconds * 1_000.0).round(), f64::from(u32::try_from(millis).unwrap()));
        }
    }
}
