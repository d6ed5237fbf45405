//! Options that several scenarios share, and what they make: folders, an appliance, a result's
//! head.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::launch::{self, Cores, pin};
use crate::load::spec::Payload;
use crate::measure::machine;
use crate::output;
use crate::server::appliance::Setup;

/// Options of every scenario.
#[derive(Clone, Debug, Args)]
pub(crate) struct Common {
    /// The appliance under test.
    #[arg(long, default_value = "target/release/millrace")]
    pub(crate) appliance: PathBuf,
    /// The cores of the server and of the load, or none.
    #[arg(long, value_name = "SERVER:LOAD", default_value = "0:1")]
    pub(crate) cpus: Cores,
    /// Folder for the appliance's data: on a real disk, or syncs cost nothing.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// Write the result here.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Servers and load before all other programs (SCHED_RR; root only): for a machine that others
    /// use too. Above 90 % of a core the kernel's own share for the others makes stalls of 50 ms.
    #[arg(long)]
    pub(crate) realtime: bool,
    /// Only the load before all other programs (SCHED_RR; root only): the measuring side keeps its
    /// schedule while the server runs as it does in a plant, where its own background work does
    /// not take turns of 100 ms with the threads that devices wait for.
    #[arg(long, conflicts_with = "realtime")]
    pub(crate) realtime_load: bool,
    /// Lines for the appliance's configuration, for experiments; goes into the result.
    #[arg(long, value_name = "TOML", default_value = "")]
    pub(crate) config: String,
}

/// When the appliance syncs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Durability {
    /// Before each acknowledgement.
    Sync,
    /// Every 100 ms, as the reference does.
    Interval,
}

/// Options of a load.
#[derive(Clone, Debug, Args)]
pub(crate) struct LoadOptions {
    /// Devices, each with its own connection and API client.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) devices: u32,
    /// Topics of each device.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) tags: u32,
    /// Unacknowledged messages of a device; with a gateway batch: batches.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub(crate) in_flight: u16,
    /// PUBLISH packets in one socket write.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=500))]
    pub(crate) gateway_batch: u16,
    /// What a message holds.
    #[arg(long, value_enum, default_value_t = Payload::Plain)]
    pub(crate) payload: Payload,
    /// One message in that many asks for its verdict; 0 = none.
    #[arg(long, default_value_t = 100)]
    pub(crate) verdict_every: u32,
}

impl LoadOptions {
    /// Messages in flight: whole batches, at most the reference's receive maximum.
    pub(crate) fn window(&self) -> u16 {
        let whole = u32::from(self.in_flight) * u32::from(self.gateway_batch);
        let most = 1_000 / u32::from(self.gateway_batch) * u32::from(self.gateway_batch);
        u16::try_from(whole.min(most)).unwrap_or(1_000)
    }
}

impl Common {
    /// A temporary folder for one run; removed with its guard.
    pub(crate) fn folder(&self) -> Result<TempDir> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("millrace-lab-");
        let folder = match &self.data {
            Some(parent) => builder.tempdir_in(parent),
            None => builder.tempdir(),
        };
        let folder = folder.context("create a folder for the data; choose another with --data")?;
        if machine::lies_in_memory(folder.path()) {
            output::complain(
                "lab: the data folder lies in memory (tmpfs): a sync costs nothing there and the \
                 figures flatter. Choose a folder on a disk with --data FOLDER.",
            );
        }
        Ok(folder)
    }

    /// Pins the lab itself beside its load, away from the server, and becomes real-time if asked.
    /// To be called first: the latter starts the program anew.
    pub(crate) fn prepare(&self) -> Result<()> {
        pin(self.cpus.load)?;
        if self.realtime_load {
            launch::make_load_realtime();
        }
        if self.realtime && !launch::is_realtime() {
            return launch::become_realtime();
        }
        Ok(())
    }

    /// How the appliance is set up in `folder`.
    pub(crate) fn setup(&self, folder: &Path, durability: Durability) -> Result<Setup> {
        Ok(Setup {
            program: std::path::absolute(&self.appliance).context("find the appliance")?,
            data: folder.join("data"),
            notes: folder.to_path_buf(),
            durability: match durability {
                Durability::Sync => "sync".into(),
                Durability::Interval => "interval".into(),
            },
            interval_ms: 100,
            commit_interval_ms: 2,
            journal_mib_max: 2_048,
            core: self.cpus.server,
            tls: None,
            extra: self.config.clone(),
        })
    }

    /// The head of a result: enough to compare it with another one.
    pub(crate) fn head(&self, scenario: &str, data: Option<&Path>) -> Value {
        json!({
            "scenario": scenario,
            "date": machine::date(),
            "machine": machine::machine(),
            "build": machine::build(self.appliance.is_file().then_some(&*self.appliance)),
            "cpus": { "server": self.cpus.server, "load": self.cpus.load },
            "realtime": launch::is_realtime(),
            "realtime_load": launch::is_load_realtime(),
            "data_in_memory": data.map(machine::lies_in_memory),
            "extra_config": self.config,
        })
    }
}

/// Lays the fields of `more` over those of `result`.
pub(crate) fn merge(result: &mut Value, more: Value) {
    let (Value::Object(into), Value::Object(from)) = (result, more) else { return };
    into.extend(from);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(in_flight: u16, gateway_batch: u16) -> LoadOptions {
        LoadOptions {
            devices: 1,
            tags: 1,
            in_flight,
            gateway_batch,
            payload: Payload::Plain,
            verdict_every: 0,
        }
    }

    #[test]
    fn window_holds_whole_batches_within_the_receive_maximum() {
        assert_eq!(options(16, 1).window(), 16);
        assert_eq!(options(16, 20).window(), 320);
        assert_eq!(options(100, 20).window(), 1_000);
        assert_eq!(options(100, 300).window(), 900);
    }

    #[test]
    fn merges_over_what_is_there() {
        let mut result = json!({"a": 1, "b": 2});
        merge(&mut result, json!({"b": 3, "c": 4}));
        assert_eq!(result, json!({"a": 1, "b": 3, "c": 4}));
    }
}
