//! `cargo xtask lab`: builds the lab and the appliance in release and hands over to the lab.
//!
//! **Invariants**
//! - What is measured was built by this call: no stale binary is ever measured.

use std::ffi::OsString;
use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::place::Place;
use crate::{process, run, setup};

/// Measure. Builds the appliance and the lab in release, then starts `millrace-lab` with the
/// arguments given. The lab starts the appliance itself, in a temporary folder.
#[derive(Args)]
#[command(disable_help_flag = true)]
#[command(
    after_help = "Examples:\n  cargo xtask lab ingest --devices 1000 --rate 20 --seconds 30\n  \
    cargo xtask lab kill --rounds 20 --json kill.json\n  cargo xtask lab peers\n  \
    cargo xtask lab all --profile quick --json quick.json\n  \
    cargo xtask lab page quick.json --out docs/results\n  \
    cargo xtask lab --help        what the lab itself offers"
)]
pub(crate) struct Options {
    /// Scenario and options, as in `millrace-lab --help`
    #[arg(
        value_name = "SCENARIO AND OPTIONS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    arguments: Vec<OsString>,
}

/// What only reads result sets, and needs no appliance.
const READERS: [&str; 3] = ["compare", "merge", "page"];

pub(crate) fn lab(place: &Place, options: &Options) -> Result<()> {
    setup::need_compiler()?;
    let reads = options
        .arguments
        .first()
        .is_some_and(|first| READERS.iter().any(|reader| first == *reader));
    let only_asks = reads
        || options.arguments.is_empty()
        || options.arguments.iter().any(|argument| argument == "--help" || argument == "-h");
    let mut cargo = place.cargo();
    cargo.args(["build", "--locked", "--release", "-p", "millrace-lab"]);
    process::must(&mut cargo)?;
    let mut lab = Command::new(place.binary("release", "millrace-lab"));
    lab.current_dir(place.root());
    if options.arguments.is_empty() {
        lab.arg("--help");
    }
    lab.args(&options.arguments);
    if !only_asks {
        lab.arg("--appliance").arg(run::build_service(place, true)?);
    }
    process::must(&mut lab)
}
