//! Dialing: a name and a port become a connected, checked, if wanted encrypted stream.
//!
//! The name is resolved here, each address is judged by the [`Policy`], and the connection goes to
//! the judged address itself, so that neither a name that changes its mind between check and
//! connection (DNS rebinding) nor a redirect gets around the policy.
//!
//! **Invariants**: no step connects in any other way, bar PostgreSQL, whose library connects to
//! the addresses given by [`Dialer::addresses`]; look-ups are limited in number.

use crate::limits::{ADDRESSES_MAX, CONNECT_MAX, LOOKUPS_MAX};
use crate::policy::{Policy, Rule};
use millrace_engine::step::{BoxFuture, StepFault};
use millrace_supervisor::spawn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

mod stream;
mod trust;

pub(crate) use stream::Stream;
pub(crate) use trust::{Tls, Trust};

/// Turns names into addresses. The system's resolver in the appliance, a table in tests.
pub trait Resolve: Send + Sync {
    /// All addresses of a name.
    fn resolve(&self, host: String, port: u16) -> BoxFuture<io::Result<Vec<SocketAddr>>>;
}

/// The operating system's resolver.
#[derive(Debug)]
pub struct SystemResolver {
    lookups: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(LOOKUPS_MAX)) }
    }
}

impl Resolve for SystemResolver {
    fn resolve(&self, host: String, port: u16) -> BoxFuture<io::Result<Vec<SocketAddr>>> {
        let lookups = Arc::clone(&self.lookups);
        Box::pin(async move {
            let permit = lookups.acquire_owned().await.map_err(io::Error::other)?;
            // A task of its own: the permit stays taken until the system's resolver has really
            // answered, also if nobody waits for it any longer.
            let found = spawn::task("lookup", async move {
                let found = tokio::net::lookup_host((host.as_str(), port)).await;
                let found = found.map(|all| all.take(ADDRESSES_MAX).collect());
                drop(permit);
                found
            });
            found.await.map_err(io::Error::other)?
        })
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum DialFault {
    /// The policy refuses all addresses.
    #[error(
        "{host} is at {address}, {rule}: not allowed; an administrator can allow the host by name"
    )]
    Refused {
        /// The host, as the step says.
        host: String,
        /// One of its addresses.
        address: IpAddr,
        /// Why it is refused.
        rule: Rule,
    },
    /// The host is no name.
    #[error("\"{0}\" is not a host name")]
    BadHost(String),
    /// No address for the name.
    #[error("the name {host} has no address: {error}")]
    NoAddress {
        /// The name.
        host: String,
        /// What the resolver said.
        error: String,
    },
    /// No connection.
    #[error("no connection to {host}:{port}: {error}")]
    Unreachable {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// What the operating system said.
        error: String,
    },
    /// Not in time.
    #[error("no connection to {host}:{port} in time")]
    Timeout {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// TLS failed.
    #[error("no TLS with {host}:{port}: {error}")]
    Tls {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// Why.
        error: String,
    },
}

impl From<DialFault> for StepFault {
    fn from(fault: DialFault) -> Self {
        let text = fault.to_string();
        match fault {
            DialFault::Refused { .. } => Self::lasting("refused", text),
            DialFault::BadHost(_) => Self::lasting("bad_input", text),
            DialFault::NoAddress { .. } | DialFault::Unreachable { .. } => {
                Self::passing("unreachable", text)
            }
            DialFault::Timeout { .. } => Self::passing("timeout", text),
            DialFault::Tls { .. } => Self::passing("tls", text),
        }
    }
}

/// Where a target listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Endpoint {
    pub(crate) host: Arc<str>,
    pub(crate) port: u16,
    pub(crate) tls: Tls,
}

impl Endpoint {
    /// The broker at `mqtt://host:port` or `mqtts://host:port`.
    pub(crate) fn of_broker(url: &str, trust: &Tls) -> Result<Self, &'static str> {
        let (tls, default, rest) = match (url.strip_prefix("mqtt://"), url.strip_prefix("mqtts://"))
        {
            (Some(rest), _) => (Tls::Off, 1883, rest),
            (None, Some(rest)) => (trust.clone(), 8883, rest),
            (None, None) => return Err("must begin with mqtt:// or mqtts://"),
        };
        let rest = rest.trim_end_matches('/');
        let bad = "must be mqtt://host:port, without a user and a path";
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| bad)?),
            _ => (rest, default),
        };
        bare_host(host).ok_or(bad)?;
        Ok(Self { host: host.into(), port, tls })
    }

    /// As targets are called in tables and messages.
    pub(crate) fn target(&self, kind: &str) -> String {
        format!("{kind} {}:{}", self.host, self.port)
    }
}

/// Makes connections. Shared by all kinds of targets.
pub(crate) struct Dialer {
    policy: Policy,
    resolver: Arc<dyn Resolve>,
    system_trust: OnceLock<Result<Arc<Trust>, String>>,
}

