//! `lab beside`: what pipelines cost the values that no trigger wants, and how both go together.
//!
//! First the devices alone, then the same load while triggers are deployed on other topics
//! (interleaved): the extra cost of an unrelated value. Then pipelines that run beside it.
//!
//! **Invariants**
//! - Ratios are made by pairs of one call.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::flows::{self, Class};
use super::options::{Common, merge};
use super::pipelines::{Bench, plan};
use super::row::Row;
use crate::measure::statistics::{Spread, rounded};
use crate::output;

/// Options of `lab beside`.
#[derive(Clone, Debug, Args)]
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
    /// Pairs of rows.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
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
    let (mut with, mut without): (Vec<Row>, Vec<Row>) = (Vec::new(), Vec::new());
    for _ in 0..options.repeat {
        bench.bar.set_message("with triggers");
        with.push(bench.row_alone(&plan)?);
        bench.bar.set_message("without triggers");
        for document in &documents {
            flows::undeploy(&mut bench.http, name(document))?;
        }
        without.push(bench.row_alone(&plan)?);
        for document in &documents {
            flows::redeploy(&mut bench.http, name(document))?;
        }
    }
    let usable = |row: &&Row| row.invalid.is_none();
    let cpu = |rows: &[Row]| Spread::of(rows.iter().filter(usable).map(|row| row.cpu_us_per_value));
    let pairs = with.iter().zip(&without).filter(|(with, without)| usable(with) && usable(without));
    let ratio =
        Spread::of(pairs.map(|(with, without)| with.cpu_us_per_value / without.cpu_us_per_value));
    merge(
        &mut result,
        json!({
            "triggers": options.triggers,
            "cpu_us_per_value_with": cpu(&with).map(|found| rounded(found.median, 3)),
            "cpu_us_per_value_without": cpu(&without).map(|found| rounded(found.median, 3)),
            "ratio": ratio.map(|found| rounded(found.median, 4)),
            "ratio_range": ratio,
            "with": with,
            "without": without,
        }),
    );
    bench.bar.finish_and_clear();
    let rows: Vec<Vec<String>> =
        ["triggers", "cpu_us_per_value_without", "cpu_us_per_value_with", "ratio"]
            .iter()
            .map(|key| {
                vec![(*key).to_owned(), result.get(*key).map_or("-".into(), |v| v.to_string())]
            })
            .collect();
    output::say(&output::table(&rows));
    output::save(&result, options.common.json.as_deref())?;
    bench.appliance.stop()?;
    Ok(ExitCode::SUCCESS)
}

fn name(document: &serde_json::Value) -> &str {
    document.get("name").and_then(serde_json::Value::as_str).unwrap_or_default()
}
