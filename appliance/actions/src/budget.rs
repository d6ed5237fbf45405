//! The budget of bytes that all steps outside hold at once.
//!
//! **Invariants**: what is taken comes back when its [`Held`] is dropped; more than the limit is
//! never held.

use crate::limits::OUTSIDE_BYTES_MAX;
use millrace_engine::step::StepFault;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many bytes are held.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    held: AtomicUsize,
}

/// Bytes that are held until this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    /// Takes bytes.
    ///
    /// # Errors
    /// The steps outside hold too much already; trying again may help.
    pub(crate) fn take(self: &Arc<Self>, bytes: usize) -> Result<Held, StepFault> {
        let mut held = Held { budget: Arc::clone(self), bytes: 0 };
        held.grow(bytes)?;
        Ok(held)
    }

    /// Bytes held now.
    pub(crate) fn bytes(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }
}

impl Held {
    /// Takes more.
    ///
    /// # Errors
    /// As [`Budget::take`].
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), StepFault> {
        let held = &self.budget.held;
        let taken = held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
            held.checked_add(bytes).filter(|sum| *sum <= OUTSIDE_BYTES_MAX)
        });
        if taken.is_err() {
            return Err(StepFault::passing(
                "limit",
                format!(
                    "all steps that go outside hold {} MiB, which is the limit: a target answers \
                     too slowly for what is sent to it",
                    OUTSIDE_BYTES_MAX >> 20
                ),
            ));
        }
        self.bytes = self.bytes.saturating_add(bytes);
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_more_than_the_limit_and_gives_back() {
        let budget = Arc::new(Budget::default());
        let mut first = budget.take(OUTSIDE_BYTES_MAX - 10).unwrap();
        first.grow(10).unwrap();
        let fault = budget.take(1).unwrap_err();
        assert_eq!((fault.code, fault.is_transient), ("limit", true));
        drop(first);
        assert_eq!(budget.bytes(), 0);
        budget.take(1).unwrap();
    }
}
