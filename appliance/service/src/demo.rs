//! The demo: 20 simulated devices with 10 topics each that publish once a second over MQTT, like
//! any device would, each signed in as its own API client.
//!
//! Their secrets lie in the data folder (owner only), so that a second start finds the devices
//! that the first one made.

use crate::publisher::{Answers, Device, Publisher};
use crate::wiring::Appliance;
use anyhow::Context as _;
use millrace_supervisor::{Shutdown, spawn};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

const DEVICES: u32 = 20;
const SECRETS_FILE: &str = "demo-secrets.json";
/// How long a device waits before it connects again.
const RECONNECT: Duration = Duration::from_secs(2);
/// A device's window; its ten values a second never fill it.
const IN_FLIGHT: u16 = 20;

/// What a simulated device measures: name, mean, swing, seconds a wave.
const SIGNALS: [(&str, f64, f64, f64); 8] = [
    ("temperature", 61.0, 4.0, 180.0),
    ("pressure", 5.2, 0.4, 45.0),
    ("vibration", 1.8, 0.6, 7.0),
    ("speed", 1450.0, 25.0, 60.0),
    ("current", 12.4, 1.1, 30.0),
    ("voltage", 398.0, 2.0, 90.0),
    ("flow", 84.0, 6.0, 75.0),
    ("level", 2.4, 1.2, 600.0),
];

#[derive(Clone, Serialize, Deserialize)]
struct Secret {
    id: String,
    secret: String,
}

/// The running devices.
#[derive(Debug)]
pub(crate) struct Demo(Vec<JoinHandle<()>>);

/// Makes the devices' clients where they are not there yet and starts the devices.
///
/// # Errors
/// When the clients cannot be made or their secrets cannot be kept.
pub(crate) async fn start(appliance: &Appliance, shutdown: Shutdown) -> anyhow::Result<Demo> {
    let secrets = secrets(appliance).await?;
    let devices = secrets.into_iter().enumerate().map(|(number, secret)| {
        let device = Simulated {
            device: Device {
                address: appliance.mqtt_address(),
                id: secret.id.clone(),
                secret: secret.secret,
                in_flight_max: IN_FLIGHT,
            },
            prefix: format!("{}/main/_ingress/{}/demo/{}", appliance.root(), secret.id, secret.id),
            number: u32::try_from(number).unwrap_or(0),
        };
        spawn::task("demo-device", device.run(shutdown.clone()))
    });
    Ok(Demo(devices.collect()))
}

async fn secrets(appliance: &Appliance) -> anyhow::Result<Vec<Secret>> {
    let file = appliance.data_dir().join(SECRETS_FILE);
    if let Ok(text) = std::fs::read_to_string(&file) {
        let secrets: Vec<Secret> = serde_json::from_str(&text)
            .with_context(|| format!("read {}; remove it to start afresh", file.display()))?;
        if secrets.iter().all(|secret| appliance.knows_client(&secret.id)) {
            return Ok(secrets);
        }
    }
    let made = appliance.create_demo_clients("machine", DEVICES, "demo/#").await?;
    let secrets: Vec<Secret> = made.into_iter().map(|(id, secret)| Secret { id, secret }).collect();
    let text = serde_json::to_vec(&secrets).context("write the demo's secrets")?;
    appliance.keep_owner_only(SECRETS_FILE, &text)?;
    Ok(secrets)
}

impl Demo {
    /// Waits until all devices have stopped.
    pub(crate) async fn end(self) {
        for device in self.0 {
            // A device that failed has said so in the log.
            let _gone = device.await.is_err();
        }
    }
}

struct Simulated {
    device: Device,
    prefix: String,
    number: u32,
}

impl Simulated {
    async fn run(self, shutdown: Shutdown) {
        while !shutdown.has_begun() {
            let (publisher, answers) = self.device.halves();
            tokio::select! {
                ended = self.publish_on(publisher, answers) => if let Err(error) = ended {
                    tracing::warn!(device = self.device.id, "Demo device lost its connection: {error:#}.");
                },
                () = shutdown.begun() => return,
            }
            tokio::select! {
                () = tokio::time::sleep(RECONNECT) => {}
                () = shutdown.begun() => return,
            }
        }
    }

    async fn publish_on(&self, publisher: Publisher, mut answers: Answers) -> anyhow::Result<()> {
        let send = async {
            let mut tick = interval(Duration::from_secs(1));
            tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
            for second in 0_u32.. {
                tick.tick().await;
                for (name, payload) in values(self.number, second) {
                    let topic = format!("{}/{name}", self.prefix);
                    publisher.publish(u64::from(second), topic, payload.into_bytes()).await?;
                }
            }
            Ok::<(), anyhow::Error>(())
        };
        let receive = async {
            loop {
                let answer = answers.next().await?;
                if let Some(reason) = answer.refusal {
                    tracing::warn!(device = self.device.id, "Demo value refused: {reason}.");
                }
            }
        };
        tokio::select! {
            sent = send => sent,
            received = receive => received,
        }
    }
}

/// The ten values of one device in one second.
fn values(device: u32, second: u32) -> Vec<(&'static str, String)> {
    let mut values = Vec::with_capacity(SIGNALS.len() + 2);
    for (name, mean, swing, period) in SIGNALS {
        let phase = f64::from(device) * 0.37;
        let wave = (TAU * f64::from(second) / period + phase).sin();
        values.push((name, format!("{{\"value\":{:.2}}}", mean + swing * wave)));
    }
    values.push(("pieces", format!("{{\"value\":{}}}", u64::from(second) * 3 + u64::from(device))));
    let running = (second + device * 13) % 120 < 105;
    values.push(("running", format!("{{\"value\":{running}}}")));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_ten_topics_with_values_of_json() {
        let values = values(3, 17);
        assert_eq!(values.len(), 10);
        for (name, payload) in values {
            let read: serde_json::Value = serde_json::from_str(&payload).unwrap();
            assert!(read.get("value").is_some(), "{name}: {payload}");
        }
    }
}
