//! `lab ingest`: the reference's device workload against the appliance, beside the floor.
//!
//! First every topic sends its first value at once (first contact). Then either pairs of floor and
//! appliance at one rate, interleaved, or a climb in steps with a hold (`steps`). At the end 40
//! topics are read back value by value, from the first contact to the last step.
//!
//! **Invariants**
//! - Floor and appliance get the same load in the same call; ratios are made by pairs.
//! - `lost` and `duplicated` speak of all runs of the call, also of rows that were invalid.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::options::{Common, Durability, LoadOptions, merge};
use super::row::{Place, Plan, Row, Wish, measure};
use super::steps::{self, StepOptions};
use crate::load::book;
use crate::load::crowd::wall_clock;
use crate::load::spec::{Credential, FirstContact, Keep};
use crate::measure::bottleneck;
use crate::measure::statistics::{Spread, rounded};
use crate::output;
use crate::readback::{Comparison, read_back};
use crate::server::appliance::{Appliance, folder_bytes};
use crate::server::floor::Floor;

/// Topics that are read back value by value (the reference's number).
const READ_BACK_TOPICS: u32 = 40;

/// Options of `lab ingest`.
#[derive(Clone, Debug, Args)]
pub(crate) struct IngestOptions {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) load: LoadOptions,
    /// Values per second of all devices together.
    #[arg(long, default_value_t = 20_000.0)]
    pub(crate) rate: f64,
    /// Measured seconds of each row.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// Pairs of floor and appliance.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// When the appliance syncs.
    #[arg(long, value_enum, default_value_t = Durability::Sync)]
    pub(crate) durability: Durability,
    /// Leave the floor out.
    #[arg(long)]
    pub(crate) without_floor: bool,
    #[command(flatten)]
    pub(crate) steps: StepOptions,
}

/// The two servers of a call and what has been sent to the appliance so far.
pub(crate) struct Bench<'a> {
    pub(crate) options: &'a IngestOptions,
    pub(crate) bar: ProgressBar,
    pub(crate) generator_cpu_max: f64,
    appliance: Appliance,
    clients: Vec<Credential>,
    floor: Option<Floor>,
    folder: TempDir,
    counter_next: u64,
    books: Vec<PathBuf>,
    began: i64,
}

impl<'a> Bench<'a> {
    fn start(options: &'a IngestOptions) -> Result<Self> {
        let common = &options.common;
        let devices = options.load.devices as usize;
        common.prepare()?;
        let folder = common.folder()?;
        let appliance = Appliance::start(common.setup(folder.path(), options.durability)?)?;
        let clients = appliance.create_clients(devices)?;
        let floor = match options.without_floor {
            true => None,
            false => Some(Floor::start(common.cpus.server, devices)?),
        };
        Ok(Self {
            options,
            bar: output::progress(0),
            generator_cpu_max: bottleneck::GENERATOR_CPU_MAX,
            appliance,
            clients,
            floor,
            folder,
            counter_next: 0,
            books: Vec::new(),
            began: wall_clock() - 1_000_000_000,
        })
    }

    /// One row of the appliance at `rate`, its sampled values written down.
    pub(crate) fn appliance_row(&mut self, rate: f64, seconds: u64) -> Result<Row> {
        self.bar.set_message(format!("appliance, {rate:.0}/s"));
        let plan = self.plan(rate, seconds);
        self.appliance_run(&plan, false)
    }

    /// One row of the floor; none when it is left out.
    pub(crate) fn floor_row(&mut self, rate: f64, seconds: u64) -> Result<Option<Row>> {
        self.bar.set_message(format!("floor, {rate:.0}/s"));
        let Some(floor) = &mut self.floor else { return Ok(None) };
        floor.check_alive()?;
        let target = floor.target().clone();
        let wish = Wish { generator_cpu_max: self.generator_cpu_max, ..Wish::default() };
        let place = Place { load_core: self.options.common.cpus.load, data: None, bar: &self.bar };
        measure("floor", &target, &self.plan(rate, seconds), &wish, &place).map(Some)
    }

    fn first_contact(&mut self) -> Result<FirstContact> {
        self.bar.set_message("first contact");
        let plan = self.plan(0.0, 0);
        let row = self.appliance_run(&plan, true)?;
        match row.report.first_contact {
            Some(found) => Ok(found),
            None => bail!("the load generator reported no first contact"),
        }
    }

