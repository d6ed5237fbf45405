//! `lab compare A.json B.json`: what got slower from A to B, with the noise taken into account.
//!
//! The rule: a figure changed when its medians differ by more than [`CHANGE_MIN`] of A's and by more
//! than half of both spreads together (highest less lowest of the repetitions). A figure of a
//! single repetition has no spread to tell noise by, and must differ by [`CHANGE_MIN_SINGLE`]. What
//! differs by more than [`CHANGE_MIN`] and not by more than the noise is told as unclear, never as
//! a change.
//!
//! **Invariants**
//! - What was lost or failed in B and not in A is worse, whatever the figures say.
//! - Sets of different machines, profiles or conditions are refused unless asked for.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::all::class;
use crate::all::figures::shown;
use crate::output;
use crate::set::{Better, ClassRow, Figure, Set, State};

/// Least change of a median that says anything.
const CHANGE_MIN: f64 = 0.05;
/// The same for figures that were measured once.
const CHANGE_MIN_SINGLE: f64 = 0.15;
/// Exit code when something got worse.
const WORSE: u8 = 1;

/// Options of `lab compare`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    lab compare before.json after.json            what got slower or faster\n  \
    lab compare before.json after.json --all      every figure\n\n\
    The rule: a median that differs by more than 5 % and by more than half of both spreads \
    together; 15 % for figures of a single repetition. Exit code 1: something got worse, was lost \
    or failed. Exit code 2: the sets cannot be compared.")]
pub(crate) struct CompareOptions {
    /// The result set before.
    before: PathBuf,
    /// The result set after.
    after: PathBuf,
    /// Compare although machine, profile or conditions differ.
    #[arg(long)]
    anyway: bool,
    /// Show figures that did not change too.
    #[arg(long)]
    all: bool,
    /// Write the comparison here.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// How a figure went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Worse,
    Better,
    /// More than nothing, less than the noise.
    Unclear,
    Same,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Worse => "WORSE",
            Self::Better => "better",
            Self::Unclear => "unclear",
            Self::Same => "same",
        }
    }
}

/// One line of the comparison.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    class: String,
    figure: String,
    before: String,
    after: String,
    /// By A's median.
    change: Option<f64>,
    /// How much of it noise may be.
    noise: Option<f64>,
    verdict: Verdict,
}

/// Runs it.
pub(crate) fn run(options: &CompareOptions) -> Result<ExitCode> {
    let (before, after) = (Set::read(&options.before)?, Set::read(&options.after)?);
    let differs =
        before.differs_in_machine(&after).or_else(|| before.differs_in_conditions(&after));
    match differs {
        Some(why) if !options.anyway => {
            output::complain(&format!(
                "lab: not compared: {why}. What differs would be that, not the build; \
                 --anyway compares all the same."
            ));
            return Ok(ExitCode::from(2));
        }
        Some(why) => output::say(&format!("Compared all the same: {why}.")),
        None => {}
    }
    output::say(&format!("before: {}; after: {}", before.build.named(), after.build.named()));
    let lines = compare(&before, &after);
    if lines.is_empty() {
        bail!("the two sets have no class in common that both have measured");
    }
    let is_told = |line: &&Line| options.all || line.verdict != Verdict::Same;
    let told: Vec<&Line> = lines.iter().filter(is_told).collect();
    if !told.is_empty() {
        output::say(&output::table(&table(&told)));
    }
    let count = |verdict| lines.iter().filter(|line| line.verdict == verdict).count();
    let (worse, better) = (count(Verdict::Worse), count(Verdict::Better));
    output::say(&format!(
        "{} figures: {worse} worse, {better} better, {} unclear, {} the same",
        lines.len(),
        count(Verdict::Unclear),
        count(Verdict::Same)
    ));
    let result = json!({
        "before": before.build,
        "after": after.build,
        "lines": lines,
        "worse": worse,
    });
    output::save(&result, options.json.as_deref())?;
    Ok(if worse > 0 { ExitCode::from(WORSE) } else { ExitCode::SUCCESS })
}

/// All figures that both sets have, and what became of each class.
pub(crate) fn compare(before: &Set, after: &Set) -> Vec<Line> {
    let mut lines = Vec::new();
    for old in &before.rows {
        let Some(new) = after.row(&old.class) else { continue };
        lines.extend(outcome(old, new));
        let is_measured = |row: &ClassRow| !row.figures.is_empty();
        if !is_measured(old) || !is_measured(new) {
            continue;
        }
        for figure in &old.figures {
            let same = |other: &&Figure| other.name == figure.name && other.unit == figure.unit;
            if let Some(other) = new.figures.iter().find(same) {
                lines.extend(line(&old.class, figure, other));
            }
        }
    }
    lines
}

/// A class that lost something or did not come to its end, and did before.
fn outcome(old: &ClassRow, new: &ClassRow) -> Option<Line> {
    let line = |figure: &str, before: String, after: String, verdict| Line {
        class: old.class.clone(),
        figure: figure.to_owned(),
        before,
        after,
        change: None,
        noise: None,
        verdict,
    };
    let count = |lost: Option<u64>| lost.map_or("-".to_owned(), |lost| lost.to_string());
    let (was, is) = (old.lost.unwrap_or(0), new.lost.unwrap_or(0));
    if is > was {
        return Some(line("lost or doubled", count(old.lost), count(new.lost), Verdict::Worse));
    }
    if old.state == State::Measured && new.state == State::Failed {
        let word = |row: &ClassRow| class::word(row.state).to_owned();
        return Some(line("state", word(old), word(new), Verdict::Worse));
    }
    None
}

