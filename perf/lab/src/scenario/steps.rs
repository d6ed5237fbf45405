//! The climb of `lab ingest --steps`: the reference's method to find the guaranteed rate.
//!
//! The rate steps up until the machine no longer stores what is offered. The highest step that
//! meets the guaranteed rule is then held; memory that keeps growing fails the hold. A step or a
//! hold that fails is run once more before it counts.
//!
//! **Invariants**
//! - A step whose load generator was late or full says nothing about the appliance: the climb ends
//!   there, `limited_by` says so, and the highest valid rate is reported.

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use super::ingest::{Bench, summary};
use super::row::Row;
use crate::measure::bottleneck::{GENERATOR_CPU_MAX_GUARANTEED, Limit, STORED_SHARE_MIN};
use crate::output;

/// The reference's first steps; then 20 % more each.
const FIRST_STEPS: [f64; 5] = [5_000.0, 10_000.0, 20_000.0, 30_000.0, 40_000.0];
const STEP_FACTOR: f64 = 1.2;
/// No machine of this size comes near it.
const RATE_MAX: f64 = 5e6;
/// The guaranteed rule: p99 to stored, CPU of the appliance's cores.
const P99_MS_MAX: f64 = 100.0;
const CPU_SHARE_MAX: f64 = 0.80;
/// Growth that fails a hold. The reference's own holds grew by up to 5.7 MB a minute.
const GROWTH_MB_PER_MIN_MAX: f64 = 6.0;
/// Shorter holds do not tell growth from a memtable that fills for the first time.
const GROWTH_SECONDS_MIN: u64 = 300;

/// Options of the climb.
#[derive(Clone, Debug, Args)]
pub(crate) struct StepOptions {
    /// Climb in steps from 5,000/s and hold the guaranteed rate.
    #[arg(long)]
    pub(crate) steps: bool,
    /// Begin the climb at this rate.
    #[arg(long, default_value_t = 5_000.0)]
    pub(crate) steps_from: f64,
    /// Measured seconds of each step (the reference: 60).
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) step_seconds: u64,
    /// Seconds of the hold (the reference: 600); 0 = none.
    #[arg(long, default_value_t = 60)]
    pub(crate) hold: u64,
    /// Hold the maximum too: the highest step that was stored in full.
    #[arg(long)]
    pub(crate) hold_maximum: bool,
}

/// The rates of a climb from `from` on.
pub(crate) fn rates(from: f64) -> impl Iterator<Item = f64> {
    let above = std::iter::successors(Some(48_000.0), |rate| Some(rate * STEP_FACTOR));
    let all = FIRST_STEPS.into_iter().chain(above.map(|rate: f64| (rate / 100.0).round() * 100.0));
    let mut first = Some(from).filter(|from| !FIRST_STEPS.contains(from));
    all.filter(move |rate| *rate >= from)
        .flat_map(move |rate| first.take().filter(|first| *first < rate).into_iter().chain([rate]))
        .take_while(|rate| *rate <= RATE_MAX)
}

/// Why a row does not meet the guaranteed rule; empty = it does.
pub(crate) fn breaks(row: &Row) -> Vec<String> {
    let mut why = Vec::new();
    if let Some(invalid) = &row.invalid {
        why.push(invalid.clone());
    }
    if row.stored_share() < STORED_SHARE_MIN {
        why.push(format!("{:.1} % of the offered values stored", row.stored_share() * 100.0));
    }
    if row.report.open > 0 || row.report.refused > 0 {
        let (open, refused) = (row.report.open, row.report.refused);
        why.push(format!("{open} values without an answer, {refused} refused"));
    }
    if row.verdict_p99_ms() >= P99_MS_MAX {
        why.push(format!("p99 {:.0} ms", row.verdict_p99_ms()));
    }
    if row.cpu_fill() >= CPU_SHARE_MAX {
        why.push(format!("CPU {:.0} % of its cores", row.cpu_fill() * 100.0));
    }
    why
}

