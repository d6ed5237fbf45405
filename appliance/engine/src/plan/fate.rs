//! Whether a plan is in force, for runs on it that compute.
//!
//! A run looks here wherever its scripts ask for their budget, so that what a person changes does
//! not wait for a script's limit.
//!
//! **Invariants**: a plan that is no longer in force never comes into force again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const IN_FORCE: u64 = 0;
const UNDEPLOYED: u64 = u64::MAX;
const GIVEN_UP: u64 = u64::MAX - 1;

/// In force; or one more than when (monotonic nanoseconds) another revision took its place; or
/// given up for that; or undeployed.
#[derive(Debug, Default)]
pub(crate) struct Fate(AtomicU64);

impl Fate {
    /// Another revision takes its place.
    pub(crate) fn replace(&self, at: Duration) {
        let nanos = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
        self.turn(IN_FORCE, nanos.saturating_add(1).min(GIVEN_UP - 1));
    }

    /// Its pipeline is undeployed.
    pub(crate) fn undeploy(&self) {
        self.turn(IN_FORCE, UNDEPLOYED);
    }

    /// Another revision has its place, and a run on it did not come to its end: those that have not
    /// begun are not to try.
    pub(crate) fn give_up(&self) {
        let word = self.0.load(Ordering::Acquire);
        if !matches!(word, IN_FORCE | UNDEPLOYED) {
            self.turn(word, GIVEN_UP);
        }
    }

    fn turn(&self, from: u64, to: u64) {
        // What came first counts.
        let _turned = self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
    }

    pub(crate) fn is_undeployed(&self) -> bool {
        self.0.load(Ordering::Acquire) == UNDEPLOYED
    }

    pub(crate) fn is_given_up(&self) -> bool {
        self.0.load(Ordering::Acquire) == GIVEN_UP
    }

    /// When another revision took its place, monotonic; zero if it was given up since.
    pub(crate) fn replaced_at(&self) -> Option<Duration> {
        match self.0.load(Ordering::Acquire) {
            IN_FORCE | UNDEPLOYED => None,
            GIVEN_UP => Some(Duration::ZERO),
            nanos => Some(Duration::from_nanos(nanos - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_first_counts() {
        let fate = Fate::default();
        assert!(!fate.is_undeployed() && fate.replaced_at().is_none());
        fate.replace(Duration::ZERO);
        assert_eq!(fate.replaced_at(), Some(Duration::ZERO), "also at the very beginning");
        fate.undeploy();
        assert!(!fate.is_undeployed());
        let fate = Fate::default();
        fate.undeploy();
        fate.replace(Duration::from_secs(1));
        assert!(fate.is_undeployed() && fate.replaced_at().is_none());
    }

    #[test]
    fn only_a_plan_that_was_replaced_is_given_up() {
        let fate = Fate::default();
        fate.give_up();
        assert!(!fate.is_given_up());
        fate.replace(Duration::from_secs(1));
        assert_eq!((fate.is_given_up(), fate.replaced_at()), (false, Some(Duration::from_secs(1))));
        fate.give_up();
        assert!(fate.is_given_up() && fate.replaced_at().is_some());
        let fate = Fate::default();
        fate.undeploy();
        fate.give_up();
        assert!(fate.is_undeployed());
    }
}
