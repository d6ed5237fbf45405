//! Sources: the deployed `mqtt.subscribe` triggers, each with its own connection.
//!
//! A message is handed to the [`Receiver`], which makes the run's request durable; only then it is
//! acknowledged to its broker. With the broker's session kept (`clean_start` off), what arrives
//! while the box is down waits at the broker.
//!
//! **Invariants**: at most [`SOURCES_MAX`] sources; one connection each; stopping a source leaves
//! nothing acknowledged that is not durable.

use super::link::{Broker, Link};
use super::payload::Form;
use super::source::{Counts, Source};
use crate::dial::{Endpoint, Tls, Trust};
use crate::limits::SOURCES_MAX;
use crate::pool::Pool;
use millrace_engine::step::{BoxFuture, StepFault};
use millrace_flow::{Data, document, kind};
use millrace_model::Timestamp;
use millrace_supervisor::spawn;
use parking_lot::Mutex;
use rumqttc::mqttbytes::QoS;
use rumqttc::mqttbytes::v4::Packet;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Which trigger of which pipeline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceKey {
    /// The workspace that the pipeline is in.
    pub workspace: u16,
    /// The pipeline's number.
    pub pipeline: u32,
    /// The trigger step's id.
    pub step: String,
}

/// Who takes messages, and knows secrets.
pub trait Receiver: Send + Sync {
    /// Takes a message, whose datum is `$trigger`; ready when the run's request is durable (or the
    /// message was dropped on purpose). Called in the order of arrival; calls may overlap.
    ///
    /// # Errors
    /// It was not taken. A fault that may pass: the message is not acknowledged and comes again. A
    /// lasting one (too large, say): it is counted as lost and acknowledged.
    fn receive(&self, source: &SourceKey, trigger: Data) -> BoxFuture<Result<(), StepFault>>;
    /// A secret of the workspace.
    fn secret(&self, workspace: u16, name: &str) -> Option<Arc<str>>;
    /// Why there is none, for people.
    fn no_secret(&self, _workspace: u16, name: &str) -> String {
        format!("there is no secret `{name}` in this workspace; set it")
    }
}

/// A trigger's settings, read from its step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpec {
    pub(crate) broker: Broker,
    pub(crate) password: Option<String>,
    pub(crate) filters: Vec<String>,
    pub(crate) qos: QoS,
    pub(crate) form: Form,
}

/// One source as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceState {
    /// Which.
    pub source: SourceKey,
    /// The broker's address.
    pub target: String,
    /// Whether it is connected and subscribed.
    pub is_connected: bool,
    /// Messages taken.
    pub taken: u64,
    /// Messages that should have been JSON and were not.
    pub unreadable: u64,
    /// Messages that were not taken and do not come again: of QoS 0, or never acceptable.
    pub lost: u64,
    /// When the last message came.
    pub last_message_at: Option<Timestamp>,
}

/// What happens to the session that the broker keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It is kept: the source comes back (the box stops, a new revision is deployed).
    Keep,
    /// It is forgotten: the pipeline was undeployed.
    Forget,
}

/// All sources.
pub struct Sources {
    pool: Arc<Pool>,
    receiver: Arc<dyn Receiver>,
    running: Mutex<BTreeMap<SourceKey, Running>>,
}

struct Running {
    spec: SourceSpec,
    counts: Arc<Counts>,
    task: JoinHandle<()>,
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources").field("count", &self.running.lock().len()).finish_non_exhaustive()
    }
}

impl SourceSpec {
    /// Reads a step of the kind `mqtt.subscribe`; `pipeline` and `id` name it.
    ///
    /// # Errors
    /// The field and what is wrong with it.
    pub fn read(
        pipeline: &str,
        id: &str,
        step: &document::Step,
    ) -> Result<Self, (&'static str, String)> {
        let Some(kind) = kind::find("mqtt.subscribe").filter(|kind| kind.name == step.kind) else {
            return Err(("kind", "is not mqtt.subscribe".to_owned()));
        };
        let raw = |name| kind.value_of(&step.fields, name).filter(|value| !value.is_null());
        let text =
            |name: &'static str| raw(name).and_then(|value| value.as_str().map(str::to_owned));
        let bad = |name: &'static str, what: &str| (name, what.to_owned());
        let url = text("url").ok_or_else(|| bad("url", "is missing"))?;
        let tls = match text("tls_ca_pem") {
            None => Tls::System,
            Some(pem) => {
                Tls::Own(Arc::new(Trust::of_pem(&pem).map_err(|what| ("tls_ca_pem", what))?))
            }
        };
        let endpoint = Endpoint::of_broker(&url, &tls).map_err(|what| bad("url", what))?;
        let filters =
            raw("filters").and_then(|value| value.as_array().cloned()).unwrap_or_default();
        let filters: Option<Vec<String>> =
            filters.iter().map(|filter| filter.as_str().map(str::to_owned)).collect();
        let filters = filters.filter(|filters| (1..=100).contains(&filters.len()));
        let filters = filters.ok_or_else(|| bad("filters", "must be a list of 1 to 100 texts"))?;
        if !filters.iter().all(|filter| rumqttc::mqttbytes::valid_filter(filter)) {
            return Err(bad("filters", "holds what is no topic filter"));
        }
        let qos = raw("qos").and_then(|value| value.as_u64()).and_then(super::step::qos);
        let form = match text("payload").as_deref() {
            Some("auto") | None => Form::Auto,
            Some("json") => Form::Json,
            Some("text") => Form::Text,
            Some("base64") => Form::Base64,
            Some(_) => return Err(bad("payload", "must be auto, json, text or base64")),
        };
        let password = raw("password")
            .map(|value| value.get("secret").and_then(Value::as_str).map(str::to_owned));
        let password = match password {
            Some(None) => {
                return Err(bad("password", "must name a secret: {\"secret\": \"name\"}"));
            }
            Some(Some(name)) => Some(name),
            None => None,
        };
        let keep_alive = raw("keep_alive_ms").and_then(|value| value.as_u64()).unwrap_or(30_000);
        Ok(Self {
            broker: Broker {
                endpoint,
                client_id: text("client_id").unwrap_or_else(|| format!("millrace-{pipeline}-{id}")),
                user: text("user"),
                password: None,
                keep_alive: Duration::from_millis(keep_alive.clamp(5_000, 3_600_000)),
                is_clean: raw("clean_start") == Some(Value::Bool(true)),
            },
            password,
            filters,
            qos: qos.ok_or_else(|| bad("qos", "must be 0, 1 or 2"))?,
            form,
        })
    }
}

