//! Accepts connections, plain or TLS, and serves the router on them.
//!
//! **Invariants**: at most [`CONNECTIONS_MAX`] connections, and [`CONNECTIONS_PER_PEER_MAX`] of
//! one address off loopback; a peer that is slow with its handshake or head is cut off; when the
//! appliance stops, open requests have [`STOP_TIMEOUT`] to end.

use crate::extract::Peer;
use crate::limits::{
    CONNECTIONS_MAX, CONNECTIONS_PER_PEER_MAX, HANDSHAKE_TIMEOUT, HEAD_BYTES_MAX, HEAD_TIMEOUT,
    HEADERS_MAX, STOP_TIMEOUT,
};
use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::ConnectInfo;
use axum::http::{Request, Response};
use bytes::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use rustls::ServerConfig;
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// Pause after the operating system refused to accept (no file handles left).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A bound socket.
pub struct Listener {
    socket: TcpListener,
    tls: Option<TlsAcceptor>,
}

impl Listener {
    /// Binds an address; with a TLS configuration connections are encrypted.
    ///
    /// # Errors
    /// The operating system's: the port is taken, or may not be used.
    pub async fn bind(address: SocketAddr, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        Ok(Self { socket, tls: tls.map(TlsAcceptor::from) })
    }

    /// The bound address, with the port that was given for port 0.
    ///
    /// # Errors
    /// The operating system's.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

/// Serves until `stop` is done, then waits for open requests, up to [`STOP_TIMEOUT`].
pub async fn serve(listener: Listener, router: Router, stop: impl Future<Output = ()>) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let peers = Arc::new(Peers::default());
    let (stopping, stopped) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        while connections.try_join_next().is_some() {}
        let permit = tokio::select! {
            () = &mut stop => break,
            permit = Arc::clone(&permits).acquire_owned() => {
                permit.expect("the semaphore is never closed")
            }
        };
        let (stream, remote) = tokio::select! {
            () = &mut stop => break,
            accepted = listener.socket.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "An HTTP connection could not be accepted.");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            }
        };
        let Some(seat) = peers.take(remote.ip().to_canonical()) else {
            tracing::debug!(%remote, "Refused an HTTP connection: too many from one address.");
            continue;
        };
        let (router, tls, stopped) = (router.clone(), listener.tls.clone(), stopped.clone());
        connections.spawn(async move {
            connection(stream, remote, tls, router, stopped).await;
            drop((permit, seat));
        });
    }
    drop(listener);
    stopping.send_replace(true);
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(STOP_TIMEOUT, ended).await.is_err() {
        tracing::debug!("HTTP requests that did not end were cut off at the stop.");
    }
}

async fn connection(
    stream: TcpStream,
    remote: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: Router,
    stopped: watch::Receiver<bool>,
) {
    let Ok(local) = stream.local_addr() else { return };
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%remote, %error, "A connection's delay could not be turned off.");
    }
    let peer = Peer { remote, local, tls: tls.is_some() };
    let service = WithPeer { router, peer };
    match tls {
        None => requests(stream, service, stopped).await,
        Some(tls) => match tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
            Ok(Ok(stream)) => requests(stream, service, stopped).await,
            Ok(Err(error)) => tracing::debug!(%remote, %error, "A TLS handshake failed."),
            Err(_) => tracing::debug!(%remote, "A TLS handshake took too long."),
        },
    }
}

async fn requests<S>(stream: S, service: WithPeer, mut stopped: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let remote = service.peer.remote;
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_BYTES_MAX);
    let service = TowerToHyperService::new(service);
    let mut serving = pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), service));
    let mut is_stopping = false;
    loop {
        tokio::select! {
            result = serving.as_mut() => {
                if let Err(error) = result {
                    tracing::debug!(%remote, error, "An HTTP connection ended early.");
                }
                return;
            }
            changed = stopped.changed(), if !is_stopping => {
                is_stopping = true;
                // The sender being gone means the same: nobody serves any more.
                if changed.is_ok() || changed.is_err() {
                    serving.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

/// The router, with the connection's two ends put into each request.
#[derive(Clone)]
struct WithPeer {
    router: Router,
    peer: Peer,
}

impl<B> tower_service::Service<Request<B>> for WithPeer
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = <Router as tower_service::Service<Request<B>>>::Future;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        request.extensions_mut().insert(self.peer);
        request.extensions_mut().insert(ConnectInfo(self.peer.remote));
        tower_service::Service::call(&mut self.router, request)
    }
}

/// Connections by peer address.
#[derive(Default)]
struct Peers(Mutex<HashMap<IpAddr, usize>>);

struct Seat {
    peers: Arc<Peers>,
    address: IpAddr,
}

impl Peers {
    fn take(self: &Arc<Self>, address: IpAddr) -> Option<Seat> {
        let mut counts = self.0.lock();
        let count = counts.entry(address).or_insert(0);
        if *count >= CONNECTIONS_PER_PEER_MAX && !address.is_loopback() {
            return None;
        }
        *count += 1;
        Some(Seat { peers: Arc::clone(self), address })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut counts = self.peers.0.lock();
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}