    fn appliance_run(&mut self, plan: &Plan, first_contact: bool) -> Result<Row> {
        self.appliance.check_alive()?;
        let book = self.folder.path().join(format!("book-{}", self.books.len()));
        let wish = Wish {
            first_contact,
            counter_first: self.counter_next,
            keep: Keep::Sample(READ_BACK_TOPICS),
            book: Some(book.clone()),
            resend_ms: None,
            generator_cpu_max: self.generator_cpu_max,
            ..Wish::default()
        };
        let place = Place {
            load_core: self.options.common.cpus.load,
            data: Some(self.folder.path()),
            bar: &self.bar,
        };
        let target = self.appliance.target(self.clients.clone());
        let row = measure("appliance", &target, plan, &wish, &place)?;
        self.counter_next = row.report.counter_next;
        self.books.push(book);
        self.bar.inc(1);
        Ok(row)
    }

    fn plan(&self, rate_per_s: f64, seconds: u64) -> Plan {
        let load = &self.options.load;
        Plan {
            clients: load.devices as usize,
            tags: load.tags,
            rate_per_s,
            warmup_ms: if seconds == 0 { 0 } else { 2_000 },
            measure_ms: seconds * 1_000,
            values_per_client: 0,
            in_flight: load.window(),
            batch: load.gateway_batch,
            payload: load.payload,
            verdict_every: load.verdict_every,
        }
    }

    fn read_back(&mut self) -> Result<Comparison> {
        self.bar.set_message("read back");
        let mut entries = Vec::new();
        for file in &self.books {
            entries.extend(book::read(file)?);
        }
        let mut http = self.appliance.http();
        let bar = &self.bar;
        read_back(&mut http, &entries, self.options.load.tags, self.began, &mut || {
            bar.tick();
            crate::stop::check()
        })
    }
}

