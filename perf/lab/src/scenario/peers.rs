//! `lab peers`: the appliance, mosquitto and the floor under the same four loads, interleaved.
//!
//! The loads: `plant` = 1,000 clients x 20/s, `hundred` = 100 clients with 20,000/s together,
//! `bunched` = 50 clients that publish as fast as a window of 20 lets them, `quiet` = 1,000
//! clients with 5,000/s together. Each repetition measures the servers one after another, and a
//! ratio is made within its repetition.
//!
//! **Invariants**
//! - All servers get the same packets on the same core; only the appliance checks who sends, and
//!   only it stores before it acknowledges.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::options::{Common, Durability, merge};
use super::row::{Place, Plan, Row, Wish, measure};
use crate::load::spec::Payload;
use crate::measure::statistics::{Spread, rounded};
use crate::output;
use crate::server::Target;
use crate::server::appliance::Appliance;
use crate::server::floor::Floor;
use crate::server::mosquitto::{self, Mosquitto};

/// Values of each client of the bunched load.
const BUNCHED_VALUES: u64 = 6_000;
/// How often an invalid row is tried again.
const TRIES: usize = 2;

/// Options of `lab peers`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PeersOptions {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Repetitions, interleaved.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// Measured seconds of each row.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) seconds: u64,
    /// Only these loads.
    #[arg(long, value_delimiter = ',', default_values = ["plant", "hundred", "bunched", "quiet"])]
    pub(crate) loads: Vec<String>,
    /// Leave the appliance out: the machine's own figures.
    #[arg(long)]
    pub(crate) without_appliance: bool,
    /// Leave mosquitto out.
    #[arg(long)]
    pub(crate) without_mosquitto: bool,
}

/// Rows of one load by server.
type Rows = BTreeMap<&'static str, Vec<Option<Row>>>;

/// What one load found.
struct Found {
    name: &'static str,
    rows: Rows,
    /// Why rows were dropped.
    dropped: Vec<String>,
}

