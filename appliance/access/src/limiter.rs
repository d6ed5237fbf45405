//! The limiter of failed sign-ins, by source address and by id, for every entrance.
//!
//! Each key has a bucket of allowed failures that refills slowly. An empty bucket means "not
//! now": for people and the claim nothing is even compared then. A client's right secret is
//! always taken, limited or not: nobody guesses 256 bits, and a stranger who fails on purpose
//! must not lock a device out of the plant.
//!
//! **Invariants**: at most [`ENTRIES_MAX`] keys; IPv6 sources count by /64, since one machine
//! owns all of it; only monotonic time is used, so a clock that jumps frees nobody.

use millrace_supervisor::Clock;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Most keys remembered.
pub(crate) const ENTRIES_MAX: usize = 10_000;
/// Failures in a row from one address; a gateway may stand for many devices.
const ADDRESS_FAILURES_MAX: u32 = 20;
/// One more failure from an address is allowed after this time.
const ADDRESS_REFILL: Duration = Duration::from_secs(3);
/// Failures in a row on one id.
const ID_FAILURES_MAX: u32 = 8;
/// One more failure on an id is allowed after this time.
const ID_REFILL: Duration = Duration::from_secs(15);
/// Longest part of an id that is a key; the rest is the sender's invention.
const ID_BYTES_MAX: usize = 128;

/// Too many failed attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too many failed attempts; try again in {} s", retry_after.as_secs().max(1))]
pub struct Limited {
    /// When to try again.
    pub retry_after: Duration,
}

/// Counts failures.
#[derive(Debug)]
pub struct Limiter {
    clock: Arc<dyn Clock>,
    buckets: Mutex<HashMap<Key, Bucket>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Address(IpAddr),
    Id(String),
}

