//! How long commits took: a few counters by size, so that a percentile of any span can be told.
//!
//! **Invariants**: adding costs one atomic addition; each commit is in exactly one counter.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds in microseconds, each excluded; what took longer is in one more counter.
pub const COMMIT_BOUNDS_MICROS: [u64; 18] = [
    250, 500, 750, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000, 32_000,
    64_000, 128_000, 256_000, 1_000_000,
];

/// Commits by how long they took.
#[derive(Debug, Default)]
pub(crate) struct CommitTimes {
    counters: [AtomicU64; COMMIT_BOUNDS_MICROS.len() + 1],
}

impl CommitTimes {
    pub(crate) fn add(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let place = COMMIT_BOUNDS_MICROS.partition_point(|bound| *bound <= micros);
        if let Some(counter) = self.counters.get(place) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Commits in each counter, the one for what took longest last.
    pub(crate) fn read(&self) -> [u64; COMMIT_BOUNDS_MICROS.len() + 1] {
        self.counters.each_ref().map(|counter| counter.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_commit_is_in_one_counter() {
        let times = CommitTimes::default();
        for micros in [0, 249, 250, 999_999, 1_000_000, u64::MAX] {
            times.add(Duration::from_micros(micros));
        }
        let read = times.read();
        assert_eq!(read.iter().sum::<u64>(), 6);
        assert_eq!((read[0], read[1], read[17], read[18]), (2, 1, 1, 2));
        assert!(COMMIT_BOUNDS_MICROS.is_sorted());
    }
}
