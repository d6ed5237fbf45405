//! Multicast DNS as it is on the wire, through `mdns-sd`.

use super::{Announcement, Browser, SERVICE};
use mdns_sd::{ResolvedService, ServiceDaemon, ServiceEvent};
use millrace_contract::announced::{FINGERPRINT, TLS, VERSION};
use std::time::{Duration, Instant};

/// The port of multicast DNS.
const PORT: u16 = 5353;

/// The network that this computer is in.
#[derive(Clone, Copy, Debug)]
pub struct LocalNetwork {
    port: u16,
}

impl Default for LocalNetwork {
    fn default() -> Self {
        Self { port: PORT }
    }
}

impl LocalNetwork {
    /// A network that speaks on another port: for tests, where nobody else listens.
    #[must_use]
    pub fn on_port(port: u16) -> Self {
        Self { port }
    }
}

impl Browser for LocalNetwork {
    fn browse(
        &self,
        time: Duration,
        more: &mut dyn FnMut(Announcement) -> bool,
    ) -> Result<(), String> {
        let failed = |error: mdns_sd::Error| format!("The network cannot be searched: {error}.");
        let daemon = ServiceDaemon::new_with_port(self.port).map_err(failed)?;
        let searched = search(&daemon, time, more).map_err(failed);
        // Its thread ends; what it still had to say is not waited for.
        if let Err(error) = daemon.shutdown() {
            tracing::debug!(%error, "The search of the network did not end cleanly.");
        }
        searched
    }
}

fn search(
    daemon: &ServiceDaemon,
    time: Duration,
    more: &mut dyn FnMut(Announcement) -> bool,
) -> Result<(), mdns_sd::Error> {
    let events = daemon.browse(SERVICE)?;
    let until = Instant::now() + time;
    while let Ok(event) = events.recv_deadline(until) {
        if let ServiceEvent::ServiceResolved(service) = event
            && !more(announcement(&service))
        {
            break;
        }
    }
    daemon.stop_browse(SERVICE)
}

fn announcement(service: &ResolvedService) -> Announcement {
    let property = |key: &str| service.get_property_val_str(key).unwrap_or_default().to_owned();
    let instance = service.fullname.strip_suffix(SERVICE).unwrap_or(&service.fullname);
    Announcement {
        instance: unescape(instance.trim_end_matches('.')),
        host: service.host.clone(),
        addresses: service.addresses.iter().map(mdns_sd::ScopedIp::to_ip_addr).collect(),
        port: service.port,
        is_tls: property(TLS) == "1",
        version: property(VERSION),
        fingerprint: property(FINGERPRINT),
    }
}

/// A label of DNS writes a dot or backslash of its own as `\.`.
fn unescape(label: &str) -> String {
    let mut text = String::with_capacity(label.len());
    let mut letters = label.chars();
    while let Some(letter) = letters.next() {
        text.push(if letter == '\\' { letters.next().unwrap_or('\\') } else { letter });
    }
    text
}
