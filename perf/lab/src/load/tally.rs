//! Counts and latencies of a run, and the measured window within it.
//!
//! **Invariants**
//! - Latency belongs to the window if the value was *due* in it; a count belongs to it by the
//!   time at which it happened.

use std::time::{Duration, Instant};

use super::spec::Latency;
use crate::measure::histogram::Histogram;
use crate::measure::{machine, process};

/// Nanoseconds since the run began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunClock(Instant);

impl RunClock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// What is counted all the time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) sent: u64,
    pub(crate) acknowledged: u64,
    pub(crate) refused: u64,
    pub(crate) refusals: Vec<(u8, u64)>,
    pub(crate) resent: u64,
    pub(crate) bytes_out: u64,
    pub(crate) bytes_in: u64,
    pub(crate) verdicts_asked: u64,
    pub(crate) verdicts: u64,
    pub(crate) verdicts_refused: u64,
    /// Due times that count for the latencies: from, to.
    pub(crate) window: (u64, u64),
    pub(crate) ack: Histogram,
    pub(crate) verdict: Histogram,
    /// From the due time of a value to the arrival of what a pipeline made of it.
    pub(crate) derived: Histogram,
    /// The same by tag, as many as are told apart.
    pub(crate) derived_by_tag: Vec<Histogram>,
    pub(crate) lag: Histogram,
    /// From a connection to the end of its sign-in.
    pub(crate) sign_in: Histogram,
}

impl Tally {
    /// Counts an acknowledgement of a value that was due at `due`.
    pub(crate) fn acknowledge(&mut self, due: u64, now: u64, reason: u8) {
        if reason >= 0x80 {
            self.refused += 1;
            match self.refusals.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, count)) => *count += 1,
                None => self.refusals.push((reason, 1)),
            }
            return;
        }
        self.acknowledged += 1;
        if self.is_in_window(due) {
            self.ack.record(now.saturating_sub(due));
        }
    }

    /// Counts a verdict of a value that was due at `due`.
    pub(crate) fn verdict(&mut self, due: u64, now: u64, stored: bool) {
        self.verdicts += 1;
        if !stored {
            self.verdicts_refused += 1;
        }
        if self.is_in_window(due) {
            self.verdict.record(now.saturating_sub(due));
        }
    }

    /// Counts the arrival of a value derived from one of `tag` that was due at `due`.
    pub(crate) fn derive(&mut self, tag: usize, due: u64, now: u64) {
        if self.is_in_window(due) {
            let took = now.saturating_sub(due);
            self.derived.record(took);
            if let Some(own) = self.derived_by_tag.get_mut(tag) {
                own.record(took);
            }
        }
    }

    /// Counts how late the generator itself was.
    pub(crate) fn late(&mut self, due: u64, now: u64) {
        if self.is_in_window(due) {
            self.lag.record(now.saturating_sub(due));
        }
    }

    fn is_in_window(&self, due: u64) -> bool {
        (self.window.0..self.window.1).contains(&due)
    }
}

/// The figures of a histogram.
pub(crate) fn latency(histogram: &Histogram) -> Latency {
    Latency {
        p50_ms: histogram.percentile_ms(0.5).unwrap_or(0.0),
        p99_ms: histogram.percentile_ms(0.99).unwrap_or(0.0),
        max_ms: histogram.largest_ms(),
        count: histogram.count(),
    }
}

/// Counters at one end of the window.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) at: u64,
    pub(crate) sent: u64,
    pub(crate) acknowledged: u64,
    pub(crate) bytes_out: u64,
    pub(crate) bytes_in: u64,
    pub(crate) own_cpu: Duration,
    pub(crate) cores: machine::CoreTimes,
    pub(crate) server: process::Usage,
}

impl Mark {
    /// Reads all counters now.
    pub(crate) fn take(
        clock: &RunClock,
        tally: &Tally,
        server: Option<u32>,
        beside: &[u32],
    ) -> Self {
        // A server that has just gone ends the run by its closed connections, with a reason.
        let mut server = server.and_then(|pid| process::usage(pid).ok()).unwrap_or_default();
        for other in beside.iter().filter_map(|pid| process::cpu(*pid).ok()) {
            server.cpu += other;
        }
        Self {
            at: clock.now(),
            sent: tally.sent,
            acknowledged: tally.acknowledged,
            bytes_out: tally.bytes_out,
            bytes_in: tally.bytes_in,
            own_cpu: process::own_cpu(),
            cores: machine::core_times(),
            server,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_latency_by_due_time_and_refusals_by_reason() {
        let mut tally = Tally { window: (1_000, 2_000), ..Tally::default() };
        tally.acknowledge(1_500, 5_000_000, 0);
        tally.acknowledge(1_500, 5_000_000, 0x10);
        tally.acknowledge(2_500, 9_000_000, 0);
        tally.acknowledge(1_500, 9_000_000, 0x97);
        tally.acknowledge(1_500, 9_000_000, 0x97);
        assert_eq!((tally.acknowledged, tally.refused), (3, 2));
        assert_eq!(tally.refusals, [(0x97, 2)]);
        assert_eq!(tally.ack.count(), 2);
        // Derived values are told apart by as many tags as there is room for.
        tally.derived_by_tag = vec![Histogram::default(); 2];
        for (tag, due) in [(0, 1_500), (1, 1_500), (1, 1_500), (2, 1_500), (0, 2_500)] {
            tally.derive(tag, due, 2_000_000);
        }
        let by_tag: Vec<u64> = tally.derived_by_tag.iter().map(Histogram::count).collect();
        assert_eq!((tally.derived.count(), by_tag), (4, vec![1, 2]));
        assert!(latency(&tally.ack).max_ms < 5.0);
    }
}
