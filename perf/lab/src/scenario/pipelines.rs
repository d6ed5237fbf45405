//! `lab pipelines`: the reference's pipeline classes, each a device's value in and a derived value
//! out, seen by a live subscriber and read back from history.
//!
//! 20 pipelines, fed by 100 devices x 4 tags, each pipeline on the tags of 5 devices. A run stores
//! two values. Latency is from the time at which the device's value was due to the arrival of the
//! derived one. CPU per run is the server's CPU by runs, so both values and the delivery are in it.
//! With `--node-red FOLDER` the same load goes through mosquitto and Node-RED in the same call.
//!
//! **Invariants**
//! - A class's pipelines are deployed by the calls that the designer makes, and the class before
//!   is undeployed first.
//! - `lost` speaks of derived topics: each acknowledged value of the sampled ones must be there.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::bench::{Bench, cpu_us_per_run, plan, runs, runs_per_s};
use super::climb;
use super::flows::{self, Class, TWIN};
use super::options::{Common, merge};
use super::others::Others;
use super::row::{Place, Row, Wish, measure};
use crate::load::spec::Live;
use crate::measure::statistics::{Spread, rounded};
use crate::output;
use crate::server::Target;
use crate::server::mosquitto::Mosquitto;
use crate::server::node_red::NodeRed;

/// The reference's capacity rules.
const EXECUTED_SHARE_MIN: f64 = 0.95;
const FAILED_SHARE_MAX: f64 = 0.001;
const P99_MS_MAX: f64 = 1_000.0;
const CPU_SHARE_MAX: f64 = 0.90;
/// What one run of the script class shall take.
const SCRIPT_MS: f64 = 20.0;
/// The loop that the calibration begins with.
const TURNS_FIRST: u64 = 100_000;

/// Options of `lab pipelines`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PipelinesOptions {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Only these classes.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) class: Vec<Class>,
    /// Runs per second of a class's fixed rows; a class that is not named has its own rate.
    #[arg(long)]
    pub(crate) rate: Option<f64>,
    /// Measured seconds of each row; the script class takes 20 at least outside of a climb.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) seconds: u64,
    /// Rows of each class.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// Climb until a capacity rule breaks, and look for the last rate before it.
    #[arg(long)]
    pub(crate) climb: bool,
    /// Meanwhile 200 other devices store so many values per second that no pipeline wants.
    #[arg(long, value_name = "RATE")]
    pub(crate) beside: Option<f64>,
    /// Devices, of 4 tags each.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(20..=1_000))]
    pub(crate) devices: u32,
    /// Pipelines that share the devices.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) pipelines: u32,
    /// Folder with `node_modules/node-red`: compare with it and mosquitto in the same call.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) node_red: Option<PathBuf>,
}

/// Tags of a device.
pub(super) const TAGS: u32 = 4;
/// The devices beside, and their tags.
const OTHER_DEVICES: usize = 200;
const OTHER_TAGS: u32 = 10;

