//! What the box tells of its listeners, its limits and its next start.

use millrace_model::Timestamp;
use std::net::SocketAddr;

/// What the box is and how it stands.
#[derive(Clone, Debug)]
pub struct System {
    /// How it was compiled: `release` or `debug`.
    pub build: &'static str,
    /// What it was compiled for.
    pub platform: String,
    /// When it was started.
    pub started: Timestamp,
    /// The configuration file, if one was given.
    pub config_file: Option<String>,
    /// Where it listens.
    pub listeners: Vec<BoundListener>,
    /// The certificate of the TLS listeners.
    pub certificate: Option<ServedCertificate>,
    /// What has a limit.
    pub limits: Vec<LimitUse>,
    /// Share of a limit in hundredths from which on an issue is raised.
    pub near_percent: u8,
    /// Settings that the next start would take otherwise: key, in force, then.
    pub changes: Vec<(String, String, String)>,
    /// Why the next start would fail.
    pub faults: Vec<String>,
}

/// A socket that takes connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundListener {
    /// `mqtt` or `http`.
    pub protocol: &'static str,
    /// Where.
    pub address: SocketAddr,
    /// Whether connections are encrypted.
    pub tls: bool,
    /// The setting that it comes from.
    pub setting: &'static str,
}

/// The certificate of the TLS listeners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedCertificate {
    /// SHA-256 of it.
    pub fingerprint: String,
    /// When it begins to be valid, if that can be told.
    pub not_before: Option<Timestamp>,
    /// When it expires, if that can be told.
    pub not_after: Option<Timestamp>,
    /// Whether the appliance made it itself.
    pub own: bool,
}

/// Something that has a limit.
#[derive(Clone, Debug)]
pub struct LimitUse {
    /// The setting that is its limit.
    pub setting: String,
    /// For people.
    pub what: String,
    /// How much is used.
    pub used: u64,
    /// How much there may be; 0 = no limit.
    pub most: u64,
    /// The unit of both.
    pub unit: LimitUnit,
}

/// Units of limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitUnit {
    /// Pieces.
    Count,
    /// Bytes.
    Bytes,
    /// Hundredths of a share.
    Percent,
}
