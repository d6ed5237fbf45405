//! The appliance as a child process with a configuration and a data folder of its own.
//!
//! **Invariants**
//! - Security is on, limits of rate are off: as in the reference's workload.
//! - The data folder outlives the process, so that it can be started again on it.

use std::fs::{self, File};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{Target, free_address};
use crate::http::Http;
use crate::launch::{Child, Speech};
use crate::load::spec::Credential;
use crate::stop;

const START_LIMIT: Duration = Duration::from_secs(60);
const STOP_LIMIT: Duration = Duration::from_secs(30);
/// Clients made by one request.
const CLIENTS_PER_REQUEST: usize = 1_000;
const LOG_TAIL_BYTES: usize = 4_000;

/// How the appliance is set up.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) program: PathBuf,
    pub(crate) data: PathBuf,
    /// Folder of the configuration and of what the process says, outside of its data.
    pub(crate) notes: PathBuf,
    /// `sync` or `interval`.
    pub(crate) durability: String,
    pub(crate) interval_ms: u64,
    pub(crate) commit_interval_ms: u64,
    pub(crate) journal_mib_max: u64,
    pub(crate) core: Option<usize>,
    /// A second listener, over TLS.
    pub(crate) tls: Option<SocketAddr>,
    /// Lines added to the configuration as they are.
    pub(crate) extra: String,
}

/// A running appliance.
pub(crate) struct Appliance {
    setup: Setup,
    child: Child,
    mqtt: SocketAddr,
    http: SocketAddr,
    token: String,
    /// From the start of the process to readiness.
    pub(crate) start_took: Duration,
}

impl Appliance {
    /// Starts it on new ports and waits until it is ready.
    pub(crate) fn start(setup: Setup) -> Result<Self> {
        Self::start_on(setup, free_address()?, free_address()?)
    }

    /// Starts it on given ports: devices come back to where they were.
    pub(crate) fn start_on(setup: Setup, mqtt: SocketAddr, http: SocketAddr) -> Result<Self> {
        if !setup.program.is_file() {
            bail!(
                "there is no appliance at {}: build it with `cargo build --release --package \
                 millrace-service`, or name another with --appliance PATH",
                setup.program.display()
            );
        }
        fs::create_dir_all(&setup.data).context("create the data folder")?;
        let file = setup.notes.join("millrace.toml");
        let said = setup.notes.join("stderr.log");
        File::create(&file)?
            .write_all(config(&setup, mqtt, http).as_bytes())
            .with_context(|| format!("write {}", file.display()))?;
        let arguments = ["run".into(), "--config".into(), file.into_os_string()];
        let began = Instant::now();
        let errors = Speech::ErrorsTo(File::create(&said)?);
        let mut child =
            Child::start("the appliance", &setup.program, &arguments, setup.core, errors)?;
        let ready = stop::wait_for(
            "the appliance to be ready",
            START_LIMIT,
            Duration::from_millis(2),
            || {
                child.check_alive()?;
                let answer = Http::new(http, None).get("/health/ready");
                Ok(answer.is_ok_and(|answer| answer.status == 200).then_some(()))
            },
        );
        if let Err(error) = ready {
            let words = last_words(&said);
            return Err(error.context(format!("start the appliance; it said:\n{words}")));
        }
        let token = fs::read_to_string(setup.data.join("local.token"))
            .context("read the local token that the appliance leaves in its data folder")?;
        let token = token.trim().to_owned();
        Ok(Self { setup, child, mqtt, http, token, start_took: began.elapsed() })
    }

    pub(crate) fn addresses(&self) -> (SocketAddr, SocketAddr) {
        (self.mqtt, self.http)
    }

