//! The handle of one connection: what others may know of it and tell it.
//!
//! The connection's task owns the socket and all state; whoever wants something of it (takeover,
//! revocation, keep alive, shutdown) leaves a command here and wakes it.
//!
//! **Invariants**: a command never gets weaker (they are ordered); nothing here is locked on the
//! hot path: the waker is registered once, the command is one relaxed-cost load a wake.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use millrace_model::{ClientNumber, Timestamp};
use parking_lot::Mutex;

use crate::codec::Version;
use crate::fanout::Subscriber;

/// What a connection is told to do; later ones are stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Command {
    /// Go on.
    None,
    /// Stop reading, acknowledge what is in flight, say 0x8B, close.
    Shutdown,
    /// Too long silent: say 0x8D, close.
    KeepAlive,
    /// A person or a revocation ends it: say 0x87, close.
    Administrative,
    /// The same client connected again: say 0x8E, close.
    TakenOver,
    /// Close without a word.
    Abort,
}

impl Command {
    fn from_code(code: u8) -> Self {
        match code {
            0 => Self::None,
            1 => Self::Shutdown,
            2 => Self::KeepAlive,
            3 => Self::Administrative,
            4 => Self::TakenOver,
            _ => Self::Abort,
        }
    }
}

/// Who is at the other end, once signed in.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) client: ClientNumber,
    pub(crate) client_id: Box<str>,
    pub(crate) mqtt_id: Box<str>,
    pub(crate) version: Version,
    pub(crate) since: Timestamp,
    pub(crate) subscriber: Arc<Subscriber>,
}

/// What is touched on every wake, together on one cache line: with a thousand devices each line
/// that a wake touches is fetched from memory anew.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Hot {
    command: AtomicU8,
    /// Whether the subscriber's queue may hold something.
    pub(crate) has_deliveries: AtomicBool,
    /// Whether we do not read it at the moment, for a reason of our own.
    pub(crate) is_held: AtomicBool,
    /// When a whole packet last came.
    pub(crate) active_second: AtomicU32,
    pub(crate) publishes: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
}

/// The handle.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) hot: Hot,
    pub(crate) id: u64,
    pub(crate) from: SocketAddr,
    pub(crate) is_tls: bool,
    pub(crate) opened_second: u32,
    /// Silence that is allowed; 0 = any.
    pub(crate) idle_seconds_max: AtomicU32,
    /// When it began to close; 0 = it does not.
    pub(crate) closing_second: AtomicU32,
    pub(crate) identity: OnceLock<Identity>,
    pub(crate) unacknowledged: AtomicU32,
    pub(crate) subscriptions: AtomicU32,
    waker: Mutex<Option<Waker>>,
}

impl Link {
    pub(crate) fn new(id: u64, from: SocketAddr, is_tls: bool, second: u32) -> Arc<Self> {
        Arc::new(Self {
            hot: Hot { active_second: AtomicU32::new(second), ..Hot::default() },
            id,
            from,
            is_tls,
            opened_second: second,
            idle_seconds_max: AtomicU32::new(0),
            closing_second: AtomicU32::new(0),
            identity: OnceLock::new(),
            unacknowledged: AtomicU32::new(0),
            subscriptions: AtomicU32::new(0),
            waker: Mutex::new(None),
        })
    }

    /// Tells the connection something and wakes it.
    pub(crate) fn command(&self, command: Command) {
        self.hot.command.fetch_max(command as u8, Ordering::AcqRel);
        let waker = self.waker.lock().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The subscriber's queue was empty and is not any more. Before the task is woken.
    pub(crate) fn ring(&self) {
        self.hot.has_deliveries.store(true, Ordering::Release);
    }

    /// Whether the queue is to be looked at; asked once, the bell is silent again.
    #[inline]
    pub(crate) fn take_ring(&self) -> bool {
        self.hot.has_deliveries.load(Ordering::Relaxed)
            && self.hot.has_deliveries.swap(false, Ordering::Acquire)
    }

    /// The strongest command so far.
    #[inline]
    pub(crate) fn commanded(&self) -> Command {
        Command::from_code(self.hot.command.load(Ordering::Acquire))
    }

    /// Registers the connection's task. Before [`Link::commanded`] is read, or a command could
    /// come in between and wake nobody.
    pub(crate) fn register(&self, waker: &Waker) {
        *self.waker.lock() = Some(waker.clone());
    }
}

/// A connection as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionInfo {
    /// The API client's number.
    pub client: ClientNumber,
    /// The API client's id.
    pub client_id: String,
    /// The MQTT client identifier.
    pub mqtt_id: String,
    /// The peer's address.
    pub from: SocketAddr,
    /// Whether it came through TLS.
    pub is_tls: bool,
    /// The protocol.
    pub version: Version,
    /// When it signed in.
    pub since: Timestamp,
    /// PUBLISH packets received.
    pub publishes: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Publishes that wait for their commit.
    pub unacknowledged: u32,
    /// Its subscriptions.
    pub subscriptions: u32,
    /// Messages that wait for it.
    pub queued: usize,
    /// Messages dropped because it was slow.
    pub dropped: u64,
}

impl Link {
    pub(crate) fn info(&self) -> Option<ConnectionInfo> {
        let identity = self.identity.get()?;
        Some(ConnectionInfo {
            client: identity.client,
            client_id: identity.client_id.to_string(),
            mqtt_id: identity.mqtt_id.to_string(),
            from: self.from,
            is_tls: self.is_tls,
            version: identity.version,
            since: identity.since,
            publishes: self.hot.publishes.load(Ordering::Relaxed),
            bytes_in: self.hot.bytes_in.load(Ordering::Relaxed),
            bytes_out: self.hot.bytes_out.load(Ordering::Relaxed),
            unacknowledged: self.unacknowledged.load(Ordering::Relaxed),
            subscriptions: self.subscriptions.load(Ordering::Relaxed),
            queued: identity.subscriber.len(),
            dropped: identity.subscriber.dropped(),
        })
    }
}
