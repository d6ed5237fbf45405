//! Appliances on the local network: those that announce themselves by multicast DNS.
//!
//! What comes from the network is a rumor: it fills in an address and nothing more. The certificate
//! is looked at when a person connects.
//!
//! **Invariants**: nothing is asked of the network unless a person searches; what is found is
//! bounded in number and length and holds no control letters.

mod local_network;

pub use local_network::LocalNetwork;

use crate::limits::{FOUND_MAX, NAME_BYTES_MAX};
use crate::trust::Fingerprint;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

pub use millrace_contract::announced::SERVICE;

/// Looks for announcements.
pub trait Browser: Send + Sync {
    /// Listens for so long, and hands each announcement over until `more` says that it is enough.
    /// Blocks.
    ///
    /// # Errors
    /// A sentence, when the network cannot be listened to.
    fn browse(
        &self,
        time: Duration,
        more: &mut dyn FnMut(Announcement) -> bool,
    ) -> Result<(), String>;
}

/// What somebody on the network says.
#[derive(Clone, Debug)]
pub struct Announcement {
    /// Its name.
    pub instance: String,
    /// Its host's name.
    pub host: String,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// The port.
    pub port: u16,
    /// Whether it says that it speaks TLS.
    pub is_tls: bool,
    /// The version that it says it has.
    pub version: String,
    /// The fingerprint that it says its certificate has.
    pub fingerprint: String,
}

/// An appliance that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// What it calls itself.
    pub name: String,
    /// An address to connect to.
    pub address: String,
    /// The host's name.
    pub host: String,
    /// The version that it says it has.
    pub version: String,
    /// The fingerprint that it says its certificate has: a rumor, which is compared with the
    /// certificate itself when a person connects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
}

/// Searches, and gives what was found by name.
pub(crate) fn discover(browser: &dyn Browser, time: Duration) -> Result<Vec<Found>, String> {
    let mut found = BTreeMap::new();
    browser.browse(time, &mut |announcement| {
        if let Some(one) = tidy(&announcement) {
            found.insert(one.address.clone(), one);
        }
        found.len() < FOUND_MAX
    })?;
    let mut found: Vec<Found> = found.into_values().collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

fn tidy(announcement: &Announcement) -> Option<Found> {
    // An address that this computer can reach without a name server: IPv4 first.
    let address = announcement
        .addresses
        .iter()
        .filter(|address| !address.is_multicast() && !address.is_unspecified())
        .min_by_key(|address| (address.is_ipv6(), is_link_local(address), **address))?;
    let scheme = if announcement.is_tls { "https" } else { "http" };
    let address = match address {
        IpAddr::V4(address) => format!("{scheme}://{address}:{}", announcement.port),
        IpAddr::V6(address) => format!("{scheme}://[{address}]:{}", announcement.port),
    };
    Some(Found {
        name: plain(&announcement.instance)?,
        address,
        host: plain(announcement.host.trim_end_matches('.')).unwrap_or_default(),
        version: plain(&announcement.version).unwrap_or_default(),
        fingerprint: Fingerprint::parse(&announcement.fingerprint).ok(),
    })
}

fn is_link_local(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// The text without control letters, cut at the limit; `None` when nothing is left.
fn plain(text: &str) -> Option<String> {
    let mut kept = String::new();
    for letter in text.chars().filter(|letter| !letter.is_control()) {
        if kept.len() + letter.len_utf8() > NAME_BYTES_MAX {
            break;
        }
        kept.push(letter);
    }
    let kept = kept.trim();
    (!kept.is_empty()).then(|| kept.to_owned())
}

#[cfg(test)]
mod tests;
