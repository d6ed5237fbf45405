//! Checks of the settings that a type cannot make: ranges, addresses, what is safe.
//!
//! **Invariants**: all faults are found at once; a listener that others can reach without TLS is
//! refused unless the setting that allows it is on.

use super::Config;
use millrace_model::Retention;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// Longest name under which an appliance announces itself: a label of DNS.
const ANNOUNCED_BYTES_MAX: usize = 63;

/// A fault in the configuration: where and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Line or key.
    pub(crate) place: String,
    /// What is wrong with it, and what to do.
    pub(crate) what: String,
}

impl Fault {
    pub(crate) fn new(place: String, what: String) -> Self {
        Self { place, what }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Whether a listener on this address can be reached from this machine only.
pub(crate) fn is_loopback(address: &str) -> bool {
    parse_address(address).is_ok_and(|address| address.ip().is_loopback())
}

/// Reads `ip:port`, or `localhost:port`.
pub(crate) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    if let Some(port) = text.strip_prefix("localhost:") {
        let port = port.parse().map_err(|_| format!("'{port}' is not a port"))?;
        return Ok(SocketAddr::new(IpAddr::from([127, 0, 0, 1]), port));
    }
    text.parse().map_err(|_| format!("'{text}' is not an address such as 127.0.0.1:1883"))
}

/// Everything that is wrong.
pub(super) fn faults(config: &Config) -> Vec<Fault> {
    let mut check = Check(Vec::new());
    check.listener(
        "broker.listen",
        &config.broker.listen,
        Some(("allow_plain_mqtt", config.broker.allow_plain_mqtt)),
    );
    check.listener(
        "http.listen",
        &config.http.listen,
        Some(("allow_plain_http", config.http.allow_plain_http)),
    );
    for (key, address) in [
        ("broker.tls_listen", &config.broker.tls_listen),
        ("http.tls_listen", &config.http.tls_listen),
    ] {
        if !address.is_empty() {
            check.listener(key, address, None);
        }
    }
    check.ports(&[
        ("broker.listen", &config.broker.listen),
        ("broker.tls_listen", &config.broker.tls_listen),
        ("http.listen", &config.http.listen),
        ("http.tls_listen", &config.http.tls_listen),
    ]);
    check.announce(&config.http.announce, &config.http.tls_listen);
    let root = &config.broker.root;
    if millrace_model::topic::check_path(root).is_err() {
        check.fault("broker.root", format!("'{root}' is not a topic such as mr/v1"));
    }
    check.range("broker.clients_max", config.broker.clients_max.into(), 1, 100_000);
    check.range("broker.receive_maximum", config.broker.receive_maximum.into(), 1, 65_535);
    check.range("broker.packet_bytes_max", config.broker.packet_bytes_max as u64, 1_024, 64 << 20);
    check.range("broker.subscriber_queue", config.broker.subscriber_queue as u64, 1, 1_000_000);
    check.range("broker.live_qos", config.broker.live_qos.into(), 0, 1);
    check.range("broker.worker_threads", config.broker.worker_threads as u64, 0, 256);
    check.range("admission.client_tags_max", config.admission.client_tags_max.into(), 1, 1_000_000);
    check.range("admission.tags_max", config.admission.tags_max.into(), 1, 10_000_000);
    check.range("journal.interval_ms", config.journal.interval_ms, 1, 60_000);
    check.range("journal.commit_interval_ms", config.journal.commit_interval_ms, 0, 50);
    check.range("journal.segment_mib", config.journal.segment_mib, 1, 1_024);
    check.range("journal.bytes_max_mib", config.journal.bytes_max_mib, 4, 1 << 20);
    if config.journal.bytes_max_mib < 4 * config.journal.segment_mib {
        let what = "must hold at least four segments (4 x journal.segment_mib)".to_owned();
        check.fault("journal.bytes_max_mib", what);
    }
    if Retention::from_name(&config.historian.default_retention).is_none() {
        let what = format!(
            "'{}' is no retention class; take 1d, 7d, 14d, 32d or keep",
            config.historian.default_retention
        );
        check.fault("historian.default_retention", what);
    }
    check.range("historian.memtable_mib", config.historian.memtable_mib, 4, 4_096);
    check.range("historian.seal_age_s", config.historian.seal_age_s, 1, 86_400);
    check.range("historian.keep_bytes_max_mib", config.historian.keep_bytes_max_mib, 16, 1 << 30);
    check.range("catalog.snapshot_every_mib", config.catalog.snapshot_every_mib, 1, 1 << 20);
    pipelines(&mut check, config);
    check.range("log.files_max", config.log.files_max as u64, 1, 1_000);
    if config.log.level.parse::<tracing_subscriber::filter::LevelFilter>().is_err() {
        let what = format!("'{}' is none of error, warn, info, debug, trace", config.log.level);
        check.fault("log.level", what);
    }
    check.0
}

fn pipelines(check: &mut Check, config: &Config) {
    let engine = &config.pipelines;
    check.range("pipelines.worker_threads", engine.worker_threads as u64, 0, 64);
    check.range("pipelines.slots_per_lane", engine.slots_per_lane.into(), 1, 65_536);
    check.range("pipelines.starvation_threshold", engine.starvation_threshold.into(), 1, 1_000_000);
    check.range("pipelines.queue_mib_max", engine.queue_mib_max, 1, 4_096);
    check.range("pipelines.queue_age_max_s", engine.queue_age_max_s, 1, 7 * 86_400);
    check.range("pipelines.run_redelivery_ms", engine.run_redelivery_ms, 1_000, 86_400_000);
    check.range("pipelines.parked_max", engine.parked_max.into(), 1, 1_000_000);
    check.range("pipelines.parked_mib_max", engine.parked_mib_max, 1, 4_096);
    check.range("pipelines.parked_share_percent", engine.parked_share_percent.into(), 1, 100);
    check.range("pipelines.hops_max", engine.hops_max.into(), 1, 64);
    let scripts = &config.scripts;
    check.range("scripts.cpu_ms", scripts.cpu_ms, 1, 60_000);
    check.range("scripts.memory_mib", scripts.memory_mib, 1, 1_024);
    check.range("scripts.output_kib", scripts.output_kib, 1, 65_536);
    check.range("scripts.console_kib", scripts.console_kib, 1, 1_024);
    check.range("scripts.warm_mib_max", scripts.warm_mib_max, 1, 16_384);
    check.range("runs.keep_h", config.runs.keep_h, 1, 24 * 366);
    check.range("runs.bytes_max_mib", config.runs.bytes_max_mib, 8, 1 << 20);
    let folder = &config.actions.folder;
    if !folder.is_empty() && !std::path::Path::new(folder).is_absolute() {
        check.fault("actions.folder", format!("'{folder}' is not an absolute path"));
    }
}

struct Check(Vec<Fault>);

impl Check {
    fn fault(&mut self, place: &str, what: String) {
        self.0.push(Fault::new(place.to_owned(), what));
    }

