//! `lab kill`: `kill -9` under load, again and again.
//!
//! Each round starts 1,000 devices, kills the appliance at a random moment, starts it again on the
//! same data, lets the devices come back and send again what was not acknowledged (half of the
//! tags with a source time, half without), and reads every value of the round back. At the end a
//! sample of topics is read back over all rounds.
//!
//! With `--pipelines N` that many pipelines derive a value from each of the devices' values, and
//! the derived ones are read back too: a run that was promised by an acknowledgement must have
//! happened, and have published once.
//!
//! **Invariants**
//! - `lost` and `duplicated` must be zero; `resent_twice` may not be, and is told apart.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;

use super::flows::{self, Class, TWIN};
use super::options::{Common, Durability, merge};
use super::round::{self, RoundLoad, RoundResult};
use crate::load::crowd::wall_clock;
use crate::measure::statistics::{Spread, rounded};
use crate::output;
use crate::readback::{Comparison, read_back_below};
use crate::server::appliance::Appliance;
use crate::stop;

/// Topics that are read back over all rounds at the end.
const SAMPLED_TOPICS: u32 = 40;
/// Round results kept in the result file beside the totals: the first, and all with a fault.
const ROUNDS_TOLD: usize = 5;

/// Options of `lab kill`.
#[derive(Clone, Debug, Args)]
pub(crate) struct KillOptions {
    #[command(flatten)]
    pub(crate) common: Common,
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) rounds: u32,
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) devices: u32,
    /// Topics of each device; two, so that both kinds of payload come from each.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) tags: u32,
    /// Values per second of all devices together.
    #[arg(long, default_value_t = 20_000.0)]
    pub(crate) rate: f64,
    #[arg(long, value_enum, default_value_t = Durability::Sync)]
    pub(crate) durability: Durability,
    /// Deploy that many pipelines that share the devices, and read back what they derive: each
    /// acknowledged value has one derived value after the restart. 0 = none.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub(crate) pipelines: u32,
    /// What these pipelines do; `waits` are killed while runs wait, `script` in a script.
    #[arg(long, value_enum, default_value_t = Class::PassThrough)]
    pub(crate) class: Class,
}

/// The loop of the script class here: a millisecond or so, to be killed in.
const SCRIPT_TURNS: u64 = 2_000;
/// Topics, and so pipelines' runs, that the last read-back looks for.
const DERIVED_PREFIXES: [&str; 2] = ["", TWIN];

/// Runs it.
pub(crate) fn run(options: &KillOptions) -> Result<ExitCode> {
    let common = &options.common;
    common.prepare()?;
    let folder = common.folder()?;
    let began_at = wall_clock() - 1_000_000_000;
    let began = Instant::now();
    let mut appliance = Appliance::start(common.setup(folder.path(), options.durability)?)?;
    let clients = appliance.create_clients(options.devices as usize)?;
    if options.pipelines > options.devices {
        bail!("{} pipelines cannot share {} devices", options.pipelines, options.devices);
    }
    let (pipelines, devices) = (options.pipelines, options.devices);
    flows::deploy_shared(&mut appliance.http(), options.class, pipelines, devices, SCRIPT_TURNS)?;
    let bar = output::progress(u64::from(options.rounds));
    let topics = options.devices * options.tags;
    let mut totals = Totals::default();
    let mut sample = Vec::new();
    let mut counter_first = 0;
    for number in 0..options.rounds {
        let load = RoundLoad {
            devices: options.devices as usize,
            tags: options.tags,
            rate_per_s: options.rate,
            counter_first,
            load_core: common.cpus.load,
            has_pipelines: pipelines > 0,
        };
        let target = appliance.target(clients.clone());
        let outcome = round::run(appliance, target, &load, folder.path(), &mut kill_and_restart);
        let (restarted, result) = outcome.with_context(|| format!("round {number}"))?;
        appliance = restarted;
        counter_first = result.counter_next;
        sample.extend(round::sampled(folder.path(), topics, SAMPLED_TOPICS)?);
        totals.add(number, result);
        bar.inc(1);
        bar.set_message(totals.words());
    }
    let mut http = appliance.http();
    let prefixes = if pipelines > 0 { &DERIVED_PREFIXES[..] } else { &[""] };
    let mut all = Comparison::default();
    for prefix in prefixes {
        let (tags, each) = (options.tags, &mut stop::check);
        all.add(read_back_below(&mut http, prefix, &sample, tags, began_at, each)?);
    }
    let ledger = appliance.ledger()?;
    bar.finish_and_clear();
    let mut result = common.head("kill", Some(folder.path()));
    merge(&mut result, totals.json());
    merge(
        &mut result,
        json!({
            "rounds": options.rounds,
            "devices": options.devices,
            "tags": options.tags,
            "rate": options.rate,
            "pipelines": (pipelines > 0).then(|| totals.runs_json(options)),
            "ledger": ledger,
            "over_all_rounds": all,
            "seconds": rounded(began.elapsed().as_secs_f64(), 1),
        }),
    );
    appliance.stop()?;
    output::say(&format!("{} rounds: {}", options.rounds, totals.words()));
    let examples = totals.compared.examples.iter().chain(&totals.derived.examples);
    for example in examples.chain(&all.examples) {
        output::say(&format!("  {example}"));
    }
    output::save(&result, common.json.as_deref())?;
    let passed = totals.is_clean() && all.is_clean();
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn kill_and_restart(appliance: Appliance) -> Result<Appliance> {
    let (setup, (mqtt, http)) = (appliance.setup().clone(), appliance.addresses());
    appliance.kill()?;
    Appliance::start_on(setup, mqtt, http)
}

/// Sums over rounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) compared: Comparison,
    /// What pipelines derived.
    pub(crate) derived: Comparison,
    pub(crate) rounds: u32,
    pub(crate) rounds_with_loss: u32,
    pub(crate) acknowledged_before: u64,
    pub(crate) resent: u64,
    pub(crate) open: u64,
    pub(crate) refused: u64,
    unbalanced: u32,
    restarts_ms: Vec<f64>,
    runs_ended_ms: Vec<f64>,
    told: Vec<serde_json::Value>,
}

