//! The historian's own thread: seals on size, age and demand, removes what is old.
//!
//! **Invariants**: never holds the memory lock while it reads or writes files; trouble is an issue
//! and another attempt a second later, never an end.

use crate::config::{PARTS_MANY, RETENTION_INTERVAL, SEAL_RETRY};
use crate::error::{Error, Result, chain};
use crate::retention::ClockGuard;
use crate::seal::Sealer;
use crate::shared::Shared;
use millrace_supervisor::Severity;
use std::time::Duration;

const SEAL_KEY: &str = "historian-cannot-seal";
const CHECKPOINT_KEY: &str = "historian-cannot-checkpoint";
/// Failed checkpoints in a row before people are told: one alone is a commit under way.
const CHECKPOINT_FAILURES_MAX: u32 = 10;
/// Age at which even few values are sealed once there are many parts.
const SEAL_AGE_MANY: Duration = Duration::from_secs(3_600);

/// What the thread holds.
pub(crate) struct Worker {
    pub(crate) sealer: Sealer,
    pub(crate) clock: ClockGuard,
    /// The memtable seen last, and since when it has values.
    seen: Option<(u64, Duration)>,
    last_look: Option<Duration>,
    checkpoint_failures: u32,
}

impl Worker {
    pub(crate) fn new(sealer: Sealer, clock: ClockGuard) -> Self {
        Self { sealer, clock, seen: None, last_look: None, checkpoint_failures: 0 }
    }

    fn shared(&self) -> &Shared {
        &self.sealer.shared
    }

    /// One round of the thread; answers whether something waits to be tried again.
    pub(crate) fn round(&mut self) -> bool {
        let mut is_failing = false;
        if self.is_due() {
            is_failing = self.seal().is_err();
        }
        let now = self.shared().around.clock.monotonic();
        let is_time = self.last_look.is_none_or(|last| now >= last + RETENTION_INTERVAL);
        // A full disk may be why sealing fails: see at once whether something can go.
        if is_time || is_failing {
            self.last_look = Some(now);
            self.look_after();
        }
        self.checkpoint();
        is_failing
    }

    fn is_due(&mut self) -> bool {
        let (generation, is_empty, is_sealing, parts) = {
            let memory = self.shared().memory.read();
            let active = &memory.active;
            (active.generation, active.is_empty(), memory.sealing.is_some(), memory.parts.len())
        };
        if is_sealing {
            return true;
        }
        if is_empty {
            self.seen = None;
            return false;
        }
        let now = self.shared().around.clock.monotonic();
        let since = match self.seen {
            Some((seen, since)) if seen == generation => since,
            _ => now,
        };
        self.seen = Some((generation, since));
        let age = self.shared().config.seal_age;
        let age = if parts > PARTS_MANY { age.max(SEAL_AGE_MANY) } else { age };
        now.saturating_sub(since) >= age
    }

    /// Seals what there is.
    pub(crate) fn seal(&mut self) -> Result<bool> {
        let believed = self.clock.believed(self.shared().around.clock.monotonic());
        let result = self.sealer.seal(believed);
        match &result {
            Ok(_) => {
                self.shared().around.issues.clear(SEAL_KEY);
                self.checkpoint();
            }
            Err(error) => self.tell_failure(error),
        }
        self.shared().to_others.notify_all();
        result
    }

    fn tell_failure(&self, error: &Error) {
        let shared = self.shared();
        Shared::count(&shared.counters.seal_failures, 1);
        shared.raise(
            SEAL_KEY,
            Severity::Critical,
            [
                format!("History cannot be written to disk: {}.", chain(error)),
                "No value is lost: values stay in memory and in the journal, and queries go on. \
                 When memory is full, devices are slowed down."
                    .to_owned(),
                "Free space on the disk or make it writable; nothing needs to be restarted."
                    .to_owned(),
            ],
        );
    }

    /// Removes what is old, if the clock is believed.
    pub(crate) fn look_after(&mut self) {
        let (wall, monotonic) = {
            let clock = &self.shared().around.clock;
            (clock.now().0, clock.monotonic())
        };
        let now = self.clock.look(wall, monotonic);
        self.sealer.tell_clock(now.is_some());
        self.sealer.remove_expired(now);
        if now.is_some() {
            self.sealer.note_time(self.clock.believed(monotonic));
        }
    }

    pub(crate) fn confirm_clock(&mut self) {
        let clock = &self.sealer.shared.around.clock;
        self.clock.confirm(clock.now().0, clock.monotonic());
        self.look_after();
    }

    /// Lets the journal forget what is in parts, and what held no samples at all.
    fn checkpoint(&mut self) {
        let idle_seq = {
            let memory = self.shared().memory.read();
            let is_idle = memory.active.is_empty() && memory.sealing.is_none();
            is_idle.then_some(memory.last_seq)
        };
        let wanted = idle_seq.unwrap_or(self.sealer.checkpoint_wanted);
        self.sealer.checkpoint_wanted = wanted.max(self.sealer.checkpoint_wanted);
        let cursor = &self.sealer.shared.around.cursor;
        if cursor.position().0 >= wanted {
            return;
        }
        match cursor.checkpoint(millrace_journal::Seq(wanted)) {
            Ok(()) => {
                if self.checkpoint_failures >= CHECKPOINT_FAILURES_MAX {
                    self.shared().around.issues.clear(CHECKPOINT_KEY);
                }
                self.checkpoint_failures = 0;
            }
            Err(reason) => {
                self.checkpoint_failures += 1;
                if self.checkpoint_failures >= CHECKPOINT_FAILURES_MAX {
                    self.shared().raise(
                        CHECKPOINT_KEY,
                        Severity::Warning,
                        [
                            format!(
                                "The journal cannot note what history has taken over: {reason}."
                            ),
                            "The journal grows; nothing is lost.".to_owned(),
                            "Free space on the disk or make it writable.".to_owned(),
                        ],
                    );
                }
            }
        }
    }
}

/// The thread: rounds until the historian is closed.
pub(crate) fn run(shared: &Shared, worker: &parking_lot::Mutex<Worker>) {
    loop {
        let is_failing = worker.lock().round();
        let is_waiting = shared.memory.read().sealing.is_some();
        let mut control = shared.control.lock();
        if control.is_closing {
            return;
        }
        if is_failing || !is_waiting {
            shared.to_worker.wait_for(&mut control, SEAL_RETRY);
        }
    }
}
