//! The figures at `/metrics`, read from each part's own counters when asked.

use super::state::Shared;
use millrace_journal::COMMIT_BOUNDS_MICROS;
use millrace_model::Reason;
use millrace_supervisor::Measure;
use std::sync::{Arc, Weak};

/// Registers all sources.
pub(super) fn register(shared: &Arc<Shared>) {
    // Weak: the registry lives inside of what it reads.
    let weak = Arc::downgrade(shared);
    shared.metrics.add(move |out| {
        if let Some(shared) = Weak::upgrade(&weak) {
            ledger(&shared, out);
            journal(&shared, out);
            broker(&shared, out);
            history(&shared, out);
            machine(&shared, out);
            super::pipelines::measures(&shared, out);
        }
    });
}

fn ledger(shared: &Shared, out: &mut Vec<Measure>) {
    let counts = shared.ledger.totals();
    out.push(Measure::counter("received_values", "Values received and judged", counts.received));
    out.push(Measure::counter("stored_values", "Values made durable", counts.stored));
    let text = "Values that were durable already";
    out.push(Measure::counter("redelivered_values", text, counts.redelivered));
    let text = "Stored values replaced by a later one with the same source time";
    out.push(Measure::counter("superseded_values", text, counts.superseded));
    let text = "Values whose fate a crash cut off";
    out.push(Measure::counter("interrupted_values", text, counts.interrupted));
    for (reason, count) in Reason::ALL.into_iter().zip(counts.refused) {
        let measure = Measure::counter("refused_values", "Values refused, by reason", count);
        out.push(measure.with_label("reason", reason.name()));
    }
}

#[expect(clippy::cast_precision_loss, reason = "gauges are doubles")]
fn journal(shared: &Shared, out: &mut Vec<Measure>) {
    let stats = shared.journal.stats();
    out.push(Measure::counter("journal_commits", "Commits that got through", stats.commits));
    out.push(Measure::counter("journal_records", "Records in them", stats.records));
    let text = "Bytes written to the journal, padding included";
    out.push(Measure::counter("journal_written_bytes", text, stats.written_bytes));
    out.push(Measure::counter("journal_syncs", "Syncs of segments", stats.syncs));
    out.push(Measure::counter("journal_faults", "Writes and syncs that failed", stats.faults));
    let text = "Bytes that wait for their commit";
    out.push(Measure::gauge("journal_queued_bytes", text, stats.queued_bytes as f64));
    let text = "Segments with records that a reader still needs";
    out.push(Measure::gauge("journal_live_segments", text, stats.segments_live as f64));
    let degraded = f64::from(u8::from(shared.journal.is_degraded()));
    out.push(Measure::gauge("journal_degraded", "1 while nothing can be committed", degraded));
    let text = "Time during which the journal had no room, so that publishers waited";
    let stalled = Measure::counter("journal_stalled_seconds", text, 0);
    out.push(Measure { value: stats.stalled.as_secs_f64(), ..stalled });
    let seconds = stats.last_commit_micros as f64 / 1e6;
    out.push(Measure::gauge("journal_last_commit_seconds", "Time of the last commit", seconds));
    let segment_bytes = shared.loaded.config.journal.segment_mib << 20;
    let bytes = (stats.segments_live + stats.segments_free) as u64 * segment_bytes;
    out.push(Measure::gauge("journal_bytes", "Bytes of the journal on disk", bytes as f64));
    let mut sum = 0;
    let bounds = COMMIT_BOUNDS_MICROS.into_iter().map(|micros| (micros as f64 / 1e6).to_string());
    for (bound, count) in bounds.chain(["+Inf".to_owned()]).zip(stats.commit_times) {
        sum += count;
        let text = "Commits that took less than so many seconds, by bound";
        out.push(Measure::counter("journal_commit_times", text, sum).with_label("below", bound));
    }
}

#[expect(clippy::cast_precision_loss, reason = "gauges are doubles")]
fn broker(shared: &Shared, out: &mut Vec<Measure>) {
    let Some(broker) = shared.broker.get() else { return };
    let stats = broker.stats();
    out.push(Measure::gauge("mqtt_connections", "MQTT connections", stats.connected as f64));
    let text = "Messages dropped for slow live subscribers";
    out.push(Measure::counter("mqtt_dropped_messages", text, stats.dropped));
    let refused = stats.refused_connects.iter().sum();
    let text = "MQTT connections that were refused";
    out.push(Measure::counter("mqtt_refused_connections", text, refused));
    let text = "Times that a live subscriber's queue began to overflow";
    out.push(Measure::counter("mqtt_slow_subscribers", text, stats.slow));
    let text = "Messages delivered to live subscribers";
    out.push(Measure::counter("mqtt_delivered_messages", text, stats.deliveries));
}

/// The process and its disk; what a system does not tell is left out.
#[expect(clippy::cast_precision_loss, reason = "gauges are doubles")]
fn machine(shared: &Shared, out: &mut Vec<Measure>) {
    if let Some(bytes) = resident_bytes() {
        let text = "Memory of the process that is in use";
        out.push(Measure::gauge("process_resident_bytes", text, bytes as f64));
    }
    if let Ok(used) = cpu_time::ProcessTime::try_now() {
        let text = "CPU time of the process";
        let value = used.as_duration().as_secs_f64();
        out.push(Measure { value, ..Measure::counter("process_cpu_seconds", text, 0) });
    }
    let folder = &shared.loaded.config.data_dir;
    if let (Ok(available), Ok(total)) = (fs4::available_space(folder), fs4::total_space(folder)) {
        let text = "Bytes that the disk of the data folder has left";
        out.push(Measure::gauge("disk_available_bytes", text, available as f64));
        let text = "Bytes of the disk of the data folder";
        out.push(Measure::gauge("disk_total_bytes", text, total as f64));
    }
}

/// On Linux, as the kernel counts it.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}

#[expect(clippy::cast_precision_loss, reason = "gauges are doubles")]
fn history(shared: &Shared, out: &mut Vec<Measure>) {
    let stats = shared.historian.stats();
    out.push(Measure::gauge("history_parts", "Parts on disk", stats.parts as f64));
    out.push(Measure::gauge("history_parts_bytes", "Bytes of them", stats.part_bytes as f64));
    let text = "Bytes of values that are in no part yet";
    out.push(Measure::gauge(
        "history_memtable_bytes",
        text,
        (stats.active_bytes + stats.sealing_bytes) as f64,
    ));
    let tags = f64::from(shared.namespace.tag_count());
    out.push(Measure::gauge("tags", "Topics", tags));
    let issues = shared.issues.list().len() as f64;
    out.push(Measure::gauge("issues", "Open issues", issues));
}
