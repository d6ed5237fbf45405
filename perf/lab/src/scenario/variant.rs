//! `lab variant KIND`: one thing different from the plain case, in pairs of rows.
//!
//! Where the load differs (payloads, QoS 0, TLS, live subscribers, reading), one appliance takes
//! both rows of a pair in turns; where the appliance differs (durability, its disk), two stand on
//! the same core. For run history, the pipelines of one appliance are deployed anew between rows.
//!
//! **Invariants**
//! - Ratios are made by pairs; a pair with an invalid row is left out of them and counted.
//! - `lost` speaks of all rows of the call, of both sides, also of invalid ones.
//! - What the product or the machine has not is said (`skipped`, `why`), and nothing is measured.

mod kind;
mod reader;
mod websocket;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::bench::{Bench, Start, plan, runs};
use super::flows::{self, Class};
use super::options::{Common, Durability, merge};
use super::row::{Plan, Row, Wish};
use crate::measure::bottleneck::Limit;
use crate::measure::statistics::{Spread, rounded};
use crate::output;
use crate::readback::Comparison;
use crate::server::Target;
use crate::server::appliance::count;
use crate::server::slow_disk::SlowDisk;
use crate::stop;
use kind::{Kind, Load};
use reader::{Read, Readers};

/// Devices have as many tags, as in the reference's workload; those of pipelines fewer.
const TAGS: u32 = 10;
const PIPELINE_TAGS: u32 = 4;
const PIPELINES: u32 = 20;
const WARMUP_MS: u64 = 700;
const ALL_IN_LIMIT: std::time::Duration = std::time::Duration::from_secs(10);
const LOOK: std::time::Duration = std::time::Duration::from_millis(20);

/// Options of `lab variant`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    lab variant qos0 --json qos0.json         devices that publish at QoS 0\n  \
    lab variant object --rate 5000            objects of 1 KB\n  \
    lab variant slow-disk --repeat 5          a disk of 100 writes a second (root only)\n\n\
    Read `ratio`: the CPU of each pair's rows, this case by the plain one. Exit code 1: something \
    was lost, doubled or altered.")]
pub(crate) struct VariantOptions {
    /// What is different.
    #[arg(value_enum)]
    kind: Kind,
    #[command(flatten)]
    common: Common,
    /// Values per second of all devices together; each kind has its own.
    #[arg(long)]
    rate: Option<f64>,
    /// Devices, of 10 tags each (of 4 where pipelines run).
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    devices: u32,
    /// Measured seconds of each row.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,
    /// Pairs of rows.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,
}

/// Two rows that follow one another.
struct Pair {
    plain: Row,
    this: Row,
    /// What readers saw meanwhile.
    read: Option<Read>,
}

impl Pair {
    fn is_valid(&self) -> bool {
        self.plain.invalid.is_none() && self.this.invalid.is_none()
    }
}

/// Where the rows run.
struct Sides<'a> {
    /// Takes the rows of this case; of both where there is no other.
    this: Bench<'a>,
    /// Takes the plain rows where the appliance itself differs.
    plain: Option<Bench<'a>>,
    // After the benches: their appliances write to it.
    _disk: Option<SlowDisk>,
}

