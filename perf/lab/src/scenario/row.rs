//! One measured row: a load against a server, with everything that is needed to believe it.
//!
//! **Invariants**
//! - `invalid` says why a row may not be used; nothing averages such a row in.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::ProgressBar;
use serde::Serialize;

use crate::load::handle::Load;
use crate::load::spec::{Body, Event, Keep, Live, Payload, Qos, Report, Spec};
use crate::measure::bottleneck::{self, Limit};
use crate::measure::machine::{self, DiskCounters};
use crate::measure::process;
use crate::measure::statistics::{rounded, slope};
use crate::server::Target;

/// How often memory is looked at.
const LOOK: Duration = Duration::from_millis(500);
/// What no phase of a run takes beside its own length.
const SLACK: Duration = Duration::from_secs(180);
/// The network that a plant has, to judge shares by.
const NETWORK_BYTES_PER_S: f64 = 1.25e9;

/// A load.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Plan {
    pub(crate) clients: usize,
    pub(crate) tags: u32,
    pub(crate) rate_per_s: f64,
    pub(crate) warmup_ms: u64,
    pub(crate) measure_ms: u64,
    pub(crate) values_per_client: u64,
    pub(crate) in_flight: u16,
    pub(crate) batch: u16,
    pub(crate) payload: Payload,
    pub(crate) verdict_every: u32,
}

/// What is wanted beside the load.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) first_contact: bool,
    pub(crate) counter_first: u64,
    pub(crate) keep: Keep,
    pub(crate) book: Option<PathBuf>,
    pub(crate) resend_ms: Option<u64>,
    pub(crate) generator_cpu_max: f64,
    /// Live subscribers, of what pipelines derive or of the values themselves.
    pub(crate) live: Vec<Live>,
    /// Further processes whose CPU counts as the server's.
    pub(crate) beside_pids: Vec<u32>,
    /// In front of the devices' paths.
    pub(crate) prefix: String,
    pub(crate) body: Body,
    pub(crate) qos: Qos,
    /// Speak TLS, and trust this certificate alone.
    pub(crate) certificate: Option<PathBuf>,
    /// Clients that sign in at once; zero = the generator's own number.
    pub(crate) connecting_max: usize,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            first_contact: false,
            counter_first: 0,
            keep: Keep::Nothing,
            book: None,
            resend_ms: None,
            generator_cpu_max: bottleneck::GENERATOR_CPU_MAX,
            live: Vec::new(),
            beside_pids: Vec::new(),
            prefix: String::new(),
            body: Body::Number,
            qos: Qos::AtLeastOnce,
            certificate: None,
            connecting_max: 0,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) server: &'static str,
    pub(crate) offered_per_s: f64,
    pub(crate) stored_per_s: f64,
    pub(crate) cpu_us_per_value: f64,
    /// In cores.
    pub(crate) server_cpu_share: f64,
    /// Cores that the server may use.
    pub(crate) server_cores: usize,
    pub(crate) rss_peak_mb: f64,
    pub(crate) rss_growth_mb_per_min: f64,
    /// Of the whole device: other programs' writes are in it.
    pub(crate) disk_write_mb_s: Option<f64>,
    /// What the kernel charges to the process: it counts whole folios, so a small write to a file
    /// that is cached in large ones may count up to 2 MiB.
    pub(crate) process_dirtied_mb_s: f64,
    pub(crate) disk_ops_s: Option<f64>,
    pub(crate) network_mb_s: f64,
    pub(crate) limited_by: Limit,
    /// What was full, whether or not all was stored: names what broke a rule.
    #[serde(skip)]
    pub(crate) fullest: Limit,
    pub(crate) invalid: Option<String>,
    pub(crate) report: Report,
}

impl Row {
    /// A row with nothing but its report.
    #[cfg(test)]
    pub(crate) fn empty(report: Report) -> Self {
        Self {
            server: "nothing",
            offered_per_s: 0.0,
            stored_per_s: 0.0,
            cpu_us_per_value: 0.0,
            server_cpu_share: 0.0,
            server_cores: 1,
            rss_peak_mb: 0.0,
            rss_growth_mb_per_min: 0.0,
            disk_write_mb_s: None,
            process_dirtied_mb_s: 0.0,
            disk_ops_s: None,
            network_mb_s: 0.0,
            limited_by: Limit::Nothing,
            fullest: Limit::Nothing,
            invalid: None,
            report,
        }
    }

