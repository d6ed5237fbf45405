//! Names that lead to the box, names that are none, and ports that nobody serves.

mod tls;

use super::*;
use std::collections::HashMap;
use std::time::Duration;

/// Names with fixed addresses.
#[derive(Default)]
struct Table(HashMap<&'static str, Vec<&'static str>>);

impl Resolve for Table {
    fn resolve(&self, host: String, port: u16) -> BoxFuture<io::Result<Vec<SocketAddr>>> {
        let found = self.0.get(host.as_str()).map(|all| {
            all.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), port)).collect::<Vec<_>>()
        });
        Box::pin(async move { found.ok_or_else(|| io::Error::other("no such name")) })
    }
}

fn dialer(table: &[(&'static str, &[&'static str])]) -> Dialer {
    let table = table.iter().map(|(name, all)| (*name, all.to_vec())).collect();
    Dialer::new(Policy::default(), Arc::new(Table(table)))
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(1)
}

#[tokio::test]
async fn judges_the_resolved_address_not_the_name() {
    // Given a harmless name that points at the box itself
    let dialer = dialer(&[("mes.plant", &["127.0.0.1"]), ("both.plant", &["::1", "10.0.0.9"])]);
    let refused = dialer.addresses("mes.plant", 80, soon()).await.unwrap_err();
    assert!(matches!(refused, DialFault::Refused { rule: Rule::Loopback, .. }), "{refused}");
    let fault = StepFault::from(refused);
    assert_eq!((fault.code, fault.is_transient), ("refused", false));
    assert!(fault.message.contains("127.0.0.1") && fault.message.contains("allow"), "{fault}");
    // A name with a good address beside a bad one is dialed at the good one alone.
    let good = dialer.addresses("both.plant", 80, soon()).await.unwrap();
    assert_eq!(good, ["10.0.0.9:80".parse().unwrap()]);
}

#[tokio::test]
async fn refuses_what_is_no_host() {
    let dialer = dialer(&[]);
    let too_long = "a".repeat(300);
    for host in ["", "a b", "/var/run/postgresql", "h\r\nX", "fe80::1%eth0", too_long.as_str()] {
        let fault = dialer.addresses(host, 80, soon()).await.unwrap_err();
        assert!(matches!(fault, DialFault::BadHost(_)), "{host}: {fault}");
    }
    let fault = dialer.addresses("unknown.plant", 80, soon()).await.unwrap_err();
    let is_refused = matches!(fault, DialFault::Refused { .. } | DialFault::BadHost(_));
    assert!(!is_refused && fault.to_string().contains("no such name"), "{fault}");
}

#[tokio::test]
async fn a_port_that_nobody_serves_is_unreachable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let policy = Policy { allowed_hosts: vec!["127.0.0.1".to_owned()], ..Policy::default() };
    let dialer = Dialer::new(policy, Arc::new(Table::default()));
    let endpoint = Endpoint { host: "127.0.0.1".into(), port, tls: Tls::Off };
    let fault = dialer.connect(&endpoint, soon()).await.unwrap_err();
    assert!(matches!(fault, DialFault::Unreachable { .. }), "{fault}");
    assert!(StepFault::from(fault).is_transient);
}