/// Runs it.
pub(crate) fn run(options: &IngestOptions) -> Result<ExitCode> {
    let is_rate = options.rate.is_finite() && options.rate > 0.0;
    if !options.steps.steps && !is_rate {
        bail!("--rate must be a number above zero");
    }
    let mut bench = Bench::start(options)?;
    let mut result = options.common.head("ingest", Some(bench.folder.path()));
    merge(&mut result, options_of(options));
    let first = bench.first_contact()?;
    merge(
        &mut result,
        json!({ "first_contact_s": rounded(first.seconds, 3), "first_contact": first }),
    );
    let clean_rows = if options.steps.steps {
        let (found, clean) = steps::climb(&mut bench)?;
        merge(&mut result, found);
        clean
    } else {
        merge(&mut result, pairs(&mut bench)?);
        true
    };
    let compared = bench.read_back()?;
    let ledger = bench.appliance.ledger()?;
    let bytes = folder_bytes(&bench.appliance.setup().data);
    merge(
        &mut result,
        json!({
            "lost": compared.lost,
            "duplicated": compared.duplicated,
            "read_back": compared,
            "ledger": ledger,
            "data_folder_mb": rounded(bytes as f64 / 1e6, 1),
        }),
    );
    bench.bar.finish_and_clear();
    for line in lines(&result) {
        output::say(&line);
    }
    output::save(&result, options.common.json.as_deref())?;
    bench.appliance.stop()?;
    let passed = compared.is_clean() && clean_rows;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn options_of(options: &IngestOptions) -> Value {
    json!({
        "devices": options.load.devices,
        "tags": options.load.tags,
        "rate": options.rate,
        "seconds": options.seconds,
        "in_flight": options.load.window(),
        "gateway_batch": options.load.gateway_batch,
        "payload": options.load.payload,
        "durability": format!("{:?}", options.durability).to_lowercase(),
        "security": true,
    })
}

/// Floor and appliance at one rate, in turns.
fn pairs(bench: &mut Bench<'_>) -> Result<Value> {
    let options = bench.options;
    bench.bar.set_length(u64::from(options.repeat) + 1);
    let mut rows = Vec::new();
    for _ in 0..options.repeat {
        let floor = bench.floor_row(options.rate, options.seconds)?;
        let appliance = bench.appliance_row(options.rate, options.seconds)?;
        rows.push((floor, appliance));
    }
    Ok(summary(&rows))
}

/// The keys from the valid rows' medians; every row is kept beside them.
pub(crate) fn summary(rows: &[(Option<Row>, Row)]) -> Value {
    let appliances: Vec<&Row> = rows.iter().map(|(_, row)| row).collect();
    let valid: Vec<&Row> = appliances.iter().copied().filter(|row| row.invalid.is_none()).collect();
    let median = |figure: &dyn Fn(&Row) -> f64| {
        Spread::of(valid.iter().map(|row| figure(row))).map(|found| rounded(found.median, 3))
    };
    let usable = |row: &&Row| row.invalid.is_none();
    let floors = rows.iter().filter_map(|(floor, _)| floor.as_ref()).filter(usable);
    let floor_cpu = Spread::of(floors.map(|row| row.cpu_us_per_value));
    let pairs = rows.iter().filter_map(|(floor, row)| Some((floor.as_ref()?, row)));
    let pairs = pairs.filter(|(floor, row)| usable(floor) && usable(row));
    let ratio = Spread::of(pairs.map(|(floor, row)| row.cpu_us_per_value / floor.cpu_us_per_value));
    let refused: u64 = appliances.iter().map(|row| row.report.refused).sum();
    let open: u64 = appliances.iter().map(|row| row.report.open).sum();
    json!({
        "offered_per_s": median(&|row| row.offered_per_s),
        "stored_per_s": median(&|row| row.stored_per_s),
        "ack_p50_ms": median(&|row| row.report.ack.p50_ms),
        "ack_p99_ms": median(&|row| row.report.ack.p99_ms),
        "verdict_p50_ms": median(&Row::verdict_p50_ms),
        "verdict_p99_ms": median(&Row::verdict_p99_ms),
        "appliance_cpu_us_per_value": median(&|row| row.cpu_us_per_value),
        "appliance_cpu_share": median(&|row| row.server_cpu_share),
        "floor_cpu_us_per_value": floor_cpu.map(|found| rounded(found.median, 3)),
        "ratio_to_floor": ratio.map(|found| rounded(found.median, 3)),
        "ratio_to_floor_range": ratio,
        "rss_peak_mb": appliances.iter().map(|row| row.rss_peak_mb).fold(0.0, f64::max),
        "rss_growth_mb_per_min": median(&|row| row.rss_growth_mb_per_min),
        "refused": refused,
        "unacknowledged": open,
        "limited_by": appliances.last().map(|row| row.limited_by),
        "disk_write_mb_s": median(&|row| row.disk_write_mb_s.unwrap_or(f64::NAN)),
        "disk_ops_s": median(&|row| row.disk_ops_s.unwrap_or(f64::NAN)),
        "network_mb_s": median(&|row| row.network_mb_s),
        "generator_cpu": median(&|row| row.report.generator_cpu_share),
        "generator_lag_p99_ms": median(&|row| row.report.lag.p99_ms),
        "foreign_cpu": median(&|row| row.report.foreign_cpu_share),
        "stolen_cpu": median(&|row| row.report.stolen_cpu_share),
        "invalid_rows": rows.iter().filter(|(_, row)| row.invalid.is_some()).count(),
        "rows": rows.iter().map(|(floor, row)| json!({ "floor": floor, "appliance": row }))
            .collect::<Vec<_>>(),
    })
}

/// The short table.
fn lines(result: &Value) -> Vec<String> {
    const SHOWN: [(&str, &str); 17] = [
        ("guaranteed_per_s", "guaranteed values/s"),
        ("maximum_per_s", "maximum values/s"),
        ("stored_per_s", "stored values/s"),
        ("ack_p99_ms", "acknowledged p99 ms"),
        ("verdict_p50_ms", "verdict p50 ms"),
        ("verdict_p99_ms", "verdict p99 ms"),
        ("appliance_cpu_us_per_value", "appliance CPU us/value"),
        ("floor_cpu_us_per_value", "floor CPU us/value"),
        ("ratio_to_floor", "ratio to floor"),
        ("rss_peak_mb", "memory peak MB"),
        ("lost", "lost"),
        ("duplicated", "duplicated"),
        ("refused", "refused"),
        ("first_contact_s", "first contact s"),
        ("generator_lag_p99_ms", "generator lag p99 ms"),
        ("foreign_cpu", "foreign CPU (cores)"),
        ("invalid_rows", "invalid rows"),
    ];
    let mut rows = Vec::new();
    for (key, name) in SHOWN {
        if let Some(value) = result.get(key).filter(|value| !value.is_null()) {
            rows.push(vec![name.to_owned(), value.to_string()]);
        }
    }
    let mut lines = vec![output::table(&rows)];
    if let Some(table) = result.get("table").and_then(Value::as_str) {
        lines.insert(0, table.to_owned());
    }
    lines
}
