//! `millrace ledger`: does it add up.

use super::Place;
use super::local::{self, Appliance};
use super::output::Output;
use anyhow::{Context as _, bail};
use clap::Args;
use millrace_contract::v1::Counts;
use std::io::Write as _;

/// How to show the ledger.
#[derive(Debug, Args)]
pub(super) struct LedgerArgs {
    /// Also each client.
    #[arg(long)]
    clients: bool,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(place: &Place, args: &LedgerArgs) -> anyhow::Result<()> {
    let appliance = Appliance::connect(place)?;
    let ledger =
        local::block_on(async { appliance.api.ledger().await.context("ask for the ledger") })?;
    let mut out = std::io::stdout().lock();
    if args.output.is_json() {
        writeln!(out, "{}", serde_json::to_string(&ledger)?)?;
    } else {
        writeln!(
            out,
            "received = stored + redelivered + refused + interrupted + in flight\n{}",
            line("all", &ledger.total)
        )?;
        for (reason, count) in &ledger.total.refused_by_reason {
            writeln!(out, "  refused {reason}: {count}")?;
        }
        if args.clients {
            for client in &ledger.clients {
                writeln!(out, "{}", line(&client.id, &client.counts))?;
            }
        }
    }
    if !ledger.total.balanced {
        bail!("the ledger does not balance; please report this with the log");
    }
    Ok(())
}

fn line(name: &str, counts: &Counts) -> String {
    format!(
        "{name}: {} = {} + {} + {} + {} + {}{}",
        counts.received,
        counts.stored,
        counts.redelivered,
        counts.refused,
        counts.interrupted,
        counts.in_flight,
        if counts.balanced { "  (balanced)" } else { "  DOES NOT BALANCE" }
    )
}
