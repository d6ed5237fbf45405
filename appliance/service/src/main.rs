//! `millrace`: the appliance and its command line in one program.
//!
//! `run` wires the parts together and serves until it is told to stop; the other commands talk
//! to a running appliance over its HTTP API (with the owner-only token in the data folder), or
//! look at files (`check`, `verify`).

mod calibrate;
mod cli;
mod config;
mod demo;
mod logging;
mod publisher;
mod recording;
mod wiring;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => cli::report(&error),
    }
}