/// Why a row is not one in which all was stored; empty = it is.
fn unstored(row: &Row) -> Vec<String> {
    let mut why: Vec<String> = row.invalid.iter().cloned().collect();
    if row.stored_share() < STORED_SHARE_MIN {
        why.push(format!("{:.1} % of the offered values stored", row.stored_share() * 100.0));
    }
    why
}

/// Climbs and holds. The flag tells whether the hold was kept.
pub(crate) fn climb(bench: &mut Bench<'_>) -> Result<(Value, bool)> {
    let options = &bench.options.steps;
    let (seconds, hold) = (options.step_seconds, options.hold);
    bench.generator_cpu_max = GENERATOR_CPU_MAX_GUARANTEED;
    let mut table = vec![HEAD.map(str::to_owned).to_vec()];
    let mut steps = Vec::new();
    let mut rows = Vec::new();
    let (mut guaranteed, mut full, mut maximum) = (None, None, 0.0f64);
    for rate in rates(options.steps_from) {
        let floor = bench.floor_row(rate, seconds)?;
        let (row, why) = twice(bench, rate, seconds, &breaks)?;
        let is_full = row.stored_share() >= STORED_SHARE_MIN && row.invalid.is_none();
        if is_full {
            maximum = maximum.max(row.stored_per_s);
            full = Some(rate);
        }
        if why.is_empty() {
            guaranteed = Some(rate);
        }
        let limited_by = if row.invalid.is_some() { Limit::LoadGenerator } else { row.limited_by };
        table.push(line(rate, &row, floor.as_ref(), &why));
        steps.push(json!({ "rate": rate, "breaks": why, "limited_by": limited_by }));
        rows.push((floor, row));
        if !is_full {
            break;
        }
    }
    let limited_by = steps.last().and_then(|step| step.get("limited_by").cloned());
    let mut clean = guaranteed.is_some();
    let mut found = json!({
        "steps": steps,
        "step_rows": rows.iter().map(|(floor, row)| json!({ "floor": floor, "appliance": row }))
            .collect::<Vec<_>>(),
        "maximum_per_s": maximum,
        "guaranteed_per_s": Value::Null,
    });
    if let (Some(rate), true) = (guaranteed, hold > 0) {
        bench.bar.set_message(format!("hold {rate:.0}/s"));
        let growth = move |row: &Row| growth(row, hold);
        let floor = bench.floor_row(rate, seconds)?;
        let (row, why) = twice(bench, rate, hold, &growth)?;
        clean = why.is_empty();
        table.push(line(rate, &row, floor.as_ref(), &why));
        let kept = clean.then_some(row.stored_per_s);
        super::options::merge(&mut found, summary(&[(floor, row)]));
        super::options::merge(
            &mut found,
            json!({ "guaranteed_per_s": kept, "hold": { "seconds": hold, "breaks": why } }),
        );
    } else if let Some(rate) = guaranteed {
        let at = rows.iter().position(|(_, row)| (row.offered_per_s - rate).abs() < rate * 0.01);
        let held = at.map(|at| rows.split_off(at)).unwrap_or_default();
        super::options::merge(&mut found, summary(held.get(..1).unwrap_or_default()));
        super::options::merge(&mut found, json!({ "guaranteed_per_s": rate, "hold": null }));
    }
    if !clean {
        // What the hold broke, or the first step where none met the rule.
        let why = found.pointer("/hold/breaks").or_else(|| found.pointer("/steps/0/breaks"));
        let why = why.cloned().unwrap_or(Value::Null);
        super::options::merge(&mut found, json!({ "faults": why }));
    }
    if let (Some(rate), true) = (full.filter(|_| hold > 0), options.hold_maximum) {
        super::options::merge(&mut found, hold_maximum(bench, rate, hold, &mut table)?);
    }
    super::options::merge(
        &mut found,
        json!({ "limited_by": limited_by, "table": output::table(&table) }),
    );
    Ok((found, clean))
}

/// Holds the highest rate that was stored in full. That it was not kept is a figure, not a fault.
fn hold_maximum(
    bench: &mut Bench<'_>,
    rate: f64,
    seconds: u64,
    table: &mut Vec<Vec<String>>,
) -> Result<Value> {
    bench.bar.set_message(format!("hold the maximum, {rate:.0}/s"));
    let (row, why) = twice(bench, rate, seconds, &unstored)?;
    table.push(line(rate, &row, None, &why));
    Ok(json!({
        "maximum_held_per_s": why.is_empty().then_some(row.stored_per_s),
        "maximum_hold": { "seconds": seconds, "breaks": why, "row": row },
    }))
}

