//! The policy: where steps may connect to and in which folder they may write.
//!
//! Private plant networks are what pipelines are for and are allowed. What a pipeline must not
//! reach unless an administrator allows it by name: the box itself (loopback, unspecified
//! addresses, its own listeners on any of its addresses), link-local and multicast addresses, and
//! the metadata services of clouds. A name says nothing: the check is on the resolved address.
//!
//! **Invariants**: an address is judged in its plainest form: IPv4 inside of IPv6 (mapped,
//! compatible, NAT64, 6to4) is judged as IPv4 too; what is allowed by name is allowed under that
//! name alone.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;

/// What an administrator allows.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Hosts that may be reached although a rule refuses their address, as steps write them:
    /// `localhost`, `127.0.0.1:1883`, `[::1]:80`, `erp.plant`.
    pub allowed_hosts: Vec<String>,
    /// The box's own listeners; refused on every address of this machine.
    pub own_listeners: Vec<SocketAddr>,
    /// The folder in which steps may write files; without one they may not.
    pub folder: Option<PathBuf>,
}

/// Why an address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// 127.0.0.0/8, `::1`.
    Loopback,
    /// 0.0.0.0/8, `::`: another way to say loopback.
    Unspecified,
    /// 169.254.0.0/16, `fe80::/10`.
    LinkLocal,
    /// Multicast and broadcast.
    Multicast,
    /// The metadata service of a cloud.
    Metadata,
    /// A listener of this box.
    OwnListener,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "a loopback address",
            Self::Unspecified => "an unspecified address",
            Self::LinkLocal => "a link-local address",
            Self::Multicast => "a multicast or broadcast address",
            Self::Metadata => "the address of a cloud's metadata service",
            Self::OwnListener => "a listener of this box",
        })
    }
}

impl Policy {
    /// Whether a step may connect to this address, which `host` was resolved to.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub fn check(&self, host: &str, address: SocketAddr) -> Result<(), Rule> {
        if self.is_allowed_by_name(host, address.port()) {
            return Ok(());
        }
        for ip in plain_forms(address.ip()) {
            if let Some(rule) = rule_of(ip) {
                return Err(rule);
            }
            if self.is_own(ip, address.port()) {
                return Err(Rule::OwnListener);
            }
        }
        Ok(())
    }

    fn is_allowed_by_name(&self, host: &str, port: u16) -> bool {
        let host = plain_host(host);
        self.allowed_hosts.iter().any(|entry| {
            let (name, only) = split_port(entry);
            plain_host(name) == host && only.is_none_or(|only| only == port)
        })
    }

    fn is_own(&self, ip: IpAddr, port: u16) -> bool {
        self.own_listeners.iter().any(|own| {
            let canonical = own.ip().to_canonical();
            own.port() == port
                && (canonical == ip || (canonical.is_unspecified() && is_of_this_machine(ip)))
        })
    }
}

/// The host as it is compared: lower case, no final dot, no brackets.
fn plain_host(host: &str) -> String {
    let host = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

fn split_port(entry: &str) -> (&str, Option<u16>) {
    match entry.rsplit_once(':') {
        // `::1` has colons and no port; `[::1]:80` has one.
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => match port.parse() {
            Ok(port) => (name, Some(port)),
            Err(_) => (entry, None),
        },
        _ => (entry, None),
    }
}

/// The address itself and the IPv4 address that it may stand for.
fn plain_forms(ip: IpAddr) -> impl Iterator<Item = IpAddr> {
    let ip = ip.to_canonical();
    let inner = match ip {
        IpAddr::V4(_) => None,
        IpAddr::V6(v6) => inner_v4(v6).map(IpAddr::V4),
    };
    std::iter::once(ip).chain(inner)
}

fn inner_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [first, second, third, fourth, fifth, sixth, seventh, eighth] = ip.segments();
    let join = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match (first, second, third, fourth, fifth, sixth) {
        // NAT64.
        (0x64, 0xff9b, 0, 0, 0, 0) => Some(join(seventh, eighth)),
        // IPv4-compatible; `::` and `::1` are judged as they are.
        (0, 0, 0, 0, 0, 0) if seventh != 0 => Some(join(seventh, eighth)),
        // 6to4.
        (0x2002, high, low, ..) => Some(join(high, low)),
        _ => None,
    }
}

fn rule_of(ip: IpAddr) -> Option<Rule> {
    const METADATA_V4: [Ipv4Addr; 4] = [
        Ipv4Addr::new(169, 254, 169, 254),
        Ipv4Addr::new(100, 100, 100, 200),
        Ipv4Addr::new(168, 63, 129, 16),
        Ipv4Addr::new(192, 0, 0, 192),
    ];
    const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    let is_metadata = match ip {
        IpAddr::V4(v4) => METADATA_V4.contains(&v4),
        IpAddr::V6(v6) => v6 == METADATA_V6,
    };
    if is_metadata {
        return Some(Rule::Metadata);
    }
    if ip.is_loopback() {
        return Some(Rule::Loopback);
    }
    if ip.is_multicast() {
        return Some(Rule::Multicast);
    }
    match ip {
        IpAddr::V4(v4) if v4.octets().first() == Some(&0) => Some(Rule::Unspecified),
        IpAddr::V4(v4) if v4.is_link_local() => Some(Rule::LinkLocal),
        IpAddr::V4(v4) if v4.is_broadcast() => Some(Rule::Multicast),
        IpAddr::V6(v6) if v6.is_unspecified() => Some(Rule::Unspecified),
        IpAddr::V6(v6) if v6.is_unicast_link_local() => Some(Rule::LinkLocal),
        _ => None,
    }
}

/// Only an address of this machine can be bound.
fn is_of_this_machine(ip: IpAddr) -> bool {
    UdpSocket::bind(SocketAddr::new(ip, 0)).is_ok()
}

#[cfg(test)]
mod tests;