/// Runs it.
pub(crate) fn run(options: &PeersOptions) -> Result<ExitCode> {
    let common = &options.common;
    let plans = plans(options)?;
    common.prepare()?;
    let folder = common.folder()?;
    let clients = plans.iter().map(|(_, plan)| plan.clients).max().unwrap_or(0);
    let core = common.cpus.server;
    let mut floor = Floor::start(core, clients)?;
    let mut mosquitto = None;
    if !options.without_mosquitto {
        mosquitto = Some(Mosquitto::start(core, clients)?);
    }
    let mut appliance = None;
    let mut targets: Vec<(&'static str, Target)> = vec![("floor", floor.target().clone())];
    if let Some(mosquitto) = &mosquitto {
        targets.push(("mosquitto", mosquitto.target().clone()));
    }
    if !options.without_appliance {
        let started = Appliance::start(common.setup(folder.path(), Durability::Sync)?)?;
        targets.push(("appliance", started.target(started.create_clients(clients)?)));
        appliance = Some(started);
    }
    let found = measure_all(options, &plans, &targets, folder.path())?;
    floor.check_alive()?;
    mosquitto.as_mut().map_or(Ok(()), Mosquitto::check_alive)?;
    appliance.as_mut().map_or(Ok(()), Appliance::check_alive)?;

    let mut result = common.head("peers", Some(folder.path()));
    let version = mosquitto::find().ok().and_then(|program| mosquitto::version(&program));
    merge(&mut result, json!({ "mosquitto_version": version, "repetitions": options.repeat }));
    let mut table = vec![TABLE_HEAD.map(str::to_owned).to_vec()];
    for load in &found {
        let (summary, line) = summarize(load);
        merge(&mut result, json!({ load.name: summary }));
        table.push(line);
    }
    output::say(&output::table(&table));
    output::save(&result, common.json.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

fn plans(options: &PeersOptions) -> Result<Vec<(&'static str, Plan)>> {
    let paced = |clients, rate_per_s| Plan {
        clients,
        tags: 10,
        rate_per_s,
        warmup_ms: 2_000,
        measure_ms: options.seconds * 1_000,
        values_per_client: 0,
        in_flight: 16,
        batch: 1,
        payload: Payload::Plain,
        verdict_every: 0,
    };
    let all = [
        ("plant", paced(1_000, 20_000.0)),
        ("hundred", Plan { in_flight: 100, ..paced(100, 20_000.0) }),
        (
            "bunched",
            Plan { in_flight: 20, values_per_client: BUNCHED_VALUES, tags: 1, ..paced(50, 0.0) },
        ),
        ("quiet", paced(1_000, 5_000.0)),
    ];
    let known: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    if let Some(wrong) = options.loads.iter().find(|load| !known.contains(&load.as_str())) {
        bail!("there is no load '{wrong}': choose among {}", known.join(", "));
    }
    Ok(all.into_iter().filter(|(name, _)| options.loads.iter().any(|load| load == name)).collect())
}

fn measure_all(
    options: &PeersOptions,
    plans: &[(&'static str, Plan)],
    targets: &[(&'static str, Target)],
    data: &Path,
) -> Result<Vec<Found>> {
    let steps = plans.len() * targets.len() * options.repeat as usize;
    let bar = output::progress(steps as u64);
    let place = Place { load_core: options.common.cpus.load, data: Some(data), bar: &bar };
    let new = |name| Found { name, rows: Rows::new(), dropped: Vec::new() };
    let mut all: Vec<Found> = plans.iter().map(|(name, _)| new(*name)).collect();
    // The appliance remembers what it has: later runs go on counting where earlier ones ended.
    let mut counter_first = 0;
    for _ in 0..options.repeat {
        for ((name, plan), found) in plans.iter().zip(&mut all) {
            for (server, target) in targets {
                bar.set_message(format!("{name}, {server}"));
                let mut good = None;
                for _ in 0..TRIES {
                    let wish = Wish { counter_first, ..Wish::default() };
                    let row = measure(server, target, plan, &wish, &place)?;
                    counter_first = counter_first.max(row.report.counter_next);
                    match &row.invalid {
                        None => {
                            good = Some(row);
                            break;
                        }
                        Some(why) => {
                            let why = format!("{server}: {why}");
                            bar.suspend(|| output::complain(&format!("lab: {name}, {why}")));
                            found.dropped.push(why);
                        }
                    }
                }
                found.rows.entry(server).or_default().push(good);
                bar.inc(1);
            }
        }
    }
    bar.finish_and_clear();
    Ok(all)
}

const TABLE_HEAD: [&str; 7] =
    ["load", "appliance us", "mosquitto us", "floor us", "to mosquitto", "to floor", "p99 ms"];

fn summarize(found: &Found) -> (Value, Vec<String>) {
    let rows = &found.rows;
    let cpu = |server: &str| Spread::of(valid(rows, server).map(|row| row.cpu_us_per_value));
    let (appliance, mosquitto, floor) = (cpu("appliance"), cpu("mosquitto"), cpu("floor"));
    let to_mosquitto = ratio(rows, "appliance", "mosquitto");
    let to_floor = ratio(rows, "appliance", "floor");
    let median = |spread: Option<Spread>| spread.map(|spread| rounded(spread.median, 3));
    let p99 = Spread::of(valid(rows, "appliance").map(Row::verdict_p99_ms));
    let summary = json!({
        "mosquitto_cpu_us": median(mosquitto),
        "appliance_cpu_us": median(appliance),
        "floor_cpu_us": median(floor),
        "ratio": median(to_mosquitto),
        "ratio_to_floor": median(to_floor),
        "ratio_range": to_mosquitto,
        "ratio_to_floor_range": to_floor,
        "mosquitto_to_floor": ratio(rows, "mosquitto", "floor"),
        "ack_p99_ms": median(p99),
        "dropped_rows": rows.values().flatten().filter(|row| row.is_none()).count(),
        "dropped_because": found.dropped,
        "rows": rows.values().flatten().flatten().collect::<Vec<_>>(),
    });
    let cell = |spread: Option<Spread>| spread.map_or("-".into(), |s| format!("{:.2}", s.median));
    let line = vec![
        found.name.to_owned(),
        cell(appliance),
        cell(mosquitto),
        cell(floor),
        cell(to_mosquitto),
        cell(to_floor),
        cell(p99),
    ];
    (summary, line)
}

fn valid<'a>(rows: &'a Rows, server: &str) -> impl Iterator<Item = &'a Row> {
    rows.get(server).into_iter().flatten().flatten()
}

/// Ratios within each repetition that has both rows.
fn ratio(rows: &Rows, above: &str, below: &str) -> Option<Spread> {
    let pairs = rows.get(above)?.iter().zip(rows.get(below)?);
    Spread::of(pairs.filter_map(|(above, below)| {
        Some(above.as_ref()?.cpu_us_per_value / below.as_ref()?.cpu_us_per_value)
    }))
}
