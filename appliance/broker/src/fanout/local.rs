//! A subscription within this process, for the API's WebSocket.
//!
//! **Invariants**: dropping it unsubscribes; its queue is bounded and drops the oldest.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use millrace_model::Filter;

use super::Fanout;
use super::subscriber::Subscriber;

/// Receives what matches its filters.
#[derive(Debug)]
pub struct LocalSubscription {
    pub(super) fanout: Fanout,
    pub(super) subscriber: Arc<Subscriber>,
    pub(super) filters: Vec<Filter>,
}

impl LocalSubscription {
    /// Waits for the next message: its topic and payload.
    pub async fn recv(&mut self) -> (Arc<str>, Bytes) {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// The next message, or registers the waker.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<(Arc<str>, Bytes)> {
        let mut next = None;
        self.subscriber.drain(cx.waker(), |delivery| {
            if next.is_some() {
                return false;
            }
            next = Some((Arc::clone(&delivery.topic), delivery.payload.clone()));
            true
        });
        next.map_or(Poll::Pending, Poll::Ready)
    }

    /// Messages that were dropped because this side was slow.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.subscriber.dropped()
    }
}

impl Drop for LocalSubscription {
    fn drop(&mut self) {
        self.fanout.remove_all(&self.subscriber, &self.filters);
    }
}
