//! `lab unreachable`: a target that is down for an hour, and comes back.
//!
//! Four pipelines get the same number of values a second: one calls a target by `http.request`,
//! one publishes to a target by `mqtt.publish`, both with a retry, and two good ones that publish a
//! derived value, one of them after a wait. The targets are the lab's own and down from the
//! beginning. What counts: memory stays flat, runs that wait for their next attempt are bounded,
//! the good ones lose and fail nothing, and the issue of each target comes and goes.
//!
//! **Invariants**
//! - The slope of memory is taken over the second half of the time in which the target was down:
//!   before that, runs that wait for their attempts become more until the first give up.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::flows::{self, Class, TWIN};
use super::issues::{self, Noted};
use super::options::{Common, Durability, merge};
use super::row::{Plan, Wish, spec};
use crate::http::Http;
use crate::load::book;
use crate::load::crowd::wall_clock;
use crate::load::handle::Load;
use crate::load::spec::{Event, Keep, Live, Payload, Report};
use crate::measure::process;
use crate::measure::statistics::{rounded, slope};
use crate::output;
use crate::readback::{Comparison, read_back_below};
use crate::server::appliance::Appliance;
use crate::server::outside::{Down, Outside, Protocol};
use crate::stop;

const TAGS: u32 = 4;
/// The tags whose values are derived from, and what by.
const GOOD: [(u32, Class); 2] = [(0, Class::PassThrough), (3, Class::Waits)];
/// The limit of waiting runs that the appliance has by default.
const PARKED_MAX: f64 = 10_000.0;
const EVENT_LIMIT: Duration = Duration::from_secs(90);
/// Looks that the result keeps.
const TIMELINE_MAX: usize = 200;

/// Options of `lab unreachable`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    lab unreachable --minutes 1 --back-minutes 1 --cpus none    is it built right?\n  \
    lab unreachable --json unreachable.json                     the hour\n  \
    lab unreachable --how silent                                a target that hangs\n\n\
    Exit code 1: a good pipeline lost, doubled or failed something, an issue did not come or go, \
    or more runs waited than the limit allows. The slope of memory is printed, not judged.")]
pub(crate) struct UnreachableOptions {
    #[command(flatten)]
    pub(crate) common: Common,
    /// How long the targets are down.
    #[arg(long, default_value_t = 60.0)]
    pub(crate) minutes: f64,
    /// How long they are up again before the end; waiting runs are tried within a minute.
    #[arg(long, default_value_t = 3.0)]
    pub(crate) back_minutes: f64,
    /// Runs per second of each of the four pipelines.
    #[arg(long, default_value_t = 10.0)]
    pub(crate) rate: f64,
    /// Devices, of 4 tags each.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) devices: u32,
    /// Further attempts of a step that could not reach its target, after 1, 2, 4 ... 60 seconds.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=20))]
    pub(crate) retries: u8,
    /// How the targets are down.
    #[arg(long, value_enum, default_value_t = Down::Refused)]
    pub(crate) how: Down,
}

/// What is called, by whom, and its issue.
struct Target {
    pipeline: &'static str,
    outside: Outside,
    issue: Noted,
}

/// One look.
#[derive(Clone, Copy, Debug)]
struct Look {
    at: f64,
    rss_mb: f64,
    parked: f64,
    queued: f64,
    is_down: bool,
}

