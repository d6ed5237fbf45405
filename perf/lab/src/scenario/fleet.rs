//! `lab fleet`: many pipelines, each on a tag of its own, each run once a second.
//!
//! What counts is what the disk has to do beside the samples' own bytes: run history, run records
//! and state of every run. Totals are reported too.
//!
//! **Invariants**
//! - The journal's bytes per second are measured without pipelines first, with the same devices,
//!   so that what the fleet adds is a difference of two rows of one call.
//! - An idle pipeline's memory is what each of the second half adds: the first ones also fill the
//!   catalog's page cache, which does not grow with them. What all of them add is told beside it.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::bench::{Bench, cpu_us_per_run, plan, runs_per_s};
use super::flows::{self, Class};
use super::options::{Common, merge};
use super::row::Row;
use crate::measure::process;
use crate::measure::statistics::rounded;
use crate::output;

/// Options of `lab fleet`.
#[derive(Clone, Debug, Args)]
pub(crate) struct FleetOptions {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Pipelines, each with a tag of its own that has a value each second.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(40..=10_000))]
    pub(crate) pipelines: u32,
    /// Measured seconds of each row (the reference: 90).
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) seconds: u64,
}

/// Tags of a device.
const TAGS: u32 = 4;

/// What deployed pipelines cost in memory before any of them runs, KiB each.
struct Memory {
    /// Each of the second half.
    further_kb: f64,
    /// All of them, with what the first ones fill once and for all.
    all_kb: f64,
}

fn deploy_all(bench: &mut Bench<'_>, count: u32) -> Result<Memory> {
    bench.bar.set_length(u64::from(count));
    bench.bar.set_message("deploying");
    let before = process::rss_bytes(bench.appliance.pid())?;
    let mut half = before;
    for number in 0..count {
        if number == count / 2 {
            half = process::rss_bytes(bench.appliance.pid())?;
        }
        let (device, tag) = (number / TAGS, number % TAGS);
        let name = format!("fleet-{number:04}");
        let filters = [format!("lab/d{device:04}/t{tag}")];
        let document = flows::document(Class::PassThrough, &name, &filters, 0);
        flows::deploy(&mut bench.http, &document)?;
        bench.bar.inc(1);
    }
    let after = process::rss_bytes(bench.appliance.pid())?;
    let kb_each = |from: u64, pipelines: u32| {
        rounded((after as f64 - from as f64) / 1024.0 / f64::from(pipelines), 2)
    };
    Ok(Memory { further_kb: kb_each(half, count - count / 2), all_kb: kb_each(before, count) })
}

/// Runs it.
pub(crate) fn run(options: &FleetOptions) -> Result<ExitCode> {
    let devices = (options.pipelines / TAGS) as usize;
    let count = devices as u32 * TAGS;
    let mut bench = Bench::start(&options.common, devices)?;
    let mut result = options.common.head("fleet", Some(bench.folder.path()));
    let plan = plan(devices, TAGS, f64::from(count), options.seconds);
    bench.bar.set_message("devices alone");
    let alone = bench.row_alone(&plan)?;
    let memory = deploy_all(&mut bench, count)?;
    bench.bar.set_message(format!("{count} pipelines"));
    let fleet = bench.row(&plan)?;
    let compared = bench.read_back(TAGS)?;
    let beyond = |figure: &dyn Fn(&Row) -> Option<f64>| {
        figure(&fleet).zip(figure(&alone)).map(|(with, without)| rounded(with - without, 3))
    };
    merge(
        &mut result,
        json!({
            "pipelines": count,
            "runs_per_s": runs_per_s(&fleet),
            "p99_ms": fleet.report.derived.map(|found| found.p99_ms),
            "cpu_us_per_run": rounded(cpu_us_per_run(&fleet), 2),
            "cpu_share": fleet.server_cpu_share,
            "limited_by": fleet.limited_by,
            "lost": compared.lost,
            "duplicated": compared.duplicated,
            "idle_pipeline_kb": memory.further_kb,
            "idle_pipeline_kb_with_first_ones": memory.all_kb,
            "disk_write_mb_s": fleet.disk_write_mb_s,
            "disk_ops_s": fleet.disk_ops_s,
            "disk_write_mb_s_beyond_devices": beyond(&|row| row.disk_write_mb_s),
            "disk_ops_s_beyond_devices": beyond(&|row| row.disk_ops_s),
            "read_back": compared,
            "alone": alone,
            "fleet": fleet,
        }),
    );
    bench.bar.finish_and_clear();
    let shown = [
        "pipelines",
        "runs_per_s",
        "p99_ms",
        "cpu_us_per_run",
        "cpu_share",
        "idle_pipeline_kb",
        "idle_pipeline_kb_with_first_ones",
        "disk_write_mb_s",
        "disk_ops_s",
        "disk_write_mb_s_beyond_devices",
        "disk_ops_s_beyond_devices",
        "lost",
    ];
    let rows = output::named(&result, &shown);
    output::say(&output::table(&rows));
    output::save(&result, options.common.json.as_deref())?;
    bench.appliance.stop()?;
    let is_clean = result.get("lost").and_then(serde_json::Value::as_u64) == Some(0);
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
