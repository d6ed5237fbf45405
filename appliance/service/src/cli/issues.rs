//! `millrace issues`: what is wrong now, and that somebody knows of it.

use super::Place;
use super::hints::or_list;
use super::local::{self, Appliance};
use super::output::{Output, json_line};
use anyhow::Context as _;
use clap::{Args, Subcommand};
use std::io::Write as _;

/// What to do with issues.
#[derive(Debug, Args)]
pub(super) struct IssuesArgs {
    #[command(subcommand)]
    verb: Option<IssuesVerb>,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Subcommand)]
enum IssuesVerb {
    /// Lists open issues, worst first; so does the command without a verb.
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Takes note of an issue; it stays listed until its cause is gone.
    Acknowledge {
        /// Its key, as the list shows it.
        key: String,
    },
}

pub(super) fn run(place: &Place, args: IssuesArgs) -> anyhow::Result<()> {
    let appliance = Appliance::connect(place)?;
    match args.verb {
        None => list(&appliance, args.output),
        Some(IssuesVerb::List { output }) => list(&appliance, output),
        Some(IssuesVerb::Acknowledge { key }) => {
            local::block_on(async {
                let noted = appliance.api.acknowledge_issue(&key).await;
                or_list(noted, &format!("acknowledge {key}"), "millrace issues")
            })?;
            writeln!(std::io::stdout(), "Noted {key}.")?;
            Ok(())
        }
    }
}

fn list(appliance: &Appliance, output: Output) -> anyhow::Result<()> {
    let issues =
        local::block_on(async { appliance.api.issues().await.context("ask for the issues") })?;
    if issues.is_empty() && !output.is_json() {
        writeln!(std::io::stdout(), "Nothing is wrong.")?;
    }
    for issue in issues {
        if output.is_json() {
            json_line(&issue)?;
            continue;
        }
        let mut out = std::io::stdout().lock();
        writeln!(out, "{:?} since {}: {}", issue.severity, issue.since, issue.what)?;
        writeln!(out, "  effect: {}\n  remedy: {}", issue.effect, issue.remedy)?;
        let noted = issue.acknowledged_by.map(|by| format!("  noted by {by}"));
        writeln!(out, "  key: {}{}", issue.key, noted.unwrap_or_default())?;
    }
    Ok(())
}
