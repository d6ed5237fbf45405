//! When each client publishes: exact, staggered, decided before the run.
//!
//! Events are numbered; event `e` belongs to client `e % clients` and is due at `e * interval`
//! after the start, so clients are spread evenly over their common period. Latency counts from
//! these times, whatever the server or the window did: no coordinated omission.
//!
//! **Invariants**
//! - A due time depends on its number alone, never on what happened before.

use std::time::Duration;

/// The schedule of one run; times are nanoseconds since the run's clock started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    start: u64,
    clients: u64,
    batch: u64,
    /// Nanoseconds between two events of the whole crowd.
    interval: f64,
}

impl Schedule {
    /// None for a rate of zero: then the windows alone pace the clients.
    pub(crate) fn new(start: u64, clients: usize, batch: u16, rate_per_s: f64) -> Option<Self> {
        let usable = rate_per_s.is_finite() && rate_per_s > 0.0 && clients > 0 && batch > 0;
        usable.then(|| Self {
            start,
            clients: clients as u64,
            batch: u64::from(batch),
            interval: f64::from(batch) * 1e9 / rate_per_s,
        })
    }

    /// When event `event` is due.
    pub(crate) fn due(&self, event: u64) -> u64 {
        self.start + (event as f64 * self.interval) as u64
    }

    /// Between two events of the whole crowd.
    pub(crate) fn interval(&self) -> Duration {
        Duration::from_nanos(self.interval as u64)
    }

    /// The client that event `event` belongs to.
    pub(crate) fn client(&self, event: u64) -> usize {
        (event % self.clients) as usize
    }

    /// When the `number`-th value (from 0) of `client` is due.
    pub(crate) fn due_of(&self, client: usize, number: u64) -> u64 {
        self.due(number / self.batch * self.clients + client as u64)
    }

    /// How many values are due in [`from`, `to`).
    pub(crate) fn values_between(&self, from: u64, to: u64) -> u64 {
        (self.events_before(to) - self.events_before(from)) * self.batch
    }

    fn events_before(&self, time: u64) -> u64 {
        let guess = (time.saturating_sub(self.start) as f64 / self.interval) as u64;
        // Rounding may be off by one either way.
        (guess.saturating_sub(1)..=guess + 2)
            .find(|event| self.due(*event) >= time)
            .unwrap_or(guess)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_clients_evenly_and_keeps_each_ones_period() {
        // Given 1,000 clients at 20 a second each
        let schedule = Schedule::new(5_000, 1_000, 1, 20_000.0).unwrap();
        // Then events are 50 us apart, and one client's are 50 ms apart
        assert_eq!(schedule.due(0), 5_000);
        assert_eq!(schedule.due(1), 55_000);
        assert_eq!(schedule.client(1_001), 1);
        assert_eq!(schedule.due_of(7, 0), 5_000 + 7 * 50_000);
        assert_eq!(schedule.due_of(7, 3) - schedule.due_of(7, 2), 50_000_000);
    }

    #[test]
    fn gives_all_values_of_a_batch_the_same_time() {
        let schedule = Schedule::new(0, 10, 20, 200_000.0).unwrap();
        assert_eq!(schedule.due_of(3, 0), schedule.due_of(3, 19));
        assert_eq!(schedule.due_of(3, 20) - schedule.due_of(3, 0), 1_000_000);
    }

    #[test]
    fn offers_exactly_the_rate_in_a_window() {
        let schedule = Schedule::new(1_000, 100, 1, 20_000.0).unwrap();
        assert_eq!(schedule.values_between(1_000, 1_000_001_000), 20_000);
        assert_eq!(schedule.values_between(500_001_000, 1_000_001_000), 10_000);
        let batched = Schedule::new(0, 100, 20, 400_000.0).unwrap();
        assert_eq!(batched.values_between(0, 1_000_000_000), 400_000);
    }

    #[test]
    fn has_no_schedule_without_a_rate() {
        assert!(Schedule::new(0, 10, 1, 0.0).is_none());
        assert!(Schedule::new(0, 0, 1, 10.0).is_none());
    }
}
