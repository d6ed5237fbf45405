//! What a load generator is told, and what it tells back.
//!
//! **Invariants**
//! - Everything that a run needs is in the spec: the generator reads no file and no environment.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Shape of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Payload {
    /// `{"value": 42.7}`
    Plain,
    /// `{"value": 42.7, "timestamp": <ns>}`
    SourceTime,
    /// Even tags with a source time, odd ones without.
    Half,
}

impl Payload {
    /// Whether values of `tag` carry a source time.
    pub(crate) fn has_source_time(self, tag: u32) -> bool {
        match self {
            Self::Plain => false,
            Self::SourceTime => true,
            Self::Half => tag.is_multiple_of(2),
        }
    }
}

/// What the value of a message is; each begins with the number that says where it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Body {
    /// The number alone.
    #[default]
    Number,
    /// A string of so many bytes.
    Text(u32),
    /// An object whose text has about so many bytes.
    Object(u32),
    /// A list of so many numbers.
    Array(u32),
}

/// What a publish is promised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Qos {
    /// Nothing: it counts as acknowledged when it is sent, and the read-back tells.
    AtMostOnce,
    /// An acknowledgement.
    #[default]
    AtLeastOnce,
}

/// Which values are written down, to be compared with what the historian holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Keep {
    Nothing,
    /// That many topics, spread over all.
    Sample(u32),
    Everything,
}

/// One device: its MQTT user name is its API client's id. Without a secret it signs in as nobody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Credential {
    pub(crate) user: String,
    pub(crate) secret: Option<String>,
}

/// A live subscriber.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Live {
    pub(crate) credential: Credential,
    pub(crate) filter: String,
    /// About how many of the devices' values come to it; the end of a run waits for these.
    #[serde(default = "all")]
    pub(crate) share: f64,
}

fn all() -> f64 {
    1.0
}

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) address: SocketAddr,
    /// `mr/v1/main`: topics are `<base>/_ingress/<user>/lab/d0000/t0`.
    pub(crate) base: String,
    pub(crate) clients: Vec<Credential>,
    pub(crate) tags: u32,
    /// All clients together; zero = as fast as the window lets them.
    pub(crate) rate_per_s: f64,
    pub(crate) warmup_ms: u64,
    pub(crate) measure_ms: u64,
    /// With no rate: that many values of each client, and the end.
    pub(crate) values_per_client: u64,
    pub(crate) in_flight: u16,
    /// PUBLISH packets in one socket write.
    pub(crate) batch: u16,
    pub(crate) payload: Payload,
    /// One message in that many asks for its verdict; zero = none.
    pub(crate) verdict_every: u32,
    /// Publish the first value of every topic at once, before the load.
    pub(crate) first_contact: bool,
    /// Counter of the first value of each topic: a later run goes on where another ended.
    pub(crate) counter_first: u64,
    pub(crate) keep: Keep,
    /// Where the kept values go.
    pub(crate) book: Option<PathBuf>,
    /// The server whose CPU is read at both ends of the measured window.
    pub(crate) server_pid: Option<u32>,
    /// Further processes whose CPU counts as the server's.
    #[serde(default)]
    pub(crate) beside_pids: Vec<u32>,
    /// Subscribers beside the devices, of these devices' values or of what is derived from them.
    #[serde(default)]
    pub(crate) live: Vec<Live>,
    /// In front of the devices' paths, so that two loads have topics of their own.
    #[serde(default)]
    pub(crate) prefix: String,
    #[serde(default)]
    pub(crate) body: Body,
    #[serde(default)]
    pub(crate) qos: Qos,
    /// Speak TLS, and trust the certificate in this file alone.
    #[serde(default)]
    pub(crate) certificate: Option<PathBuf>,
    /// Clients that sign in at once; zero = as many as a listener's backlog surely takes.
    #[serde(default)]
    pub(crate) connecting_max: usize,
    /// When the server goes away: reconnect for so long, send again what was not acknowledged.
    pub(crate) resend_ms: Option<u64>,
}

