//! Announcing the appliance on the local network by multicast DNS, where that is switched on.
//!
//! What is announced is where the HTTPS listener is, under a name that a person gave, with the
//! version and the certificate's fingerprint. A daemon thread of the library answers; what goes
//! wrong there is an issue and nothing else.
//!
//! **Invariants**: without `http.announce` nothing is said and no socket is opened; only a listener
//! that others reach is announced; no secret is among what is said; a clean stop takes it back.

use mdns_sd::{ServiceDaemon, ServiceInfo};
use millrace_contract::announced::{FINGERPRINT, SERVICE, TLS, VERSION};
use std::net::SocketAddr;
use std::time::Duration;

/// Longest wait at a stop until the announcement is taken back.
const TAKE_BACK: Duration = Duration::from_secs(1);
/// Digits of the fingerprint in the host's name: enough to tell the boxes of a plant apart.
const HOST_DIGITS: usize = 12;

/// What is announced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Announcement<'a> {
    /// The name that a person gave.
    pub(super) name: &'a str,
    /// The HTTPS listener.
    pub(super) address: SocketAddr,
    /// Its certificate.
    pub(super) fingerprint: &'a str,
}

/// The appliance is announced for as long as this is there.
pub(super) struct Announced {
    daemon: ServiceDaemon,
    full_name: String,
}

/// Begins to announce.
pub(super) fn start(announcement: Announcement<'_>) -> Result<Announced, mdns_sd::Error> {
    announce(ServiceDaemon::new()?, announcement)
}

fn announce(
    daemon: ServiceDaemon,
    announcement: Announcement<'_>,
) -> Result<Announced, mdns_sd::Error> {
    let registered = service(announcement).and_then(|service| {
        let full_name = service.get_fullname().to_owned();
        daemon.register(service).map(|()| full_name)
    });
    match registered {
        Ok(full_name) => Ok(Announced { daemon, full_name }),
        Err(error) => {
            // Its thread has nothing to do any more.
            let _ended = daemon.shutdown().is_ok();
            Err(error)
        }
    }
}

fn service(announcement: Announcement<'_>) -> Result<ServiceInfo, mdns_sd::Error> {
    let Announcement { name, address, fingerprint } = announcement;
    let digits = fingerprint.chars().filter(char::is_ascii_hexdigit).take(HOST_DIGITS);
    // A name of its own: the machine's name may be announced by the system already.
    let host = format!("millrace-{}.local.", digits.collect::<String>().to_lowercase());
    let said = [(TLS, "1"), (VERSION, env!("CARGO_PKG_VERSION")), (FINGERPRINT, fingerprint)];
    let port = address.port();
    if address.ip().is_unspecified() {
        // All addresses of the machine, as they come and go.
        return Ok(ServiceInfo::new(SERVICE, name, &host, "", port, &said[..])?.enable_addr_auto());
    }
    ServiceInfo::new(SERVICE, name, &host, address.ip(), port, &said[..])
}

impl Announced {
    /// Takes it back, so that nobody is shown an appliance that is gone. Blocks for a second at
    /// most.
    pub(super) fn stop(self) {
        let taken_back = self.daemon.unregister(&self.full_name);
        let ended = self.daemon.shutdown();
        // The daemon does one after the other: once it has ended, its last packets have gone out.
        let is_over = ended.is_ok_and(|ended| ended.recv_timeout(TAKE_BACK).is_ok());
        if taken_back.is_err() || !is_over {
            tracing::debug!("The announcement on the network was not taken back.");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mdns_sd::{IfKind, ServiceEvent};
    use std::net::UdpSocket;
    use std::time::Instant;

    const PRINT: &str = "AB:CD:EF:01:23:45:67:89:AB:CD:EF:01:23:45:67:89:AB:CD:EF:01:23:45:67:89:\
                         AB:CD:EF:01:23:45:67:89";

    /// A daemon on loopback alone, on a port that nobody else speaks on.
    fn daemon(port: u16) -> ServiceDaemon {
        let daemon = ServiceDaemon::new_with_port(port).unwrap();
        daemon.disable_interface(IfKind::All).unwrap();
        daemon.enable_interface(IfKind::LoopbackV4).unwrap();
        daemon
    }

    #[test]
    fn says_where_it_is_and_takes_it_back_at_a_stop() {
        let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = "127.0.0.1:8443".parse().unwrap();
        let announcement = Announcement { name: "Press hall 3.1", address, fingerprint: PRINT };
        let announced = announce(daemon(port), announcement).unwrap();
        let browser = daemon(port);
        let events = browser.browse(SERVICE).unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        let next = || events.recv_deadline(until).unwrap();
        let found = loop {
            if let ServiceEvent::ServiceResolved(found) = next() {
                break found;
            }
        };
        assert_eq!(found.port, 8443);
        assert_eq!(found.host, "millrace-abcdef012345.local.");
        let said = |key: &str| found.get_property_val_str(key).unwrap_or_default();
        assert_eq!((said(TLS), said(VERSION)), ("1", env!("CARGO_PKG_VERSION")));
        assert_eq!(said(FINGERPRINT), PRINT);
        assert_eq!(found.txt_properties.len(), 3, "nothing else is said");
        announced.stop();
        loop {
            if let ServiceEvent::ServiceRemoved(_, name) = next() {
                assert_eq!(name, found.fullname);
                break;
            }
        }
        let _ended = browser.shutdown().is_ok();
    }

    #[test]
    fn all_addresses_are_announced_of_a_listener_on_all() {
        let address = "0.0.0.0:8443".parse().unwrap();
        let announcement = Announcement { name: "Box", address, fingerprint: PRINT };
        assert!(service(announcement).unwrap().is_addr_auto());
        let address = "10.0.0.7:8443".parse().unwrap();
        let one = service(Announcement { address, ..announcement }).unwrap();
        assert!(!one.is_addr_auto());
        assert_eq!(one.get_addresses().len(), 1);
    }
}
