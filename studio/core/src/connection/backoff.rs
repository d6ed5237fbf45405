//! Waits between attempts: twice as long each time up to a limit, with some chance in them.

use crate::limits::{BACK_OFF_FIRST, BACK_OFF_MOST};
use std::time::Duration;

/// The waits after one failure, and the next.
#[derive(Debug, Default)]
pub(crate) struct BackOff {
    failures: u32,
}

impl BackOff {
    /// The wait before the next attempt: three quarters to five quarters of the doubled time.
    pub(crate) fn next(&mut self) -> Duration {
        let doubled = BACK_OFF_FIRST.saturating_mul(1 << self.failures.min(16));
        self.failures = self.failures.saturating_add(1);
        let whole = doubled.min(BACK_OFF_MOST);
        // Without a random number the waits are just not spread.
        let chance = getrandom::u32().unwrap_or(u32::MAX / 2);
        whole * 3 / 4 + whole.mul_f64(f64::from(chance) / f64::from(u32::MAX) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_the_limit_and_no_further() {
        let mut back_off = BackOff::default();
        for failure in 0..40 {
            let whole = BACK_OFF_FIRST.saturating_mul(1 << failure.min(16)).min(BACK_OFF_MOST);
            let wait = back_off.next();
            assert!(wait >= whole * 3 / 4 && wait <= whole * 5 / 4, "{failure}: {wait:?}");
        }
    }
}
