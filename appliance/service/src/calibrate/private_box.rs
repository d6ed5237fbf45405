//! The private box: an appliance of its own in this process, with its clients and pipelines.

use super::generator::Generator;
use super::place::Place;
use crate::cli::Place as Which;
use crate::cli::local::Appliance as Reach;
use crate::config::{Config, Loaded};
use crate::wiring::Appliance;
use anyhow::Context as _;
use millrace_contract::v1;
use millrace_sizing::calibration::Load;
use millrace_supervisor::Shutdown;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Devices; each has a connection of its own.
pub(super) const DEVICES: u32 = 200;
/// Pipelines of each class, that share the devices.
const PIPELINES: u32 = 10;
/// Turns of the script's loop: some milliseconds on most machines.
const TURNS: u32 = 80_000;
/// How long the private box may take to tell where it listens, and how often it is asked.
const REACH_LIMIT: Duration = Duration::from_secs(10);
const REACH_EVERY: Duration = Duration::from_millis(20);
/// The private journal may take this much of the disk.
const JOURNAL_MIB: u64 = 512;

pub(super) struct PrivateBox {
    appliance: Appliance,
    shutdown: Shutdown,
    pub(super) generator: Generator,
}

impl PrivateBox {
    pub(super) async fn start(place: &Place) -> anyhow::Result<Self> {
        let mut config = Config { data_dir: place.path().to_owned(), ..Config::default() };
        config.broker.listen = "127.0.0.1:0".to_owned();
        config.http.listen = "127.0.0.1:0".to_owned();
        config.admission.client_rate_per_s = 0;
        config.admission.workspace_rate_per_s = 0;
        config.journal.bytes_max_mib = JOURNAL_MIB;
        let shutdown = Shutdown::new();
        let folder = place.folder()?;
        let appliance = Appliance::start(Loaded::of(config), folder, shutdown.clone())
            .await
            .context("start the private box")?;
        let prepared = async {
            deploy(place).await?;
            let devices = appliance.create_demo_clients("device", DEVICES, "#").await?;
            let root = appliance.root().to_owned();
            Generator::start(appliance.mqtt_address(), root, devices).await
        };
        match prepared.await {
            Ok(generator) => Ok(Self { appliance, shutdown, generator }),
            Err(error) => {
                shutdown.begin();
                // The first failure is the one to tell.
                let _stopped = appliance.stop().await.is_ok();
                Err(error)
            }
        }
    }

    /// CPU time of all scripts so far, by the product's own account.
    pub(super) fn script_cpu(&self) -> Duration {
        self.appliance.script_cpu()
    }

    pub(super) async fn stop(self) -> anyhow::Result<()> {
        self.generator.stop();
        self.shutdown.begin();
        self.appliance.stop().await
    }
}

/// Where the values of a load go; pipelines listen there.
pub(super) fn path(load: Load) -> &'static str {
    match load {
        Load::Alone | Load::AloneFast | Load::Bunched => "plain",
        Load::PassThrough => "pass",
        Load::InOrder => "order",
        Load::Waiting => "wait",
        Load::Script => "script",
    }
}

/// The group of a device: its pipeline.
pub(super) fn group(device: u32) -> u32 {
    device % PIPELINES
}

/// The private box's API. Where it listens is written to its folder shortly after its start.
async fn reach(place: &Place) -> anyhow::Result<Reach> {
    let which = Which { config: None, data: Some(place.path().to_owned()) };
    let began = Instant::now();
    loop {
        match Reach::connect(&which) {
            Ok(reach) => return Ok(reach),
            Err(error) if began.elapsed() > REACH_LIMIT => {
                return Err(error).context("reach the private box");
            }
            Err(_) => tokio::time::sleep(REACH_EVERY).await,
        }
    }
}

async fn deploy(place: &Place) -> anyhow::Result<()> {
    let reach = reach(place).await?;
    let deployment = v1::NewDeployment::default();
    for load in [Load::PassThrough, Load::InOrder, Load::Waiting, Load::Script] {
        for number in 0..PIPELINES {
            let name = format!("{}-{number}", path(load));
            let document = document(load, &name, number).to_string();
            let document = serde_json::value::RawValue::from_string(document)?;
            let new = v1::NewRevision { document, note: String::new(), expected: None };
            let saved = reach.api.save_pipeline("main", &name, &new).await;
            saved.with_context(|| format!("store the pipeline {name}"))?;
            let deployed = reach.api.deploy_pipeline("main", &name, &deployment);
            deployed.await.with_context(|| format!("deploy the pipeline {name}"))?;
        }
    }
    Ok(())
}

/// The document of a class's pipeline: it publishes each number again on a twin topic.
fn document(load: Load, name: &str, number: u32) -> Value {
    let middle = match load {
        Load::Waiting => json!({ "kind": "wait", "fields": { "for_ms": 20 } }),
        Load::Script => {
            let code = format!(
                "let x = 1;\nfor (let i = 0; i < {TURNS}; i++) x = x * 1.0000001 + (i & 3) - 1.5;\n\
                 return {{ value: $item.value, sum: x }};"
            );
            json!({ "kind": "javascript", "fields": { "code": code } })
        }
        _ => json!({ "kind": "set", "fields": { "fields": { "line": "L1" } } }),
    };
    let order = if load == Load::InOrder { "in_order" } else { "parallel" };
    json!({
        "millrace": 1,
        "name": name,
        "settings": { "order": order },
        "steps": {
            "in": {
                "kind": "uns.subscribe",
                "fields": { "filters": [format!("{}/{number}/+", path(load))] }
            },
            "middle": middle,
            "out": {
                "kind": "uns.publish",
                "fields": { "path": "twin/{{ $trigger.path }}", "value": "{{ $item.value }}" }
            }
        },
        "wires": [
            { "from": "in", "port": "out", "to": "middle" },
            { "from": "middle", "port": "out", "to": "out" }
        ]
    })
}