    /// Whether the row is valid and all else on the machine used at most so many cores meanwhile,
    /// the host's other machines included.
    pub(crate) fn is_quiet(&self, foreign_max: f64) -> bool {
        let others = self.report.foreign_cpu_share + self.report.stolen_cpu_share;
        self.invalid.is_none() && others <= foreign_max
    }

    /// CPU by the nanoseconds of the server's threads: ticks of 10 ms are a percent of a short row.
    pub(crate) fn cpu_us(&self) -> f64 {
        self.report.server_threads_us.iter().map(|(_, us)| us).sum()
    }

    /// The latency that the rules speak of: until the verdict, or the acknowledgement where the
    /// server sends none.
    pub(crate) fn verdict_p99_ms(&self) -> f64 {
        self.report.verdict.map_or(self.report.ack.p99_ms, |verdict| verdict.p99_ms)
    }

    pub(crate) fn verdict_p50_ms(&self) -> f64 {
        self.report.verdict.map_or(self.report.ack.p50_ms, |verdict| verdict.p50_ms)
    }

    /// CPU by the cores that the server may use.
    pub(crate) fn cpu_fill(&self) -> f64 {
        self.server_cpu_share / self.server_cores.max(1) as f64
    }

    /// The share of what was offered that was stored in the window.
    pub(crate) fn stored_share(&self) -> f64 {
        if self.offered_per_s > 0.0 { self.stored_per_s / self.offered_per_s } else { 1.0 }
    }
}

/// The spec of a plan against a target.
pub(crate) fn spec(target: &Target, plan: &Plan, wish: &Wish) -> Spec {
    Spec {
        address: target.address,
        base: "mr/v1/main".into(),
        clients: target.clients.iter().take(plan.clients).cloned().collect(),
        tags: plan.tags,
        rate_per_s: plan.rate_per_s,
        warmup_ms: plan.warmup_ms,
        measure_ms: plan.measure_ms,
        values_per_client: plan.values_per_client,
        in_flight: plan.in_flight,
        batch: plan.batch,
        payload: plan.payload,
        verdict_every: if target.has_verdicts { plan.verdict_every } else { 0 },
        first_contact: wish.first_contact,
        counter_first: wish.counter_first,
        keep: wish.keep,
        book: wish.book.clone(),
        server_pid: Some(target.pid),
        beside_pids: target.beside.iter().chain(&wish.beside_pids).copied().collect(),
        live: wish.live.clone(),
        prefix: wish.prefix.clone(),
        body: wish.body,
        qos: wish.qos,
        certificate: wish.certificate.clone(),
        connecting_max: wish.connecting_max,
        resend_ms: wish.resend_ms,
    }
}

/// Memory and disk of a server while the load runs.
struct Watch<'a> {
    pid: u32,
    data: Option<&'a Path>,
    began: Option<Instant>,
    last_look: Instant,
    rss: Vec<(f64, f64)>,
    start: Option<(Option<DiskCounters>, u64)>,
}

impl Watch<'_> {
    fn begin(&mut self) {
        self.began = Some(Instant::now());
        self.start = Some(self.counters());
    }

    fn counters(&self) -> (Option<DiskCounters>, u64) {
        let disk = self.data.and_then(machine::disk_counters);
        (disk, process::usage(self.pid).map_or(0, |usage| usage.write_bytes))
    }

    fn look(&mut self) {
        if self.last_look.elapsed() < LOOK {
            return;
        }
        self.last_look = Instant::now();
        if let (Some(began), Ok(bytes)) = (self.began, process::rss_bytes(self.pid)) {
            self.rss.push((began.elapsed().as_secs_f64() / 60.0, bytes as f64 / 1e6));
        }
    }
}

