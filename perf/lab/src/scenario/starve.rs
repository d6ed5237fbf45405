//! `lab starve`: the box starved of CPU by programs beside it, and well again.
//!
//! Three script pipelines of different weight and some light ones run on a steady load. Then CPU
//! hogs, children of the lab, take the appliance's core (`--cpus none`: every core of the
//! machine). The issue `cpu-starved` must come, tell the delay, and name the heaviest pipelines in
//! their order; when the hogs have ended it must go. Every value is read back.
//!
//! **Invariants**
//! - Hogs are bounded in number and time, and end by their ids, also when the lab is killed.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::bench::{Bench, plan};
use super::flows::{self, Class};
use super::issues::{self, Noted};
use super::options::{Common, merge};
use crate::hog::Hogs;
use crate::http::Http;
use crate::load::handle::Load;
use crate::load::spec::Event;
use crate::measure::statistics::rounded;
use crate::output;
use crate::stop;

/// Key of the issue.
const ISSUE: &str = "cpu-starved";
const DEVICES: usize = 20;
/// Tag 0 goes to light pipelines, tag 1 to scripts.
const TAGS: u32 = 2;
/// Values per second of all devices: each script pipeline has five runs a second.
const RATE: f64 = 40.0;
/// Loops of the script pipelines, the heaviest first; each has a quarter of the devices.
const TURNS: [u64; 4] = [400_000, 200_000, 100_000, 1_000];
/// Pipelines that the issue names.
const NAMED: usize = 3;
/// CPU time of a script: under hogs it takes many times as long on the wall.
const SCRIPT_CPU_MS: u64 = 2_000;
/// Load before the hogs.
const CALM: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(250);
const EVENT_LIMIT: Duration = Duration::from_secs(90);
/// Past the time after which they are ended.
const HOGS_SLACK_S: u64 = 30;

/// Options of `lab starve`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    lab starve --json starve.json      the appliance's core alone; the load keeps its own\n  \
    lab starve --cpus none             the whole machine: everything else on it will be slow\n\n\
    Exit code 1: the issue did not come, did not name the heaviest pipelines, did not go, was there \
    before the hogs, or a value was lost.")]
pub(crate) struct StarveOptions {
    #[command(flatten)]
    pub(crate) common: Common,
    /// CPU hogs for each core that they take.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) hogs: u32,
    /// How long the hogs run.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(5..=600))]
    pub(crate) seconds: u64,
    /// How long to wait for the issue to go; it does 30 s after the last bad moment.
    #[arg(long, default_value_t = 70, value_parser = clap::value_parser!(u64).range(10..=600))]
    pub(crate) clear_seconds: u64,
}

/// What was seen.
struct Seen {
    issue: Noted,
    hogs: usize,
    /// Seconds since the load began.
    hogs_began: f64,
    hogs_ended: f64,
    delay_s_most: f64,
    pressure_percent_most: f64,
    calm_issues: Vec<Value>,
}

