//! `lab peers`: the appliance and other programs under the same four loads, interleaved.
//!
//! The loads: `plant` = 1,000 clients x 20/s, `hundred` = 100 clients with 20,000/s together,
//! `bunched` = 50 clients that publish as fast as a window of 20 lets them, `quiet` = 1,000
//! clients with 5,000/s together. Each repetition measures the servers one after another, and a
//! ratio is made within its repetition.
//!
//! The servers: the floor, mosquitto, rumqttd, mosquitto with PostgreSQL behind it as plants put
//! them together by hand, and the appliance. One that is not installed is left out and told.
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
use crate::server::postgres::{self, ByHand};
use crate::server::rumqttd::{self, Rumqttd};

/// Values of each client of the bunched load.
const BUNCHED_VALUES: u64 = 6_000;
/// How often an invalid row is tried again.
const TRIES: usize = 2;
/// The database by hand, in results.
const POSTGRES: &str = "postgres";

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
    /// Only these other programs.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) with: Vec<Other>,
    /// Leave mosquitto out.
    #[arg(long)]
    pub(crate) without_mosquitto: bool,
}

/// A program to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Other {
    Mosquitto,
    Rumqttd,
    /// mosquitto, a program that subscribes, and PostgreSQL.
    Postgres,
}

impl Other {
    const ALL: [Self; 3] = [Self::Mosquitto, Self::Rumqttd, Self::Postgres];
}

