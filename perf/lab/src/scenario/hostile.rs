//! `lab hostile`: endless and memory-hungry scripts beside good pipelines.
//!
//! Two good pipelines, one that passes values through and one with a short script, get a steady
//! load. In interleaved pairs of rows the same load runs with and without bad pipelines beside them:
//! scripts that never end or take memory until they are stopped, each triggered by the values of a
//! device. What counts is the good ones' p99 with the bad ones, by that without.
//!
//! **Invariants**
//! - Bad pipelines are deployed anew before each row, so that their pauses begin anew.
//! - Ratios are made by pairs of one call; a pair with an invalid row, or with much else going on on
//!   the machine, is left out of them and counted.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use super::bench::{Bench, plan};
use super::flows::{self, Class};
use super::options::{Common, merge};
use super::row::Row;
use crate::load::spec::Latency;
use crate::measure::statistics::{Spread, rounded};
use crate::output;

const DEVICES: usize = 50;
/// Tag 0 goes through, tag 1 through a script.
const TAGS: u32 = 2;
/// The good script's loop: below a millisecond.
const TURNS: u64 = 5_000;
/// The good pipelines in the order of their tags.
const GOOD: [(&str, Class); 2] =
    [("lab-good-pass-through", Class::PassThrough), ("lab-good-script", Class::Script)];
/// What the bad ones run, in turn.
const BAD: [&str; 5] = [
    "for (;;) {}",
    "let x = 1; while (true) x = (x * 31 + 7) % 1000003;",
    "const all = []; for (;;) all.push('x'.repeat(1000) + all.length);",
    "return /^(a+)+$/.test('a'.repeat(40) + 'b');",
    "const f = () => Promise.resolve().then(f); await f();",
];

/// Options of `lab hostile`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    lab hostile --json hostile.json          ten bad pipelines, five pairs of rows\n  \
    lab hostile --bad 50 --rate 1000         harder\n  \
    lab hostile --realtime-load --foreign-max 1    on a machine that others use too\n\n\
    Exit code 1: a good pipeline failed, lost or doubled something, or no script was stopped. \
    The ratio is printed, not judged.")]
pub(crate) struct HostileOptions {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Bad pipelines.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) bad: u32,
    /// Values per second of all devices, half of them to each good pipeline.
    #[arg(long, default_value_t = 400.0)]
    pub(crate) rate: f64,
    /// Measured seconds of each row.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) seconds: u64,
    /// Pairs of rows.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// Leave a pair out of the ratios when all else on the machine used more than so many cores in
    /// one of its rows.
    #[arg(long, default_value_t = 0.2)]
    pub(crate) foreign_max: f64,
}

/// What the bad pipelines did in a row.
#[derive(Clone, Copy, Debug, Default)]
struct Harm {
    kills: u64,
    failed: u64,
    quarantined: u64,
}

