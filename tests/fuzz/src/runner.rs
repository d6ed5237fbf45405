//! Runs a target on changed inputs until the time is up or it fails.
//!
//! **Invariants**: a panic of the target is a finding, not the end of the run; a finding names
//! the seed and round that bring it back.

use crate::mutate;
use crate::random::Random;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// A parser under test.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Good inputs.
    pub corpus: fn() -> Vec<Vec<u8>>,
    /// Pieces that matter to it.
    pub words: &'static [&'static [u8]],
    /// Feeds it; says what is wrong with what came out.
    pub check: fn(&[u8]) -> Result<(), String>,
}

/// An input on which a target fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The target.
    pub target: &'static str,
    /// The seed.
    pub seed: u64,
    /// The round; `None` = the corpus itself fails.
    pub round: Option<u64>,
    /// The input, made small.
    pub input: Vec<u8>,
    /// What is wrong.
    pub what: String,
}

/// Rounds between two looks at the clock.
const ROUNDS_UNTIMED: u64 = 32;
/// Attempts at making a finding smaller.
const SHRINKS_MAX: usize = 4_000;

/// Runs a target for so long. Returns how many rounds it withstood.
///
/// # Errors
/// The first finding.
pub fn hunt(target: &Target, seed: u64, time: Duration) -> Result<u64, Box<Finding>> {
    let corpus = (target.corpus)();
    for input in &corpus {
        if let Err(what) = attempt(target, input) {
            return Err(finding(target, seed, None, input.clone(), what));
        }
    }
    let start = Instant::now();
    let mut round = 0;
    while round % ROUNDS_UNTIMED != 0 || start.elapsed() < time {
        let input = mutate::mutated(&corpus, target.words, &mut Random::new(seed, round));
        if let Err(what) = attempt(target, &input) {
            return Err(finding(target, seed, Some(round), input, what));
        }
        round += 1;
    }
    Ok(round)
}

/// The input of a round.
#[must_use]
pub fn input_of(target: &Target, seed: u64, round: u64) -> Vec<u8> {
    mutate::mutated(&(target.corpus)(), target.words, &mut Random::new(seed, round))
}

fn attempt(target: &Target, input: &[u8]) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| (target.check)(input))).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", said.unwrap_or("without words")))
    })
}

fn finding(
    target: &Target,
    seed: u64,
    round: Option<u64>,
    input: Vec<u8>,
    what: String,
) -> Box<Finding> {
    let (input, what) = shrunk(target, input, what);
    Box::new(Finding { target: target.name, seed, round, input, what })
}

/// Leaves pieces out as long as the target still fails.
fn shrunk(target: &Target, mut input: Vec<u8>, mut what: String) -> (Vec<u8>, String) {
    let mut piece = input.len().div_ceil(2);
    let mut attempts = 0;
    while piece > 0 {
        let mut at = 0;
        while at < input.len() && attempts < SHRINKS_MAX {
            attempts += 1;
            let rest = input.iter().skip(at + piece);
            let smaller: Vec<u8> = input.iter().take(at).chain(rest).copied().collect();
            match attempt(target, &smaller) {
                Err(other) => (input, what) = (smaller, other),
                Ok(()) => at += piece,
            }
        }
        piece /= 2;
    }
    (input, what)
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, seed, round, input, what } = self;
        match round {
            Some(round) => write!(f, "{target}, seed {seed}, round {round}: {what}")?,
            None => write!(f, "{target}, its corpus: {what}")?,
        }
        write!(f, "\ninput of {} bytes: \"{}\"", input.len(), input.escape_ascii())
    }
}

impl std::error::Error for Finding {}
