//! The broker: binds, accepts, and is told what to do by the rest of the appliance.
//!
//! **Invariants**: a new client never waits for an old one: every connection has its own task;
//! an error of `accept` (no file descriptors) pauses accepting and ends nothing; a clean stop
//! acknowledges what is in flight, within its deadline.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use millrace_model::ClientNumber;
use millrace_supervisor::spawn;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::config::Config;
use crate::connection::{Connection, Stream};
use crate::link::{Command, ConnectionInfo, Link};
use crate::pace::{Network, Pace};
use crate::shared::{Shared, Wiring};
use crate::stats::{ConnectRefusal, Counters, RefusedConnect, Stats};
use crate::sweep;
use crate::table::Table;

/// Pause after a failed `accept`.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long an aborted connection's task may take to end.
const ABORT_WAIT: Duration = Duration::from_secs(1);

/// Why connections are ended from within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    /// The client was revoked, or its rights changed: it is told 0x87.
    Administrative,
}

/// The MQTT broker; clones are the same one.
#[derive(Clone, Debug)]
pub struct Broker {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    network: Network,
    /// Taken by `run`, so that a stopped broker's ports are free.
    listeners: Mutex<Vec<Listener>>,
    local_addr: Option<SocketAddr>,
    local_addr_tls: Option<SocketAddr>,
    accept_waker: Mutex<Option<Waker>>,
}

struct Listener {
    socket: TcpListener,
    tls: Option<TlsAcceptor>,
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl Broker {
    /// Binds the listeners; connections wait until [`Broker::run`].
    ///
    /// # Errors
    /// An address that cannot be bound, threads that cannot be started.
    pub async fn bind(config: Config, wiring: Wiring) -> io::Result<Self> {
        let mut listeners = Vec::new();
        let mut local_addr = None;
        let mut local_addr_tls = None;
        if let Some(address) = config.listen {
            let socket = TcpListener::bind(address).await?;
            local_addr = Some(socket.local_addr()?);
            listeners.push(Listener { socket, tls: None });
        }
        if let Some((address, server)) = &config.tls {
            let socket = TcpListener::bind(address).await?;
            local_addr_tls = Some(socket.local_addr()?);
            let tls = Some(TlsAcceptor::from(Arc::clone(server)));
            listeners.push(Listener { socket, tls });
        }
        let pace = Pace::new(config.wake_interval);
        let network = Network::start(&config, &pace)?;
        if !config.wake_interval.is_zero() {
            wiring.durable.after_commits(Box::new(move || pace.end_pauses()));
        }
        let shared = Arc::new(Shared {
            config,
            wiring,
            counters: Counters::default(),
            table: Table::default(),
            second: AtomicU32::new(1),
            connection_ids: AtomicU64::new(1),
            unfinished_bytes: AtomicUsize::new(0),
            is_stopping: AtomicBool::new(false),
        });
        Ok(Self {
            inner: Arc::new(Inner {
                shared,
                network,
                listeners: Mutex::new(listeners),
                local_addr,
                local_addr_tls,
                accept_waker: Mutex::new(None),
            }),
        })
    }

    /// Where plain MQTT listens.
    #[must_use]
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.inner.local_addr
    }

    /// Where MQTT over TLS listens.
    #[must_use]
    pub fn local_addr_tls(&self) -> Option<SocketAddr> {
        self.inner.local_addr_tls
    }

