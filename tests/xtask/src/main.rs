//! `cargo xtask`: the project's own commands, so that one tool chain is all a newcomer needs.
//!
//! Each command is a module that builds a list of child processes and runs them in order; nothing
//! here knows the product beyond its command line.
//!
//! **Invariants**
//! - Only `anyhow` and `clap` are used: this program is compiled before anything else is.
//! - Nothing is written into the checkout: builds and caches lie under the user's cache folder.
//! - The exit code is 0 only when everything that was asked for was done.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for a person at a terminal"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "it waits for other processes and writes files that nobody's data depends on"
)]

mod lab;
mod mqtt;
mod place;
mod process;
mod run;
mod setup;
mod studio;
mod tally;
mod test;
mod toolchain;
mod ui;
mod windows;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::place::Place;

/// Millrace's development commands.
///
/// On a new machine:  cargo xtask run     starts the appliance with simulated devices
///                    cargo xtask test    checks everything, cheap things first
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", verbatim_doc_comment)]
#[command(
    after_help = "Builds go to $CARGO_TARGET_DIR, or to millrace-target in your cache folder \
    when that is not set.\nEvery command has its own --help."
)]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Look whether this machine has what is needed, and say exactly what is missing and for what
    Setup(setup::Options),
    /// Build the appliance and start it with simulated devices
    Run(run::Options),
    /// Build the pages and the desktop program, and start it
    Studio(studio::Options),
    /// Check everything: format, house rules, lints, tests, then the real binary end to end
    Test(test::Options),
    /// Hold the house rules (a part of `test`)
    Tidy,
    /// Measure: build appliance and lab in release and start a lab scenario
    Lab(lab::Options),
    /// Build the web interface's bundle
    Ui(ui::Options),
    /// Cross-compile the appliance for Windows and try it under Wine
    CheckWindows(windows::Options),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = Place::find().and_then(|place| match cli.command {
        Task::Setup(options) => setup::setup(&place, &options),
        Task::Run(options) => run::run(&place, &options),
        Task::Studio(options) => studio::studio(&place, &options),
        Task::Test(options) => test::test(&place, &options),
        Task::Tidy => test::tidy(&place),
        Task::Lab(options) => lab::lab(&place, &options),
        Task::Ui(options) => ui::ui(&place, &options),
        Task::CheckWindows(options) => windows::check_windows(&place, &options),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