#[cfg(test)]
impl Spec {
    /// No load at all, for tests of its parts.
    pub(crate) fn empty(address: SocketAddr) -> Self {
        Self {
            address,
            base: "mr/v1/main".into(),
            clients: Vec::new(),
            tags: 1,
            rate_per_s: 0.0,
            warmup_ms: 0,
            measure_ms: 0,
            values_per_client: 0,
            in_flight: 4,
            batch: 1,
            payload: Payload::Plain,
            verdict_every: 0,
            first_contact: false,
            counter_first: 0,
            keep: Keep::Nothing,
            book: None,
            server_pid: None,
            beside_pids: Vec::new(),
            live: Vec::new(),
            prefix: String::new(),
            body: Body::Number,
            qos: Qos::AtLeastOnce,
            certificate: None,
            connecting_max: 0,
            resend_ms: None,
        }
    }
}

/// A percentile pair in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Latency {
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) max_ms: f64,
    pub(crate) count: u64,
}

/// The phase in which each topic sent its first value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FirstContact {
    pub(crate) topics: u64,
    pub(crate) seconds: f64,
    pub(crate) p99_ms: f64,
    pub(crate) later_than_2_s: u64,
    pub(crate) acknowledged: u64,
}

/// What one run found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// From the first connection until all clients were signed in.
    pub(crate) connect_ms: f64,
    /// From a client's connection until it was signed in.
    #[serde(default)]
    pub(crate) sign_in: Latency,
    /// CPU of the server meanwhile.
    #[serde(default)]
    pub(crate) sign_in_cpu_us: f64,
    pub(crate) first_contact: Option<FirstContact>,
    /// Of the whole run, first contact included.
    pub(crate) sent: u64,
    pub(crate) acknowledged: u64,
    pub(crate) refused: u64,
    /// MQTT reason code and how often, as text because JSON keys are.
    pub(crate) refusals: Vec<(u8, u64)>,
    pub(crate) resent: u64,
    /// Sent, never acknowledged.
    pub(crate) open: u64,
    /// The measured window.
    pub(crate) window_s: f64,
    pub(crate) window_offered: u64,
    pub(crate) window_sent: u64,
    pub(crate) window_acknowledged: u64,
    pub(crate) ack: Latency,
    pub(crate) verdict: Option<Latency>,
    pub(crate) verdicts_refused: u64,
    pub(crate) lag: Latency,
    /// What the live subscribers saw: latency of values due in the window, and counts of all.
    pub(crate) derived: Option<Latency>,
    /// The same by the tag whose value it was derived from; of few tags only.
    #[serde(default)]
    pub(crate) derived_by_tag: Vec<Latency>,
    pub(crate) derived_arrived: u64,
    pub(crate) derived_repeated: u64,
    pub(crate) derived_overtaken: u64,
    pub(crate) generator_cpu_share: f64,
    pub(crate) server_cpu_us: f64,
    pub(crate) server_threads_us: Vec<(String, f64)>,
    pub(crate) server_switches: u64,
    /// Of everything else on the machine, and of other machines on the host; in cores.
    pub(crate) foreign_cpu_share: f64,
    pub(crate) stolen_cpu_share: f64,
    pub(crate) window_bytes_out: u64,
    pub(crate) window_bytes_in: u64,
    /// The next run's `counter_first`.
    pub(crate) counter_next: u64,
}

/// One line of the generator's output.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// All clients are signed in.
    Connected,
    /// The first contact is over.
    FirstContact(FirstContact),
    /// The measured window begins.
    Measuring,
    /// The server went away; so many values had been acknowledged.
    Down {
        acknowledged: u64,
    },
    /// All clients are signed in again.
    Again,
    Done(Box<Report>),
    Failed {
        why: String,
    },
}