/// Runs it.
pub(crate) fn run(options: &HostileOptions) -> Result<ExitCode> {
    let mut bench = Bench::start(&options.common, DEVICES)?;
    let mut result = options.common.head("hostile", Some(bench.folder.path()));
    for (tag, (name, class)) in GOOD.into_iter().enumerate() {
        let document = flows::document(class, name, &[format!("lab/+/t{tag}")], TURNS);
        flows::deploy(&mut bench.http, &document)?;
    }
    bench.bar.set_length(u64::from(options.repeat) * 2);
    let mut pairs = Vec::new();
    let mut harm = Harm::default();
    for number in 0..options.repeat {
        // In turns first and second, so that a machine that drifts drifts on both.
        let pair = if number.is_multiple_of(2) {
            let with = bad_row(&mut bench, options, &mut harm)?;
            (with, good_row(&mut bench, options)?)
        } else {
            let without = good_row(&mut bench, options)?;
            (bad_row(&mut bench, options, &mut harm)?, without)
        };
        pairs.push(pair);
    }
    let compared = bench.read_back(TAGS)?;
    let (good, mut faults) = good(&mut bench)?;
    if !compared.is_clean() {
        faults.push("derived values are missing, doubled or altered".into());
    }
    if harm.kills == 0 {
        faults.push("no script was stopped: the bad pipelines did not run".into());
    }
    bench.bar.finish_and_clear();
    let used = pairs.iter().filter(|pair| is_usable(pair, options.foreign_max)).count();
    for (tag, (_, class)) in GOOD.into_iter().enumerate() {
        merge(&mut result, json!({ class.key(): compare(&pairs, tag, options.foreign_max) }));
    }
    merge(
        &mut result,
        json!({
            "bad": options.bad,
            "rate": options.rate,
            "kills": harm.kills,
            "bad_runs_failed": harm.failed,
            "quarantined": harm.quarantined,
            "good": good,
            "lost": compared.lost,
            "duplicated": compared.duplicated,
            "read_back": compared,
            "pairs_used": used,
            "pairs_dropped": pairs.len() - used,
            "foreign_max": options.foreign_max,
            "faults": faults,
            "rows": pairs.iter().map(|(with, without)| json!({ "with": with, "without": without }))
                .collect::<Vec<_>>(),
        }),
    );
    say(&result, &faults);
    output::save(&result, options.common.json.as_deref())?;
    bench.appliance.stop()?;
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn good_row(bench: &mut Bench<'_>, options: &HostileOptions) -> Result<Row> {
    bench.bar.set_message("good pipelines alone");
    bench.row(&plan(DEVICES, TAGS, options.rate, options.seconds))
}

fn bad_row(bench: &mut Bench<'_>, options: &HostileOptions, harm: &mut Harm) -> Result<Row> {
    bench.bar.set_message(format!("{} bad pipelines beside", options.bad));
    for number in 0..options.bad {
        flows::deploy(&mut bench.http, &bad(number))?;
    }
    let row = bench.row(&plan(DEVICES, TAGS, options.rate, options.seconds))?;
    for number in 0..options.bad {
        let activity = flows::activity(&mut bench.http, &bad_name(number))?;
        harm.kills += flows::count(&activity, "script_kills");
        harm.failed += flows::count(&activity, "failed");
        let is_quarantined = activity.get("quarantined").and_then(Value::as_bool);
        harm.quarantined += u64::from(is_quarantined == Some(true));
        flows::undeploy(&mut bench.http, &bad_name(number))?;
    }
    Ok(row)
}

fn bad_name(number: u32) -> String {
    format!("lab-bad-{number:03}")
}

fn bad(number: u32) -> Value {
    let code = BAD.get(number as usize % BAD.len()).copied().unwrap_or_default();
    let filter = format!("lab/d{:04}/+", number as usize % DEVICES);
    json!({
        "millrace": 1,
        "name": bad_name(number),
        "steps": {
            "in": { "kind": "uns.subscribe", "fields": { "filters": [filter] } },
            "script": { "kind": "javascript", "fields": { "code": code } },
        },
        "wires": [{ "from": "in", "port": "out", "to": "script" }],
    })
}

fn is_usable((with, without): &(Row, Row), foreign_max: f64) -> bool {
    with.is_quiet(foreign_max) && without.is_quiet(foreign_max)
}

/// The latencies of one good pipeline over all pairs that count.
fn compare(pairs: &[(Row, Row)], tag: usize, foreign_max: f64) -> Value {
    let latency = |row: &Row| row.report.derived_by_tag.get(tag).copied();
    let usable = || pairs.iter().filter(|pair| is_usable(pair, foreign_max));
    let ratios =
        |figure: &dyn Fn(Latency) -> f64| {
            Spread::of(usable().filter_map(|(with, without)| {
                Some(figure(latency(with)?) / figure(latency(without)?))
            }))
        };
    let with = Spread::of(usable().filter_map(|pair| Some(latency(&pair.0)?.p99_ms)));
    let without = Spread::of(usable().filter_map(|pair| Some(latency(&pair.1)?.p99_ms)));
    json!({
        "p99_ms_with": with,
        "p99_ms_without": without,
        "p99_ratio": ratios(&|latency| latency.p99_ms),
        "p50_ratio": ratios(&|latency| latency.p50_ms),
    })
}

/// What the good pipelines did, and what harmed them.
fn good(bench: &mut Bench<'_>) -> Result<(Value, Vec<String>)> {
    let mut found = json!({});
    let mut faults = Vec::new();
    for (name, _) in GOOD {
        let activity = flows::activity(&mut bench.http, name)?;
        for word in ["failed", "shed", "late", "script_kills"] {
            let count = flows::count(&activity, word);
            if count > 0 {
                faults.push(format!("{count} runs of {name}: {word}"));
            }
        }
        merge(&mut found, json!({ name: activity }));
    }
    Ok((found, faults))
}

fn say(result: &Value, faults: &[String]) {
    let mut rows = vec![
        ["good pipeline", "p99 ms without", "p99 ms with", "ratio", "lowest", "highest"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for (_, class) in GOOD {
        let cell = |at: &str| {
            let value = result.pointer(&format!("/{}/{at}", class.key())).and_then(Value::as_f64);
            value.map_or("-".to_owned(), |value| rounded(value, 3).to_string())
        };
        rows.push(vec![
            class.key().to_owned(),
            cell("p99_ms_without/median"),
            cell("p99_ms_with/median"),
            cell("p99_ratio/median"),
            cell("p99_ratio/lowest"),
            cell("p99_ratio/highest"),
        ]);
    }
    output::say(&output::table(&rows));
    let keys = ["bad", "kills", "quarantined", "lost", "duplicated", "pairs_dropped"];
    output::say(&output::table(&output::named(result, &keys)));
    for fault in faults {
        output::say(&format!("  {fault}"));
    }
}
