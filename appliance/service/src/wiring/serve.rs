//! The listeners: MQTT and HTTP, plain and TLS, and their announcement on the network.

use super::announce::{self, Announced, Announcement};
use super::backend::Answers;
use super::mqtt::{Gate, SignIn};
use super::state::Shared;
use crate::config::validate::{is_loopback, parse_address};
use anyhow::{Context as _, anyhow};
use millrace_api::backend as api;
use millrace_api::{Listener, Settings, tls};
use millrace_broker::{self as broker, Broker, DisconnectReason};
use millrace_journal::{Disk as _, RealDisk};
use millrace_supervisor::{Issue, Severity, spawn};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Where the appliance listens.
pub(super) struct Listeners {
    pub(super) mqtt: SocketAddr,
    pub(super) mqtts: Option<SocketAddr>,
    pub(super) http: SocketAddr,
    pub(super) https: Option<SocketAddr>,
    pub(super) fingerprint: Option<String>,
    tasks: Vec<JoinHandle<()>>,
    announced: Option<Announced>,
}

/// What the API tells of them.
pub(super) struct Bound {
    pub(super) listeners: Vec<api::BoundListener>,
    pub(super) certificate: Option<api::ServedCertificate>,
}

impl Listeners {
    /// Waits until all HTTP listeners have ended.
    pub(super) async fn ended(self) {
        if let Some(announced) = self.announced {
            // Whoever searches then may still be shown the box: it does not answer.
            let _unfinished = tokio::task::spawn_blocking(|| announced.stop()).await.is_err();
        }
        for task in self.tasks {
            // A listener that failed has said so in the log.
            let _gone = task.await.is_err();
        }
    }
}

/// Binds and starts all listeners.
pub(super) async fn start(shared: &Arc<Shared>) -> anyhow::Result<(Arc<Broker>, Listeners)> {
    let config = &shared.loaded.config;
    let certificate = certificate(shared)?;
    let tls_config = certificate.as_ref().map(|certificate| Arc::clone(&certificate.config));
    let broker = start_broker(shared, tls_config.clone()).await?;
    let answers = Arc::new(Answers(Arc::clone(shared)));
    let settings = Settings {
        hosts: config.http.hosts.clone(),
        web_folder: web_folder(&config.http.web_folder),
        ..Settings::loopback()
    };
    let router = millrace_api::router(answers, settings);
    let mut tasks = Vec::new();
    let mut bind = async |text: &str, tls| -> anyhow::Result<SocketAddr> {
        let address = address(text)?;
        let listener = Listener::bind(address, tls).await.with_context(|| {
            format!(
                "listen for HTTP on {address}; if another program is there, stop it or give \
                 another address (http.listen or http.tls_listen, MILLRACE_HTTP_LISTEN)"
            )
        })?;
        let bound = listener.local_address().context("find the HTTP address")?;
        let stop = shared.shutdown.clone();
        let router = router.clone();
        tasks.push(spawn::task("http", async move {
            millrace_api::serve(listener, router, async move { stop.begun().await }).await;
        }));
        Ok(bound)
    };
    let http = bind(&config.http.listen, None).await?;
    let https = match (config.http.tls_listen.as_str(), tls_config) {
        ("", _) | (_, None) => None,
        (text, Some(tls)) => Some(bind(text, Some(tls)).await?),
    };
    warn_plain(shared);
    let mqtt = broker.local_addr().context("find the MQTT address")?;
    let mqtts = broker.local_addr_tls();
    let listener = |protocol, address, tls, setting| {
        Some(api::BoundListener { protocol, address: address?, tls, setting })
    };
    let listeners = [
        listener("mqtt", Some(mqtt), false, "broker.listen"),
        listener("mqtt", mqtts, true, "broker.tls_listen"),
        listener("http", Some(http), false, "http.listen"),
        listener("http", https, true, "http.tls_listen"),
    ];
    let fingerprint = certificate.as_ref().map(|certificate| certificate.fingerprint.clone());
    let bound = Bound {
        listeners: listeners.into_iter().flatten().collect(),
        certificate: certificate.map(|certificate| api::ServedCertificate {
            fingerprint: certificate.fingerprint,
            not_before: certificate.validity.not_before,
            not_after: certificate.validity.not_after,
            own: certificate.is_own,
        }),
    };
    // It is started once; a second time would have found the broker taken.
    let _first = shared.bound.set(bound).is_ok();
    let announced = announce(shared, https, fingerprint.as_deref());
    Ok((broker, Listeners { mqtt, mqtts, http, https, fingerprint, tasks, announced }))
}

