//! `lab beside`: what deployed triggers cost the values that they do not want.
//!
//! Two appliances stand on the same core, one with triggers on other topics deployed and one
//! without, and take the same load in turns: the extra cost of an unrelated value. After half of
//! the pairs they change parts, so that what differs between two processes falls on both sides.
//! The result tells the spread of the pairs' ratios and the error of their mean, so that it shows
//! whether 2 % can be seen at all.
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
    lab beside --json beside.json                  2,000 triggers, forty pairs\n  \
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
    /// Measured seconds of each row; many short rows tell more than few long ones, because the
    /// machine's speed drifts.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) seconds: u64,
    /// Pairs of rows that count; see the error of the mean for whether they are enough.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(2..=1_000))]
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
        us_per_value(&self.with) / us_per_value(&self.without)
    }
}

const DEVICES: usize = 200;
/// Enough for 200 devices that sign in at once.
const WARMUP_MS: u64 = 500;
const TAGS: u32 = 10;

fn us_per_value(row: &Row) -> f64 {
    row.cpu_us() / (row.report.window_acknowledged as f64).max(1.0)
}

/// Runs it.
pub(crate) fn run(options: &BesideOptions) -> Result<ExitCode> {
    let mut first = Bench::start(&options.common, DEVICES)?;
    let mut second = Bench::start(&options.common, DEVICES)?;
    let mut result = options.common.head("beside", Some(first.folder.path()));
    let documents: Vec<_> = (0..options.triggers)
        .map(|number| {
            let filters = [format!("other/area{}/tag{number}/#", number % 50)];
            flows::document(Class::PassThrough, &format!("idle-{number:04}"), &filters, 0)
        })
        .collect();
    let mut found = Found::default();
    let half = options.repeat as usize / 2;
    deploy(&mut first, &documents)?;
    measure(options, &mut first, &mut second, half, &mut found)?;
    for document in &documents {
        flows::undeploy(&mut first.http, name(document))?;
    }
    deploy(&mut second, &documents)?;
    measure(options, &mut second, &mut first, options.repeat as usize, &mut found)?;
    merge(&mut result, figures(options, &found));
    first.bar.finish_and_clear();
    second.bar.finish_and_clear();
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
    first.appliance.stop()?;
    second.appliance.stop()?;
    Ok(ExitCode::SUCCESS)
}

/// Pairs that count, and those that do not.
#[derive(Default)]
struct Found {
    pairs: Vec<Pair>,
    dropped: Vec<Pair>,
}

/// Measures until there are `count` pairs, or as many were dropped.
fn measure(
    options: &BesideOptions,
    with: &mut Bench<'_>,
    without: &mut Bench<'_>,
    count: usize,
    found: &mut Found,
) -> Result<()> {
    let plan = Plan { warmup_ms: WARMUP_MS, ..plan(DEVICES, TAGS, options.rate, options.seconds) };
    with.bar.set_length(u64::from(options.repeat));
    while found.pairs.len() < count && found.dropped.len() < count {
        with.bar.set_message("pairs of rows");
        // In turns first and second.
        let pair = if (found.pairs.len() + found.dropped.len()).is_multiple_of(2) {
            let row = with.row_alone(&plan)?;
            Pair { with: row, without: without.row_alone(&plan)? }
        } else {
            let row = without.row_alone(&plan)?;
            Pair { without: row, with: with.row_alone(&plan)? }
        };
        match pair.is_quiet(options.foreign_max) {
            true => found.pairs.push(pair),
            false => found.dropped.push(pair),
        }
    }
    Ok(())
}

fn figures(options: &BesideOptions, found: &Found) -> serde_json::Value {
    let Found { pairs, dropped } = found;
    let cpu = |side: &dyn Fn(&Pair) -> f64| Spread::of(pairs.iter().map(side));
    let ratios: Vec<f64> = pairs.iter().map(Pair::ratio).collect();
    let median = |found: Option<Spread>| found.map(|found| rounded(found.median, 3));
    let spread = Spread::of(ratios.iter().copied());
    json!({
        "triggers": options.triggers,
        "rate": options.rate,
        "seconds": options.seconds,
        "cpu_us_per_value_with": median(cpu(&|pair| us_per_value(&pair.with))),
        "cpu_us_per_value_without": median(cpu(&|pair| us_per_value(&pair.without))),
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

fn deploy(bench: &mut Bench<'_>, documents: &[serde_json::Value]) -> Result<()> {
    bench.bar.set_length(documents.len() as u64);
    bench.bar.set_message("deploying");
    for document in documents {
        flows::deploy(&mut bench.http, document)?;
        bench.bar.inc(1);
    }
    bench.bar.set_position(0);
    Ok(())
}

fn name(document: &serde_json::Value) -> &str {
    document.get("name").and_then(serde_json::Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::spec::Report;

    /// A row of ten values.
    fn row(us_per_value: f64, foreign_cpu_share: f64) -> Row {
        Row::empty(Report {
            foreign_cpu_share,
            window_acknowledged: 10,
            server_threads_us: vec![("a".into(), us_per_value * 9.0), ("b".into(), us_per_value)],
            ..Report::default()
        })
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
