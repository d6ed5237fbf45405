//! Once a second over all connections: keep alive, missing CONNECT, ends that last too long.
//!
//! **Invariants**: connections read no clock and set no timer; they note the sweep's second when
//! a whole packet came. A client is cut after one and a half keep alives and at most two seconds
//! more, never before; one that we do not read is not cut.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::config::LINGER;
use crate::link::{Command, Link};
use crate::shared::Shared;

/// How often.
const TICK: Duration = Duration::from_secs(1);

/// Sweeps for ever.
pub(crate) fn run(shared: Arc<Shared>) -> impl Future<Output = ()> + Send {
    let origin = shared.wiring.clock.monotonic();
    async move {
        loop {
            tokio::time::sleep(TICK).await;
            let passed = shared.wiring.clock.monotonic().saturating_sub(origin);
            let second = u32::try_from(passed.as_secs() + 1).unwrap_or(u32::MAX);
            sweep(&shared, second);
        }
    }
}

/// One round, at `second`.
pub(crate) fn sweep(shared: &Shared, second: u32) {
    // A test may have set the time ahead of the clock; it never goes back.
    let second = shared.second.fetch_max(second, Ordering::Relaxed).max(second);
    let connect_seconds_max = seconds(shared.config.connect_timeout);
    for link in shared.table.all() {
        if let Some(command) = judge(&link, second, connect_seconds_max) {
            link.command(command);
        }
    }
}

fn judge(link: &Link, second: u32, connect_seconds_max: u32) -> Option<Command> {
    let since = |earlier: u32| second.saturating_sub(earlier);
    let closing = link.closing_second.load(Ordering::Relaxed);
    if closing != 0 {
        return (since(closing) > seconds(LINGER)).then_some(Command::Abort);
    }
    if link.identity.get().is_none() {
        return (since(link.opened_second) > connect_seconds_max).then_some(Command::Abort);
    }
    let idle_seconds_max = link.idle_seconds_max.load(Ordering::Relaxed);
    let is_silent = idle_seconds_max > 0
        && since(link.hot.active_second.load(Ordering::Relaxed)) > idle_seconds_max
        && !link.hot.is_held.load(Ordering::Acquire);
    is_silent.then_some(Command::KeepAlive)
}

fn seconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_secs()).unwrap_or(u32::MAX)
}
