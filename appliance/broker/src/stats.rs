//! What the broker counts.
//!
//! **Invariants**: a counter is added to once per read, wake or connection, never per message
//! where that can be avoided; refused connections are counted by reason and the latest are kept
//! for people to see, bounded.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use millrace_model::Timestamp;
use parking_lot::Mutex;

/// Refused connections that are remembered.
pub const REFUSED_CONNECTS_KEPT: usize = 100;
/// Longest user name that is remembered of a refused connection, in bytes.
const USER_BYTES_KEPT: usize = 64;

/// Why a connection was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ConnectRefusal {
    /// The bytes are no CONNECT, or one that breaks the standard.
    Malformed,
    /// Neither 3.1.1 nor 5.0.
    Version,
    /// A client identifier that is not taken.
    ClientId,
    /// Wrong user or secret.
    BadCredentials,
    /// A revoked client.
    Revoked,
    /// No user name, or a client that may not use this entrance.
    NotAuthorized,
    /// Too many failed attempts.
    TooManyAttempts,
    /// As many clients as may be.
    ClientsMax,
    /// Asks for a will or enhanced authentication.
    NotSupported,
    /// No CONNECT in time, or pushed out by newer connections before it came.
    TooLate,
    /// The appliance is starting or stopping.
    Unavailable,
    /// The TLS handshake failed.
    Tls,
}

impl ConnectRefusal {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Malformed,
        Self::Version,
        Self::ClientId,
        Self::BadCredentials,
        Self::Revoked,
        Self::NotAuthorized,
        Self::TooManyAttempts,
        Self::ClientsMax,
        Self::NotSupported,
        Self::TooLate,
        Self::Unavailable,
        Self::Tls,
    ];

    /// Its name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Version => "version",
            Self::ClientId => "client_id",
            Self::BadCredentials => "bad_credentials",
            Self::Revoked => "revoked",
            Self::NotAuthorized => "not_authorized",
            Self::TooManyAttempts => "too_many_attempts",
            Self::ClientsMax => "clients_max",
            Self::NotSupported => "not_supported",
            Self::TooLate => "too_late",
            Self::Unavailable => "unavailable",
            Self::Tls => "tls",
        }
    }
}

/// A refused connection, for people to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedConnect {
    /// When.
    pub time: Timestamp,
    /// From where.
    pub from: SocketAddr,
    /// The user name, if one was given; shortened.
    pub user: Option<String>,
    /// Why.
    pub reason: ConnectRefusal,
}

/// The broker's numbers at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Clients that are signed in.
    pub connected: u64,
    /// Connections that are not signed in yet, or are closing.
    pub unauthenticated: u64,
    /// Connections accepted since the start.
    pub accepted: u64,
    /// Clients signed in since the start.
    pub signed_in: u64,
    /// Refused connections, in the order of [`ConnectRefusal::ALL`].
    pub refused_connects: [u64; 12],
    /// Connections that another one of the same client took over.
    pub takeovers: u64,
    /// Connections ended because a client broke the protocol.
    pub protocol_faults: u64,
    /// Connections ended because a client was silent.
    pub keep_alive_timeouts: u64,
    /// PUBLISH packets received.
    pub publishes: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Messages sent to subscribers.
    pub deliveries: u64,
    /// Messages queued for subscribers.
    pub queued: u64,
    /// Messages dropped because a subscriber was slow or takes only smaller packets.
    pub dropped: u64,
    /// Times that a subscriber's queue began to overflow.
    pub slow: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) accepted: AtomicU64,
    pub(crate) signed_in: AtomicU64,
    refused: [AtomicU64; 12],
    pub(crate) takeovers: AtomicU64,
    pub(crate) protocol_faults: AtomicU64,
    pub(crate) keep_alive_timeouts: AtomicU64,
    pub(crate) publishes: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
    pub(crate) deliveries: AtomicU64,
    latest_refused: Mutex<VecDeque<RefusedConnect>>,
}

impl Counters {
    pub(crate) fn refused(
        &self,
        reason: ConnectRefusal,
        time: Timestamp,
        from: SocketAddr,
        user: Option<&str>,
    ) {
        if let Some(counter) = self.refused.get(usize::from(reason as u8)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        let user = user.map(|user| crate::codec::wire::shorten(user, USER_BYTES_KEPT).to_owned());
        tracing::debug!(%from, reason = reason.name(), "Refused a connection.");
        let mut latest = self.latest_refused.lock();
        if latest.len() >= REFUSED_CONNECTS_KEPT {
            latest.pop_front();
        }
        latest.push_back(RefusedConnect { time, from, user, reason });
    }

    pub(crate) fn latest_refused(&self) -> Vec<RefusedConnect> {
        self.latest_refused.lock().iter().cloned().collect()
    }

    pub(crate) fn snapshot(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            accepted: read(&self.accepted),
            signed_in: read(&self.signed_in),
            refused_connects: self.refused.each_ref().map(read),
            takeovers: read(&self.takeovers),
            protocol_faults: read(&self.protocol_faults),
            keep_alive_timeouts: read(&self.keep_alive_timeouts),
            publishes: read(&self.publishes),
            bytes_in: read(&self.bytes_in),
            bytes_out: read(&self.bytes_out),
            deliveries: read(&self.deliveries),
            ..Stats::default()
        }
    }
}
