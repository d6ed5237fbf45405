//! One subscriber's bounded queue of deliveries.
//!
//! The journal's thread pushes, the subscriber's own task pops. A slow subscriber loses the
//! oldest messages, never the newest, and never slows the journal.
//!
//! **Invariants**: the queue holds at most `messages_max` messages and about `bytes_max` bytes;
//! whatever is dropped is counted, here and in total; a push wakes only when the queue was empty.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::Waker;

use bytes::Bytes;
use parking_lot::Mutex;

use crate::link::Link;

/// Bytes that a queued message costs beside its topic and payload.
const MESSAGE_OVERHEAD_BYTES: usize = 64;

/// A message on its way to one subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) topic: Arc<str>,
    pub(crate) payload: Bytes,
    pub(crate) qos: u8,
    pub(crate) correlation: Option<Bytes>,
}

impl Delivery {
    fn cost_bytes(&self) -> usize {
        MESSAGE_OVERHEAD_BYTES + self.topic.len() + self.payload.len()
    }
}

/// Counters of all subscribers together.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) queued: AtomicU64,
    pub(crate) dropped: AtomicU64,
    /// Times that a subscriber's queue began to overflow.
    pub(crate) slow: AtomicU64,
}

/// A subscriber: a connection or a place within this process.
#[derive(Debug)]
pub(crate) struct Subscriber {
    pub(crate) id: u64,
    messages_max: usize,
    bytes_max: usize,
    queue: Mutex<Queue>,
    /// The connection that is told before it is woken, so that its other wakes need not look here.
    bell: OnceLock<Weak<Link>>,
    dropped: AtomicU64,
    totals: Arc<Totals>,
}

#[derive(Debug, Default)]
struct Queue {
    items: VecDeque<Delivery>,
    bytes: usize,
    waker: Option<Waker>,
    is_closed: bool,
    is_overflowing: bool,
}

impl Subscriber {
    pub(crate) fn new(
        id: u64,
        messages_max: usize,
        bytes_max: usize,
        totals: Arc<Totals>,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            messages_max: messages_max.max(1),
            bytes_max,
            queue: Mutex::default(),
            bell: OnceLock::new(),
            dropped: AtomicU64::new(0),
            totals,
        })
    }

    /// Queues a message; drops the oldest where there is no room.
    pub(crate) fn push(&self, delivery: Delivery) {
        let mut dropped = 0;
        let mut began_to_overflow = false;
        let waker = {
            let mut queue = self.queue.lock();
            if queue.is_closed {
                return;
            }
            let was_empty = queue.items.is_empty();
            queue.bytes += delivery.cost_bytes();
            queue.items.push_back(delivery);
            while queue.items.len() > self.messages_max
                || (queue.bytes > self.bytes_max && queue.items.len() > 1)
            {
                if let Some(oldest) = queue.items.pop_front() {
                    queue.bytes = queue.bytes.saturating_sub(oldest.cost_bytes());
                    dropped += 1;
                }
            }
            if dropped > 0 {
                began_to_overflow = !queue.is_overflowing;
                queue.is_overflowing = true;
            }
            if was_empty { queue.waker.clone() } else { None }
        };
        self.totals.queued.fetch_add(1, Ordering::Relaxed);
        self.count_dropped(dropped);
        if began_to_overflow {
            self.totals.slow.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(waker) = waker {
            self.ring();
            waker.wake();
        }
    }

    /// The connection whose bell is rung from now on.
    pub(crate) fn set_bell(&self, link: &Arc<Link>) {
        // Called once, where the connection is made.
        let _first = self.bell.set(Arc::downgrade(link)).is_ok();
    }

    /// Has the connection look at the queue at its next wake.
    pub(crate) fn ring(&self) {
        if let Some(link) = self.bell.get().and_then(Weak::upgrade) {
            link.ring();
        }
    }

    /// Takes the oldest messages while `take` says so; `take` gets each by reference and answers
    /// whether it took it.
    pub(crate) fn drain(&self, waker: &Waker, mut take: impl FnMut(&Delivery) -> bool) {
        let mut queue = self.queue.lock();
        if !queue.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            queue.waker = Some(waker.clone());
        }
        while let Some(front) = queue.items.front() {
            if !take(front) {
                return;
            }
            if let Some(done) = queue.items.pop_front() {
                queue.bytes = queue.bytes.saturating_sub(done.cost_bytes());
            }
        }
        queue.is_overflowing = false;
        if queue.items.capacity() > 1_024 {
            queue.items.shrink_to(64);
        }
    }

    /// Takes nothing more and forgets what waits.
    pub(crate) fn close(&self) {
        let mut queue = self.queue.lock();
        queue.is_closed = true;
        queue.waker = None;
        queue.bytes = 0;
        queue.items = VecDeque::new();
    }

    pub(crate) fn count_dropped(&self, count: u64) {
        if count > 0 {
            self.dropped.fetch_add(count, Ordering::Relaxed);
            self.totals.dropped.fetch_add(count, Ordering::Relaxed);
        }
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.lock().items.len()
    }
}
