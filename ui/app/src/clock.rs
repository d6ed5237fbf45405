//! The time for ages on the screen: one signal that moves once a second.
//!
//! **Invariants**
//! - Ages are told against the appliance's clock: the difference of the two is kept here, so that a
//!   wrong clock on the person's machine makes no value look old.

use crate::host::SharedHost;
use leptos::prelude::*;
use millrace_model::Timestamp;
use std::time::Duration;

const TICK: Duration = Duration::from_secs(1);

/// The time, once a second.
#[derive(Clone, Copy)]
pub struct Clock {
    machine: RwSignal<Timestamp>,
    /// Nanoseconds by which the appliance's clock is ahead of this machine's.
    ahead: RwSignal<i64>,
}

impl Clock {
    pub(crate) fn start(host: SharedHost) -> Self {
        let clock = Self { machine: RwSignal::new(host.now()), ahead: RwSignal::new(0) };
        leptos::task::spawn_local(async move {
            loop {
                host.wait(TICK).await;
                clock.machine.set(host.now());
            }
        });
        clock
    }

    /// The appliance's time, about; follows once a second.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.machine.get().plus_nanos(self.ahead.get())
    }

    /// The appliance's time, about, without following it.
    #[must_use]
    pub fn now_untracked(&self) -> Timestamp {
        self.machine.get_untracked().plus_nanos(self.ahead.get_untracked())
    }

    /// Takes note of the appliance's time.
    pub fn compare(&self, machine: Timestamp, appliance: Timestamp) {
        let ahead = appliance.nanos_since(machine);
        // A request takes its time; only a real difference is one.
        let is_real = ahead.unsigned_abs() > 2_000_000_000;
        self.ahead.set(if is_real { ahead } else { 0 });
    }

    /// Nanoseconds by which the appliance's clock is ahead; 0 when it is not worth a word.
    #[must_use]
    pub fn ahead(&self) -> i64 {
        self.ahead.get()
    }

    /// How old something is, in nanoseconds; never negative.
    #[must_use]
    pub fn age(&self, of: Timestamp) -> u64 {
        u64::try_from(self.now().nanos_since(of)).unwrap_or(0)
    }
}