/// Runs it.
pub(crate) fn run(options: &UnreachableOptions) -> Result<ExitCode> {
    let common = &options.common;
    let usable = |value: f64| value.is_finite() && value > 0.0;
    if ![options.minutes, options.back_minutes, options.rate].into_iter().all(usable) {
        bail!("--minutes, --back-minutes and --rate take numbers above zero");
    }
    common.prepare()?;
    let folder = common.folder()?;
    let mut targets = targets(options.how)?;
    let hosts: Vec<String> =
        targets.iter().map(|target| format!("\"{}\"", target.outside.address())).collect();
    let mut setup = common.setup(folder.path(), Durability::Sync)?;
    setup.extra = format!("{}\n[actions]\nallow_hosts = [{}]", setup.extra, hosts.join(", "));
    let began_at = wall_clock() - 1_000_000_000;
    let appliance = Appliance::start(setup)?;
    let mut http = appliance.http();
    deploy(&mut http, &targets, options)?;
    let rss_before = process::rss_bytes(appliance.pid())? as f64 / 1e6;

    let book_file = folder.path().join("book");
    let load = start_load(&appliance, options, &book_file)?;
    let bar = output::progress(0);
    let (looks, up_at) = watch(options, &appliance, &mut http, &mut targets, &bar)?;
    bar.set_message("the load ends");
    let report = load.finish(EVENT_LIMIT, &mut |_| {}, &mut || Ok(()))?;
    bar.set_message("read back");
    let compared = read_good(&mut http, &book::read(&book_file)?, began_at)?;
    bar.finish_and_clear();

    let mut result = common.head("unreachable", Some(folder.path()));
    merge(&mut result, options_of(options));
    merge(&mut result, figures(rss_before, &looks));
    let (good, harmed) = good(&mut http, &report, &compared)?;
    let (called, missed) = called(&mut http, &targets, up_at)?;
    merge(
        &mut result,
        json!({
            "lost": compared.lost,
            "duplicated": compared.duplicated,
            "good": good,
            "called": called,
            "read_back": compared,
            "timeline": timeline(&looks),
            "load": report,
        }),
    );
    let is_bounded = looks.iter().all(|look| look.parked <= PARKED_MAX);
    let faults = [
        (!compared.is_clean()).then(|| "derived values are missing, doubled or altered".to_owned()),
        (!is_bounded).then(|| format!("more than {PARKED_MAX} runs waited")),
    ];
    let faults: Vec<String> = faults.into_iter().flatten().chain(harmed).chain(missed).collect();
    merge(&mut result, json!({ "faults": faults }));
    say(&result, &faults);
    output::save(&result, common.json.as_deref())?;
    appliance.stop()?;
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn options_of(options: &UnreachableOptions) -> Value {
    json!({
        "minutes": options.minutes,
        "back_minutes": options.back_minutes,
        "rate": options.rate,
        "devices": options.devices,
        "retries": options.retries,
        "how": format!("{:?}", options.how).to_lowercase(),
    })
}

fn targets(how: Down) -> Result<Vec<Target>> {
    let kinds = [("lab-calls-http", Protocol::Http), ("lab-publishes-mqtt", Protocol::Mqtt)];
    kinds
        .into_iter()
        .map(|(pipeline, protocol)| {
            let outside = Outside::reserve(protocol, how)?;
            // The key ends with the address, which is the target's own.
            let issue = Noted::new(outside.address().to_string());
            Ok(Target { pipeline, outside, issue })
        })
        .collect()
}

fn deploy(http: &mut Http, targets: &[Target], options: &UnreachableOptions) -> Result<()> {
    for (tag, class) in GOOD {
        let name = good_name(class);
        flows::deploy(http, &flows::document(class, &name, &[format!("lab/+/t{tag}")], 0))?;
    }
    for (tag, target) in (1..).zip(targets) {
        let address = target.outside.address();
        let (kind, fields) = match target.outside.protocol() {
            Protocol::Http => (
                "http.request",
                json!({
                    "method": "POST",
                    "url": format!("http://{address}/values"),
                    "body": { "path": "{{ $trigger.path }}", "value": "{{ $trigger.value }}" },
                }),
            ),
            Protocol::Mqtt => (
                "mqtt.publish",
                json!({
                    "url": format!("mqtt://{address}"),
                    "topic": "plant/{{ $trigger.path }}",
                    "value": "{{ $trigger.value }}",
                }),
            ),
        };
        let document = json!({
            "millrace": 1,
            "name": target.pipeline,
            "steps": {
                "in": { "kind": "uns.subscribe", "fields": { "filters": [format!("lab/+/t{tag}")] } },
                "out": {
                    "kind": kind,
                    "fields": fields,
                    "timeout_ms": 5_000,
                    "retry": {
                        "times": options.retries,
                        "first_ms": 1_000,
                        "factor": 2.0,
                        "most_ms": 60_000,
                    },
                },
            },
            "wires": [{ "from": "in", "port": "out", "to": "out" }],
        });
        flows::deploy(http, &document)?;
    }
    Ok(())
}

fn good_name(class: Class) -> String {
    format!("lab-good-{}", class.slug())
}

/// Starts the devices, and waits until their time begins.
fn start_load(
    appliance: &Appliance,
    options: &UnreachableOptions,
    book: &std::path::Path,
) -> Result<Load> {
    let clients = appliance.create_clients(options.devices as usize)?;
    let credential = appliance.create_subscriber(&format!("{TWIN}#"))?;
    let seconds = (options.minutes + options.back_minutes) * 60.0;
    let plan = Plan {
        clients: options.devices as usize,
        tags: TAGS,
        rate_per_s: options.rate * f64::from(TAGS),
        // The clock of the issues begins with the first value.
        warmup_ms: 0,
        measure_ms: (seconds * 1e3) as u64,
        values_per_client: 0,
        in_flight: 100,
        batch: 1,
        payload: Payload::Plain,
        verdict_every: 0,
    };
    let wish = Wish {
        keep: Keep::Everything,
        book: Some(book.to_path_buf()),
        live: vec![Live { credential, filter: format!("mr/v1/main/{TWIN}#"), share: 1.0 }],
        ..Wish::default()
    };
    let target = appliance.target(clients);
    let load = Load::start(&spec(&target, &plan, &wish), options.common.cpus.load)?;
    loop {
        match load.next(EVENT_LIMIT, &mut || Ok(()))? {
            Event::Measuring => return Ok(load),
            Event::Connected => {}
            other => bail!("the load said {other:?} before it began"),
        }
    }
}

/// Looks at the appliance while the targets are down and after; gives when they came back.
fn watch(
    options: &UnreachableOptions,
    appliance: &Appliance,
    http: &mut Http,
    targets: &mut [Target],
    bar: &ProgressBar,
) -> Result<(Vec<Look>, f64)> {
    let began = Instant::now();
    let down = options.minutes * 60.0;
    let whole = down + options.back_minutes * 60.0;
    bar.set_length(whole as u64);
    let every = Duration::from_secs_f64((whole / 1_000.0).clamp(0.5, 5.0));
    let mut looks = Vec::new();
    let mut up_at = None;
    loop {
        let at = began.elapsed().as_secs_f64();
        if up_at.is_none() && at >= down {
            for target in targets.iter_mut() {
                target.outside.come_up()?;
            }
            up_at = Some(at);
        }
        let open = issues::open(http)?;
        for target in targets.iter_mut() {
            target.issue.look(&open, at);
        }
        let look = Look {
            at,
            rss_mb: process::rss_bytes(appliance.pid())? as f64 / 1e6,
            parked: flows::metric(http, "millrace_engine_parked_runs")?,
            queued: flows::metric(http, "millrace_engine_queue_pending")?,
            is_down: up_at.is_none(),
        };
        bar.set_position(at as u64);
        bar.set_message(format!("{:.1} MB, {} runs wait", look.rss_mb, look.parked));
        looks.push(look);
        if at >= whole {
            return Ok((looks, up_at.unwrap_or(at)));
        }
        stop::pause(every)?;
    }
}

/// Compares what the good pipelines derived.
fn read_good(http: &mut Http, entries: &[book::Entry], from: i64) -> Result<Comparison> {
    let is_good = |entry: &&book::Entry| GOOD.iter().any(|(tag, _)| entry.topic % TAGS == *tag);
    let entries: Vec<book::Entry> = entries.iter().filter(is_good).copied().collect();
    read_back_below(http, TWIN, &entries, TAGS, from, &mut stop::check)
}

fn figures(rss_before: f64, looks: &[Look]) -> Value {
    let down: Vec<&Look> = looks.iter().filter(|look| look.is_down).collect();
    let half = down.get(down.len() / 2..).unwrap_or_default();
    let points = |part: &[&Look]| -> Vec<(f64, f64)> {
        part.iter().map(|look| (look.at / 60.0, look.rss_mb)).collect()
    };
    let most = |figure: &dyn Fn(&Look) -> f64| looks.iter().map(figure).fold(0.0, f64::max);
    let rss = |look: Option<&&Look>| look.map(|look| rounded(look.rss_mb, 1));
    json!({
        "rss_mb_before": rounded(rss_before, 1),
        "rss_mb_half_time": rss(half.first()),
        "rss_mb_end_of_down": rss(down.last()),
        "rss_mb_end": looks.last().map(|look| rounded(look.rss_mb, 1)),
        "rss_mb_most": rounded(most(&|look| look.rss_mb), 1),
        "rss_mb_per_min": rounded(slope(&points(half)), 4),
        "parked_most": most(&|look| look.parked),
        "parked_end_of_down": down.last().map(|look| look.parked),
        "parked_end": looks.last().map(|look| look.parked),
        "queued_most": most(&|look| look.queued),
    })
}

fn timeline(looks: &[Look]) -> Value {
    let step = looks.len().div_ceil(TIMELINE_MAX).max(1);
    let told = looks.iter().step_by(step).map(|look| {
        json!([rounded(look.at, 1), rounded(look.rss_mb, 2), look.parked, look.queued])
    });
    json!({ "columns": ["s", "rss_mb", "parked", "queued"], "rows": told.collect::<Vec<_>>() })
}

/// What the good pipelines did, and what harmed them.
fn good(http: &mut Http, report: &Report, compared: &Comparison) -> Result<(Value, Vec<String>)> {
    let mut found = json!({ "runs": compared.acknowledged });
    let mut harmed = Vec::new();
    for (tag, class) in GOOD {
        let name = good_name(class);
        let activity = flows::activity(http, &name)?;
        for word in ["failed", "shed", "late", "skipped"] {
            let count = flows::count(&activity, word);
            if count > 0 {
                harmed.push(format!("{count} runs of {name} were {word}"));
            }
        }
        let latency = report.derived_by_tag.get(tag as usize);
        merge(&mut found, json!({ class.key(): { "latency": latency, "activity": activity } }));
    }
    Ok((found, harmed))
}

/// What became of the calls, and which issues did not come or go.
fn called(http: &mut Http, targets: &[Target], up_at: f64) -> Result<(Value, Vec<String>)> {
    let mut found = json!({});
    let mut missed = Vec::new();
    for target in targets {
        if !target.issue.is_cleared() {
            let state = if target.issue.is_raised() { "cleared" } else { "raised" };
            missed.push(format!("the issue of {} was not {state}", target.pipeline));
        }
        let mut entry = target.issue.json(0.0, up_at);
        let activity = flows::activity(http, target.pipeline)?;
        merge(
            &mut entry,
            json!({
                "address": target.outside.address().to_string(),
                "answered": target.outside.answered(),
                "activity": activity,
            }),
        );
        merge(&mut found, json!({ target.pipeline: entry }));
    }
    Ok((found, missed))
}

fn say(result: &Value, faults: &[String]) {
    let shown = [
        "minutes",
        "rss_mb_before",
        "rss_mb_half_time",
        "rss_mb_end_of_down",
        "rss_mb_per_min",
        "parked_most",
        "parked_end",
        "lost",
        "duplicated",
    ];
    let mut rows = output::named(result, &shown);
    for target in ["lab-calls-http", "lab-publishes-mqtt"] {
        for key in ["raised_after_s", "cleared_after_s", "answered"] {
            let value = result.pointer(&format!("/called/{target}/{key}"));
            let value = value.map_or("-".into(), Value::to_string);
            rows.push(vec![format!("{target} {key}"), value]);
        }
    }
    output::say(&output::table(&rows));
    for fault in faults {
        output::say(&format!("  {fault}"));
    }
}
