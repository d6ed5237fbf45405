//! The box itself: version, health, overview, settings.

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
