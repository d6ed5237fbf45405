//! The command line: what a person can type, and what each command does.
//!
//! **Invariants**: results go to standard output, everything else to standard error; a command
//! that fails says what to do next and exits with 1 (2 for a wrong command line).

pub(crate) mod calibrate;
mod check;
mod claim;
mod client;
mod hints;
mod issues;
mod ledger;
pub(crate) mod local;
pub(crate) mod output;
mod pipeline;
mod query;
mod replay;
mod run;
mod secret;
pub(crate) mod sizing;
mod status_line;
mod tag;
mod typed;
mod verify;

use clap::{Args, Parser, Subcommand};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Takes a plant's values over MQTT, makes each durable before it acknowledges it, and keeps
/// them named, live and queryable.
#[derive(Debug, Parser)]
#[command(name = "millrace", version, max_term_width = 100, after_help = EXAMPLES)]
struct Command {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  millrace run --demo
  millrace client add press-4 --publish 'press-4/#'
  millrace query raw main/press-4/temperature --from -1h --format csv
  millrace pipeline import scale.json --deploy
  millrace replay pump.csv --path plant/pump --time datetime --separator ';' --retention keep";

/// Under a heading of their own, so that they do not stand among a command's own options.
const WHICH: &str = "Which appliance";

/// Which appliance is meant.
#[derive(Clone, Debug, Args)]
pub(crate) struct Place {
    /// The configuration file; without it the defaults hold.
    #[arg(long, global = true, value_name = "FILE", help_heading = WHICH)]
    pub(crate) config: Option<PathBuf>,
    /// The data folder; goes before the configuration file's.
    #[arg(long, global = true, value_name = "FOLDER", help_heading = WHICH)]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Runs the appliance until Ctrl-C or SIGTERM.
    Run(run::RunArgs),
    /// Reads the configuration and tells all its faults.
    Check,
    /// Makes the first admin, with the code that the appliance shows at its start.
    Claim(claim::ClaimArgs),
    /// Adds, lists and revokes API clients: the devices and programs that sign in.
    #[command(subcommand)]
    Client(client::ClientVerb),
    /// Lists topics and changes their unit, description and retention.
    #[command(subcommand)]
    Tag(tag::TagVerb),
    /// Asks for last values, raw history, or a range condensed for a chart.
    #[command(subcommand)]
    Query(query::QueryVerb),
    /// Stores, deploys, tests and watches pipelines: what turns values into other values and acts.
    #[command(subcommand)]
    Pipeline(pipeline::PipelineVerb),
    /// Sets, lists and removes secrets: passwords and tokens that pipelines use by name.
    #[command(subcommand)]
    Secret(secret::SecretVerb),
    /// Lists, shows, sets and removes variables: what pipelines remember by name.
    #[command(subcommand)]
    Variable(secret::VariableVerb),
    /// Publishes a recording (CSV) as a device would, over MQTT.
    Replay(replay::ReplayArgs),
    /// Writes a small recording to try `replay` on.
    SampleRecording {
        /// Where to; `-` = standard output.
        file: PathBuf,
    },
    /// Shows that what was received adds up to what was stored and refused.
    Ledger(ledger::LedgerArgs),
    /// Lists what is wrong now, and takes note of it.
    Issues(issues::IssuesArgs),
    /// Estimates what a plant's load takes of a machine; also compares a stored plan with the load.
    Sizing(sizing::SizingArgs),
    /// Measures what this machine costs, beside production, for about three minutes.
    Calibrate(calibrate::CalibrateArgs),
    /// Checks all files of a data folder whose appliance is stopped.
    Verify,
    /// Tells the version.
    Version,
}

/// Runs the command that the arguments name.
pub(crate) fn run() -> anyhow::Result<()> {
    let Command { place, verb } = Command::parse();
    match verb {
        Verb::Run(args) => run::run(&place, &args),
        Verb::Check => check::run(&place),
        Verb::Claim(args) => claim::run(&place, args),
        Verb::Client(verb) => client::run(&place, verb),
        Verb::Tag(verb) => tag::run(&place, verb),
        Verb::Query(verb) => query::run(&place, verb),
        Verb::Pipeline(verb) => pipeline::run(&place, verb),
        Verb::Secret(verb) => secret::run(&place, verb),
        Verb::Variable(verb) => secret::run_variable(&place, verb),
        Verb::Replay(args) => replay::run(&place, &args),
        Verb::SampleRecording { file } => replay::sample(&file),
        Verb::Ledger(args) => ledger::run(&place, &args),
        Verb::Issues(args) => issues::run(&place, args),
        Verb::Sizing(args) => sizing::run(&place, &args),
        Verb::Calibrate(args) => calibrate::run(&place, &args),
        Verb::Verify => verify::run(&place),
        Verb::Version => {
            writeln!(std::io::stdout(), "millrace {}", env!("CARGO_PKG_VERSION"))?;
            Ok(())
        }
    }
}

/// Tells a failure in one line and gives the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // A closed pipe (`millrace query ... | head`) is the reader's choice, not a failure.
    let closed = error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
    });
    if closed {
        return ExitCode::SUCCESS;
    }
    // Standard error may be closed too; there is nobody left to tell.
    let _closed = writeln!(std::io::stderr(), "millrace: {error:#}").is_err();
    ExitCode::FAILURE
}