impl std::fmt::Debug for Dialer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialer").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl Dialer {
    pub(crate) fn new(policy: Policy, resolver: Arc<dyn Resolve>) -> Self {
        Self { policy, resolver, system_trust: OnceLock::new() }
    }

    /// The addresses of a host that may be connected to; at least one.
    pub(crate) async fn addresses(
        &self,
        host: &str,
        port: u16,
        until: Instant,
    ) -> Result<Vec<SocketAddr>, DialFault> {
        let name = bare_host(host).ok_or_else(|| DialFault::BadHost(host.to_owned()))?;
        let all = match name.parse::<IpAddr>() {
            Ok(ip) => vec![SocketAddr::new(ip, port)],
            Err(_) => match timeout_at(until, self.resolver.resolve(name.to_owned(), port)).await {
                Err(_) => return Err(DialFault::Timeout { host: host.to_owned(), port }),
                Ok(Err(error)) => {
                    let error = error.to_string();
                    return Err(DialFault::NoAddress { host: host.to_owned(), error });
                }
                Ok(Ok(all)) => all,
            },
        };
        let mut refused = None;
        let mut good = Vec::with_capacity(all.len());
        for mut address in all {
            address.set_port(port);
            match self.policy.check(host, address) {
                Ok(()) => good.push(address),
                Err(rule) => {
                    refused = Some(DialFault::Refused {
                        host: host.to_owned(),
                        address: address.ip(),
                        rule,
                    });
                }
            }
        }
        if good.is_empty() {
            let none = || DialFault::NoAddress { host: host.to_owned(), error: "none".to_owned() };
            return Err(refused.unwrap_or_else(none));
        }
        Ok(good)
    }

    /// A connection; if it is encrypted, the certificate must be for `host`.
    pub(crate) async fn connect(
        &self,
        endpoint: &Endpoint,
        until: Instant,
    ) -> Result<Stream, DialFault> {
        let (host, port) = (&*endpoint.host, endpoint.port);
        let until = until.min(Instant::now() + CONNECT_MAX);
        let mut last = None;
        for address in self.addresses(host, port, until).await? {
            match timeout_at(until, TcpStream::connect(address)).await {
                Err(_) => return Err(DialFault::Timeout { host: host.to_owned(), port }),
                Ok(Ok(tcp)) => return self.secure(endpoint, tcp, until).await,
                Ok(Err(error)) => last = Some(error.to_string()),
            }
        }
        let error = last.unwrap_or_default();
        Err(DialFault::Unreachable { host: host.to_owned(), port, error })
    }

    async fn secure(
        &self,
        endpoint: &Endpoint,
        tcp: TcpStream,
        until: Instant,
    ) -> Result<Stream, DialFault> {
        if let Err(error) = tcp.set_nodelay(true) {
            tracing::debug!(%error, "A connection outside stays without TCP_NODELAY.");
        }
        let Some(trust) = self.trust(endpoint).await? else { return Ok(Stream::plain(tcp)) };
        let host = endpoint.host.to_string();
        let name = bare_host(&host).unwrap_or(&host);
        match timeout_at(until, trust.secure(name, tcp)).await {
            Err(_) => Err(DialFault::Timeout { host, port: endpoint.port }),
            Ok(Err(error)) => Err(DialFault::Tls { host, port: endpoint.port, error }),
            Ok(Ok(stream)) => Ok(stream),
        }
    }

    /// What is trusted at an endpoint; `None` without TLS.
    pub(crate) async fn trust(&self, endpoint: &Endpoint) -> Result<Option<Arc<Trust>>, DialFault> {
        let broken =
            |error| DialFault::Tls { host: endpoint.host.to_string(), port: endpoint.port, error };
        match &endpoint.tls {
            Tls::Off => Ok(None),
            Tls::Own(trust) => Ok(Some(Arc::clone(trust))),
            Tls::System => self.system_trust().await.map(Some).map_err(broken),
        }
    }

    /// The operating system's certificates, read on first use: most boxes never need them.
    async fn system_trust(&self) -> Result<Arc<Trust>, String> {
        if let Some(known) = self.system_trust.get() {
            return known.clone();
        }
        let loaded = tokio::task::spawn_blocking(|| Trust::of_system().map(Arc::new));
        let loaded = loaded.await.map_err(|error| error.to_string())?;
        self.system_trust.get_or_init(|| loaded).clone()
    }
}

/// The host without brackets, if it can be one.
pub(crate) fn bare_host(host: &str) -> Option<&str> {
    const HOST_BYTES_MAX: usize = 253;
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let is_plausible = !bare.is_empty()
        && bare.len() <= HOST_BYTES_MAX
        // `%` is for zones of link-local addresses, which are refused.
        && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte));
    is_plausible.then_some(bare)
}

#[cfg(test)]
mod tests;