impl Key {
    fn limits(&self) -> (u32, Duration) {
        match self {
            Self::Address(_) => (ADDRESS_FAILURES_MAX, ADDRESS_REFILL),
            Self::Id(_) => (ID_FAILURES_MAX, ID_REFILL),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    failures: u32,
    /// Up to when refills are counted in.
    counted: Duration,
}

impl Bucket {
    fn refill(&mut self, refill: Duration, now: Duration) {
        let passed = now.saturating_sub(self.counted);
        let back = u32::try_from(passed.as_nanos() / refill.as_nanos().max(1)).unwrap_or(u32::MAX);
        if back >= self.failures {
            *self = Self { failures: 0, counted: now };
        } else {
            self.failures -= back;
            self.counted += refill * back;
        }
    }
}

impl Limiter {
    /// Nobody has failed yet.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, buckets: Mutex::default() }
    }

    /// Whether an attempt may be made now.
    ///
    /// # Errors
    /// [`Limited`] with the time to wait.
    pub fn check(&self, from: Option<IpAddr>, id: &str) -> Result<(), Limited> {
        let now = self.clock.monotonic();
        let mut buckets = self.buckets.lock();
        for key in keys(from, id) {
            let (max, refill) = key.limits();
            let Some(bucket) = buckets.get_mut(&key) else { continue };
            bucket.refill(refill, now);
            if bucket.failures >= max {
                let retry_after = refill.saturating_sub(now.saturating_sub(bucket.counted));
                return Err(Limited { retry_after });
            }
        }
        Ok(())
    }

    /// Counts a failed attempt.
    pub fn failed(&self, from: Option<IpAddr>, id: &str) {
        let now = self.clock.monotonic();
        let mut buckets = self.buckets.lock();
        for key in keys(from, id) {
            let (max, refill) = key.limits();
            make_room(&mut buckets, now);
            let bucket = buckets.entry(key).or_insert(Bucket { failures: 0, counted: now });
            bucket.refill(refill, now);
            bucket.failures = bucket.failures.saturating_add(1).min(max);
        }
    }

    /// Forgets the failures of whoever has now succeeded.
    pub fn succeeded(&self, from: Option<IpAddr>, id: &str) {
        let mut buckets = self.buckets.lock();
        if buckets.is_empty() {
            return;
        }
        for key in keys(from, id) {
            buckets.remove(&key);
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.buckets.lock().len()
    }
}

/// Drops the buckets that are empty of failures; if none are, a tenth of all, whichever come
/// first in the table's random order.
fn make_room(buckets: &mut HashMap<Key, Bucket>, now: Duration) {
    if buckets.len() < ENTRIES_MAX {
        return;
    }
    buckets.retain(|key, bucket| {
        bucket.refill(key.limits().1, now);
        bucket.failures > 0
    });
    if buckets.len() >= ENTRIES_MAX {
        let mut spare = ENTRIES_MAX / 10;
        buckets.retain(|_, _| {
            let keep = spare == 0;
            spare = spare.saturating_sub(1);
            keep
        });
    }
}

fn keys(from: Option<IpAddr>, id: &str) -> impl Iterator<Item = Key> {
    let address = from.map(|address| Key::Address(network(address)));
    let end = (0..=ID_BYTES_MAX.min(id.len())).rev().find(|end| id.is_char_boundary(*end));
    let id = id.split_at_checked(end.unwrap_or(0)).map_or("", |(front, _)| front);
    let id = (!id.is_empty()).then(|| Key::Id(id.to_owned()));
    address.into_iter().chain(id)
}

fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_model::Timestamp;
    use millrace_supervisor::TestClock;

    fn limiter() -> (Limiter, Arc<TestClock>) {
        let clock = Arc::new(TestClock::new(Timestamp(0)));
        (Limiter::new(clock.clone()), clock)
    }

    fn address(number: u32) -> Option<IpAddr> {
        Some(IpAddr::from(number.to_be_bytes()))
    }

    #[test]
    fn a_guessed_id_is_limited_from_wherever_it_comes_and_frees_itself() {
        let (limiter, clock) = limiter();
        for number in 0..ID_FAILURES_MAX {
            assert_eq!(limiter.check(address(number), "anna"), Ok(()));
            limiter.failed(address(number), "anna");
        }
        assert_eq!(limiter.check(address(99), "anna"), Err(Limited { retry_after: ID_REFILL }));
        assert_eq!(limiter.check(address(99), "bert"), Ok(()), "others are not concerned");
        clock.jump_to(Timestamp(i64::MAX));
        assert!(limiter.check(address(99), "anna").is_err(), "a wall clock frees nobody");
        clock.advance(ID_REFILL);
        assert_eq!(limiter.check(address(99), "anna"), Ok(()));
        limiter.failed(address(99), "anna");
        assert!(limiter.check(address(99), "anna").is_err(), "one attempt came back, not all");
    }

    #[test]
    fn an_address_that_tries_many_ids_is_limited() {
        let (limiter, _) = limiter();
        for number in 0..ADDRESS_FAILURES_MAX {
            limiter.failed(address(1), &format!("id{number}"));
        }
        assert!(limiter.check(address(1), "another").is_err());
        assert_eq!(limiter.check(address(2), "another"), Ok(()));
        limiter.succeeded(address(1), "another");
        assert_eq!(limiter.check(address(1), "another"), Ok(()), "success resets");
    }

    #[test]
    fn ipv6_counts_by_network_and_mapped_ipv4_as_ipv4() {
        let (limiter, _) = limiter();
        for number in 0..u128::from(ADDRESS_FAILURES_MAX) {
            let one = Ipv6Addr::from_bits((0x2001_0db8_u128 << 96) + number);
            limiter.failed(Some(IpAddr::V6(one)), "");
        }
        let other_host = Ipv6Addr::from_bits((0x2001_0db8_u128 << 96) + 0xffff);
        assert!(limiter.check(Some(IpAddr::V6(other_host)), "").is_err());
        let mapped = "::ffff:10.0.0.1".parse().unwrap();
        for _ in 0..ADDRESS_FAILURES_MAX {
            limiter.failed(Some(mapped), "");
        }
        assert!(limiter.check(Some("10.0.0.1".parse().unwrap()), "").is_err());
    }

    #[test]
    fn the_table_is_bounded() {
        let (limiter, clock) = limiter();
        for number in 0..u32::try_from(ENTRIES_MAX).unwrap() * 2 {
            limiter.failed(address(number), "");
        }
        assert!(limiter.len() <= ENTRIES_MAX);
        clock.advance(ADDRESS_REFILL);
        limiter.failed(address(u32::MAX), &"x".repeat(5_000));
        limiter.failed(address(1), &"ü".repeat(5_000));
        assert!(limiter.len() <= ENTRIES_MAX);
    }
}