/// Announces the HTTPS listener, if that is wanted. A network that cannot be spoken to is an issue.
fn announce(
    shared: &Shared,
    https: Option<SocketAddr>,
    fingerprint: Option<&str>,
) -> Option<Announced> {
    let name = shared.loaded.config.http.announce.as_str();
    let (address, fingerprint) = https.zip(fingerprint).filter(|_| !name.is_empty())?;
    match announce::start(Announcement { name, address, fingerprint }) {
        Ok(announced) => Some(announced),
        Err(error) => {
            shared.issues.raise(Issue {
                key: "announce".to_owned(),
                severity: Severity::Warning,
                what: format!("The appliance cannot announce itself on the network: {error}."),
                effect: "The desktop program finds it by its address only.".to_owned(),
                remedy: "Allow UDP 5353 for this program, or set http.announce = \"\".".to_owned(),
            });
            None
        }
    }
}

/// Where the web interface lies: as configured, else beside the program.
fn web_folder(configured: &str) -> Option<PathBuf> {
    if configured.is_empty() {
        let program = std::env::current_exe().ok()?;
        return Some(program.parent()?.join("web"));
    }
    Some(PathBuf::from(configured))
}

fn address(text: &str) -> anyhow::Result<SocketAddr> {
    parse_address(text).map_err(|what| anyhow!(what))
}

async fn start_broker(
    shared: &Arc<Shared>,
    tls: Option<Arc<rustls::ServerConfig>>,
) -> anyhow::Result<Arc<Broker>> {
    let config = &shared.loaded.config;
    let listen = address(&config.broker.listen)?;
    let tls = match (config.broker.tls_listen.as_str(), tls) {
        ("", _) | (_, None) => None,
        (text, Some(tls)) => Some((address(text)?, tls)),
    };
    let has_tls = tls.is_some();
    let settings = broker::Config {
        tls,
        root: config.broker.root.clone(),
        clients_max: config.broker.clients_max,
        packet_bytes_max: config.broker.packet_bytes_max,
        receive_maximum: config.broker.receive_maximum,
        subscriber_queue_max: config.broker.subscriber_queue,
        threads: config.broker.worker_threads,
        // What is taken in one go is committed together; without an interval each message counts.
        wake_interval: Duration::from_millis(config.journal.commit_interval_ms) / 2,
        ..broker::Config::standard(listen)
    };
    let wiring = broker::Wiring {
        sign_in: Arc::new(SignIn {
            access: Arc::clone(&shared.access),
            namespace: Arc::clone(&shared.namespace),
        }),
        gate: Arc::new(Gate {
            access: Arc::clone(&shared.access),
            gate: Arc::clone(&shared.gate),
            namespace: Arc::clone(&shared.namespace),
        }),
        durable: Arc::new(shared.journal.clone()),
        fanout: shared.fanout.clone(),
        clock: Arc::clone(&shared.clock),
    };
    let broker = Broker::bind(settings, wiring).await.with_context(|| {
        format!(
            "listen for MQTT on {listen}{}; if another program is there, stop it or give another \
             address (broker.listen or broker.tls_listen, MILLRACE_BROKER_LISTEN)",
            if has_tls { format!(" and {}", config.broker.tls_listen) } else { String::new() }
        )
    })?;
    let broker = Arc::new(broker);
    if shared.broker.set(Arc::clone(&broker)).is_err() {
        return Err(anyhow!("the broker was started twice"));
    }
    let running = Arc::clone(&broker);
    spawn::task("mqtt-accept", async move { running.run().await });
    let cut_off = Arc::downgrade(&broker);
    shared.access.on_revoked(move |client| {
        if let Some(broker) = cut_off.upgrade() {
            broker.disconnect_client(client, DisconnectReason::Administrative);
        }
    });
    Ok(broker)
}

fn certificate(shared: &Shared) -> anyhow::Result<Option<tls::Certificate>> {
    let config = &shared.loaded.config;
    if config.http.tls_listen.is_empty() && config.broker.tls_listen.is_empty() {
        return Ok(None);
    }
    let folder = config.data_dir.join("tls");
    RealDisk.create_folder(&folder).with_context(|| format!("make {}", folder.display()))?;
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    names.extend(config.http.hosts.iter().cloned());
    let write = |path: &std::path::Path, bytes: &[u8]| RealDisk.durable_write(path, bytes);
    let certificate = tls::ensure_certificate(&folder, &names, shared.clock.now(), &write)
        .context("prepare the certificate")?;
    Ok(Some(certificate))
}

/// A plain listener that others reach is allowed by a setting, and stays an issue while it is.
fn warn_plain(shared: &Shared) {
    let config = &shared.loaded.config;
    for (name, listen, setting) in [
        ("MQTT", &config.broker.listen, "broker.allow_plain_mqtt"),
        ("HTTP", &config.http.listen, "http.allow_plain_http"),
    ] {
        if !is_loopback(listen) {
            shared.issues.raise(Issue {
                key: format!("plain-listener-{}", name.to_lowercase()),
                severity: Severity::Warning,
                what: format!("{name} listens on {listen} without TLS."),
                effect: "Secrets and values travel in clear on that network.".to_owned(),
                remedy: format!("Use the TLS listener and set {setting} = false."),
            });
        }
    }
}
