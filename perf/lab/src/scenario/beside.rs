//! `lab beside`: what pipelines cost the values that no trigger wants, and how both go together.
//!
//! First the devices alone, then the same load while triggers are deployed on other topics
//! (interleaved): the extra cost of an unrelated value. The result tells the spread of the pairs'
//! ratios and the error of their mean, so that it shows whether 2 % can be seen at all.
//!
//! **Invariants**
//! - Ratios are made by pairs of one call. A pair with an invalid row, or with much else going on
//!   on the machine, is dropped, counted and kept in the result; as many are tried anew at most.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::bench::{Bench, plan};
use super::flows::{self, Class};
use super::options::{Common, merge};
use super::row::{Plan, Row};
use crate::measure::statistics::{Mean, Spread, rounded};
use crate::output;

/// Options of `lab beside`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    lab beside --json beside.json                  2,000 triggers, twelve pairs\n  \
    lab beside --realtime-load --foreign-max 0.5   on a machine that others use too\n\n\
    Read `ratio_mean`: the mean of the pairs' ratios and its 95 % error. The exit code judges \
    nothing.")]
pub(crate) struct BesideOptions {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Deployed triggers that want none of the values.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) triggers: u32,
    /// Values per second of 200 devices.
    #[arg(long, default_value_t = 20_000.0)]
    pub(crate) rate: f64,
    /// Measured seconds of each row.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) seconds: u64,
    /// Pairs of rows that count; twelve tell 2 % on a machine that is quiet.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// Drop a pair when all else on the machine used more than so many cores in one of its rows.
    #[arg(long, default_value_t = 0.2)]
    pub(crate) foreign_max: f64,
}

/// The same load with and without triggers, one after the other.
#[derive(Debug, Serialize)]
struct Pair {
    with: Row,
    without: Row,
}

impl Pair {
    /// Whether both rows may be believed to a percent.
    fn is_quiet(&self, foreign_max: f64) -> bool {
        self.with.is_quiet(foreign_max) && self.without.is_quiet(foreign_max)
    }

    fn ratio(&self) -> f64 {
        self.with.cpu_us_per_value / self.without.cpu_us_per_value
    }
}

const DEVICES: usize = 200;
const TAGS: u32 = 10;

/// Runs it.
pub(crate) fn run(options: &BesideOptions) -> Result<ExitCode> {
    let mut bench = Bench::start(&options.common, DEVICES)?;
    let mut result = options.common.head("beside", Some(bench.folder.path()));
    let plan = plan(DEVICES, TAGS, options.rate, options.seconds);
    let documents: Vec<_> = (0..options.triggers)
        .map(|number| {
            let filters = [format!("other/area{}/tag{number}/#", number % 50)];
            flows::document(Class::PassThrough, &format!("idle-{number:04}"), &filters, 0)
        })
        .collect();
    // Stored once, then taken in and out of service.
    bench.bar.set_length(documents.len() as u64);
    bench.bar.set_message("storing the pipelines");
    for document in &documents {
        flows::deploy(&mut bench.http, document)?;
        bench.bar.inc(1);
    }
    let (pairs, dropped) = measure(&mut bench, options, &documents, &plan)?;
    merge(&mut result, figures(options, &pairs, &dropped));
    bench.bar.finish_and_clear();
    let shown = [
        "triggers",
        "cpu_us_per_value_without",
        "cpu_us_per_value_with",
        "ratio",
        "ratio_mean",
        "pairs_used",
        "pairs_dropped",
    ];
    let rows = output::named(&result, &shown);
    output::say(&output::table(&rows));
    output::save(&result, options.common.json.as_deref())?;
    bench.appliance.stop()?;
    Ok(ExitCode::SUCCESS)
}

/// Pairs that count, and those that do not. The pipelines are deployed at the beginning.
fn measure(
    bench: &mut Bench<'_>,
    options: &BesideOptions,
    documents: &[serde_json::Value],
    plan: &Plan,
) -> Result<(Vec<Pair>, Vec<Pair>)> {
    let mut is_deployed = true;
    let (mut pairs, mut dropped): (Vec<Pair>, Vec<Pair>) = (Vec::new(), Vec::new());
    bench.bar.set_length(u64::from(options.repeat) * 2);
    while pairs.len() < options.repeat as usize && dropped.len() < options.repeat as usize {
        bench.bar.set_message(if is_deployed { "with triggers" } else { "without triggers" });
        let first = bench.row_alone(plan)?;
        switch(bench, documents, !is_deployed)?;
        bench.bar.set_message(if is_deployed { "without triggers" } else { "with triggers" });
        let second = bench.row_alone(plan)?;
        // The next pair begins as this one ends: the machine's drift falls on both, and each pair
        // costs one change.
        let (with, without) = if is_deployed { (first, second) } else { (second, first) };
        is_deployed = !is_deployed;
        let pair = Pair { with, without };
        if pair.is_quiet(options.foreign_max) { pairs.push(pair) } else { dropped.push(pair) }
    }
    Ok((pairs, dropped))
}

fn figures(options: &BesideOptions, pairs: &[Pair], dropped: &[Pair]) -> serde_json::Value {
    let cpu = |side: &dyn Fn(&Pair) -> f64| Spread::of(pairs.iter().map(side));
    let ratios: Vec<f64> = pairs.iter().map(Pair::ratio).collect();
    let median = |found: Option<Spread>| found.map(|found| rounded(found.median, 3));
    let spread = Spread::of(ratios.iter().copied());
    json!({
        "triggers": options.triggers,
        "rate": options.rate,
        "seconds": options.seconds,
        "cpu_us_per_value_with": median(cpu(&|pair| pair.with.cpu_us_per_value)),
        "cpu_us_per_value_without": median(cpu(&|pair| pair.without.cpu_us_per_value)),
        "ratio": spread.map(|found| rounded(found.median, 4)),
        "ratio_range": spread,
        "ratio_mean": Mean::of(&ratios),
        "pairs_used": pairs.len(),
        "pairs_dropped": dropped.len(),
        "foreign_max": options.foreign_max,
        "pairs": pairs,
        "dropped": dropped,
    })
}

/// Takes all of them into service, or out of it.
fn switch(bench: &mut Bench<'_>, documents: &[serde_json::Value], into: bool) -> Result<()> {
    bench.bar.set_message(if into { "deploying" } else { "undeploying" });
    for document in documents {
        match into {
            true => flows::redeploy(&mut bench.http, name(document))?,
            false => flows::undeploy(&mut bench.http, name(document))?,
        }
    }
    Ok(())
}

fn name(document: &serde_json::Value) -> &str {
    document.get("name").and_then(serde_json::Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cpu_us_per_value: f64, foreign_cpu_share: f64) -> Row {
        let report = crate::load::spec::Report { foreign_cpu_share, ..Default::default() };
        Row { cpu_us_per_value, ..Row::empty(report) }
    }

    #[test]
    fn drops_a_pair_when_another_program_used_the_machine() {
        let pair = |foreign| Pair { with: row(10.2, 0.0), without: row(10.0, foreign) };
        assert!(pair(0.1).is_quiet(0.2) && !pair(0.3).is_quiet(0.2));
        assert!((pair(0.0).ratio() - 1.02).abs() < 1e-9);
        let late = Row { invalid: Some("late".into()), ..row(10.0, 0.0) };
        assert!(!Pair { with: late, without: row(10.0, 0.0) }.is_quiet(0.2));
    }
}
