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

/// A subscriber of what pipelines derive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Live {
    pub(crate) credential: Credential,
    pub(crate) filter: String,
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
    /// A subscriber beside the devices.
    #[serde(default)]
    pub(crate) live: Option<Live>,
    /// When the server goes away: reconnect for so long, send again what was not acknowledged.
    pub(crate) resend_ms: Option<u64>,
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
    pub(crate) connect_ms: f64,
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
    /// What the live subscriber saw: latency of values due in the window, and counts of all.
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
