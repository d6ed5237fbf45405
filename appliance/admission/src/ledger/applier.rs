//! The ledger's hand on the journal's thread: counts outcomes without a lock per record.
//!
//! **Invariants**: counts exactly as [`Ledger::applied_sample`] and [`Ledger::applied_refused`].

use crate::ledger::{Counters, Ledger, Outcome, Table};
use millrace_model::{ClientNumber, Reason};
use std::sync::Arc;

/// Counts outcomes; owned by the journal's follower.
#[derive(Debug)]
pub struct Applier {
    ledger: Arc<Ledger>,
    known: Table,
}

impl Applier {
    /// A hand on this ledger.
    #[must_use]
    pub fn new(ledger: Arc<Ledger>) -> Self {
        Self { ledger, known: Table::default() }
    }

    /// A sample is durable and the historian has said what it is.
    pub fn sample(&mut self, client: ClientNumber, outcome: Outcome) {
        self.counters(client).decide(outcome);
    }

    /// A refusal record is durable.
    pub fn refused(&mut self, client: ClientNumber, reason: Reason, count: u32) {
        self.counters(client).refuse(reason, count);
    }

    fn counters(&mut self, client: ClientNumber) -> &Counters {
        // A record with a client beyond the ledger's limit must not fill this table either.
        if self.known.len() >= super::LEDGER_CLIENTS_MAX {
            self.known.clear();
        }
        let Self { ledger, known } = self;
        known.entry(client.0).or_insert_with(|| ledger.client(client))
    }
}