/// Runs it.
pub(crate) fn run(options: &StarveOptions) -> Result<ExitCode> {
    let mut bench = Bench::start(&options.common, DEVICES)?;
    let mut result = options.common.head("starve", Some(bench.folder.path()));
    deploy(&mut bench.http)?;
    let seconds = CALM.as_secs() + options.seconds + options.clear_seconds;
    let load = bench.start_load(&plan(DEVICES, TAGS, RATE, seconds))?;
    loop {
        match load.next(EVENT_LIMIT, &mut || Ok(()))? {
            Event::Measuring => break,
            Event::Connected => {}
            other => bail!("the load said {other:?} before it began"),
        }
    }
    let seen = watch(options, &mut bench)?;
    bench.bar.set_message("the load ends");
    let report = finish(&load, options)?;
    let compared = bench.read_back(TAGS)?;
    bench.bar.finish_and_clear();

    let order = named(seen.issue.what());
    let wanted: Vec<String> = (0..NAMED).map(heavy).collect();
    let faults: Vec<&str> = [
        (!seen.calm_issues.is_empty(), "the issue was there before the hogs"),
        (!seen.issue.is_raised() && !seen.issue.is_cleared(), "the issue did not come"),
        (seen.issue.is_raised(), "the issue did not go"),
        (order != wanted, "the issue does not name the heaviest pipelines in their order"),
        (!compared.is_clean(), "derived values are missing, doubled or altered"),
    ]
    .into_iter()
    .filter_map(|(is_so, fault)| is_so.then_some(fault))
    .collect();
    merge(&mut result, seen.issue.json(seen.hogs_began, seen.hogs_ended));
    merge(
        &mut result,
        json!({
            "hogs": seen.hogs,
            "hog_core": options.common.cpus.server,
            "hog_seconds": rounded(seen.hogs_ended - seen.hogs_began, 1),
            "delay_s_most": rounded(seen.delay_s_most, 3),
            "pressure_percent_most": rounded(seen.pressure_percent_most, 1),
            "heaviest_named": order,
            "heaviest_wanted": wanted,
            "lost": compared.lost,
            "duplicated": compared.duplicated,
            "read_back": compared,
            "load": report,
            "faults": faults,
        }),
    );
    let shown = [
        "hogs",
        "hog_seconds",
        "raised_after_s",
        "cleared_after_s",
        "delay_s_most",
        "pressure_percent_most",
        "heaviest_named",
        "lost",
    ];
    output::say(&output::table(&output::named(&result, &shown)));
    output::say(&format!("  {}", seen.issue.what()));
    for fault in &faults {
        output::say(&format!("  {fault}"));
    }
    output::save(&result, options.common.json.as_deref())?;
    bench.appliance.stop()?;
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn heavy(number: usize) -> String {
    format!("lab-heavy-{number}")
}

fn deploy(http: &mut Http) -> Result<()> {
    let quarter = DEVICES / TURNS.len();
    for (number, turns) in TURNS.into_iter().enumerate() {
        let own = number * quarter..(number + 1) * quarter;
        let filters = |tag| -> Vec<String> {
            own.clone().map(|device| format!("lab/d{device:04}/t{tag}")).collect()
        };
        let mut script = flows::document(Class::Script, &heavy(number), &filters(1), turns);
        merge(&mut script, json!({ "settings": { "limits": { "cpu_ms": SCRIPT_CPU_MS } } }));
        flows::deploy(http, &script)?;
        let light = format!("lab-light-{number}");
        flows::deploy(http, &flows::document(Class::PassThrough, &light, &filters(0), 0))?;
    }
    Ok(())
}

/// Calm, hogs, calm.
fn watch(options: &StarveOptions, bench: &mut Bench<'_>) -> Result<Seen> {
    let began = Instant::now();
    let now = || began.elapsed().as_secs_f64();
    let mut seen = Seen {
        issue: Noted::new(ISSUE),
        hogs: 0,
        hogs_began: 0.0,
        hogs_ended: 0.0,
        delay_s_most: 0.0,
        pressure_percent_most: 0.0,
        calm_issues: Vec::new(),
    };
    bench.bar.set_message("calm");
    stop::pause(CALM)?;
    let mut http = bench.appliance.http();
    seen.calm_issues = issues::open(&mut http)?;
    seen.calm_issues.retain(|issue| issue.get("key").and_then(Value::as_str) == Some(ISSUE));

    let core = options.common.cpus.server;
    let cores = if core.is_some() { 1 } else { std::thread::available_parallelism()?.get() };
    seen.hogs = options.hogs as usize * cores;
    seen.hogs_began = now();
    let hogs = Hogs::start(seen.hogs, core, options.seconds + HOGS_SLACK_S)?;
    bench.bar.set_message(format!("{} hogs", seen.hogs));
    while now() < seen.hogs_began + options.seconds as f64 {
        seen.look(&mut http, now())?;
        stop::pause(LOOK)?;
    }
    seen.hogs_ended = now();
    hogs.end()?;
    bench.bar.set_message("calm again");
    while now() < seen.hogs_ended + options.clear_seconds as f64 {
        seen.look(&mut http, now())?;
        if !seen.issue.is_raised() {
            break;
        }
        stop::pause(LOOK)?;
    }
    Ok(seen)
}

impl Seen {
    fn look(&mut self, http: &mut Http, now: f64) -> Result<()> {
        self.issue.look(&issues::open(http)?, now);
        let delay = flows::metric(http, "millrace_runtime_sched_latency_p99_seconds")?;
        let pressure = flows::metric(http, "millrace_runtime_cpu_pressure_percent")?;
        self.delay_s_most = self.delay_s_most.max(delay);
        self.pressure_percent_most = self.pressure_percent_most.max(pressure);
        Ok(())
    }
}

fn finish(load: &Load, options: &StarveOptions) -> Result<crate::load::spec::Report> {
    let limit = EVENT_LIMIT + Duration::from_secs(options.clear_seconds);
    load.finish(limit, &mut |_| {}, &mut || Ok(()))
}

/// The script pipelines in the order in which a sentence names them.
fn named(sentence: &str) -> Vec<String> {
    let mut found: Vec<(usize, String)> = (0..TURNS.len())
        .filter_map(|number| Some((sentence.find(&heavy(number))?, heavy(number))))
        .collect();
    found.sort();
    found.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_pipelines_in_the_order_of_the_sentence() {
        let sentence = "Most CPU: main/lab-heavy-1 (3 s), main/lab-heavy-0, main/other.";
        assert_eq!(named(sentence), [heavy(1), heavy(0)]);
        assert!(named("").is_empty());
    }
}
