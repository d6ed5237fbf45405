//! The box itself: version, health, overview, settings, listeners, limits.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Version {
    /// `millrace`.
    pub product: String,
    /// The product's version.
    pub version: String,
    /// The API's version: `v1`.
    pub api: String,
}

/// Whether the box works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// In one word.
    pub status: HealthStatus,
    /// Part by part; only on the box itself or with a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<HealthPart>>,
}

/// Health in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthStatus {
    /// The process answers.
    Live,
    /// It takes values and makes them durable.
    Ready,
    /// It does not: starting, stopping or degraded.
    NotReady,
}

/// One part's health.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HealthPart {
    /// The part: `journal`, `historian`, `catalog`, `broker`.
    pub name: String,
    /// Whether it works.
    pub ok: bool,
    /// What it says.
    pub detail: String,
}

/// The box at a glance. What is absent is not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Overview {
    /// The box's clock.
    pub now: String,
    /// When it was started.
    pub started: String,
    /// Whether it takes values.
    pub ready: bool,
    /// MQTT connections now.
    pub connections: u64,
    /// API clients that are not revoked.
    pub clients: u64,
    /// Tags.
    pub tags: u64,
    /// Open issues.
    pub issues: u64,
    /// Values received per second, lately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_per_s: Option<f64>,
    /// Values stored per second, lately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_per_s: Option<f64>,
    /// Values refused per second, lately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_per_s: Option<f64>,
    /// Bytes that the journal takes on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal_bytes: Option<u64>,
    /// Bytes that the history takes on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_bytes: Option<u64>,
}

/// Figures of `/metrics` that were asked for by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Measures {
    /// The box's clock.
    pub at: String,
    /// The figures; names that this version does not have are left out.
    pub items: Vec<Measure>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Measure {
    /// Its name, without `millrace_` in front and without `_total` at the end.
    pub name: String,
    /// The value of its label, if it has one: a lane, a reason, a pipeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The figure. What grows only does so until the appliance is started anew.
    pub value: f64,
}

/// One setting as it is in force; secrets are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConfigEntry {
    /// Its key: `broker.receive_maximum`.
    pub key: String,
    /// Its value, as it would stand in the file.
    pub value: String,
    /// Where it comes from.
    pub source: ConfigSource,
    /// The product's default for it, as it would stand in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// What it does, as the documented file says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// Where a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfigSource {
    /// The product's default.
    Default,
    /// The configuration file.
    File,
    /// A `MILLRACE_*` variable or the command line.
    Override,
}

/// What the box is, where it listens, and how it stands with its limits and settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct System {
    /// The product's version.
    pub version: String,
    /// How it was compiled: `release` or `debug`.
    pub build: String,
    /// What it was compiled for: `linux x86_64`.
    pub platform: String,
    /// The box's clock.
    pub now: String,
    /// When it was started.
    pub started: String,
    /// The configuration file that was read at the start; absent = none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_file: Option<String>,
    /// Where it listens now.
    pub listeners: Vec<Listener>,
    /// The certificate of its TLS listeners; absent = it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
    /// What has a limit, and how much of it is used.
    pub limits: Vec<Limit>,
    /// Share of a limit in hundredths from which on an issue is raised.
    pub near_percent: u8,
    /// What the next start would do differently.
    pub next_start: NextStart,
}

/// A socket that takes connections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Listener {
    /// `mqtt` or `http`.
    pub protocol: String,
    /// Where, with the port that the system gave for port 0.
    pub address: String,
    /// Whether connections are encrypted.
    pub tls: bool,
    /// Whether other machines can reach it.
    pub off_the_box: bool,
    /// The setting that it comes from: `broker.tls_listen`.
    pub setting: String,
}

/// The certificate of the TLS listeners.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Certificate {
    /// SHA-256 of it, `AB:CD:...`, as browsers show it.
    pub fingerprint: String,
    /// When it begins to be valid; absent = it cannot be read, or no clock gets there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// When it expires; absent as above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<String>,
    /// Whether the appliance made it itself; else the operator put it there.
    pub own: bool,
}

/// Something that has a limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Limit {
    /// The setting that is its limit: `broker.clients_max`.
    pub setting: String,
    /// What it is: "MQTT clients".
    pub what: String,
    /// How much is used, in its unit.
    pub used: u64,
    /// How much there may be, in the same unit; 0 = no limit.
    pub most: u64,
    /// The unit.
    pub unit: LimitUnit,
}

/// Units of limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitUnit {
    /// Pieces.
    Count,
    /// Bytes.
    Bytes,
    /// Hundredths of a share.
    Percent,
}

/// What the next start would do differently: the file as it is now against what is in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NextStart {
    /// Settings that would have another value.
    pub changes: Vec<SettingChange>,
    /// Why it would not start at all.
    pub faults: Vec<String>,
}

/// A setting that waits for a start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SettingChange {
    /// Its key.
    pub key: String,
    /// Its value in force.
    pub in_force: String,
    /// Its value after the next start.
    pub next: String,
}