/// Runs it.
pub(crate) fn run(options: &PipelinesOptions) -> Result<ExitCode> {
    let classes = match options.class.as_slice() {
        [] => vec![Class::PassThrough, Class::InOrder, Class::Waits, Class::Script],
        some => some.to_vec(),
    };
    if options.beside.is_some_and(|rate| !(rate.is_finite() && rate > 0.0)) {
        bail!("--beside must be a number above zero");
    }
    let mut bench = Bench::start(&options.common, options.devices as usize)?;
    let mut others = match options.beside {
        Some(rate) => Some(Others::new(&bench, OTHER_DEVICES, OTHER_TAGS, rate)?),
        None => None,
    };
    let mut result = options.common.head("pipelines", Some(bench.folder.path()));
    let mut table = vec![HEAD.map(str::to_owned).to_vec()];
    let mut is_clean = true;
    for class in classes {
        let found = one_class(&mut bench, options, class, others.as_mut())?;
        is_clean &= found.get("lost").and_then(Value::as_u64) == Some(0);
        is_clean &= others.as_ref().is_none_or(|others| others.compared.is_clean());
        table.push(line(class.key(), &found));
        merge(&mut result, json!({ class.key(): found }));
    }
    bench.bar.finish_and_clear();
    output::say(&output::table(&table));
    if let Some(folder) = &options.node_red {
        let found = side_by_side(options, folder, &result)?;
        output::say(&output::table(&node_red_lines(&found)));
        merge(&mut result, json!({ "node_red": found }));
    }
    output::save(&result, options.common.json.as_deref())?;
    bench.appliance.stop()?;
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn one_class(
    bench: &mut Bench<'_>,
    options: &PipelinesOptions,
    class: Class,
    mut others: Option<&mut Others>,
) -> Result<Value> {
    let turns = match class {
        Class::Script => calibrate(bench, options)?,
        _ => 0,
    };
    let names = deploy_all(bench, options, class, turns)?;
    let script_before = script_cpu(bench)?;
    let failed_before = flows::metric(&mut bench.http, "millrace_engine_runs_failed_total")?;
    let found = climb::rows(bench, options, class, others.as_deref_mut())?;
    let climb::Found { rows, mut breaks, best, limited_by, to_script, engine_to_script } = found;
    let script = script_cpu(bench)? - script_before;
    let failed =
        flows::metric(&mut bench.http, "millrace_engine_runs_failed_total")? - failed_before;
    let compared = bench.read_back(TAGS)?;
    for name in names {
        flows::undeploy(&mut bench.http, &name)?;
    }
    let all_runs: u64 = rows.iter().map(|row| row.report.derived_arrived).sum();
    let failed_share = failed / (all_runs as f64).max(1.0);
    if failed_share > FAILED_SHARE_MAX {
        breaks.push(format!("{:.2} % of the runs failed", failed_share * 100.0));
    }
    // A climb speaks of its best row, rows of one rate of them all.
    let usable = rows.iter().enumerate().filter_map(|(at, row)| {
        let counts = if options.climb { best == Some(at) } else { row.invalid.is_none() };
        counts.then_some(row)
    });
    let median = |figure: &dyn Fn(&Row) -> f64| {
        Spread::of(usable.clone().map(figure)).map(|found| rounded(found.median, 3))
    };
    // With devices beside, the CPU is theirs too: it says nothing of a run.
    let is_alone = others.is_none();
    let cpu_us_per_run = median(&cpu_us_per_run).filter(|_| is_alone);
    let to_script = if is_alone { to_script } else { Vec::new() };
    let script_us_per_run = (script > 0.0).then(|| script * 1e6 / (all_runs as f64).max(1.0));
    Ok(json!({
        "offered_per_s": median(&|row| row.offered_per_s),
        "runs_per_s": median(&runs_per_s),
        "p50_ms": median(&|row| row.report.derived.map_or(f64::NAN, |found| found.p50_ms)),
        "p99_ms": median(&|row| row.report.derived.map_or(f64::NAN, |found| found.p99_ms)),
        "cpu_us_per_run": cpu_us_per_run,
        "cpu_share": median(&|row| row.server_cpu_share),
        "script_us_per_run": script_us_per_run.map(|us| rounded(us, 1)),
        "cpu_to_script_ratio": Spread::of(to_script.iter().map(|ratio| rounded(*ratio, 4))),
        "engine_to_script_ratio":
            Spread::of(engine_to_script.iter().map(|ratio| rounded(*ratio, 4))),
        "turns": turns,
        "breaks": breaks,
        "limited_by": limited_by,
        "beside_per_s": others.as_ref().and_then(|others| beside_per_s(others)),
        "beside_lost": others.as_ref().map(|others| others.compared.lost),
        "failed": failed,
        "lost": compared.lost,
        "duplicated": compared.duplicated,
        "overtaken": rows.iter().map(|row| row.report.derived_overtaken).sum::<u64>(),
        "read_back": compared,
        "rss_peak_mb": rows.iter().map(|row| row.rss_peak_mb).fold(0.0, f64::max),
        "invalid_rows": rows.iter().filter(|row| row.invalid.is_some()).count(),
        "rows": rows,
    }))
}

/// What the devices beside stored.
fn beside_per_s(others: &Others) -> Option<Spread> {
    let stored = others
        .reports
        .iter()
        .map(|report| report.window_acknowledged as f64 / report.window_s.max(1e-9));
    Spread::of(stored).map(|found| found.rounded(1))
}

/// CPU of the engine's threads in the window.
pub(super) fn engine_us(row: &Row) -> f64 {
    let threads = row.report.server_threads_us.iter();
    threads.filter(|(name, _)| name.starts_with("engine-")).map(|(_, us)| us).sum()
}

/// Deploys the class's pipelines; gives their names.
fn deploy_all(
    bench: &mut Bench<'_>,
    options: &PipelinesOptions,
    class: Class,
    turns: u64,
) -> Result<Vec<String>> {
    flows::deploy_shared(&mut bench.http, class, options.pipelines, options.devices, turns)
}

/// Finds the loop that takes about [`SCRIPT_MS`] on this machine, by the product's own account.
fn calibrate(bench: &mut Bench<'_>, options: &PipelinesOptions) -> Result<u64> {
    bench.bar.set_message("calibrating the script");
    let mut turns = TURNS_FIRST;
    for _ in 0..2 {
        let names = deploy_all(bench, options, Class::Script, turns)?;
        let before = script_cpu(bench)?;
        let row = bench.row(&plan(options.devices as usize, TAGS, 10.0, 4))?;
        let spent = script_cpu(bench)? - before;
        for name in names {
            flows::undeploy(&mut bench.http, &name)?;
        }
        let runs = row.report.derived_arrived;
        if runs == 0 || spent <= 0.0 {
            bail!("the script class did not run: {runs} derived values, {spent} s of script CPU");
        }
        let ms = spent * 1e3 / runs as f64;
        turns = ((turns as f64) * SCRIPT_MS / ms) as u64;
    }
    Ok(turns)
}

pub(super) fn script_cpu(bench: &mut Bench<'_>) -> Result<f64> {
    flows::metric(&mut bench.http, "millrace_pipeline_script_cpu_seconds_total")
}

/// The capacity rules that a row breaks.
pub(crate) fn broken(row: &Row) -> Vec<String> {
    let mut why: Vec<String> = row.invalid.iter().cloned().collect();
    let offered = row.report.window_offered as f64;
    if runs(row) < offered * EXECUTED_SHARE_MIN {
        why.push(format!("{:.1} % of the offered runs executed", runs(row) / offered * 100.0));
    }
    let p99 = row.report.derived.map_or(f64::INFINITY, |found| found.p99_ms);
    if p99 >= P99_MS_MAX {
        why.push(format!("p99 {p99:.0} ms"));
    }
    if row.cpu_fill() >= CPU_SHARE_MAX {
        why.push(format!("CPU {:.0} % of its cores", row.cpu_fill() * 100.0));
    }
    why
}

const HEAD: [&str; 10] = [
    "class",
    "runs/s",
    "p50 ms",
    "p99 ms",
    "CPU us/run",
    "script us/run",
    "CPU to script",
    "lost",
    "limited by",
    "<breaks",
];

fn line(name: &str, found: &Value) -> Vec<String> {
    let cell = |key: &str| match found.pointer(&format!("/{key}")) {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(list)) => {
            list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; ")
        }
        Some(value) => value.to_string(),
    };
    let keys = [
        "runs_per_s",
        "p50_ms",
        "p99_ms",
        "cpu_us_per_run",
        "script_us_per_run",
        "cpu_to_script_ratio/median",
        "lost",
        "limited_by",
        "breaks",
    ];
    std::iter::once(name.to_owned()).chain(keys.map(cell)).collect()
}

