//! What the box tells of itself.

use millrace_model::{AuditEntry, ClientNumber, LedgerCounts, Timestamp};

/// The ledger.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// All clients, the box itself among them.
    pub total: LedgerCounts,
    /// By client, in the order of ids.
    pub clients: Vec<LedgerRow>,
}

/// One client's counts.
#[derive(Clone, Debug)]
pub struct LedgerRow {
    /// Its number.
    pub number: ClientNumber,
    /// Its id.
    pub id: String,
    /// Its counts.
    pub counts: LedgerCounts,
}

/// A numbered line of the audit trail.
#[derive(Clone, Debug)]
pub struct AuditLine {
    /// Ascending, never reused.
    pub number: u64,
    /// The entry.
    pub entry: AuditEntry,
}

/// Health, part by part.
#[derive(Clone, Debug)]
pub struct Health {
    /// Whether values are taken and made durable.
    pub ready: bool,
    /// The parts.
    pub parts: Vec<HealthPart>,
}

/// One part's health.
#[derive(Clone, Debug)]
pub struct HealthPart {
    /// Its name.
    pub name: String,
    /// Whether it works.
    pub ok: bool,
    /// What it says.
    pub detail: String,
}

/// The box at a glance; `None` = not measured.
#[derive(Clone, Debug)]
pub struct Overview {
    /// When it was started.
    pub started: Timestamp,
    /// Whether it takes values.
    pub ready: bool,
    /// MQTT connections.
    pub connections: u64,
    /// Clients that are not revoked.
    pub clients: u64,
    /// Tags.
    pub tags: u64,
    /// Open issues.
    pub issues: u64,
    /// Received per second.
    pub received_per_s: Option<f64>,
    /// Stored per second.
    pub stored_per_s: Option<f64>,
    /// Refused per second.
    pub refused_per_s: Option<f64>,
    /// The journal's bytes on disk.
    pub journal_bytes: Option<u64>,
    /// The history's bytes on disk.
    pub history_bytes: Option<u64>,
}

/// One setting in force.
#[derive(Clone, Debug)]
pub struct ConfigEntry {
    /// Its key, dotted.
    pub key: String,
    /// Its value, as in the file.
    pub value: String,
    /// Where it comes from.
    pub source: ConfigSource,
    /// Its default, as in the file.
    pub default: String,
    /// What it does.
    pub about: String,
}

/// Where a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// The default.
    Default,
    /// The file.
    File,
    /// A variable or the command line.
    Override,
}
