//! `lab mixes`: the sizing estimate against mixes of load that it was not made from.
//!
//! The loads that a profile is made of and the mixes run in the same call, in turns: a machine that
//! is slower for an hour is slower for both. The profile is made by the code that makes everybody's
//! (`millrace calibrate`, `millrace sizing profile --from-lab`), and the plan of each mix says what
//! a planner would say of it. What counts is the estimate by the measured busy cores.
//!
//! **Invariants**
//! - No row of a mix goes into the profile.
//! - Rows that are invalid are left out; a mix without a valid one has no figure, and says so.

mod load;

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::Args;
use millrace_sizing::calibration::{self, About, Load, Observation};
use millrace_sizing::{Problem, Profile, estimate};
use serde_json::{Value, json};

use self::load::{DEVICES, LOADS, MIXES, Mix, TAGS};
use super::bench::{Bench, plan};
use super::flows;
use super::options::{Common, merge};
use super::pipelines::script_cpu;
use super::row::Row;
use crate::measure::statistics::{Spread, rounded};
use crate::output;

/// How far off an estimate may be.
const OFF_MAX: f64 = 0.15;
/// The rate of the row that makes all topics known.
const FIRST_RATE: f64 = 5_000.0;

/// Options of `lab mixes`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    lab mixes --json mixes.json                 about nine minutes\n  \
    lab mixes --seconds 20 --repeat 5 --realtime-load    for the results\n  \
    lab mixes --profile-out box.json            keeps the profile that was made\n\n\
    Exit code 1: runs were lost, or a load or mix has no valid row. How far the estimate is off is \
    printed, not judged.")]
pub(crate) struct MixesOptions {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Measured seconds of each row.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) seconds: u64,
    /// Rows of each load and each mix.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// Write the profile here, for `millrace sizing --profile FILE`.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile_out: Option<std::path::PathBuf>,
}

/// The rows of one load or mix.
#[derive(Debug, Default)]
struct Measured {
    rows: Vec<Row>,
    /// CPU of a run's script, of each row.
    script_us: Vec<f64>,
}

impl Measured {
    fn median(&self, figure: impl Fn(&Row) -> f64) -> Option<Spread> {
        Spread::of(self.rows.iter().filter(|row| row.invalid.is_none()).map(figure))
    }

    fn script_ms(&self) -> f64 {
        Spread::of(self.script_us.iter().copied()).map_or(0.0, |found| found.median / 1e3)
    }
}