impl Sources {
    /// No sources yet.
    #[must_use]
    pub fn new(pool: Arc<Pool>, receiver: Arc<dyn Receiver>) -> Self {
        Self { pool, receiver, running: Mutex::default() }
    }

    /// Starts a source, on the runtime. One with the same settings runs on; one with others is
    /// replaced.
    ///
    /// # Errors
    /// There are too many.
    pub fn start(&self, key: SourceKey, spec: SourceSpec) -> Result<(), StepFault> {
        let mut running = self.running.lock();
        if running.get(&key).is_some_and(|old| old.spec == spec && !old.task.is_finished()) {
            return Ok(());
        }
        let old = running.remove(&key);
        if running.len() >= SOURCES_MAX {
            let message = format!("{SOURCES_MAX} triggers subscribe at external brokers already");
            return Err(StepFault::lasting("limit", message));
        }
        let old_session = old.map(|old| {
            old.task.abort();
            old.spec
        });
        if let Some(old) = old_session {
            let is_same_session = old.broker.endpoint == spec.broker.endpoint
                && old.broker.client_id == spec.broker.client_id;
            // Filters that are gone would go on to be delivered in a kept session.
            if is_same_session {
                return self.run(&mut running, key, spec, old.filters);
            }
            self.forget(&key, old);
        }
        self.run(&mut running, key, spec, Vec::new())
    }

    fn run(
        &self,
        running: &mut BTreeMap<SourceKey, Running>,
        key: SourceKey,
        spec: SourceSpec,
        before: Vec<String>,
    ) -> Result<(), StepFault> {
        let counts = Arc::new(Counts::default());
        let old_filters =
            before.into_iter().filter(|filter| !spec.filters.contains(filter)).collect();
        let source = Source {
            key: key.clone(),
            spec: spec.clone(),
            old_filters,
            dialer: Arc::clone(&self.pool.dialer),
            targets: Arc::clone(&self.pool.targets),
            receiver: Arc::clone(&self.receiver),
            counts: Arc::clone(&counts),
        };
        let task = spawn::task("mqtt-source", source.run());
        running.insert(key, Running { spec, counts, task });
        Ok(())
    }

    /// Stops a source.
    pub fn stop(&self, key: &SourceKey, ending: Ending) {
        let Some(old) = self.running.lock().remove(key) else { return };
        old.task.abort();
        if ending == Ending::Forget {
            self.forget(key, old.spec);
        }
    }

    /// Stops all sources; their sessions are kept.
    pub fn stop_all(&self) {
        for (_, running) in std::mem::take(&mut *self.running.lock()) {
            running.task.abort();
        }
    }

    /// All sources.
    #[must_use]
    pub fn list(&self) -> Vec<SourceState> {
        let running = self.running.lock();
        running.iter().map(|(key, running)| running.counts.state(key, &running.spec)).collect()
    }

    /// Connects once more, clean, so that the broker throws the session away; if that fails, the
    /// broker keeps it until its own limits.
    fn forget(&self, key: &SourceKey, spec: SourceSpec) {
        if spec.broker.is_clean {
            return;
        }
        let mut broker = Broker { is_clean: true, ..spec.broker };
        if let Some(name) = &spec.password {
            broker.password = self.receiver.secret(key.workspace, name);
        }
        let pool = Arc::clone(&self.pool);
        spawn::task("mqtt-forget", async move {
            let forgotten = async {
                let (mut link, _) = Link::open(&pool.dialer, &broker).await?;
                link.push(&Packet::Disconnect)?;
                link.write_out().await
            };
            if let Err(fault) = forgotten.await {
                let client_id = &broker.client_id;
                tracing::info!(client_id, %fault, "A broker may keep the session of a stopped trigger.");
            }
        });
    }
}

impl Drop for Sources {
    fn drop(&mut self) {
        self.stop_all();
    }
}