    pub(crate) fn setup(&self) -> &Setup {
        &self.setup
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    pub(crate) fn child(&self) -> &Child {
        &self.child
    }

    pub(crate) fn check_alive(&mut self) -> Result<()> {
        self.child.check_alive()
    }

    /// A client of its HTTP interface with all rights.
    pub(crate) fn http(&self) -> Http {
        Http::new(self.http, Some(self.token.clone()))
    }

    /// What a load needs.
    pub(crate) fn target(&self, clients: Vec<Credential>) -> Target {
        Target {
            address: self.mqtt,
            pid: self.pid(),
            beside: Vec::new(),
            clients,
            has_verdicts: true,
        }
    }

    /// The same over TLS, and the certificate to trust.
    pub(crate) fn tls_target(&self, clients: Vec<Credential>) -> Result<(Target, PathBuf)> {
        let address = self.setup.tls.context("the appliance has no listener over TLS")?;
        let certificate = self.setup.data.join("tls/certificate.pem");
        Ok((Target { address, ..self.target(clients) }, certificate))
    }

    /// Makes API clients, one per device.
    pub(crate) fn create_clients(&self, count: usize) -> Result<Vec<Credential>> {
        let mut http = self.http();
        let mut made = Vec::with_capacity(count);
        while made.len() < count {
            let lot = (count - made.len()).min(CLIENTS_PER_REQUEST);
            let wanted = json!({
                "name": "lab",
                "count": lot,
                "workspace": "main",
                "publish": ["lab/#", "beside/#"],
                "subscribe": [],
                "may_create": true,
                "rate_per_s": 0,
            });
            let answer = http.post_json("/api/v1/clients", &wanted).context("make API clients")?;
            let clients = answer.get("clients").and_then(Value::as_array);
            let clients = clients.context("find the made clients in the answer")?;
            for client in clients {
                let secret = client.get("secret").and_then(Value::as_str);
                let id = client.pointer("/client/id").and_then(Value::as_str);
                let (Some(user), Some(secret)) = (id, secret) else {
                    bail!("a made client has no id or no secret: {client}");
                };
                made.push(Credential { user: user.to_owned(), secret: Some(secret.to_owned()) });
            }
            if clients.is_empty() {
                bail!("the appliance made no clients");
            }
        }
        Ok(made)
    }

    /// Makes an API client that may subscribe to one filter and publish nothing.
    pub(crate) fn create_subscriber(&self, filter: &str) -> Result<Credential> {
        let wanted = json!({
            "name": "lab-live",
            "count": 1,
            "workspace": "main",
            "publish": [],
            "subscribe": [filter],
            "may_create": false,
        });
        let answer = self.http().post_json("/api/v1/clients", &wanted)?;
        let id = answer.pointer("/clients/0/client/id").and_then(Value::as_str);
        let secret = answer.pointer("/clients/0/secret").and_then(Value::as_str);
        let (Some(user), Some(secret)) = (id, secret) else {
            bail!("the made subscriber has no id or no secret: {answer}");
        };
        Ok(Credential { user: user.to_owned(), secret: Some(secret.to_owned()) })
    }

    /// The ledger's totals.
    pub(crate) fn ledger(&self) -> Result<Value> {
        let ledger = self.http().get_json("/api/v1/ledger").context("read the ledger")?;
        ledger.get("total").cloned().context("find the ledger's total")
    }

    /// `kill -9`.
    pub(crate) fn kill(self) -> Result<()> {
        self.child.kill()
    }

    /// A clean stop.
    pub(crate) fn stop(self) -> Result<()> {
        self.child.stop(STOP_LIMIT)
    }
}

/// A count of the ledger; zero when it is not there.
pub(crate) fn count(ledger: &Value, name: &str) -> u64 {
    ledger.get(name).and_then(Value::as_u64).unwrap_or(0)
}

fn config(setup: &Setup, mqtt: SocketAddr, http: SocketAddr) -> String {
    format!(
        "data_dir = {data:?}\n\
         [broker]\nlisten = \"{mqtt}\"\nclients_max = 20000\nreceive_maximum = 1000\n\
         tls_listen = \"{tls}\"\n\
         [http]\nlisten = \"{http}\"\n\
         [admission]\nclient_rate_per_s = 0\nworkspace_rate_per_s = 0\n\
         [journal]\ndurability = \"{durability}\"\ninterval_ms = {interval}\n\
         commit_interval_ms = {commit}\nbytes_max_mib = {bytes}\nsegment_mib = 64\n\
         [historian]\ndefault_retention = \"32d\"\n\
         [log]\nlevel = \"warn\"\n{extra}\n",
        data = setup.data.display().to_string(),
        tls = setup.tls.map(|address| address.to_string()).unwrap_or_default(),
        durability = setup.durability,
        interval = setup.interval_ms,
        commit = setup.commit_interval_ms,
        bytes = setup.journal_mib_max,
        extra = setup.extra,
    )
}

/// The end of what the process wrote to standard error.
fn last_words(file: &Path) -> String {
    let said = fs::read(file).unwrap_or_default();
    let start = said.len().saturating_sub(LOG_TAIL_BYTES);
    String::from_utf8_lossy(said.get(start..).unwrap_or_default()).into_owned()
}

/// The data folder's bytes on disk, by folder and file.
pub(crate) fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => folder_bytes(&entry.path()),
            Ok(found) => found.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_a_configuration_with_security_on_and_rates_off() {
        let setup = Setup {
            program: "x".into(),
            data: "/data \"1\"".into(),
            notes: "/notes".into(),
            durability: "sync".into(),
            interval_ms: 100,
            commit_interval_ms: 2,
            journal_mib_max: 2_048,
            core: None,
            tls: None,
            extra: String::new(),
        };
        let (mqtt, http) = ("127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap());
        let text = config(&setup, mqtt, http);
        assert!(text.starts_with("data_dir = \"/data \\\"1\\\"\"\n[broker]\n"), "{text}");
        assert!(text.contains("durability = \"sync\"") && text.contains("client_rate_per_s = 0"));
        assert!(!text.contains("allow"), "nothing is opened: {text}");
    }
}
