//! The kinds of `lab variant`, and how each changes a row.

use std::path::PathBuf;

use anyhow::Result;

use super::super::bench::Bench;
use super::super::row::Wish;
use crate::load::spec::{Body, Live, Qos};
use crate::server::Target;

/// Live subscribers of the kind `subscribers`.
const SUBSCRIBERS: usize = 100;

/// What is different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// Strings of 200 bytes
    String,
    /// Objects of 1 KB
    Object,
    /// Arrays of 100 numbers
    Array,
    /// Strings of 64 KB
    Large,
    /// 100 live subscribers on all values
    Subscribers,
    /// Devices at QoS 0
    Qos0,
    /// MQTT over TLS
    Tls,
    /// MQTT over WebSocket
    Websocket,
    /// Readers ask for last values and charts meanwhile
    Reading,
    /// Syncs every 100 ms
    Interval,
    /// A disk of 100 writes a second
    SlowDisk,
    /// Run history minimal instead of standard
    HistoryMinimal,
    /// Run history full instead of standard
    HistoryFull,
}

/// What a row of this case needs beside its plan.
pub(super) struct Load {
    kind: Kind,
    pub(super) live: Vec<Live>,
    /// The subscriber of what pipelines derive.
    pub(super) derived: Live,
    tls: Option<(Target, PathBuf)>,
}

impl Kind {
    /// Values per second that are told apart from the plain case without filling the machine.
    pub(super) fn rate(self) -> f64 {
        match self {
            Self::Large => 200.0,
            Self::Subscribers => 500.0,
            Self::HistoryMinimal | Self::HistoryFull | Self::SlowDisk => 2_000.0,
            Self::Object | Self::Array => 5_000.0,
            _ => 10_000.0,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Object => "object",
            Self::Array => "array",
            Self::Large => "large",
            Self::Subscribers => "subscribers",
            Self::Qos0 => "qos0",
            Self::Tls => "tls",
            Self::Websocket => "websocket",
            Self::Reading => "reading",
            Self::Interval => "interval",
            Self::SlowDisk => "slow-disk",
            Self::HistoryMinimal => "history-minimal",
            Self::HistoryFull => "history-full",
        }
    }

    /// The detail of run history, where that is what differs.
    pub(super) fn history(self) -> Option<&'static str> {
        match self {
            Self::HistoryMinimal => Some("minimal"),
            Self::HistoryFull => Some("full"),
            _ => None,
        }
    }

    /// Makes subscribers and finds the listener.
    pub(super) fn load(self, bench: &mut Bench<'_>, devices: usize) -> Result<Load> {
        let mut live = Vec::new();
        if self == Self::Subscribers {
            let credential = bench.appliance.create_subscriber("lab/#")?;
            live = vec![
                Live { credential, filter: "mr/v1/main/lab/#".into(), share: 1.0 };
                SUBSCRIBERS
            ];
        }
        let mut tls = None;
        if self == Self::Tls {
            let clients = bench.clients.iter().take(devices).cloned().collect();
            tls = Some(bench.appliance.tls_target(clients)?);
        }
        Ok(Load { kind: self, live, derived: bench.live.clone(), tls })
    }
}

impl Load {
    /// Makes a plain row one of this case.
    pub(super) fn apply(&self, wish: &mut Wish, target: &mut Target) {
        match self.kind {
            Kind::String => wish.body = Body::Text(200),
            Kind::Object => wish.body = Body::Object(1_000),
            Kind::Array => wish.body = Body::Array(100),
            Kind::Large => wish.body = Body::Text(65_536),
            Kind::Qos0 => wish.qos = Qos::AtMostOnce,
            Kind::Subscribers => wish.live.clone_from(&self.live),
            Kind::Tls => {
                if let Some((over_tls, certificate)) = &self.tls {
                    *target = over_tls.clone();
                    wish.certificate = Some(certificate.clone());
                }
            }
            Kind::Websocket | Kind::Reading | Kind::Interval | Kind::SlowDisk => {}
            Kind::HistoryMinimal | Kind::HistoryFull => {}
        }
    }
}