impl Totals {
    pub(crate) fn add(&mut self, number: u32, result: RoundResult) {
        self.rounds += 1;
        self.rounds_with_loss += u32::from(result.compared.lost > 0);
        self.acknowledged_before += result.acknowledged_before;
        self.resent += result.resent;
        self.open += result.open;
        self.refused += result.refused;
        self.unbalanced += u32::from(!result.ledger_balanced);
        self.restarts_ms.push(result.restart_ms);
        self.runs_ended_ms.extend(result.runs_ended_ms);
        let derived = result.derived.clone().unwrap_or_default();
        let is_faulty =
            !result.compared.is_clean() || !derived.is_clean() || !result.ledger_balanced;
        if self.told.len() < ROUNDS_TOLD || (is_faulty && self.told.len() < 10 * ROUNDS_TOLD) {
            self.told.push(json!({ "round": number, "result": result }));
        }
        self.compared.add(result.compared);
        self.derived.add(derived);
    }

    /// Every value accounted for in every round.
    pub(crate) fn is_clean(&self) -> bool {
        let (compared, derived) = (self.compared.is_clean(), self.derived.is_clean());
        compared && derived && self.unbalanced == 0 && self.open == 0 && self.refused == 0
    }

    pub(crate) fn words(&self) -> String {
        let runs = match &self.derived {
            derived if derived.topics == 0 => String::new(),
            derived => format!(
                "; {} runs, {} lost, {} doubled",
                derived.acknowledged, derived.lost, derived.duplicated
            ),
        };
        format!(
            "{} acknowledged, {} lost, {} duplicated, {} resent and there twice, ledger {}{runs}",
            self.compared.acknowledged,
            self.compared.lost,
            self.compared.duplicated,
            self.compared.resent_twice,
            if self.unbalanced == 0 { "balanced" } else { "NOT balanced" },
        )
    }

    /// What became of the runs that acknowledgements had promised.
    fn runs_json(&self, options: &KillOptions) -> serde_json::Value {
        json!({
            "pipelines": options.pipelines,
            "class": options.class.key(),
            "kills": self.rounds,
            "runs": self.derived.acknowledged,
            "lost": self.derived.lost,
            "doubled": self.derived.duplicated,
            "resent_twice": self.derived.resent_twice,
            "altered": self.derived.altered,
            "unknown": self.derived.unknown,
            "runs_ended_ms": Spread::of(self.runs_ended_ms.iter().copied()),
            "examples": self.derived.examples,
        })
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        json!({
            "rounds": self.rounds,
            "rounds_with_loss": self.rounds_with_loss,
            "acknowledged": self.compared.acknowledged,
            "acknowledged_before": self.acknowledged_before,
            "lost": self.compared.lost,
            "duplicated": self.compared.duplicated,
            "resent": self.resent,
            "resent_twice": self.compared.resent_twice,
            "altered": self.compared.altered,
            "unknown": self.compared.unknown,
            "refused": self.refused,
            "unacknowledged": self.open,
            "ledger_balanced": self.unbalanced == 0,
            "restart_ms": Spread::of(self.restarts_ms.iter().copied()),
            "told_rounds": self.told,
            "examples": self.compared.examples,
        })
    }
}
