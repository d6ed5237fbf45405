//! Stopping on Ctrl-C, and waiting for a condition with a limit.
//!
//! A first Ctrl-C sets a flag that every wait looks at, so that the scenario returns an error and
//! its guards remove folders, children and mounts. A second one ends the process at once.
//!
//! **Invariants**
//! - Nothing in the lab waits other than through `pause` or a bounded receive that checks the flag.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// How long a pause may run past a Ctrl-C.
const PAUSE_SLICE: Duration = Duration::from_millis(20);

static STOPPED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Starts to listen for Ctrl-C and SIGTERM.
pub(crate) fn watch() -> Result<()> {
    let stopped = Arc::clone(STOPPED.get_or_init(Arc::default));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag still unset and goes on to set it.
        flag::register_conditional_shutdown(signal, 130, Arc::clone(&stopped))
            .and_then(|_| flag::register(signal, Arc::clone(&stopped)))
            .context("listen for Ctrl-C")?;
    }
    Ok(())
}

/// Fails once the user asked to stop.
pub(crate) fn check() -> Result<()> {
    if STOPPED.get().is_some_and(|stopped| stopped.load(Ordering::Relaxed)) {
        bail!("stopped by Ctrl-C; children, mounts and the temporary folder are removed");
    }
    Ok(())
}

/// Waits `duration`, or fails early on Ctrl-C.
pub(crate) fn pause(duration: Duration) -> Result<()> {
    let end = Instant::now() + duration;
    loop {
        check()?;
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::park_timeout(left.min(PAUSE_SLICE));
    }
}

/// Asks `probe` every `every` until it gives something, at most `limit` long.
pub(crate) fn wait_for<T>(
    what: &str,
    limit: Duration,
    every: Duration,
    mut probe: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(found) = probe()? {
            return Ok(found);
        }
        if Instant::now() >= end {
            bail!("waited {:.1} s for {what}, in vain", limit.as_secs_f64());
        }
        pause(every)?;
    }
}
