//! Reaching the running appliance from the command line on the same machine.
//!
//! A running appliance leaves two files in its data folder that only its owner can read: where it
//! listens ([`Running`]) and a token that makes the holder `local`, who may do everything. So
//! whoever may read the folder needs no password, and nobody else gets in.

use super::{Place, check, hints};
use anyhow::{Context as _, bail};
use millrace_client::{Client, Error};
use millrace_contract::v1;
use millrace_model::{Retention, Timestamp};
use millrace_supervisor::{Clock as _, SystemClock};
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

/// Name of the file that tells where the appliance listens.
pub(crate) const RUNNING_FILE: &str = "running.json";
/// Name of the file with the local token.
pub(crate) const TOKEN_FILE: &str = "local.token";

/// How long the appliance may take to accept a connection from its own machine.
const ACCEPT_LIMIT: Duration = Duration::from_secs(5);

/// Where a running appliance listens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Running {
    pub(crate) http: SocketAddr,
    pub(crate) mqtt: SocketAddr,
    pub(crate) root: String,
}

/// The running appliance.
#[derive(Debug)]
pub(crate) struct Appliance {
    pub(crate) api: Client,
    pub(crate) mqtt: SocketAddr,
    pub(crate) root: String,
}

impl Appliance {
    /// Finds the appliance that runs on the data folder.
    ///
    /// # Errors
    /// When none runs there, or its files cannot be read.
    pub(crate) fn connect(place: &Place) -> anyhow::Result<Self> {
        let data = check::load(place)?.config.data_dir;
        let running: Running = serde_json::from_str(&read(&data, RUNNING_FILE)?)
            .with_context(|| format!("read {}", data.join(RUNNING_FILE).display()))?;
        // An appliance that was killed leaves its files behind.
        TcpStream::connect_timeout(&reach(running.http), ACCEPT_LIMIT).with_context(|| {
            format!(
                "the appliance of {} does not answer on {}; start it again with `millrace run`",
                data.display(),
                running.http
            )
        })?;
        let token = read(&data, TOKEN_FILE)?;
        let api = Client::new(&format!("http://{}", reach(running.http)), Some(token.trim()))
            .context("prepare the connection")?;
        Ok(Self { api, mqtt: reach(running.mqtt), root: running.root })
    }

    /// A tag, if there is one.
    pub(crate) async fn tag(&self, workspace: &str, path: &str) -> anyhow::Result<Option<v1::Tag>> {
        self.api.tag(workspace, path).await.with_context(|| format!("look up {workspace}/{path}"))
    }

    /// Values per second that a client may write; 0 = no limit.
    pub(crate) async fn client_rate(&self, id: &str) -> anyhow::Result<u32> {
        match self.client(id).await?.rate_per_s {
            Some(rate) => Ok(rate),
            None => {
                self.setting("admission.client_rate_per_s").await?.parse().context("read the rate")
            }
        }
    }

    /// The class of the topics that a client creates, where it has one of its own.
    pub(crate) async fn client_retention(&self, id: &str) -> anyhow::Result<Option<Retention>> {
        Ok(self.client(id).await?.retention.map(retention))
    }

    /// The class of new topics.
    pub(crate) async fn default_retention(&self) -> anyhow::Result<Retention> {
        let name = self.setting("historian.default_retention").await?;
        Retention::from_name(name.trim_matches('"')).context("read the default retention class")
    }

    async fn client(&self, id: &str) -> anyhow::Result<v1::Client> {
        self.api.client(id).await?.with_context(|| format!("there is no API client '{id}'"))
    }

    async fn setting(&self, key: &str) -> anyhow::Result<String> {
        let all = self.api.config().await.context("ask for the settings")?;
        let found = all.into_iter().find(|entry| entry.key == key);
        Ok(found.with_context(|| format!("the appliance has no setting {key}"))?.value)
    }
}

/// An address to connect to: a listener on all addresses is reached on loopback.
fn reach(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

fn read(data: &Path, name: &str) -> anyhow::Result<String> {
    let path = data.join(name);
    match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "no appliance runs on {}; start it with `millrace run`, or name its folder with --data",
            data.display()
        ),
        read => read.with_context(|| {
            format!("read {}; the command line needs the folder's owner", path.display())
        }),
    }
}

/// An answer about a topic; where it is not there, the failure says how to find it.
pub(crate) fn about_topic<T>(
    answer: Result<T, Error>,
    doing: &str,
    topic: &str,
) -> anyhow::Result<T> {
    if let Err(error) = &answer
        && let Some(message) = hints::not_found(error)
    {
        bail!("{doing} {topic}: {}", hints::missing_topic(message, topic));
    }
    answer.with_context(|| format!("{doing} {topic}"))
}

/// Runs one command's conversation to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start the runtime")?
        .block_on(work)
}

/// The time now, for relative times and shifts.
pub(crate) fn now() -> Timestamp {
    SystemClock::new().now()
}

/// The model's class of the API's.
pub(crate) fn retention(class: v1::Retention) -> Retention {
    match class {
        v1::Retention::Days1 => Retention::Days1,
        v1::Retention::Days7 => Retention::Days7,
        v1::Retention::Days14 => Retention::Days14,
        v1::Retention::Days32 => Retention::Days32,
        v1::Retention::Keep => Retention::Keep,
    }
}

/// The API's class of the model's.
pub(crate) fn retention_dto(class: Retention) -> v1::Retention {
    match class {
        Retention::Days1 => v1::Retention::Days1,
        Retention::Days7 => v1::Retention::Days7,
        Retention::Days14 => v1::Retention::Days14,
        Retention::Days32 => v1::Retention::Days32,
        Retention::Keep => v1::Retention::Keep,
    }
}

/// Reads a class's name.
pub(crate) fn parse_retention(name: &str) -> anyhow::Result<Retention> {
    Retention::from_name(name)
        .with_context(|| format!("'{name}' is no retention class; take 1d, 7d, 14d, 32d or keep"))
}

/// Splits `main/press-4/temperature` into workspace and path.
pub(crate) fn split_topic(topic: &str) -> anyhow::Result<(&str, &str)> {
    let parts = topic
        .split_once('/')
        .filter(|(workspace, path)| !workspace.is_empty() && !path.is_empty())
        .with_context(|| {
            format!("'{topic}' is not WORKSPACE/PATH, such as main/press-4/temperature")
        })?;
    if let Some((before, _)) = topic.split_once(['+', '#']) {
        let begin = hints::quoted(before.trim_end_matches('/'));
        bail!(
            "'{topic}' has a wildcard, and this takes one topic; `millrace tag list {begin}` lists \
             those that begin so"
        );
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_a_topic_at_its_workspace() {
        assert_eq!(split_topic("main/a/b").unwrap(), ("main", "a/b"));
        for bad in ["main", "main/", "/a"] {
            let told = split_topic(bad).unwrap_err().to_string();
            assert!(told.contains("is not WORKSPACE/PATH"), "{told}");
        }
        let told = split_topic("main/press-4/+/flow").unwrap_err().to_string();
        assert!(told.contains("`millrace tag list main/press-4`"), "{told}");
    }

    #[test]
    fn a_listener_on_all_addresses_is_reached_on_loopback() {
        assert_eq!(reach("0.0.0.0:8080".parse().unwrap()), "127.0.0.1:8080".parse().unwrap());
        assert_eq!(reach("[::]:1".parse().unwrap()), "[::1]:1".parse().unwrap());
    }
}
