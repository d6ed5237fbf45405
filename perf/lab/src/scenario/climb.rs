//! The rows of a pipeline class: of one rate, or climbing until a capacity rule breaks.
//!
//! The reference's method: 40 % more a step, a step that fails is run once more before it counts,
//! and the rate is refined between the last step that passed and the first that did not. Where the
//! first step fails already, the climb goes down first.
//!
//! **Invariants**
//! - The best row is one that broke no rule, and the highest of those.
//! - What limited is read in the last row that broke a rule, not guessed from the rate.

use anyhow::Result;

use super::bench::{Bench, cpu_us_per_run, plan, runs};
use super::flows::{self, Class};
use super::others::Others;
use super::pipelines::{PipelinesOptions, TAGS, broken, engine_us, script_cpu};
use super::row::Row;
use crate::measure::bottleneck::Limit;

/// The climb's factor (the reference: 30 to 50 %).
const STEP_FACTOR: f64 = 1.4;
/// Steps up or down, and looks between two of them.
const STEPS_MAX: u32 = 20;
const REFINEMENTS: u32 = 2;
/// Shortest row of the script class: twenty runs a second need so long to tell a percent.
const SCRIPT_SECONDS_MIN: u64 = 20;
/// Share of runs that may wait a second in the queue.
const LONG_WAITS_MAX: f64 = 0.01;
/// What a row takes beside its measured seconds.
const ROW_EXTRA_S: u64 = 3;

/// The rows of a class.
#[derive(Default)]
pub(super) struct Found {
    pub(super) rows: Vec<Row>,
    /// What broke in the last one that broke something.
    pub(super) breaks: Vec<String>,
    /// Which of the rows is the highest in which nothing broke.
    pub(super) best: Option<usize>,
    pub(super) limited_by: Option<Limit>,
    /// The whole CPU by that of the script, of each valid row.
    pub(super) to_script: Vec<f64>,
    /// Of the engine's threads alone: without storing and delivering the two values.
    pub(super) engine_to_script: Vec<f64>,
}

/// A class under measurement.
struct Climb<'a, 'b> {
    bench: &'a mut Bench<'b>,
    options: &'a PipelinesOptions,
    class: Class,
    others: Option<&'a mut Others>,
    found: Found,
}

/// Measures the rows that the options ask for.
pub(super) fn rows(
    bench: &mut Bench<'_>,
    options: &PipelinesOptions,
    class: Class,
    others: Option<&mut Others>,
) -> Result<Found> {
    let mut climb = Climb { bench, options, class, others, found: Found::default() };
    let first = options.rate.unwrap_or_else(|| class.first_rate());
    if options.climb {
        climb.climb(first)?;
    } else {
        for _ in 0..options.repeat {
            climb.step(first)?;
        }
    }
    Ok(climb.found)
}

impl Climb<'_, '_> {
    fn climb(&mut self, first: f64) -> Result<()> {
        let (mut low, mut high) = (None, None);
        let mut at = first;
        for _ in 0..STEPS_MAX {
            if self.holds(at)? {
                low = Some(at);
                if high.is_some() {
                    break;
                }
                at *= STEP_FACTOR;
            } else {
                high = Some(at);
                if low.is_some() {
                    break;
                }
                at /= STEP_FACTOR;
            }
        }
        for _ in 0..REFINEMENTS {
            let (Some(below), Some(above)) = (low, high) else { break };
            // The middle of a climb by factors.
            let between = f64::sqrt(below * above);
            match self.holds(between)? {
                true => low = Some(between),
                false => high = Some(between),
            }
        }
        Ok(())
    }

    /// Whether no rule breaks at this rate, in a second try at the latest.
    fn holds(&mut self, rate: f64) -> Result<bool> {
        Ok(self.step(rate)? || self.step(rate)?)
    }

