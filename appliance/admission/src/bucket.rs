//! Token buckets that connections share: one per client, one per workspace.
//!
//! A bucket is one number: the moment at which it will be full again. Taking a value moves that
//! moment by the time that one value lasts; when it lies more than a second ahead, the bucket is
//! empty. So it holds one second of values and fills itself without a timer.
//!
//! **Invariants**: a rate of 0 never refuses; time that goes back gives nothing for free.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const CAPACITY_NANOS: u64 = 1_000_000_000;

/// A bucket of one second's values.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    rate_per_s: AtomicU32,
    full_at_nanos: AtomicU64,
}

impl Bucket {
    /// Sets the rate; 0 = no limit.
    pub(crate) fn set_rate(&self, per_s: u32) {
        self.rate_per_s.store(per_s, Ordering::Relaxed);
    }

    /// The rate; 0 = no limit.
    pub(crate) fn rate_per_s(&self) -> u32 {
        self.rate_per_s.load(Ordering::Relaxed)
    }

    /// Takes one value, if there is one.
    pub(crate) fn take(&self, now_nanos: u64) -> bool {
        let Some(cost) = self.cost_nanos() else { return true };
        let mut full_at = self.full_at_nanos.load(Ordering::Relaxed);
        loop {
            let next = full_at.max(now_nanos) + cost;
            if next - now_nanos > CAPACITY_NANOS {
                return false;
            }
            match self.full_at_nanos.compare_exchange_weak(
                full_at,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(other) => full_at = other,
            }
        }
    }

    /// Gives one value back that was taken just now.
    pub(crate) fn give_back(&self) {
        if let Some(cost) = self.cost_nanos() {
            self.full_at_nanos.fetch_sub(cost, Ordering::Relaxed);
        }
    }

    fn cost_nanos(&self) -> Option<u64> {
        CAPACITY_NANOS.checked_div(u64::from(self.rate_per_s()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(per_s: u32) -> Bucket {
        let bucket = Bucket::default();
        bucket.set_rate(per_s);
        bucket
    }

    fn takes(bucket: &Bucket, now_nanos: u64) -> usize {
        (0..1_000_000).take_while(|_| bucket.take(now_nanos)).count()
    }

    #[test]
    fn holds_one_second_and_fills_with_time() {
        let bucket = bucket(2_000);
        assert_eq!(takes(&bucket, 5), 2_000);
        assert_eq!(takes(&bucket, 5), 0);
        assert_eq!(takes(&bucket, 5 + 1_000_000), 2);
        // Long rest: one second, no more.
        assert_eq!(takes(&bucket, 3_600 * CAPACITY_NANOS), 2_000);
    }

    #[test]
    fn one_a_second_is_one_a_second() {
        let bucket = bucket(1);
        assert_eq!(takes(&bucket, 7), 1);
        assert_eq!(takes(&bucket, 6 + CAPACITY_NANOS), 0);
        assert_eq!(takes(&bucket, 7 + CAPACITY_NANOS), 1);
    }

    #[test]
    fn zero_is_off_and_a_gift_comes_back() {
        assert!((0..100_000).all(|_| bucket(0).take(0)));
        let bucket = bucket(1);
        assert!(bucket.take(9));
        bucket.give_back();
        assert!(bucket.take(9));
        assert!(!bucket.take(9));
    }
}
