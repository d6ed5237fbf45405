//! The probe's thread: sleeps to a deadline, notes how late it woke, judges once a second.
//!
//! **Invariants**: dropping [`Running`] ends the thread; the thread holds no lock while it sleeps
//! but the one that wakes it.

use crate::metrics::Measure;
use crate::probe::lateness::TICK;
use crate::probe::{Probe, Reading};
use parking_lot::{Condvar, Mutex};
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const JUDGE_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Shared {
    stop: Mutex<bool>,
    wake: Condvar,
    latest: Mutex<Reading>,
}

/// A running probe.
#[derive(Debug)]
pub struct Running {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Starts the thread `probe`.
///
/// # Errors
/// When the operating system has no thread to give.
pub fn start(mut probe: Probe) -> io::Result<Running> {
    let shared = Arc::new(Shared::default());
    let for_thread = Arc::clone(&shared);
    let thread = crate::spawn::thread("probe", move || {
        let mut judge_at = Instant::now();
        loop {
            let deadline = Instant::now() + TICK;
            let mut stop = for_thread.stop.lock();
            let is_on = |stop: &mut bool| !*stop;
            if !for_thread.wake.wait_while_until(&mut stop, is_on, deadline).timed_out() {
                return;
            }
            drop(stop);
            let woke = Instant::now();
            probe.woke(woke.saturating_duration_since(deadline));
            if woke >= judge_at {
                judge_at = woke + JUDGE_EVERY;
                *for_thread.latest.lock() = probe.judge();
            }
        }
    })?;
    Ok(Running { shared, thread: Some(thread) })
}

impl Running {
    /// What was found last.
    #[must_use]
    pub fn latest(&self) -> Reading {
        *self.shared.latest.lock()
    }

    /// The same as figures for the registry.
    pub fn measures(&self, out: &mut Vec<Measure>) {
        self.latest().measures(out);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        *self.shared.stop.lock() = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("The probe's thread had panicked.");
        }
    }
}
