//! The command line: one subcommand per scenario, and three hidden ones for the lab's own children.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::all::{self, AllOptions};
use crate::compare::{self, CompareOptions};
use crate::page::{self, MergeOptions, PageOptions};
use crate::scenario::beside::{self, BesideOptions};
use crate::scenario::fleet::{self, FleetOptions};
use crate::scenario::hostile::{self, HostileOptions};
use crate::scenario::ingest::{self, IngestOptions};
use crate::scenario::kill::{self, KillOptions};
use crate::scenario::mixes::{self, MixesOptions};
use crate::scenario::peers::{self, PeersOptions};
use crate::scenario::pipelines::{self, PipelinesOptions};
use crate::scenario::powercut::{self, PowercutOptions};
use crate::scenario::priority::{self, PriorityOptions};
use crate::scenario::starve::{self, StarveOptions};
use crate::scenario::storm::{self, StormOptions};
use crate::scenario::unreachable::{self, UnreachableOptions};
use crate::scenario::variant::{self, VariantOptions};
use crate::server::postgres::writer;
use crate::{floor, hog, launch, load, stop};

/// Measures the appliance: rates, costs by ratio to a floor, crashes and power cuts.
#[derive(Debug, Parser)]
#[command(name = "lab", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    scenario: Scenario,
}

#[derive(Debug, Subcommand)]
enum Scenario {
    /// Every class, one after the other, into one result set.
    All(AllOptions),
    /// What got slower between two result sets, with the noise taken into account.
    Compare(CompareOptions),
    /// Write the results page from result sets.
    Page(PageOptions),
    /// Put result sets of one build and machine together.
    Merge(MergeOptions),
    /// The device workload: cost per value, latency, steps and holds, read-back.
    Ingest(IngestOptions),
    /// kill -9 under load, restart, resend, read-back.
    Kill(KillOptions),
    /// Power cuts on an image of a disk (root only), with a self-check.
    Powercut(PowercutOptions),
    /// Appliance, mosquitto and floor under the same four loads.
    Peers(PeersOptions),
    /// Pipeline classes: rate, latency, cost per run, read-back of what they derive.
    Pipelines(PipelinesOptions),
    /// Many pipelines, each run once a second: what they cost the disk and the memory.
    Fleet(FleetOptions),
    /// What deployed triggers cost the values that they do not want.
    Beside(BesideOptions),
    /// The sizing estimate against mixes of load that it was not made from.
    Mixes(MixesOptions),
    /// Endless and memory-hungry scripts beside good pipelines.
    Hostile(HostileOptions),
    /// CPU hogs take the appliance's core: the issue comes, names the heaviest pipelines, and goes.
    Starve(StarveOptions),
    /// A target that is down for an hour: memory, waiting runs, issues, and the pipelines beside.
    Unreachable(UnreachableOptions),
    /// One thing different from the plain case, in pairs of rows: payloads, QoS 0, TLS, subscribers,
    /// reading, durability, a slow disk, run history.
    Variant(VariantOptions),
    /// All devices sign in at the same moment.
    Storm(StormOptions),
    /// High, normal and low pipelines on a machine with too much to do.
    Priority(PriorityOptions),
    /// Run the floor server alone.
    Floor {
        #[arg(long, default_value = "127.0.0.1:1883")]
        listen: SocketAddr,
    },
    /// The load generator; its spec comes on standard input.
    #[command(hide = true)]
    Load,
    /// Writes what a broker delivers into a database.
    #[command(hide = true)]
    DatabaseWriter {
        #[arg(long)]
        broker: SocketAddr,
        #[arg(long)]
        socket: PathBuf,
    },
    /// Computes without end for so many seconds.
    #[command(hide = true)]
    Hog {
        #[arg(long)]
        seconds: u64,
    },
    /// Becomes a program that is pinned and ends with the lab.
    #[command(hide = true)]
    LaunchChild {
        #[arg(long)]
        core: Option<usize>,
        #[arg(last = true, required = true)]
        program: Vec<OsString>,
    },
}

/// Runs what was asked for.
pub(crate) fn run() -> Result<ExitCode> {
    let scenario = Cli::parse().scenario;
    match &scenario {
        Scenario::Load => return load::run::run().map(|()| ExitCode::SUCCESS),
        Scenario::LaunchChild { core, program } => {
            return launch::become_program(*core, program).map(|()| ExitCode::SUCCESS);
        }
        Scenario::Hog { seconds } => {
            hog::compute(*seconds);
            return Ok(ExitCode::SUCCESS);
        }
        Scenario::DatabaseWriter { broker, socket } => {
            return writer::run(*broker, socket).map(|()| ExitCode::SUCCESS);
        }
        Scenario::Floor { listen } => return floor::serve(*listen).map(|()| ExitCode::SUCCESS),
        _ => {}
    }
    stop::watch()?;
    match scenario {
        Scenario::All(options) => all::run(&options),
        Scenario::Compare(options) => compare::run(&options),
        Scenario::Page(options) => page::run(&options),
        Scenario::Merge(options) => page::merge(&options),
        Scenario::Variant(options) => variant::run(&options),
        Scenario::Storm(options) => storm::run(&options),
        Scenario::Priority(options) => priority::run(&options),
        Scenario::Ingest(options) => ingest::run(&options),
        Scenario::Kill(options) => kill::run(&options),
        Scenario::Powercut(options) => powercut::run(&options),
        Scenario::Peers(options) => peers::run(&options),
        Scenario::Pipelines(options) => pipelines::run(&options),
        Scenario::Fleet(options) => fleet::run(&options),
        Scenario::Beside(options) => beside::run(&options),
        Scenario::Mixes(options) => mixes::run(&options),
        Scenario::Hostile(options) => hostile::run(&options),
        Scenario::Starve(options) => starve::run(&options),
        Scenario::Unreachable(options) => unreachable::run(&options),
        Scenario::Floor { .. }
        | Scenario::Load
        | Scenario::DatabaseWriter { .. }
        | Scenario::Hog { .. }
        | Scenario::LaunchChild { .. } => Ok(ExitCode::SUCCESS),
    }
}