/// Runs a row, and once more if it breaks a rule.
fn twice(
    bench: &mut Bench<'_>,
    rate: f64,
    seconds: u64,
    rule: &dyn Fn(&Row) -> Vec<String>,
) -> Result<(Row, Vec<String>)> {
    let row = bench.appliance_row(rate, seconds)?;
    let why = rule(&row);
    if why.is_empty() {
        return Ok((row, why));
    }
    let again = bench.appliance_row(rate, seconds)?;
    let why = rule(&again);
    Ok((again, why))
}

/// The rule of a hold: the guaranteed rule, and memory that does not keep growing.
fn growth(row: &Row, seconds: u64) -> Vec<String> {
    let mut why = breaks(row);
    if seconds >= GROWTH_SECONDS_MIN && row.rss_growth_mb_per_min > GROWTH_MB_PER_MIN_MAX {
        why.push(format!("memory grows by {:.1} MB a minute", row.rss_growth_mb_per_min));
    }
    why
}

const HEAD: [&str; 8] =
    ["offered/s", "stored/s", "p99 ms", "CPU", "us/value", "floor us", "generator", "<breaks"];

fn line(rate: f64, row: &Row, floor: Option<&Row>, why: &[String]) -> Vec<String> {
    vec![
        format!("{rate:.0}"),
        format!("{:.0}", row.stored_per_s),
        format!("{:.1}", row.verdict_p99_ms()),
        format!("{:.0} %", row.server_cpu_share * 100.0),
        format!("{:.2}", row.cpu_us_per_value),
        floor.map_or("-".into(), |floor| format!("{:.2}", floor.cpu_us_per_value)),
        format!("{:.0} %", row.report.generator_cpu_share * 100.0),
        if why.is_empty() { "-".into() } else { why.join("; ") },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::spec::{Latency, Report};

    fn row(stored_per_s: f64, p99_ms: f64, server_cpu_share: f64) -> Row {
        Row {
            offered_per_s: 10_000.0,
            stored_per_s,
            server_cpu_share,
            rss_growth_mb_per_min: 10.0,
            ..Row::empty(Report {
                ack: Latency { p99_ms, ..Latency::default() },
                ..Report::default()
            })
        }
    }

    #[test]
    fn climbs_as_the_reference_does_and_from_any_rate() {
        let climb = |from| rates(from).take(7).collect::<Vec<_>>();
        assert_eq!(climb(5e3), [5e3, 1e4, 2e4, 3e4, 4e4, 48e3, 57_600.0]);
        assert_eq!(climb(50e3)[..2], [50e3, 57_600.0]);
        assert_eq!(climb(20e3)[..2], [20e3, 30e3]);
        assert!(rates(5e3).last().unwrap() <= RATE_MAX);
    }

    #[test]
    fn names_each_rule_that_a_step_breaks() {
        assert!(breaks(&row(9_950.0, 20.0, 0.5)).is_empty());
        let all = breaks(&row(9_000.0, 120.0, 0.9));
        assert_eq!(all.len(), 3, "{all:?}");
        let late = Row { invalid: Some("late".into()), ..row(10_000.0, 1.0, 0.1) };
        assert_eq!(breaks(&late), ["late"]);
    }

    #[test]
    fn the_maximum_is_stored_in_full_whatever_it_takes() {
        assert!(unstored(&row(9_950.0, 500.0, 1.0)).is_empty());
        assert!(unstored(&row(9_800.0, 1.0, 0.1))[0].starts_with("98.0 %"));
    }

    #[test]
    fn memory_that_keeps_growing_fails_a_long_hold_only() {
        let grown = row(10_000.0, 1.0, 0.1);
        assert!(growth(&grown, 60).is_empty());
        assert!(growth(&grown, 600)[0].contains("10.0 MB a minute"));
    }
}