/// The same load through mosquitto and Node-RED.
fn side_by_side(
    options: &PipelinesOptions,
    folder: &std::path::Path,
    ours: &Value,
) -> Result<Value> {
    let common = &options.common;
    let devices = options.devices as usize;
    let bar = output::progress(0);
    let mut mosquitto = Mosquitto::start(common.cpus.server, devices + 1)?;
    let mut found = json!({});
    for class in [Class::PassThrough, Class::Script] {
        let Some(own) = ours.get(class.key()) else { continue };
        let turns = own.get("turns").and_then(Value::as_u64).unwrap_or(0);
        let rate = options.rate.unwrap_or_else(|| class.first_rate());
        let mut node_red =
            NodeRed::start(folder, mosquitto.target().address, class, turns, common.cpus.server)?;
        let mut clients = mosquitto.target().clients.clone();
        let Some(credential) = clients.pop() else { bail!("there is no client to subscribe") };
        let target = Target { clients, ..mosquitto.target().clone() };
        let live = Live { credential, filter: format!("mr/v1/main/{TWIN}#"), share: 1.0 };
        let mut rows = Vec::new();
        let mut counter_first = 0;
        for _ in 0..options.repeat {
            bar.set_message(format!("Node-RED, {}", class.slug()));
            let wish = Wish {
                counter_first,
                live: vec![live.clone()],
                beside_pids: vec![node_red.pid()],
                ..Wish::default()
            };
            let place = Place { load_core: common.cpus.load, data: None, bar: &bar };
            let plan = plan(devices, TAGS, rate, options.seconds);
            let row = measure("node-red", &target, &plan, &wish, &place)?;
            counter_first = row.report.counter_next;
            node_red.check_alive()?;
            rows.push(row);
        }
        let theirs = Spread::of(rows.iter().map(cpu_us_per_run)).map(|found| found.median);
        let own_cpu = own.get("cpu_us_per_run").and_then(Value::as_f64);
        let ratio = own_cpu.zip(theirs).map(|(own, theirs)| rounded(own / theirs, 3));
        let ours = own.get("rows").and_then(Value::as_array).into_iter().flatten();
        let ours = ours.filter_map(own_us_per_run);
        let ratios = ours.zip(&rows).map(|(own, row)| own / cpu_us_per_run(row));
        let ratio_range = Spread::of(ratios).map(|found| found.rounded(3));
        let entry = json!({
            "cpu_us_per_run": theirs.map(|us| rounded(us, 1)),
            "runs_per_s": Spread::of(rows.iter().map(runs_per_s)).map(|found| found.median),
            "ratio": ratio,
            "ratio_range": ratio_range,
            "rows": rows,
        });
        merge(&mut found, json!({ class.key(): entry }));
    }
    mosquitto.check_alive()?;
    bar.finish_and_clear();
    Ok(found)
}

/// CPU per run of one of our rows, as the result has it.
fn own_us_per_run(row: &Value) -> Option<f64> {
    let count = row.pointer("/report/derived/count")?.as_f64()?;
    Some(row.pointer("/report/server_cpu_us")?.as_f64()? / count.max(1.0))
}

fn node_red_lines(found: &Value) -> Vec<Vec<String>> {
    let mut lines = vec![
        ["class", "Node-RED + mosquitto us/run", "runs/s", "ours to theirs"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for (class, entry) in found.as_object().into_iter().flatten() {
        let cell = |key: &str| entry.get(key).map_or("-".to_owned(), Value::to_string);
        lines.push(vec![class.clone(), cell("cpu_us_per_run"), cell("runs_per_s"), cell("ratio")]);
    }
    lines
}
