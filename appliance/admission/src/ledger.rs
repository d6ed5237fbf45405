//! The ledger: what became of every value that came in.
//!
//! `received = stored + redelivered + refused + interrupted + in flight`, per client and in total.
//! A session counts *received* before it appends, the journal's follower counts the outcome after
//! the commit, so that what is in between is exactly what is in flight. A session that ends with
//! values that it could not append (its device was told nothing) counts them as interrupted.
//!
//! After a crash: [`Ledger::restore`] takes the last ledger record, the records behind it are
//! applied again, and [`Ledger::finish_recovery`] turns what was received but has no outcome into
//! *interrupted*. How much was received is in the head of each journal frame (its note, from
//! [`Ledger::received_total`]).
//!
//! **Invariants**: received never falls; an outcome is never counted before its receipt; reading
//! while others count never shows more decided than received.

mod applier;
mod counters;
mod saved;

pub use crate::ledger::applier::Applier;
pub use crate::ledger::counters::{Counters, Outcome};
pub use crate::ledger::saved::RestoreError;

use crate::ledger::saved::{Saved, SavedClient};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use millrace_model::{ClientNumber, LedgerCounts, Reason};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Clients that have counts of their own; those beyond are counted under [`THE_BOX`], so that
/// damaged records cannot fill the memory.
pub const LEDGER_CLIENTS_MAX: usize = 100_000;
/// The client number of what belongs to no client.
pub const THE_BOX: ClientNumber = ClientNumber(0);

type Table = HashMap<u32, Arc<Counters>, RandomState>;

/// The counts of all clients.
#[derive(Debug, Default)]
pub struct Ledger {
    clients: RwLock<Table>,
    /// Shared with the counters, so that one number is at hand for each journal frame.
    received_total: Arc<AtomicU64>,
}

impl Ledger {
    /// A ledger in which nothing happened.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// The counters of a client.
    #[must_use]
    pub fn client(&self, number: ClientNumber) -> Arc<Counters> {
        if let Some(counters) = self.clients.read().get(&number.0) {
            return Arc::clone(counters);
        }
        let mut clients = self.clients.write();
        let key = if clients.len() < LEDGER_CLIENTS_MAX { number.0 } else { THE_BOX.0 };
        let counters = clients
            .entry(key)
            .or_insert_with(|| Arc::new(Counters::new(Arc::clone(&self.received_total))));
        Arc::clone(counters)
    }

    /// A sample is durable and the historian has said what it is. [`Applier`] does the same
    /// without a lock.
    pub fn applied_sample(&self, client: ClientNumber, outcome: Outcome) {
        self.client(client).decide(outcome);
    }

    /// A refusal record is durable.
    pub fn applied_refused(&self, client: ClientNumber, reason: Reason, count: u32) {
        self.client(client).refuse(reason, count);
    }

    /// The historian found late that so many stored values were there already.
    pub fn reclassify(&self, client: ClientNumber, count: u64) {
        self.client(client).reclassify(count);
    }

    /// The historian found late that so many stored values took the place of earlier ones.
    pub fn supersede(&self, client: ClientNumber, count: u64) {
        self.client(client).supersede(count);
    }

    /// Everything received: the note of the journal's frames.
    #[must_use]
    pub fn received_total(&self) -> u64 {
        self.received_total.load(Ordering::Acquire)
    }

    /// The counts of all clients together.
    #[must_use]
    pub fn totals(&self) -> LedgerCounts {
        let mut total = LedgerCounts::default();
        for counters in self.clients.read().values() {
            total.add(&counters.read());
        }
        total
    }

    /// The counts of each client, by number, and their sum.
    #[must_use]
    pub fn snapshot(&self) -> (Vec<(ClientNumber, LedgerCounts)>, LedgerCounts) {
        let mut each: Vec<_> = self
            .clients
            .read()
            .iter()
            .map(|(number, counters)| (ClientNumber(*number), counters.read()))
            .collect();
        each.sort_unstable_by_key(|(number, _)| *number);
        let mut total = LedgerCounts::default();
        for (_, counts) in &each {
            total.add(counts);
        }
        (each, total)
    }

    /// The body of a ledger record. Call it on the journal's thread with the seq of the last
    /// record that has been applied: the record itself gets a later seq, and whatever lies between
    /// is not in it.
    #[must_use]
    pub fn to_record_json(&self, through: u64) -> Vec<u8> {
        let (each, _) = self.snapshot();
        let clients =
            each.into_iter().map(|(number, counts)| SavedClient { client: number, counts });
        Saved { through, clients: clients.collect() }.encode()
    }

    /// Takes the last ledger record of the journal, on an empty ledger, before anything is
    /// applied. Returns the seq behind which the records are to be applied.
    ///
    /// # Errors
    /// The record is damaged; the ledger is as before.
    pub fn restore(&self, json: &[u8]) -> Result<u64, RestoreError> {
        let saved = Saved::decode(json)?;
        for SavedClient { client, counts } in &saved.clients {
            self.client(*client).restore(counts);
        }
        Ok(saved.through)
    }

    /// After the records behind the restored one are applied: what was received (`note` is that of
    /// the last frame, 0 if there is none) and has no outcome was cut off by the crash. Whose it
    /// was is known where the ledger record knew it; the rest is counted under [`THE_BOX`].
    /// Returns how many were interrupted.
    pub fn finish_recovery(&self, note: u64) -> u64 {
        let mut interrupted = 0;
        for counters in self.clients.read().values() {
            interrupted += counters.settle();
        }
        let unknown = note.saturating_sub(self.received_total());
        if unknown > 0 {
            let the_box = self.client(THE_BOX);
            the_box.receive(unknown);
            the_box.interrupt(unknown);
        }
        interrupted + unknown
    }
}

#[cfg(test)]
mod tests;