/// The other programs that run.
#[derive(Default)]
struct Others {
    mosquitto: Option<Mosquitto>,
    rumqttd: Option<Rumqttd>,
    postgres: Option<ByHand>,
    versions: BTreeMap<&'static str, Option<String>>,
    /// What is not installed, and what to do.
    missing: Vec<String>,
    /// Values that the database was given, and the longest that it took to store the last of a row.
    given: u64,
    behind_s: f64,
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
    let mut others = Others::start(options, clients)?;
    let mut appliance = None;
    let mut targets: Vec<(&'static str, Target)> = vec![("floor", floor.target().clone())];
    targets.extend(others.targets());
    if !options.without_appliance {
        let started = Appliance::start(common.setup(folder.path(), Durability::Sync)?)?;
        targets.push(("appliance", started.target(started.create_clients(clients)?)));
        appliance = Some(started);
    }
    let found = measure_all(options, &plans, &targets, folder.path(), &mut others)?;
    floor.check_alive()?;
    others.check_alive()?;
    appliance.as_mut().map_or(Ok(()), Appliance::check_alive)?;

    let mut result = common.head("peers", Some(folder.path()));
    merge(&mut result, others.json());
    merge(&mut result, json!({ "repetitions": options.repeat }));
    let mut table = vec![TABLE_HEAD.map(str::to_owned).to_vec()];
    for load in &found {
        let (summary, line) = summarize(load);
        merge(&mut result, json!({ load.name: summary }));
        table.push(line);
    }
    output::say(&output::table(&table));
    for why in &others.missing {
        output::say(&format!("  left out: {why}"));
    }
    output::save(&result, common.json.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

impl Others {
    /// Starts those that are wanted and installed.
    fn start(options: &PeersOptions, clients: usize) -> Result<Self> {
        let core = options.common.cpus.server;
        let mut others = Self::default();
        let wanted = |other: &Other| {
            let is_named = options.with.is_empty() || options.with.contains(other);
            is_named && !(options.without_mosquitto && *other == Other::Mosquitto)
        };
        for other in Other::ALL.into_iter().filter(wanted) {
            let outcome = match other {
                Other::Mosquitto => mosquitto::find().map(|program| {
                    others.versions.insert("mosquitto", mosquitto::version(&program));
                }),
                Other::Rumqttd => rumqttd::find().map(|program| {
                    others.versions.insert("rumqttd", rumqttd::version(&program));
                }),
                Other::Postgres => mosquitto::find().and(postgres::find()).map(|programs| {
                    others.versions.insert("postgres", postgres::version(&programs));
                }),
            };
            if let Err(error) = outcome {
                others.missing.push(format!("{error:#}"));
                continue;
            }
            match other {
                Other::Mosquitto => others.mosquitto = Some(Mosquitto::start(core, clients)?),
                Other::Rumqttd => others.rumqttd = Some(Rumqttd::start(core, clients)?),
                Other::Postgres => {
                    let folder = options.common.folder()?;
                    others.postgres = Some(ByHand::start(core, clients, folder)?);
                }
            }
        }
        Ok(others)
    }

    fn targets(&self) -> Vec<(&'static str, Target)> {
        let mosquitto = self.mosquitto.as_ref().map(|found| ("mosquitto", found.target().clone()));
        let rumqttd = self.rumqttd.as_ref().map(|found| ("rumqttd", found.target().clone()));
        let postgres = self.postgres.as_ref().map(|found| ("postgres", found.target().clone()));
        [mosquitto, rumqttd, postgres].into_iter().flatten().collect()
    }

    /// Waits until the database has stored what its broker acknowledged, so that it does not work
    /// during the next server's row.
    fn settle(&mut self, server: &str, row: &Row) -> Result<()> {
        let (POSTGRES, Some(postgres)) = (server, &self.postgres) else { return Ok(()) };
        self.given += row.report.acknowledged;
        let behind = postgres.catch_up(self.given)?.as_secs_f64();
        self.behind_s = self.behind_s.max(behind);
        Ok(())
    }

    fn check_alive(&mut self) -> Result<()> {
        self.mosquitto.as_mut().map_or(Ok(()), Mosquitto::check_alive)?;
        self.rumqttd.as_mut().map_or(Ok(()), Rumqttd::check_alive)?;
        self.postgres.as_mut().map_or(Ok(()), ByHand::check_alive)
    }

    fn json(&self) -> Value {
        let mut notes = Vec::new();
        if self.postgres.is_some() {
            notes.push(format!(
                "PostgreSQL had stored all {} values that its broker acknowledged, {:.1} s after \
                 the end of a row at the latest; what it did by then is in no figure",
                self.given, self.behind_s
            ));
        }
        json!({
            "versions": self.versions,
            "mosquitto_version": self.versions.get("mosquitto"),
            "missing": self.missing,
            "notes": notes,
        })
    }
}

fn plans(options: &PeersOptions) -> Result<Vec<(&'static str, Plan)>> {
    let paced = |clients, rate_per_s| Plan {
        clients,
        tags: 10,
        rate_per_s,
        warmup_ms: 1_500,
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
    others: &mut Others,
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
                // Without a rate it would be far behind at the end of the row, at no cost.
                if *server == POSTGRES && plan.rate_per_s <= 0.0 {
                    bar.inc(1);
                    continue;
                }
                bar.set_message(format!("{name}, {server}"));
                let mut good = None;
                for _ in 0..TRIES {
                    let wish = Wish { counter_first, ..Wish::default() };
                    let row = measure(server, target, plan, &wish, &place)?;
                    counter_first = counter_first.max(row.report.counter_next);
                    others.settle(server, &row)?;
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

const TABLE_HEAD: [&str; 11] = [
    "load",
    "appliance us",
    "mosquitto us",
    "rumqttd us",
    "postgres us",
    "floor us",
    "to mosquitto",
    "to rumqttd",
    "to postgres",
    "to floor",
    "p99 ms",
];

fn summarize(found: &Found) -> (Value, Vec<String>) {
    let rows = &found.rows;
    let cpu = |server: &str| Spread::of(valid(rows, server).map(|row| row.cpu_us_per_value));
    let (appliance, mosquitto, floor) = (cpu("appliance"), cpu("mosquitto"), cpu("floor"));
    let to_mosquitto = ratio(rows, "appliance", "mosquitto");
    let to_floor = ratio(rows, "appliance", "floor");
    let median = |spread: Option<Spread>| spread.map(|spread| rounded(spread.median, 3));
    let p99 = Spread::of(valid(rows, "appliance").map(Row::verdict_p99_ms));
    let servers: Vec<&'static str> = rows.keys().copied().collect();
    let own = "appliance";
    let to: BTreeMap<_, _> = servers
        .iter()
        .filter(|server| **server != own)
        .map(|server| (*server, ratio(rows, own, server).map(|found| found.rounded(3))))
        .collect();
    let costs: BTreeMap<_, _> =
        servers.iter().map(|server| (*server, cpu(server).map(|us| us.rounded(3)))).collect();
    let summary = json!({
        "to": to,
        "cpu_us": costs,
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
        cell(cpu("rumqttd")),
        cell(cpu(POSTGRES)),
        cell(floor),
        cell(to_mosquitto),
        cell(ratio(rows, own, "rumqttd")),
        cell(ratio(rows, own, POSTGRES)),
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