/// Runs it.
pub(crate) fn run(options: &MixesOptions) -> Result<ExitCode> {
    let mut bench = Bench::start(&options.common, DEVICES)?;
    let mut result = options.common.head("mixes", Some(bench.folder.path()));
    let all: Vec<&Mix> = LOADS.iter().map(|(_, mix)| mix).chain(&MIXES).collect();
    bench.bar.set_length(u64::from(options.repeat) * all.len() as u64 + 1);
    bench.bar.set_message("all topics once");
    bench.live.share = 0.0;
    bench.row(&plan(DEVICES, TAGS, FIRST_RATE, 1))?;
    let mut measured: Vec<Measured> = all.iter().map(|_| Measured::default()).collect();
    for _ in 0..options.repeat {
        for (mix, into) in all.iter().zip(&mut measured) {
            one_row(&mut bench, options, mix, into)?;
        }
    }
    bench.bar.finish_and_clear();
    let (of_loads, of_mixes) = measured.split_at(LOADS.len());
    let profile = profile(of_loads, &result)?;
    if let Some(file) = &options.profile_out {
        output::save(&serde_json::to_value(&profile)?, Some(file))?;
    }
    let compared = compare(of_loads, of_mixes, &profile)?;
    let loads = LOADS.iter().zip(of_loads);
    let loads = loads.map(|((_, mix), found)| (mix.name.to_owned(), json!({ "rows": found.rows })));
    merge(
        &mut result,
        json!({
            "within_15_percent": compared.within,
            "mixes_measured": MIXES.len(),
            "worst_off_percent": rounded(compared.worst * 100.0, 1),
            "lost": compared.missing,
            "mixes": compared.entries,
            "profile": profile,
            "loads": loads.collect::<serde_json::Map<_, _>>(),
        }),
    );
    output::say(&output::table(&compared.table));
    let keys = ["within_15_percent", "mixes_measured", "worst_off_percent", "lost"];
    output::say(&output::table(&output::named(&result, &keys)));
    output::save(&result, options.common.json.as_deref())?;
    bench.appliance.stop()?;
    let is_whole = of_mixes.iter().all(|one| one.rows.iter().any(|row| row.invalid.is_none()));
    Ok(if compared.missing == 0 && is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The mixes beside their estimates.
struct Compared {
    /// Mixes whose estimate is near enough.
    within: usize,
    worst: f64,
    missing: u64,
    entries: Value,
    table: Vec<Vec<String>>,
}

fn compare(of_loads: &[Measured], of_mixes: &[Measured], profile: &Profile) -> Result<Compared> {
    // What a turn of the loop takes is known from the load, as a planner knows it from a trial.
    let script = LOADS.iter().zip(of_loads).find(|((load, _), _)| *load == Load::Script);
    let turn_ms = script.map_or(0.0, |((_, mix), found)| found.script_ms() / mix.turns() as f64);
    let builtin = Profile::named("millrace").map_err(said)?;
    let mut compared = Compared {
        within: 0,
        worst: 0.0,
        missing: 0,
        entries: json!({}),
        table: vec![HEAD.map(str::to_owned).to_vec()],
    };
    for (mix, measured) in MIXES.iter().zip(of_mixes) {
        let plan = mix.plan(turn_ms);
        let by = |profile: &Profile| estimate(&plan, profile).map_err(said);
        let estimated = by(profile)?.cpu;
        let cores = measured.median(|row| row.server_cpu_share);
        let off = cores.map(|cores| estimated.busy_cores / cores.median - 1.0);
        let missing = measured.rows.iter().map(|row| mix.missing(row)).sum::<u64>();
        compared.missing += missing;
        if let Some(off) = off {
            compared.within += usize::from(off.abs() <= OFF_MAX);
            compared.worst = f64::max(compared.worst, off.abs());
        }
        let percent = |off: Option<f64>| off.map(|off| rounded(off * 100.0, 1));
        let builtin_cores = by(&builtin)?.cpu.busy_cores;
        let entry = json!({
            "text": mix.text,
            "estimated_cores": rounded(estimated.busy_cores, 4),
            "measured_cores": cores,
            "off_percent": percent(off),
            "builtin_cores": rounded(builtin_cores, 4),
            "builtin_off_percent": percent(cores.map(|cores| builtin_cores / cores.median - 1.0)),
            "items": estimated.items,
            "missing_runs": missing,
            "rows": measured.rows,
        });
        compared.table.push(line(mix, &entry));
        merge(&mut compared.entries, json!({ mix.name: entry }));
    }
    Ok(compared)
}

/// Deploys what a mix needs, measures a row, and takes it out of service.
fn one_row(
    bench: &mut Bench<'_>,
    options: &MixesOptions,
    mix: &Mix,
    into: &mut Measured,
) -> Result<()> {
    bench.bar.set_message(mix.text);
    let mut names = Vec::new();
    for document in mix.documents() {
        flows::deploy(&mut bench.http, &document)?;
        names.extend(document.get("name").and_then(Value::as_str).map(str::to_owned));
    }
    bench.live.share = mix.share();
    let before = script_cpu(bench)?;
    let mut load = plan(DEVICES, TAGS, mix.values_per_s, options.seconds);
    load.batch = mix.at_once;
    let row = bench.row(&load)?;
    let script = script_cpu(bench)? - before;
    for name in names {
        flows::undeploy(&mut bench.http, &name)?;
    }
    let scripts = row.report.derived_arrived as f64 * mix.script_share();
    if scripts > 0.0 {
        into.script_us.push(script * 1e6 / scripts);
    }
    into.rows.push(row);
    Ok(())
}

/// The profile that the loads give.
fn profile(measured: &[Measured], head: &Value) -> Result<Profile> {
    let mut observations = Vec::new();
    for ((load, mix), found) in LOADS.iter().zip(measured) {
        let median = |figure: &dyn Fn(&Row) -> f64| found.median(figure).map(|of| of.median);
        let stored = median(&|row| row.stored_per_s);
        let busy = median(&|row| row.server_cpu_share);
        let Some((values_per_s, busy_cores)) = stored.zip(busy) else {
            return Err(anyhow!(
                "the load `{}` has no valid row: nothing to estimate by",
                mix.name
            ));
        };
        observations.push(Observation {
            load: *load,
            values_per_s,
            at_once: f64::from(mix.at_once),
            busy_cores,
            script_cores: values_per_s * mix.share() * found.script_ms() / 1e3,
        });
    }
    let text = |at: &str| head.pointer(at).and_then(Value::as_str).unwrap_or_default();
    let about = About {
        machine: format!("{}, server and load pinned apart", text("/machine/cpu")),
        measured: text("/date").split('T').next().unwrap_or_default().to_owned(),
        version: text("/build/version").trim_start_matches("millrace ").to_owned(),
        method: "lab mixes, medians of valid rows".to_owned(),
    };
    let base = Profile::named("millrace").map_err(said)?;
    calibration::profile(&observations, &base, &about).map_err(said)
}

/// Problems as an error.
fn said(problems: Vec<Problem>) -> anyhow::Error {
    let sentences = problems.iter().map(|problem| format!("{}: {}", problem.at, problem.sentence));
    anyhow!("{}", sentences.collect::<Vec<_>>().join(" "))
}

const HEAD: [&str; 6] =
    ["mix", "<what", "estimated cores", "measured", "off %", "built-in profile off %"];

fn line(mix: &Mix, entry: &Value) -> Vec<String> {
    let cell = |at: &str| {
        let value = entry.pointer(at).and_then(Value::as_f64);
        value.map_or("-".to_owned(), |value| rounded(value, 3).to_string())
    };
    let keys =
        ["/estimated_cores", "/measured_cores/median", "/off_percent", "/builtin_off_percent"];
    [mix.name.to_owned(), mix.text.to_owned()].into_iter().chain(keys.map(cell)).collect()
}
