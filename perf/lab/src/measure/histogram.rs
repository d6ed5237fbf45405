//! A histogram of durations in nanoseconds with 1.6 % resolution and no allocation per value.
//!
//! Buckets are log-linear: 64 equal ones per power of two. A percentile answers with the upper
//! edge of its bucket, so it never flatters.
//!
//! **Invariants**
//! - `record` is a few instructions: it stands in the load generator's loop.

/// Equal buckets per power of two.
const STEPS: u64 = 64;
const STEPS_BITS: u32 = STEPS.trailing_zeros();
/// Enough for every u64.
const BUCKETS: usize = (64 - STEPS_BITS as usize + 1) * STEPS as usize;

/// Counts of durations.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    buckets: Vec<u32>,
    count: u64,
    largest: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS], count: 0, largest: 0 }
    }
}

impl Histogram {
    /// Counts one duration.
    pub(crate) fn record(&mut self, nanos: u64) {
        if let Some(bucket) = self.buckets.get_mut(bucket_of(nanos)) {
            *bucket = bucket.saturating_add(1);
        }
        self.count += 1;
        self.largest = self.largest.max(nanos);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The duration that `share` (0 to 1) of all lie at or below, in milliseconds; none if empty.
    pub(crate) fn percentile_ms(&self, share: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let wanted = ((self.count as f64 * share).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (index, bucket) in self.buckets.iter().enumerate() {
            seen += u64::from(*bucket);
            if seen >= wanted {
                return Some(upper_edge(index).min(self.largest) as f64 / 1e6);
            }
        }
        Some(self.largest_ms())
    }

    /// How many were longer than `nanos`, by the resolution of the buckets.
    pub(crate) fn count_above(&self, nanos: u64) -> u64 {
        let above = self.buckets.iter().skip(bucket_of(nanos) + 1);
        above.map(|bucket| u64::from(*bucket)).sum()
    }

    pub(crate) fn largest_ms(&self) -> f64 {
        self.largest as f64 / 1e6
    }
}

fn bucket_of(nanos: u64) -> usize {
    if nanos < STEPS {
        return nanos as usize;
    }
    let power = nanos.ilog2() - STEPS_BITS;
    let step = (nanos >> power) - STEPS;
    (u64::from(power + 1) * STEPS + step) as usize
}

fn upper_edge(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let (power, step) = (bucket / STEPS, bucket % STEPS);
    if power == 0 {
        return step;
    }
    let edge = u128::from(STEPS + step + 1) << (power - 1);
    u64::try_from(edge - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_never_below_and_at_most_two_percent_above() {
        let mut histogram = Histogram::default();
        for millis in 1..=1_000u64 {
            histogram.record(millis * 1_000_000);
        }
        for (share, exact) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            let found = histogram.percentile_ms(share).unwrap();
            assert!((exact..=exact * 1.02).contains(&found), "{share}: {found}");
        }
        assert_eq!(histogram.count(), 1_000);
        assert!((480..=500).contains(&histogram.count_above(500_000_000)));
    }

    #[test]
    fn holds_every_duration_and_answers_none_when_empty() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile_ms(0.5), None);
        for nanos in [0, 1, 63, 64, 65, 127, 128, u64::MAX] {
            assert!(bucket_of(nanos) < BUCKETS, "{nanos}");
            assert!(upper_edge(bucket_of(nanos)) >= nanos, "{nanos}");
            histogram.record(nanos);
        }
        assert_eq!(histogram.count(), 8);
    }
}
