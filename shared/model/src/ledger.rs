//! The ledger's counts: received = stored + redelivered + refused + interrupted + in flight.

use crate::refusal::Reason;
use serde::{Deserialize, Serialize};

/// Counts of values of one client, or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LedgerCounts {
    /// Values that came in through an entrance and were judged.
    pub received: u64,
    /// Values that are durable (superseded ones among them).
    pub stored: u64,
    /// Values that were durable already: same tag, same source time, same value.
    pub redelivered: u64,
    /// Of the stored: those replaced by a later value with the same source time.
    pub superseded: u64,
    /// Refused values by [`Reason`], in the order of their codes.
    pub refused: [u64; Reason::COUNT],
    /// Values whose receipt is recorded but whose fate a crash cut off; the device was told
    /// nothing and still holds them.
    pub interrupted: u64,
}

impl LedgerCounts {
    /// All refused values.
    #[must_use]
    pub fn refused_total(&self) -> u64 {
        self.refused.iter().sum()
    }

    /// Values that are decided, whatever way.
    #[must_use]
    pub fn decided(&self) -> u64 {
        self.stored + self.redelivered + self.refused_total() + self.interrupted
    }

    /// Values judged but not yet durable.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.received.saturating_sub(self.decided())
    }

    /// Whether no more is decided than was received, and no more superseded than stored.
    #[must_use]
    pub fn is_balanced(&self) -> bool {
        self.decided() <= self.received && self.superseded <= self.stored
    }

    /// Adds another client's counts.
    pub fn add(&mut self, other: &Self) {
        self.received += other.received;
        self.stored += other.stored;
        self.redelivered += other.redelivered;
        self.superseded += other.superseded;
        self.interrupted += other.interrupted;
        for (mine, theirs) in self.refused.iter_mut().zip(other.refused) {
            *mine += theirs;
        }
    }
}
