//! HTTP/1.1 connections over the dialer's streams.
//!
//! **Invariants**: a connection is kept only if its answer was read to the end; anything else (a
//! timeout, a limit, a fault) drops it and so closes it.

use crate::dial::{DialFault, Dialer, Endpoint};
use crate::limits::RESPONSE_HEAD_BYTES_MAX;
use crate::pooled::{Lease, Pooled};
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::{self, SendRequest};
use millrace_engine::step::StepFault;
use millrace_supervisor::spawn;
use std::sync::Arc;
use tokio::time::Instant;

type Sender = SendRequest<Full<Bytes>>;

/// All HTTP connections.
#[derive(Debug)]
pub(crate) struct Connections {
    dialer: Arc<Dialer>,
    pooled: Pooled<Endpoint, Sender>,
}

/// One connection in use. Dropping it closes it; [`Lent::give_back`] keeps it.
#[derive(Debug)]
pub(crate) struct Lent {
    pub(crate) sender: Sender,
    /// Whether it was used before: then the server may just have closed it.
    pub(crate) is_used: bool,
    lease: Lease<Sender>,
}

impl Connections {
    pub(crate) fn new(dialer: Arc<Dialer>) -> Self {
        Self { dialer, pooled: Pooled::new() }
    }

    /// A connection: an idle one unless a fresh one is wanted, else a new one.
    pub(crate) async fn lend(
        &self,
        endpoint: &Endpoint,
        until: Instant,
        is_fresh: bool,
    ) -> Result<Lent, StepFault> {
        let lease = self.pooled.enter(endpoint).await?;
        let idle = if is_fresh { None } else { lease.take_idle(SendRequest::is_ready) };
        let (sender, is_used) = match idle {
            Some(sender) => (sender, true),
            None => (self.open(endpoint, until).await?, false),
        };
        Ok(Lent { sender, is_used, lease })
    }

    async fn open(&self, endpoint: &Endpoint, until: Instant) -> Result<Sender, StepFault> {
        let stream = self.dialer.connect(endpoint, until).await?;
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(RESPONSE_HEAD_BYTES_MAX)
            .handshake(stream)
            .await
            .map_err(|error| DialFault::Unreachable {
                host: endpoint.host.to_string(),
                port: endpoint.port,
                error: error.to_string(),
            })?;
        spawn::task("http-connection", async move {
            // Its end is seen by the call that uses it.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "An HTTP connection outside ended.");
            }
        });
        Ok(sender)
    }

    pub(crate) fn tick(&self) {
        self.pooled.tick();
    }
}

impl Lent {
    /// Keeps the connection for the next call; its answer was read to the end.
    pub(crate) fn give_back(self) {
        if !self.sender.is_closed() {
            self.lease.give_back(self.sender);
        }
    }
}
