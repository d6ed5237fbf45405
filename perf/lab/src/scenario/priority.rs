//! `lab priority`: equal script pipelines of each priority, with more runs than the machine executes.
//!
//! Tag 0 of each device starts high runs, tag 1 normal ones, tag 2 low ones. The box takes from the
//! highest lane first, and a lower lane that was passed over often enough gets its turn: high runs
//! must stay quick, low ones must still come.
//!
//! **Invariants**
//! - The load is known to be too much: what one run computes is measured first, by the product's
//!   own account.
//! - Every run is waited for after the load and read back.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::bench::{Bench, plan};
use super::flows::{self, Class};
use super::options::{Common, merge};
use super::row::Plan;
use crate::load::spec::{Event, Report};
use crate::measure::bottleneck::{self, Limit};
use crate::measure::statistics::rounded;
use crate::output;
use crate::readback::Comparison;
use crate::stop;

const LANES: [&str; 3] = ["high", "normal", "low"];
const TAGS: u32 = 3;
const DEVICES: usize = 30;
/// The loop of a script: some milliseconds.
const TURNS: u64 = 50_000;
/// Runs offered, by what the cores of the box could execute if they did nothing else.
const OVERLOAD: f64 = 1.5;
/// Runs a second of the calibration.
const CALM: f64 = 30.0;
/// As many runs wait at the end as the overload of a minute leaves.
const DRAIN_LIMIT: Duration = Duration::from_secs(180);
const EVENT_LIMIT: Duration = Duration::from_secs(120);
/// The reference's capacity rule.
const CPU_FULL: f64 = 0.90;
const LOOK: Duration = Duration::from_millis(100);

/// Options of `lab priority`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  lab priority --json priority.json\n\n\
    Exit code 1: a run was lost or doubled, or a lane got nothing.")]
pub(crate) struct PriorityOptions {
    #[command(flatten)]
    common: Common,
    /// Measured seconds of the overload.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=600))]
    seconds: u64,
}

/// Runs it.
pub(crate) fn run(options: &PriorityOptions) -> Result<ExitCode> {
    let mut bench = Bench::start(&options.common, DEVICES)?;
    let mut result = options.common.head("priority", Some(bench.folder.path()));
    for (tag, lane) in LANES.into_iter().enumerate() {
        let name = format!("lab-{lane}");
        let mut document = flows::document(Class::Script, &name, &[format!("lab/+/t{tag}")], TURNS);
        merge(&mut document, json!({ "settings": { "priority": lane } }));
        flows::deploy(&mut bench.http, &document)?;
    }
    bench.bar.set_message("what a run computes");
    let calm = bench.row(&short(CALM, 3))?;
    let spent = flows::metric(&mut bench.http, "millrace_pipeline_script_cpu_seconds_total")?;
    let each = spent / (calm.report.derived_arrived as f64).max(1.0);
    if spent <= 0.0 {
        bail!("the scripts did not run: {} derived values", calm.report.derived_arrived);
    }
    let cores = match options.common.cpus.server {
        Some(_) => 1,
        None => std::thread::available_parallelism().context("count the cores")?.get(),
    };
    let rate = OVERLOAD * cores as f64 / each;
    bench.bar.set_message(format!("{rate:.0} runs/s, too many"));
    let (report, before, after) = overload(&mut bench, rate, options.seconds)?;
    bench.bar.set_message("the last runs");
    let drained = Instant::now();
    let http = &mut bench.http;
    stop::wait_for("the runs to end", DRAIN_LIMIT, LOOK, || {
        Ok((flows::unfinished(http)? == 0.0).then_some(()))
    })?;
    let drained = drained.elapsed().as_secs_f64();
    let compared = bench.read_back(TAGS)?;
    bench.bar.finish_and_clear();
    merge(&mut result, figures(&report, [before, after], rate, &compared));
    let cpu = report.server_cpu_us / 1e6 / report.window_s.max(1e-9) / cores as f64;
    let limited_by = if cpu >= CPU_FULL { Limit::Cpu } else { Limit::Undetermined };
    merge(&mut result, json!({ "cpu_share": rounded(cpu, 3), "limited_by": limited_by }));
    merge(
        &mut result,
        json!({ "script_ms": rounded(each * 1e3, 2), "drained_s": rounded(drained, 1) }),
    );
    let shown =
        ["rate", "high", "normal", "low", "low_to_high_runs", "lost", "duplicated", "limited_by"];
    output::say(&output::table(&output::named(&result, &shown)));
    output::save(&result, options.common.json.as_deref())?;
    bench.appliance.stop()?;
    let all_ran = (0..LANES.len()).all(|lane| after.get(lane) > before.get(lane));
    let passed = compared.is_clean() && all_ran;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The load, and how many runs each lane had had when it began and when it ended: what is still
/// waiting then is executed afterwards, and tells nothing about the lanes.
fn overload(
    bench: &mut Bench<'_>,
    rate: f64,
    seconds: u64,
) -> Result<(Report, [u64; 3], [u64; 3])> {
    let load = bench.start_load(&short(rate, seconds))?;
    loop {
        match load.next(EVENT_LIMIT, &mut || Ok(()))? {
            Event::Measuring => break,
            Event::Connected => {}
            other => bail!("the load said {other:?} before it began"),
        }
    }
    let before = ran(bench)?;
    stop::pause(Duration::from_secs(seconds))?;
    let after = ran(bench)?;
    let report = load.finish(EVENT_LIMIT, &mut |_| {}, &mut || Ok(()))?;
    Ok((report, before, after))
}

fn short(rate: f64, seconds: u64) -> Plan {
    Plan { warmup_ms: 500, ..plan(DEVICES, TAGS, rate, seconds) }
}

/// Runs that each lane has had.
fn ran(bench: &mut Bench<'_>) -> Result<[u64; 3]> {
    let mut counts = [0; 3];
    for (lane, count) in LANES.into_iter().zip(&mut counts) {
        let activity = flows::activity(&mut bench.http, &format!("lab-{lane}"))?;
        *count = flows::count(&activity, "ended");
    }
    Ok(counts)
}

fn figures(
    report: &Report,
    [before, after]: [[u64; 3]; 2],
    rate: f64,
    compared: &Comparison,
) -> Value {
    let mut found = json!({});
    let runs = |lane: usize| {
        let of = |counts: [u64; 3]| counts.get(lane).copied().unwrap_or(0);
        of(after).saturating_sub(of(before))
    };
    for (lane, name) in LANES.into_iter().enumerate() {
        let latency = report.derived_by_tag.get(lane);
        let entry = json!({
            "runs": runs(lane),
            "p50_ms": latency.map(|found| found.p50_ms),
            "p99_ms": latency.map(|found| found.p99_ms),
        });
        merge(&mut found, json!({ name: entry }));
    }
    let by_high = runs(2) as f64 / (runs(0) as f64).max(1.0);
    merge(
        &mut found,
        json!({
            "rate": rounded(rate, 1),
            "low_to_high_runs": rounded(by_high, 3),
            "lost": compared.lost,
            "duplicated": compared.duplicated + compared.altered + compared.unknown,
            "read_back": compared,
            "invalid": bottleneck::invalid_because(
                report.lag.p99_ms, report.generator_cpu_share, bottleneck::GENERATOR_CPU_MAX),
            "load": report,
        }),
    );
    found
}