    fn range(&mut self, key: &str, value: u64, least: u64, most: u64) {
        if !(least..=most).contains(&value) {
            self.fault(key, format!("{value} is outside of {least} to {most}"));
        }
    }

    /// What is announced can be reached, and its name is one label of DNS.
    fn announce(&mut self, name: &str, tls_listen: &str) {
        if name.is_empty() {
            return;
        }
        if name.len() > ANNOUNCED_BYTES_MAX || name.chars().any(char::is_control) {
            let what = format!("a name to announce has at most {ANNOUNCED_BYTES_MAX} bytes");
            self.fault("http.announce", what);
        }
        if !parse_address(tls_listen).is_ok_and(|address| !address.ip().is_loopback()) {
            let what = "nobody else could reach what is announced. Set http.tls_listen to an \
                        address of this machine's network, such as 0.0.0.0:8443";
            self.fault("http.announce", what.to_owned());
        }
    }

    /// Two listeners on one port; port 0 is another one each time.
    fn ports(&mut self, listeners: &[(&str, &str)]) {
        let mut taken: Vec<(&str, SocketAddr)> = Vec::new();
        for (key, text) in listeners {
            let Ok(address) = parse_address(text) else { continue };
            let meets = |other: &SocketAddr| {
                let is_everywhere = |ip: IpAddr| ip.is_unspecified();
                other.port() == address.port()
                    && (other.ip() == address.ip()
                        || is_everywhere(other.ip())
                        || is_everywhere(address.ip()))
            };
            match taken.iter().find(|(_, other)| meets(other)) {
                Some((other, _)) if address.port() != 0 => {
                    self.fault(key, format!("{text} is the port of {other} already"));
                }
                _ => taken.push((key, address)),
            }
        }
    }