fn line(class: &str, old: &Figure, new: &Figure) -> Option<Line> {
    if old.better == Better::Neither {
        return None;
    }
    let (change, noise, verdict) = judge(old, new)?;
    let text = |figure: &Figure| {
        let range = match figure.count {
            0 | 1 => String::new(),
            _ => format!(" ({}-{})", shown(figure.lowest), shown(figure.highest)),
        };
        format!("{}{range}", shown(figure.value))
    };
    Some(Line {
        class: class.to_owned(),
        figure: format!("{}, {}", old.name, old.unit),
        before: text(old),
        after: text(new),
        change: Some(change),
        noise: Some(noise),
        verdict,
    })
}

/// The change and the noise by A's median, and what they say; none when there is nothing to divide
/// by.
fn judge(old: &Figure, new: &Figure) -> Option<(f64, f64, Verdict)> {
    let base = old.value.abs();
    if base == 0.0 {
        return None;
    }
    let change = (new.value - old.value) / base;
    let half = |figure: &Figure| (figure.highest - figure.lowest).abs() / 2.0 / base;
    let is_single = old.count < 2 || new.count < 2;
    let noise = match is_single {
        true => CHANGE_MIN_SINGLE,
        false => (half(old) + half(new)).max(CHANGE_MIN),
    };
    let verdict = if change.abs() <= CHANGE_MIN {
        Verdict::Same
    } else if change.abs() <= noise {
        Verdict::Unclear
    } else if (change > 0.0) == (old.better == Better::Lower) {
        Verdict::Worse
    } else {
        Verdict::Better
    };
    Some((change, noise, verdict))
}

fn table(lines: &[&Line]) -> Vec<Vec<String>> {
    let head = ["class", "<figure", "before", "after", "change", "noise", "<verdict"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let percent = |share: Option<f64>, sign: bool| match share {
        Some(share) if sign => format!("{:+.1} %", share * 100.0),
        Some(share) => format!("{:.1} %", share * 100.0),
        None => "-".to_owned(),
    };
    for line in lines {
        rows.push(vec![
            line.class.clone(),
            line.figure.clone(),
            line.before.clone(),
            line.after.clone(),
            percent(line.change, true),
            percent(line.noise, false),
            line.verdict.word().to_owned(),
        ]);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set::tests::{figure, set};

    fn verdict(better: Better, old: [f64; 3], new: [f64; 3]) -> Verdict {
        judge(&figure("f", better, old), &figure("f", better, new)).unwrap().2
    }

    #[test]
    fn a_change_must_be_larger_than_the_noise() {
        let old = [100.0, 98.0, 102.0];
        let check =
            |new, expected| assert_eq!(verdict(Better::Lower, old, new), expected, "{new:?}");
        check([104.0, 103.0, 105.0], Verdict::Same);
        check([110.0, 108.0, 112.0], Verdict::Worse);
        check([90.0, 88.0, 92.0], Verdict::Better);
        // Half of both spreads together: 2 + 10 = 12 %.
        check([110.0, 100.0, 120.0], Verdict::Unclear);
        check([113.0, 103.0, 123.0], Verdict::Worse);
        assert_eq!(verdict(Better::Higher, old, [110.0, 108.0, 112.0]), Verdict::Better);
        assert_eq!(verdict(Better::Higher, old, [90.0, 88.0, 92.0]), Verdict::Worse);
    }

    #[test]
    fn a_figure_measured_once_needs_a_larger_change() {
        let once = |value| Figure { count: 1, ..figure("f", Better::Lower, [value, value, value]) };
        let check = |value, expected| {
            assert_eq!(judge(&once(100.0), &once(value)).unwrap().2, expected, "{value}");
        };
        check(110.0, Verdict::Unclear);
        check(120.0, Verdict::Worse);
        assert!(judge(&once(0.0), &once(1.0)).is_none());
    }

    #[test]
    fn what_is_lost_is_worse_whatever_the_figures_say() {
        let (before, mut after) = (set(), set());
        assert!(compare(&before, &after).iter().all(|line| line.verdict == Verdict::Same));
        after.rows[0].lost = Some(2);
        assert_eq!(compare(&before, &after)[0].verdict, Verdict::Worse);
        after.rows[0].lost = Some(0);
        after.rows[0].state = State::Failed;
        assert_eq!(compare(&before, &after)[0].figure, "state");
        after.rows.clear();
        assert!(compare(&before, &after).is_empty());
    }

    #[test]
    fn refuses_sets_of_different_machines_unless_asked() {
        let folder = tempfile::tempdir().unwrap();
        let (before, after) = (folder.path().join("a.json"), folder.path().join("b.json"));
        set().write(&before).unwrap();
        let mut other = set();
        other.machine.cores = 64;
        other.write(&after).unwrap();
        let mut options = CompareOptions { before, after, anyway: false, all: true, json: None };
        let code = |options: &CompareOptions| format!("{:?}", run(options).unwrap());
        assert_eq!(code(&options), format!("{:?}", ExitCode::from(2)));
        options.anyway = true;
        assert_eq!(code(&options), format!("{:?}", ExitCode::SUCCESS));
    }
}