/// Runs it.
pub(crate) fn run(options: &VariantOptions) -> Result<ExitCode> {
    let rate = options.rate.unwrap_or(options.kind.rate());
    if !(rate.is_finite() && rate > 0.0) {
        bail!("--rate must be a number above zero");
    }
    if options.kind == Kind::Websocket {
        return websocket::run(&options.common);
    }
    let mut sides = match begin(options)? {
        Ok(sides) => sides,
        Err(why) => return skip(options, &why),
    };
    let mut result = options.common.head("variant", Some(sides.this.folder.path()));
    sides.this.bar.set_length(u64::from(options.repeat) * 2);
    let load = options.kind.load(&mut sides.this, options.devices as usize)?;
    let mut pairs = Vec::new();
    for number in 0..options.repeat {
        pairs.push(pair(options, &mut sides, &load, rate, number)?);
    }
    let dropped = flows::metric(&mut sides.this.http, "millrace_mqtt_dropped_messages_total")?;
    let compared = read_back(options, &mut sides)?;
    sides.this.bar.finish_and_clear();
    merge(&mut result, figures(options, rate, &pairs, &compared));
    if options.kind == Kind::Subscribers {
        merge(&mut result, json!({ "subscribers": load.live.len(), "dropped": dropped }));
    }
    let shown = [
        "ratio",
        "cpu_us_per_value",
        "cpu_us_per_value_plain",
        "p99_ms",
        "p99_ms_plain",
        "delivered_per_s",
        "queries_per_s",
        "last_p99_ms",
        "range_p99_ms",
        "lost",
        "duplicated",
        "pairs_dropped",
        "limited_by",
    ];
    let has = |name: &&str| result.get(*name).is_some_and(|value| !value.is_null());
    let shown: Vec<&str> = shown.into_iter().filter(has).collect();
    output::say(&output::table(&output::named(&result, &shown)));
    for example in &compared.examples {
        output::say(&format!("  {example}"));
    }
    output::save(&result, options.common.json.as_deref())?;
    sides.this.appliance.stop()?;
    if let Some(plain) = sides.plain {
        plain.appliance.stop()?;
    }
    Ok(if compared.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A result that says why nothing was measured.
fn skip(options: &VariantOptions, why: &str) -> Result<ExitCode> {
    output::say(&format!("not measured: {why}"));
    let mut result = options.common.head("variant", None);
    merge(&mut result, json!({ "kind": options.kind.word(), "skipped": true, "why": why }));
    output::save(&result, options.common.json.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Starts what the kind needs, or says what the machine has not.
fn begin(options: &VariantOptions) -> Result<Result<Sides<'_>, String>> {
    let (common, devices) = (&options.common, options.devices as usize);
    let start = |start| Bench::start_as(common, devices, start);
    let (mut this, mut plain, mut disk) = (Start::default(), None, None);
    match options.kind {
        Kind::Interval => {
            this.durability = Durability::Interval;
            plain = Some(start(Start::default())?);
        }
        Kind::SlowDisk => {
            let folder = common.folder()?;
            let slow = match SlowDisk::create(folder)? {
                Ok(slow) => slow,
                Err(why) => return Ok(Err(why)),
            };
            this.data = Some(slow.mounted_at().join("data"));
            plain = Some(start(Start::default())?);
            disk = Some(slow);
        }
        Kind::Tls => this.has_tls = true,
        _ => {}
    }
    let this = start(this)?;
    if let Some(disk) = &disk {
        disk.slow_down(this.appliance.pid())?;
    }
    Ok(Ok(Sides { this, plain, _disk: disk }))
}

fn pair(
    options: &VariantOptions,
    sides: &mut Sides<'_>,
    load: &Load,
    rate: f64,
    number: u32,
) -> Result<Pair> {
    let word = options.kind.word();
    let tags = if options.kind.history().is_some() { PIPELINE_TAGS } else { TAGS };
    let plan = Plan {
        warmup_ms: WARMUP_MS,
        in_flight: 16,
        verdict_every: 20,
        ..plan(options.devices as usize, tags, rate, options.seconds)
    };
    let mut read = None;
    // In turns first and second, so that a machine that drifts drifts on both.
    let order = if number.is_multiple_of(2) { [false, true] } else { [true, false] };
    let (mut plain_row, mut this_row) = (None, None);
    for is_this in order {
        let bench = match (is_this, &mut sides.plain) {
            (false, Some(plain)) => plain,
            _ => &mut sides.this,
        };
        bench.bar.set_message(if is_this { word } else { "plain" });
        if let Some(history) = options.kind.history() {
            deploy(bench, options, if is_this { history } else { "standard" })?;
        }
        let readers = match (is_this, options.kind) {
            (true, Kind::Reading) => Some(Readers::start(&bench.appliance)?),
            _ => None,
        };
        let change = |wish: &mut Wish, target: &mut Target| {
            if options.kind.history().is_some() {
                wish.live = vec![load.derived.clone()];
            }
            if is_this {
                load.apply(wish, target);
            }
        };
        let row = bench.row_as(&plan, &change)?;
        if let Some(readers) = readers {
            read = Some(readers.end()?);
        }
        *(if is_this { &mut this_row } else { &mut plain_row }) = Some(row);
    }
    match (plain_row, this_row) {
        (Some(plain), Some(this)) => Ok(Pair { plain, this, read }),
        _ => bail!("a pair has two rows"),
    }
}

/// Deploys the pass-through pipelines with this detail of history, in the place of others.
fn deploy(bench: &mut Bench<'_>, options: &VariantOptions, history: &str) -> Result<()> {
    for number in 0..PIPELINES {
        let own = (0..options.devices).filter(|device| device % PIPELINES == number);
        let filters: Vec<String> = own.map(|device| format!("lab/d{device:04}/+")).collect();
        let name = format!("lab-history-{number:02}");
        let mut document = flows::document(Class::PassThrough, &name, &filters, 0);
        merge(&mut document, json!({ "settings": { "history": history } }));
        flows::deploy(&mut bench.http, &document)?;
    }
    Ok(())
}

/// Both sides, once the appliance has taken all that was sent.
fn read_back(options: &VariantOptions, sides: &mut Sides<'_>) -> Result<Comparison> {
    let mut all = Comparison::default();
    let derives = options.kind.history().is_some();
    let (prefix, tags) = if derives { (flows::TWIN, PIPELINE_TAGS) } else { ("", TAGS) };
    for bench in std::iter::once(&mut sides.this).chain(&mut sides.plain) {
        // What was sent without a promise may still be on its way.
        let appliance = &bench.appliance;
        let mut before = None;
        stop::wait_for("the last values to be stored", ALL_IN_LIMIT, LOOK, || {
            let ledger = appliance.ledger()?;
            let now = count(&ledger, "received");
            let is_still = count(&ledger, "in_flight") == 0 && before == Some(now);
            before = Some(now);
            Ok(is_still.then_some(()))
        })?;
        all.add(bench.read_back_below(prefix, tags)?);
    }
    Ok(all)
}

/// What a reader must know of pairs that do not count.
fn dropped_note(pairs: &[Pair]) -> Vec<String> {
    let why = pairs.iter().filter(|pair| !pair.is_valid());
    let why: Vec<&str> = why
        .filter_map(|pair| pair.plain.invalid.as_deref().or(pair.this.invalid.as_deref()))
        .collect();
    match why.last() {
        Some(last) => {
            vec![format!("{} of {} pairs do not count: {last}", why.len(), pairs.len())]
        }
        None => Vec::new(),
    }
}

fn figures(options: &VariantOptions, rate: f64, pairs: &[Pair], compared: &Comparison) -> Value {
    let valid = || pairs.iter().filter(|pair| pair.is_valid());
    let is_run = options.kind.history().is_some();
    let us = |row: &Row| {
        let count = if is_run { runs(row) } else { row.report.window_acknowledged as f64 };
        row.cpu_us() / count.max(1.0)
    };
    let p99 = |row: &Row| match (is_run, row.report.derived) {
        (true, Some(derived)) => derived.p99_ms,
        _ => row.verdict_p99_ms(),
    };
    let spread = |figure: &dyn Fn(&Pair) -> f64| {
        Spread::of(valid().map(figure)).map(|found| found.rounded(3))
    };
    let delivered = |pair: &Pair| match (options.kind, pair.this.report.derived) {
        (Kind::Subscribers, Some(derived)) => derived.count as f64 / pair.this.report.window_s,
        _ => f64::NAN,
    };
    let read = |figure: &dyn Fn(&Read) -> f64| {
        spread(&|pair: &Pair| pair.read.as_ref().map_or(f64::NAN, figure))
    };
    // A side that is limited says so; where both store all, nothing limited.
    let limited = valid().map(|pair| pair.this.limited_by).find(|limit| *limit != Limit::Nothing);
    json!({
        "kind": options.kind.word(),
        "rate": rate,
        "devices": options.devices,
        "seconds": options.seconds,
        "ratio": spread(&|pair| us(&pair.this) / us(&pair.plain)),
        "cpu_us_per_value": spread(&|pair| us(&pair.this)),
        "cpu_us_per_value_plain": spread(&|pair| us(&pair.plain)),
        "p99_ms": spread(&|pair| p99(&pair.this)),
        "p99_ms_plain": spread(&|pair| p99(&pair.plain)),
        "stored_per_s": spread(&|pair| pair.this.stored_per_s),
        "delivered_per_s": spread(&delivered),
        "queries_per_s": read(&|read| read.per_s),
        "last_p99_ms": read(&|read| read.last_p99_ms),
        "range_p99_ms": read(&|read| read.range_p99_ms),
        "limited_by": limited.unwrap_or(Limit::Nothing),
        "lost": compared.lost,
        "duplicated": compared.duplicated + compared.altered + compared.unknown,
        "read_back": compared,
        "notes": dropped_note(pairs),
        "pairs_used": valid().count(),
        "pairs_dropped": pairs.len() - valid().count(),
        "rows": pairs.iter()
            .map(|pair| json!({ "plain": pair.plain, "this": pair.this }))
            .collect::<Vec<_>>(),
        "foreign_cpu": rounded(
            pairs.iter().map(|pair| pair.this.report.foreign_cpu_share).fold(0.0, f64::max), 3),
    })
}
