//! What all connections of one broker share.
//!
//! **Invariants**: `second` is written by the sweep alone; `unfinished_bytes` is what all
//! connections hold of large packets that are not whole yet.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use millrace_supervisor::Clock;

use crate::config::Config;
use crate::fanout::Fanout;
use crate::ingest::{Durable, Gate, SignIn};
use crate::link::Link;
use crate::stats::{ConnectRefusal, Counters};
use crate::table::Table;

/// What the broker is wired to.
#[derive(Clone)]
pub struct Wiring {
    /// Signs clients in.
    pub sign_in: Arc<dyn SignIn>,
    /// Opens ingest sessions.
    pub gate: Arc<dyn Gate>,
    /// Knows what is durable.
    pub durable: Arc<dyn Durable>,
    /// Delivers to subscribers.
    pub fanout: Fanout,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

impl fmt::Debug for Wiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wiring").finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) wiring: Wiring,
    pub(crate) counters: Counters,
    pub(crate) table: Table,
    /// Seconds since the broker was made, from the sweep: connections read no clock.
    pub(crate) second: AtomicU32,
    pub(crate) connection_ids: AtomicU64,
    pub(crate) unfinished_bytes: AtomicUsize,
    pub(crate) is_stopping: AtomicBool,
}

impl Shared {
    pub(crate) fn now_second(&self) -> u32 {
        self.second.load(Ordering::Relaxed)
    }

    pub(crate) fn refused_connect(&self, link: &Link, reason: ConnectRefusal, user: Option<&str>) {
        self.counters.refused(reason, self.wiring.clock.now(), link.from, user);
    }
}