    /// Accepts until [`Broker::shutdown`].
    pub async fn run(&self) {
        let listeners = std::mem::take(&mut *self.inner.listeners.lock());
        let sweep = spawn::task("mqtt-sweep", sweep::run(Arc::clone(&self.inner.shared)));
        let mut turn = 0;
        while let Some((accepted, tls)) =
            poll_fn(|cx| self.poll_accept(cx, &listeners, &mut turn)).await
        {
            match accepted {
                Ok((socket, from)) => self.admit(socket, from, tls),
                Err(error) => {
                    tracing::warn!(%error, "Cannot accept connections: trying again.");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(listeners);
        self.inner.shared.table.until_empty().await;
        sweep.abort();
    }

    /// Accepts the next connection; `None` = the broker stops.
    #[expect(clippy::type_complexity, reason = "the result of `accept` and how to go on with it")]
    fn poll_accept(
        &self,
        cx: &mut Context<'_>,
        listeners: &[Listener],
        turn: &mut usize,
    ) -> Poll<Option<(io::Result<(TcpStream, SocketAddr)>, Option<TlsAcceptor>)>> {
        *self.inner.accept_waker.lock() = Some(cx.waker().clone());
        if self.inner.shared.is_stopping.load(Ordering::Acquire) {
            return Poll::Ready(None);
        }
        // Each time another listener first, so that none can starve the other.
        *turn = turn.wrapping_add(1);
        let count = listeners.len().max(1);
        for listener in listeners.iter().cycle().skip(*turn % count).take(count) {
            if let Poll::Ready(accepted) = listener.socket.poll_accept(cx) {
                return Poll::Ready(Some((accepted, listener.tls.clone())));
            }
        }
        Poll::Pending
    }

    fn admit(&self, socket: TcpStream, from: SocketAddr, tls: Option<TlsAcceptor>) {
        let shared = Arc::clone(&self.inner.shared);
        shared.counters.accepted.fetch_add(1, Ordering::Relaxed);
        // One write a wake is done anyway; without this a second one would wait for the client's
        // delayed acknowledgement.
        let socket = match socket.set_nodelay(true).and_then(|()| socket.into_std()) {
            Ok(socket) => socket,
            Err(error) => {
                tracing::debug!(%from, %error, "The connection closed before it began.");
                return;
            }
        };
        let id = shared.connection_ids.fetch_add(1, Ordering::Relaxed);
        let link = Link::new(id, from, tls.is_some(), shared.now_second());
        if let Some(oldest) = shared.table.add(&link, shared.config.unauthenticated_max) {
            oldest.command(Command::Abort);
        }
        let seat = Seat { shared: Arc::clone(&shared), link: Arc::clone(&link) };
        if shared.is_stopping.load(Ordering::Acquire) {
            link.command(Command::Abort);
        }
        let _on_network_threads = self.inner.network.enter();
        let socket = match TcpStream::from_std(socket) {
            Ok(socket) => socket,
            Err(error) => {
                tracing::warn!(%from, %error, "Cannot watch a connection.");
                return;
            }
        };
        spawn::task("mqtt-connection", async move {
            let seat = seat;
            let stream = match tls {
                None => Stream::Plain(socket),
                Some(tls) => match handshake(&seat, &tls, socket).await {
                    Some(stream) => stream,
                    None => return,
                },
            };
            let mut connection = Connection::new(shared, link, stream);
            poll_fn(|cx| connection.poll(cx)).await;
            drop(connection);
            drop(seat);
        });
    }

    /// Ends all connections of an API client.
    pub fn disconnect_client(&self, client: ClientNumber, reason: DisconnectReason) {
        let DisconnectReason::Administrative = reason;
        for link in self.inner.shared.table.sessions() {
            if link.identity.get().is_some_and(|identity| identity.client == client) {
                link.command(Command::Administrative);
            }
        }
    }

    /// Stops: no more connections, no more reading; acknowledges what is in flight; says 0x8B;
    /// closes. What is not done by the deadline is cut. Whether nothing had to be cut.
    pub async fn shutdown(&self, deadline: Duration) -> bool {
        let shared = &self.inner.shared;
        shared.is_stopping.store(true, Ordering::Release);
        if let Some(waker) = self.inner.accept_waker.lock().take() {
            waker.wake();
        }
        shared.table.command_all(Command::Shutdown);
        if tokio::time::timeout(deadline, shared.table.until_empty()).await.is_ok() {
            return true;
        }
        shared.table.command_all(Command::Abort);
        let ended = tokio::time::timeout(ABORT_WAIT, shared.table.until_empty()).await;
        if ended.is_err() {
            tracing::warn!("Connections did not end although they were told to.");
        }
        false
    }

    /// The numbers of now.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let shared = &self.inner.shared;
        let (connected, unauthenticated) = shared.table.counts();
        let totals = shared.wiring.fanout.totals();
        Stats {
            connected: u64::try_from(connected).unwrap_or(u64::MAX),
            unauthenticated: u64::try_from(unauthenticated).unwrap_or(u64::MAX),
            queued: totals.queued.load(Ordering::Relaxed),
            dropped: totals.dropped.load(Ordering::Relaxed),
            slow: totals.slow.load(Ordering::Relaxed),
            ..shared.counters.snapshot()
        }
    }

    /// The signed-in connections.
    #[must_use]
    pub fn connections(&self) -> Vec<ConnectionInfo> {
        self.inner.shared.table.sessions().iter().filter_map(|link| link.info()).collect()
    }

    /// The latest refused connections, oldest first.
    #[must_use]
    pub fn latest_refused_connects(&self) -> Vec<RefusedConnect> {
        self.inner.shared.counters.latest_refused()
    }

    #[cfg(test)]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.inner.shared
    }
}

/// A connection's place in the table, given up however its task ends.
struct Seat {
    shared: Arc<Shared>,
    link: Arc<Link>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.shared.table.remove(&self.link);
    }
}

/// The TLS handshake, which ends when the link is told to or the time for the CONNECT is over.
async fn handshake(seat: &Seat, tls: &TlsAcceptor, socket: TcpStream) -> Option<Stream> {
    let mut accept = Box::pin(tls.accept(socket));
    let accepted = poll_fn(|cx| {
        seat.link.register(cx.waker());
        if seat.link.commanded() > Command::None {
            return Poll::Ready(None);
        }
        accept.as_mut().poll(cx).map(Some)
    })
    .await;
    match accepted {
        Some(Ok(stream)) => Some(Stream::Tls(Box::new(stream))),
        Some(Err(_)) | None => {
            seat.shared.refused_connect(&seat.link, ConnectRefusal::Tls, None);
            None
        }
    }
}
