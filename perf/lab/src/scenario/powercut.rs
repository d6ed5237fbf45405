//! `lab powercut`: what a power cut leaves, without cutting power.
//!
//! The appliance's data lies on an ext4 file system in an image on tmpfs. At a random moment under
//! load the appliance is stopped (SIGSTOP), the image is copied as it lies, the appliance is
//! killed, and the copy is mounted in its place: the file system's own journal replays, and
//! whatever was never synced is gone. The appliance starts on it, and everything that the load
//! generator holds as acknowledged must be there. The next round goes on from the copy, as a
//! machine would boot from that disk.
//!
//! **Invariants**
//! - A test that cannot fail proves nothing: a self-check first runs the appliance without syncing
//!   before the acknowledgement, and must find values lost.
//! - The mounts live in a mount namespace of the lab's own: they vanish with the lab, whatever
//!   ends it.
//! - Not covered: writes inside a device's cache are not reordered.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::ProgressBar;
use serde_json::json;

use super::image::{Image, enter_namespace};
use super::kill::Totals;
use super::options::{Common, Durability, merge};
use super::round::{self, RoundLoad};
use crate::load::spec::Credential;
use crate::measure::statistics::rounded;
use crate::output;
use crate::server::appliance::{Appliance, Setup};

/// Rounds in which the self-check must find a loss.
const SELF_CHECK_ROUNDS: u32 = 4;
/// Syncs so rare that none falls into a self-check's load.
const SELF_CHECK_INTERVAL_MS: u64 = 60_000;
/// Small enough for an image in memory.
const JOURNAL_MIB_MAX: u64 = 512;

/// Options of `lab powercut`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PowercutOptions {
    #[command(flatten)]
    pub(crate) common: Common,
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) rounds: u32,
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) devices: u32,
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) tags: u32,
    /// Values per second of all devices together.
    #[arg(long, default_value_t = 20_000.0)]
    pub(crate) rate: f64,
    /// Size of the disk; twice as much memory is needed at most.
    #[arg(long, default_value_t = 2_048, value_parser = clap::value_parser!(u64).range(1_024..=65_536))]
    pub(crate) image_mib: u64,
    /// Leave the self-check out; then the result says so.
    #[arg(long)]
    pub(crate) without_self_check: bool,
    /// Set by the lab itself.
    #[arg(long, hide = true)]
    pub(crate) in_own_namespace: bool,
}

/// Runs it.
pub(crate) fn run(options: &PowercutOptions) -> Result<ExitCode> {
    if !rustix::process::geteuid().is_root() {
        let why = "the power-cut test needs root, to mount an image of a disk: not run. \
                   Run it with `sudo cargo xtask lab powercut`.";
        output::say(why);
        let mut result = options.common.head("powercut", None);
        merge(&mut result, json!({ "skipped": true, "why": why }));
        output::save(&result, options.common.json.as_deref())?;
        return Ok(ExitCode::SUCCESS);
    }
    if !options.in_own_namespace {
        enter_namespace()?;
    }
    let common = &options.common;
    common.prepare()?;
    let notes = common.folder()?;
    let began = Instant::now();
    let bar = output::progress(u64::from(options.rounds));
    let caught = match options.without_self_check {
        true => None,
        false => Some(self_check(options, notes.path().into(), &bar)?),
    };
    let totals = rounds(options, notes.path().into(), &bar)?;
    bar.finish_and_clear();
    let mut result = common.head("powercut", None);
    merge(&mut result, totals.json());
    merge(
        &mut result,
        json!({
            "skipped": false,
            "devices": options.devices,
            "rate": options.rate,
            "self_check": { "run": caught.is_some(), "caught_in_round": caught },
            "seconds": rounded(began.elapsed().as_secs_f64(), 1),
        }),
    );
    if let Some(round) = caught {
        output::say(&format!("self-check: without syncing, values were lost in round {round}"));
    }
    output::say(&format!("{} power cuts: {}", totals.rounds, totals.words()));
    for example in &totals.compared.examples {
        output::say(&format!("  {example}"));
    }
    output::save(&result, common.json.as_deref())?;
    Ok(if totals.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The round in which the missing sync was seen.
fn self_check(options: &PowercutOptions, notes: PathBuf, bar: &ProgressBar) -> Result<u32> {
    let mut image = Image::create(options.image_mib)?;
    let setup = setup(options, &image, notes.clone())?;
    // Clients must survive the cuts: they are made with syncing on.
    let appliance = Appliance::start(setup.clone())?;
    let clients = appliance.create_clients(options.devices as usize)?;
    appliance.stop()?;
    let careless =
        Setup { durability: "interval".into(), interval_ms: SELF_CHECK_INTERVAL_MS, ..setup };
    let mut appliance = Appliance::start(careless)?;
    let mut counter_first = 0;
    for number in 1..=SELF_CHECK_ROUNDS {
        bar.set_message(format!("self-check {number} of at most {SELF_CHECK_ROUNDS}"));
        let load = load(options, counter_first);
        let target = appliance.target(clients.clone());
        let mut cut = |appliance| cut_power(appliance, &mut image);
        let (restarted, result) = round::run(appliance, target, &load, &notes, &mut cut)
            .with_context(|| format!("self-check round {number}"))?;
        if result.compared.lost_before_down > 0 {
            restarted.kill()?;
            return Ok(number);
        }
        (appliance, counter_first) = (restarted, result.counter_next);
    }
    bail!(
        "the self-check found nothing lost in {SELF_CHECK_ROUNDS} power cuts although nothing was \
         synced: the method does not work on this machine, and a clean result would mean nothing"
    )
}

fn rounds(options: &PowercutOptions, notes: PathBuf, bar: &ProgressBar) -> Result<Totals> {
    let mut image = Image::create(options.image_mib)?;
    let mut appliance = Appliance::start(setup(options, &image, notes.clone())?)?;
    let clients: Vec<Credential> = appliance.create_clients(options.devices as usize)?;
    let mut totals = Totals::default();
    let mut counter_first = 0;
    for number in 0..options.rounds {
        let load = load(options, counter_first);
        let target = appliance.target(clients.clone());
        let mut cut = |appliance| cut_power(appliance, &mut image);
        let (restarted, result) = round::run(appliance, target, &load, &notes, &mut cut)
            .with_context(|| format!("round {number}"))?;
        (appliance, counter_first) = (restarted, result.counter_next);
        totals.add(number, result);
        bar.inc(1);
        bar.set_message(totals.words());
    }
    // Ended before its disk goes.
    appliance.stop()?;
    Ok(totals)
}

fn load(options: &PowercutOptions, counter_first: u64) -> RoundLoad {
    RoundLoad {
        devices: options.devices as usize,
        tags: options.tags,
        rate_per_s: options.rate,
        counter_first,
        load_core: options.common.cpus.load,
        has_pipelines: false,
    }
}

fn setup(options: &PowercutOptions, image: &Image, notes: PathBuf) -> Result<Setup> {
    let setup = options.common.setup(&notes, Durability::Sync)?;
    Ok(Setup {
        data: image.mounted_at().join("data"),
        notes,
        journal_mib_max: JOURNAL_MIB_MAX,
        ..setup
    })
}

fn cut_power(appliance: Appliance, image: &mut Image) -> Result<Appliance> {
    let (setup, (mqtt, http)) = (appliance.setup().clone(), appliance.addresses());
    appliance.child().freeze()?;
    image.copy_as_it_lies()?;
    appliance.kill()?;
    image.boot_from_copy()?;
    Appliance::start_on(setup, mqtt, http)
}
