//! How late the probe's thread woke, over the window.
//!
//! A thread that was due every tick and woke `late` after one of them missed all ticks in
//! between. They count too, each with what it would have waited; otherwise a standstill of two
//! seconds would be one bad sample among two hundred good ones.
//!
//! **Invariants**: samples are bounded by the window and [`MISSED_MAX`].

use std::collections::VecDeque;
use std::time::Duration;

/// How often the thread asks to be woken: two hundred samples a window, and little CPU.
pub(crate) const TICK: Duration = Duration::from_millis(50);
/// Ticks counted for one standstill: about a quarter of an hour of it.
const MISSED_MAX: u128 = 20_000;
/// Timers of some systems are no finer than this, and a thread is late by it when nothing is wrong.
const TIMER_GRAIN: Duration = Duration::from_millis(if cfg!(windows) { 32 } else { 0 });

#[derive(Clone, Copy, Debug)]
struct Sample {
    woke: Duration,
    late: Duration,
}

/// The wakes of the window.
#[derive(Debug)]
pub(crate) struct Lateness {
    window: Duration,
    samples: VecDeque<Sample>,
}

/// What they say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Late {
    pub(crate) p99: Duration,
    pub(crate) longest: Duration,
    /// Share of the window that the thread spent being late.
    pub(crate) share: f64,
}

impl Lateness {
    pub(crate) fn new(window: Duration) -> Self {
        Self { window, samples: VecDeque::new() }
    }

    pub(crate) fn record(&mut self, woke: Duration, late: Duration) {
        self.forget(woke);
        let late = if late <= TIMER_GRAIN { Duration::ZERO } else { late };
        self.samples.push_back(Sample { woke, late });
    }

    fn forget(&mut self, now: Duration) {
        let from = now.saturating_sub(self.window);
        while self.samples.front().is_some_and(|sample| sample.woke < from) {
            self.samples.pop_front();
        }
    }

    pub(crate) fn read(&mut self, now: Duration, noticeable: Duration) -> Late {
        self.forget(now);
        let mut waits: Vec<Duration> = Vec::with_capacity(self.samples.len());
        let mut sum = Duration::ZERO;
        for sample in &self.samples {
            waits.push(sample.late);
            let missed = (sample.late.as_nanos() / TICK.as_nanos()).min(MISSED_MAX);
            let missed = u32::try_from(missed).unwrap_or(0);
            waits.extend((1..=missed).map(|tick| sample.late.saturating_sub(TICK * tick)));
            if sample.late >= noticeable {
                sum += sample.late;
            }
        }
        waits.sort_unstable();
        // The smallest wait that 99 % do not exceed.
        let rank = (waits.len() * 99).div_ceil(100).saturating_sub(1);
        Late {
            p99: waits.get(rank).copied().unwrap_or_default(),
            longest: waits.last().copied().unwrap_or_default(),
            share: (sum.as_secs_f64() / self.window.as_secs_f64()).min(1.0),
        }
    }
}
