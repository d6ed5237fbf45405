//! Fuzzes for as long as one likes: `millrace-fuzz TARGET|all [SECONDS] [SEED]`.
//!
//! **Invariants**: ends with an error when something was found.

use millrace_fuzz::{hunt, targets};
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> std::io::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "all".into());
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(10);
    let seed = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut out = std::io::stdout().lock();
    let mut exit = ExitCode::SUCCESS;
    let chosen: Vec<_> =
        targets::ALL.iter().filter(|target| name == "all" || name == target.name).collect();
    if chosen.is_empty() {
        let names: Vec<_> = targets::ALL.iter().map(|target| target.name).collect();
        writeln!(out, "No target {name}. There are: all, {}.", names.join(", "))?;
        return Ok(ExitCode::FAILURE);
    }
    for target in chosen {
        match hunt(target, seed, Duration::from_secs(seconds)) {
            Ok(rounds) => writeln!(out, "{}: withstood {rounds} rounds", target.name)?,
            Err(finding) => {
                writeln!(out, "{finding}")?;
                exit = ExitCode::FAILURE;
            }
        }
    }
    Ok(exit)
}
