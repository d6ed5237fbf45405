//! `lab storm`: all devices connect and sign in at the same moment.
//!
//! Again and again, as after a power cut of a hall, while other devices keep sending. Each device
//! sends a value once it is in, and goes.
//!
//! **Invariants**
//! - A sign-in is over with the server's answer to CONNECT; its time is counted from the connection.
//! - What the devices sent is read back, and so is what the others sent meanwhile.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;

use super::bench::{Bench, plan};
use super::options::{Common, merge};
use super::others::Others;
use super::row::{Plan, Row, Wish};
use crate::measure::statistics::Spread;
use crate::output;
use crate::server::Target;

const OTHER_DEVICES: usize = 50;
/// A storm is over by then.
const OTHER_SECONDS: u64 = 2;
const TAGS: u32 = 2;

/// Options of `lab storm`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    lab storm --devices 5000 --json storm.json\n\n\
    Exit code 1: a value was lost or doubled, or a device could not sign in.")]
pub(crate) struct StormOptions {
    #[command(flatten)]
    common: Common,
    /// Devices that come at once.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    devices: u32,
    /// Storms.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,
    /// Values per second of 50 other devices meanwhile.
    #[arg(long, default_value_t = 500.0)]
    rate: f64,
}

/// Runs it.
pub(crate) fn run(options: &StormOptions) -> Result<ExitCode> {
    let is_rate = options.rate.is_finite() && options.rate > 0.0;
    if !is_rate {
        bail!("--rate must be a number above zero");
    }
    let devices = options.devices as usize;
    let mut bench = Bench::start(&options.common, devices)?;
    let mut result = options.common.head("storm", Some(bench.folder.path()));
    bench.bar.set_length(u64::from(options.repeat));
    // A value of each tag, and the end.
    let storm = Plan {
        values_per_client: u64::from(TAGS),
        verdict_every: 0,
        ..plan(devices, TAGS, 0.0, 0)
    };
    let mut others = Others::new(&bench, OTHER_DEVICES, TAGS, options.rate)?;
    let mut rows = Vec::new();
    for _ in 0..options.repeat {
        bench.bar.set_message(format!("{devices} devices sign in"));
        let beside = others.start(&bench, OTHER_SECONDS)?;
        let change = |wish: &mut Wish, _: &mut Target| wish.connecting_max = devices;
        rows.push(bench.row_as(&storm, &change)?);
        others.finish(&beside, &mut bench)?;
    }
    let mut compared = bench.read_back_below("", TAGS)?;
    compared.add(others.compared.clone());
    bench.bar.finish_and_clear();
    let spread = |figure: &dyn Fn(&Row) -> f64| {
        Spread::of(rows.iter().map(figure)).map(|found| found.rounded(3))
    };
    let beside = Spread::of(others.reports.iter().map(|report| report.ack.p99_ms));
    merge(
        &mut result,
        json!({
            "devices": devices,
            "rate": options.rate,
            "all_ms": spread(&|row| row.report.connect_ms),
            "sign_in_p50_ms": spread(&|row| row.report.sign_in.p50_ms),
            "sign_in_p99_ms": spread(&|row| row.report.sign_in.p99_ms),
            "cpu_us_per_sign_in": spread(&|row| row.report.sign_in_cpu_us / devices as f64),
            "beside_p99_ms": beside.map(|found| found.rounded(3)),
            "lost": compared.lost,
            "duplicated": compared.duplicated + compared.altered + compared.unknown,
            "read_back": compared,
            "rows": rows,
            "beside": others.reports,
        }),
    );
    let shown =
        ["all_ms", "sign_in_p99_ms", "cpu_us_per_sign_in", "beside_p99_ms", "lost", "duplicated"];
    output::say(&output::table(&output::named(&result, &shown)));
    output::save(&result, options.common.json.as_deref())?;
    bench.appliance.stop()?;
    Ok(if compared.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