    fn listener(&mut self, key: &str, address: &str, allowed: Option<(&str, bool)>) {
        match parse_address(address) {
            Err(what) => self.fault(key, what),
            Ok(parsed) if parsed.ip().is_loopback() => {}
            Ok(_) => {
                if let Some((allow, false)) = allowed {
                    let what = format!(
                        "{address} can be reached from other machines without TLS: secrets and \
                         values would travel in clear. Listen on 127.0.0.1, or set {allow} = true \
                         if the network is trusted"
                    );
                    self.fault(key, what);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(change: impl FnOnce(&mut Config)) -> Vec<String> {
        let mut config = Config::default();
        change(&mut config);
        faults(&config).into_iter().map(|fault| fault.place).collect()
    }

    #[test]
    fn defaults_have_no_fault() {
        assert!(places(|_| ()).is_empty());
    }

    #[test]
    fn a_plain_listener_off_loopback_is_refused_unless_allowed() {
        let open = |config: &mut Config| config.broker.listen = "0.0.0.0:1883".to_owned();
        assert_eq!(places(open), ["broker.listen"]);
        let allowed = |config: &mut Config| {
            open(config);
            config.broker.allow_plain_mqtt = true;
        };
        assert!(places(allowed).is_empty());
        assert_eq!(places(|c| c.http.listen = "192.168.1.5:80".to_owned()), ["http.listen"]);
    }

    #[test]
    fn only_what_others_reach_is_announced() {
        let announced = |name: &str, tls_listen: &str| {
            places(|config| {
                config.http.announce = name.to_owned();
                config.http.tls_listen = tls_listen.to_owned();
            })
        };
        assert!(announced("Press hall", "0.0.0.0:8443").is_empty());
        assert!(announced("Press hall", "[::]:8443").is_empty());
        assert_eq!(announced("Press hall", ""), ["http.announce"]);
        assert_eq!(announced("Press hall", "127.0.0.1:8443"), ["http.announce"]);
        assert_eq!(announced(&"x".repeat(64), "0.0.0.0:8443"), ["http.announce"]);
        assert_eq!(announced("a\nb", "0.0.0.0:8443"), ["http.announce"]);
    }

    #[test]
    fn two_listeners_on_one_port_are_refused() {
        assert_eq!(places(|c| c.http.listen = c.broker.listen.clone()), ["http.listen"]);
        let everywhere = places(|config| {
            config.broker.tls_listen = "0.0.0.0:8883".to_owned();
            config.http.tls_listen = "127.0.0.1:8883".to_owned();
        });
        assert_eq!(everywhere, ["http.tls_listen"]);
        let apart = places(|config| {
            config.broker.tls_listen = "127.0.0.2:8883".to_owned();
            config.http.tls_listen = "127.0.0.1:8883".to_owned();
        });
        assert!(apart.is_empty());
        let given_by_the_system = places(|config| {
            config.broker.listen = "127.0.0.1:0".to_owned();
            config.http.listen = "127.0.0.1:0".to_owned();
        });
        assert!(given_by_the_system.is_empty());
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let many = places(|config| {
            config.broker.listen = "here".to_owned();
            config.journal.segment_mib = 0;
            config.historian.default_retention = "2d".to_owned();
            config.log.level = "loud".to_owned();
        });
        assert_eq!(
            many,
            ["broker.listen", "journal.segment_mib", "historian.default_retention", "log.level"]
        );
    }
}
