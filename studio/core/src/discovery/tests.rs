//! Searching: what a network says, good and bad.

use super::*;
use mdns_sd::{IfKind, ServiceDaemon, ServiceInfo};
use std::net::UdpSocket;

/// A network that says what a test wants.
struct Said(Vec<Announcement>);

impl Browser for Said {
    fn browse(
        &self,
        _time: Duration,
        more: &mut dyn FnMut(Announcement) -> bool,
    ) -> Result<(), String> {
        for announcement in &self.0 {
            if !more(announcement.clone()) {
                break;
            }
        }
        Ok(())
    }
}

fn announcement(instance: &str, addresses: &[&str]) -> Announcement {
    Announcement {
        instance: instance.to_owned(),
        host: "box.local.".to_owned(),
        addresses: addresses.iter().map(|text| text.parse().unwrap()).collect(),
        port: 8443,
        is_tls: true,
        version: "0.1.0".to_owned(),
        fingerprint: String::new(),
    }
}

fn found(said: Vec<Announcement>) -> Vec<Found> {
    discover(&Said(said), Duration::from_secs(1)).unwrap()
}

#[test]
fn finds_each_appliance_once_with_an_address_to_connect_to() {
    let press = announcement("Press", &["fe80::1", "10.0.0.7", "169.254.1.1"]);
    let list = found(vec![press.clone(), announcement("Assembly", &["2001:db8::1"]), press]);
    let shown: Vec<_> = list.iter().map(|one| (one.name.as_str(), one.address.as_str())).collect();
    assert_eq!(
        shown,
        [("Assembly", "https://[2001:db8::1]:8443"), ("Press", "https://10.0.0.7:8443")]
    );
    assert_eq!((list[1].host.as_str(), list[1].version.as_str()), ("box.local", "0.1.0"));
}

#[test]
fn a_hostile_network_fills_no_memory_and_no_page() {
    let swarm = (0..10_000).map(|number| {
        announcement(
            &format!("box {number}"),
            &[&format!("10.1.{}.{}", number / 250, number % 250)],
        )
    });
    assert_eq!(found(swarm.collect()).len(), FOUND_MAX);
    let long = announcement(&"ü".repeat(10_000), &["10.0.0.1"]);
    assert!(found(vec![long])[0].name.len() <= NAME_BYTES_MAX);
    let controls = announcement("a\u{1b}[31m\nb\u{0}", &["10.0.0.1"]);
    assert_eq!(found(vec![controls])[0].name, "a[31mb");
    for nothing in [
        announcement("\n", &["10.0.0.1"]),
        announcement("x", &[]),
        announcement("x", &["0.0.0.0", "224.0.0.251"]),
    ] {
        assert_eq!(found(vec![nothing]), []);
    }
}

/// A responder of its own on loopback, on a port that nobody else speaks on.
#[test]
fn hears_a_real_responder() {
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let responder = ServiceDaemon::new_with_port(port).unwrap();
    responder.disable_interface(IfKind::All).unwrap();
    responder.enable_interface(IfKind::LoopbackV4).unwrap();
    let print = "AB:CD:EF:01:".repeat(8);
    let print = print.trim_end_matches(':');
    let properties = [("tls", "1"), ("version", "0.1.0"), ("fingerprint", print)];
    let service = ServiceInfo::new(
        SERVICE,
        "Hall 3. North",
        "hall.local.",
        "127.0.0.1",
        8443,
        &properties[..],
    );
    responder.register(service.unwrap()).unwrap();
    let mut heard = Vec::new();
    LocalNetwork::on_port(port)
        .browse(Duration::from_secs(8), &mut |announcement| {
            heard.push(announcement);
            false
        })
        .unwrap();
    let (Ok(_) | Err(_)) = responder.shutdown();
    let [one] = heard.as_slice() else { panic!("{heard:?}") };
    assert_eq!((one.instance.as_str(), one.port, one.is_tls), ("Hall 3. North", 8443, true));
    assert_eq!((one.version.as_str(), one.fingerprint.as_str()), ("0.1.0", print));
}

#[test]
fn a_fingerprint_that_is_none_is_left_out() {
    let print = "ab".repeat(32);
    let good = Announcement { fingerprint: print.clone(), ..announcement("x", &["10.0.0.1"]) };
    assert_eq!(found(vec![good])[0].fingerprint, Fingerprint::parse(&print).ok());
    let bad =
        Announcement { fingerprint: "<script>".to_owned(), ..announcement("x", &["10.0.0.1"]) };
    assert_eq!(found(vec![bad])[0].fingerprint, None);
}
