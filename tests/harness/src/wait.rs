//! Waiting for a condition.

use anyhow::bail;
use std::time::{Duration, Instant};

/// Longest wait for anything in a test; a healthy box needs a fraction of it.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Asks until the answer is there.
///
/// # Errors
/// When it is not there within [`LIMIT`].
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> anyhow::Result<T> {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return Ok(answer);
        }
        if started.elapsed() > LIMIT {
            bail!("waited {LIMIT:?} in vain for {what}");
        }
        // Gives the processor to whatever is waited for.
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