/// Runs a plan and reads everything.
pub(crate) fn measure(
    server: &'static str,
    target: &Target,
    plan: &Plan,
    wish: &Wish,
    place: &Place<'_>,
) -> Result<Row> {
    let load = Load::start(&spec(target, plan, wish), place.load_core)?;
    let mut watch = Watch {
        pid: target.pid,
        data: place.data,
        began: None,
        last_look: Instant::now(),
        rss: Vec::new(),
        start: None,
    };
    let limit = SLACK + Duration::from_millis(plan.warmup_ms + plan.measure_ms);
    let report = loop {
        let mut meanwhile = || {
            watch.look();
            place.bar.tick();
            Ok(())
        };
        match load.next(limit, &mut meanwhile)? {
            Event::Done(report) => break *report,
            Event::Measuring => watch.begin(),
            Event::Connected | Event::FirstContact(_) | Event::Down { .. } => {}
            Event::Again | Event::Failed { .. } => {}
        }
    };
    Ok(finish(server, &watch, report, wish.generator_cpu_max))
}

/// Where a row is measured.
pub(crate) struct Place<'a> {
    pub(crate) load_core: Option<usize>,
    /// The server's data folder, for the counters of its disk.
    pub(crate) data: Option<&'a Path>,
    pub(crate) bar: &'a ProgressBar,
}

fn finish(server: &'static str, watch: &Watch<'_>, report: Report, cpu_max: f64) -> Row {
    let seconds = report.window_s.max(1e-9);
    let since = watch.began.map_or(seconds, |began| began.elapsed().as_secs_f64()).max(1e-9);
    let (disk_end, written_end) = watch.counters();
    let (disk_start, written_start) = watch.start.unwrap_or((disk_end, written_end));
    let disk = disk_start.zip(disk_end);
    let bytes = (report.window_bytes_in + report.window_bytes_out) as f64;
    let stored = report.window_acknowledged as f64;
    let offered_per_s = report.window_offered as f64 / seconds;
    let stored_per_s = stored / seconds;
    let server_cpu_share = report.server_cpu_us / 1e6 / seconds;
    // The end of a hold tells whether memory still grows; its beginning fills the memtable.
    let second_half = watch.rss.get(watch.rss.len() / 2..).unwrap_or_default();
    let disk_busy = disk.map_or(0.0, |(start, end)| (end.busy_ms - start.busy_ms) as f64 / 1e3);
    let server_cores = process::allowed_cores(watch.pid);
    let seen = bottleneck::Load {
        stored_share: if offered_per_s > 0.0 { stored_per_s / offered_per_s } else { 1.0 },
        server_cpu_share: server_cpu_share / server_cores as f64,
        generator_cpu_share: report.generator_cpu_share,
        generator_lag_p99_ms: report.lag.p99_ms,
        disk_busy_share: disk_busy / since,
        network_share: bytes / seconds / NETWORK_BYTES_PER_S,
        memory_free_share: machine::memory_free_share(),
        runs_shed: false,
    };
    let has_schedule = report.lag.count > 0;
    let invalid = has_schedule
        .then(|| {
            bottleneck::invalid_because(report.lag.p99_ms, report.generator_cpu_share, cpu_max)
        })
        .flatten();
    Row {
        server,
        offered_per_s: rounded(offered_per_s, 1),
        stored_per_s: rounded(stored_per_s, 1),
        cpu_us_per_value: rounded(report.server_cpu_us / stored.max(1.0), 3),
        server_cpu_share: rounded(server_cpu_share, 4),
        server_cores,
        rss_peak_mb: process::rss_peak_bytes(watch.pid).map_or(0.0, |b| rounded(b as f64 / 1e6, 1)),
        rss_growth_mb_per_min: rounded(slope(second_half), 2),
        disk_write_mb_s: disk.map(|(start, end)| {
            rounded((end.written_bytes - start.written_bytes) as f64 / 1e6 / since, 3)
        }),
        process_dirtied_mb_s: rounded((written_end - written_start) as f64 / 1e6 / since, 3),
        disk_ops_s: disk.map(|(start, end)| rounded((end.writes - start.writes) as f64 / since, 1)),
        network_mb_s: rounded(bytes / 1e6 / seconds, 3),
        limited_by: bottleneck::classify(&seen),
        fullest: bottleneck::cause(&seen),
        invalid,
        report,
    }
}