    /// One row; true when no rule broke.
    fn step(&mut self, rate: f64) -> Result<bool> {
        let Self { bench, options, class, others, found } = self;
        let seconds = match class {
            Class::Script if !options.climb => options.seconds.max(SCRIPT_SECONDS_MIN),
            _ => options.seconds,
        };
        bench.bar.set_message(format!("{}, {rate:.0} runs/s", class.slug()));
        let beside = match others {
            Some(others) => Some(others.start(bench, seconds + ROW_EXTRA_S)?),
            None => None,
        };
        let before = script_cpu(bench)?;
        let waits_before = flows::queue_waits(&mut bench.http)?;
        let shed_before = flows::metric(&mut bench.http, "millrace_engine_runs_shed_total")?;
        let row = bench.row(&plan(options.devices as usize, TAGS, rate, seconds))?;
        let waits = flows::queue_waits(&mut bench.http)?;
        let shed = flows::metric(&mut bench.http, "millrace_engine_runs_shed_total")? - shed_before;
        if let (Class::Script, None) = (class, &row.invalid) {
            let spent = (script_cpu(bench)? - before) * 1e6;
            let own = spent / (row.report.derived_arrived as f64).max(1.0);
            found.to_script.push(cpu_us_per_run(&row) / own);
            found.engine_to_script.push(engine_us(&row) / runs(&row).max(1.0) / own);
        }
        if let (Some(others), Some(beside)) = (others.as_deref_mut(), beside) {
            others.finish(&beside, bench)?;
        }
        let mut breaks = broken(&row);
        breaks.extend(long_waits(waits_before, waits));
        if shed > 0.0 {
            breaks.push(format!("{shed} runs were dropped at a limit"));
        }
        let holds = breaks.is_empty();
        if holds {
            let best = found.best.and_then(|best| found.rows.get(best));
            if best.is_none_or(|best| best.offered_per_s <= row.offered_per_s) {
                found.best = Some(found.rows.len());
            }
        } else {
            found.limited_by = Some(limit(&row, shed > 0.0));
            found.breaks = breaks;
        }
        found.rows.push(row);
        Ok(holds)
    }
}

/// What limited a row that broke a rule.
fn limit(row: &Row, has_shed: bool) -> Limit {
    match (row.invalid.is_some(), row.fullest) {
        (true, _) => Limit::LoadGenerator,
        (false, Limit::Software | Limit::Undetermined) if has_shed => Limit::Slots,
        (false, fullest) => fullest,
    }
}

/// The rule of the queue, from its histogram before and after.
fn long_waits(before: (f64, f64), after: (f64, f64)) -> Option<String> {
    let (taken, within) = (after.0 - before.0, after.1 - before.1);
    let share = (taken - within) / taken.max(1.0);
    (share > LONG_WAITS_MAX)
        .then(|| format!("{:.1} % of the runs waited a second in the queue", share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::spec::Report;

    #[test]
    fn a_hundredth_of_the_runs_may_wait_a_second() {
        assert_eq!(long_waits((0.0, 0.0), (1_000.0, 995.0)), None);
        let why = long_waits((1_000.0, 1_000.0), (2_000.0, 1_900.0)).unwrap();
        assert!(why.starts_with("10.0 %"), "{why}");
        assert_eq!(long_waits((0.0, 0.0), (0.0, 0.0)), None);
    }

    #[test]
    fn names_the_generator_and_the_slots_before_the_program() {
        let row = |fullest, invalid: Option<&str>| Row {
            fullest,
            invalid: invalid.map(str::to_owned),
            ..Row::empty(Report::default())
        };
        assert_eq!(limit(&row(Limit::Cpu, Some("late")), false), Limit::LoadGenerator);
        assert_eq!(limit(&row(Limit::Software, None), true), Limit::Slots);
        assert_eq!(limit(&row(Limit::Cpu, None), true), Limit::Cpu);
        assert_eq!(limit(&row(Limit::Software, None), false), Limit::Software);
    }
}
