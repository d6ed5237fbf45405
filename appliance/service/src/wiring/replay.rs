//! One pass over the journal at a start: memory, ledger and highest numbers up to its end.
//!
//! Samples behind the historian's checkpoint go back to its memory. The ledger begins with its
//! last record and counts what lies behind the seq that the record speaks of. A sample that is in
//! a part already counts as stored: what it was when it came cannot be told again.
//!
//! **Invariants**: damaged places are passed over, as the journal's recovery has reported them.

use super::follower::outcome;
use millrace_admission::{Applier, Ledger, Outcome};
use millrace_historian::Intake;
use millrace_journal::{Error, Journal, Reader, Seq, SeqRange};
use millrace_model::{ClientNumber, Record, TagId};
use std::sync::Arc;

/// What the pass found.
#[derive(Debug)]
pub(super) struct Replayed {
    pub(super) highest_tag: TagId,
    pub(super) highest_client: ClientNumber,
}

/// Replays the journal into the historian and the ledger.
pub(super) fn replay(
    journal: &Journal,
    ledger: &Arc<Ledger>,
    intake: &mut Intake,
    history: Seq,
) -> Result<Replayed, Error> {
    let counted = restore(journal, ledger)?;
    let mut applier = Applier::new(Arc::clone(ledger));
    let mut replayed = Replayed { highest_tag: TagId(0), highest_client: ClientNumber(0) };
    let mut note = 0;
    let mut reader = journal.reader(counted.min(history));
    while let Some(()) = step(&mut reader, |batch| {
        note = batch.note;
        let mut memory = intake.lock();
        for (seq, bytes) in batch.records() {
            match Record::decode(bytes) {
                Ok(Record::Sample(sample)) => {
                    replayed.highest_tag = replayed.highest_tag.max(sample.tag);
                    replayed.highest_client = replayed.highest_client.max(sample.client);
                    let outcome = if seq > history {
                        outcome(memory.append(seq, &sample))
                    } else {
                        Outcome::Stored
                    };
                    if seq > counted {
                        applier.sample(sample.client, outcome);
                    }
                }
                Ok(Record::Refused { reason, client, count, .. }) if seq > counted => {
                    applier.refused(client, reason, count);
                }
                // Definitions are the catalog's, which has read them; the rest tells nothing here.
                Ok(_) | Err(_) => {}
            }
        }
        memory.done(SeqRange { first: batch.first, count: batch.count }.last());
    })? {}
    let interrupted = ledger.finish_recovery(note);
    if interrupted > 0 {
        tracing::warn!(interrupted, "Values were in flight when the appliance last ended.");
    }
    Ok(replayed)
}

/// Restores the ledger from its last record; gives the seq up to which that record counts.
fn restore(journal: &Journal, ledger: &Ledger) -> Result<Seq, Error> {
    let mut last: Option<Vec<u8>> = None;
    let mut reader = journal.reader(Seq(0));
    while let Some(()) = step(&mut reader, |batch| {
        for (_, bytes) in batch.records() {
            if let Ok(Record::Ledger(json)) = Record::decode(bytes) {
                last = Some(json.to_vec());
            }
        }
    })? {}
    let Some(json) = last else { return Ok(Seq(0)) };
    match ledger.restore(&json) {
        Ok(through) => Ok(Seq(through)),
        Err(error) => {
            tracing::error!("The ledger begins anew: {error}.");
            Ok(Seq(0))
        }
    }
}

/// Reads one commit; `None` at the end.
fn step(
    reader: &mut Reader,
    take: impl FnOnce(&millrace_journal::Batch<'_>),
) -> Result<Option<()>, Error> {
    match reader.next() {
        Ok(Some(batch)) => {
            take(&batch);
            Ok(Some(()))
        }
        Ok(None) => Ok(None),
        // Recovery has reported it; the reader goes on behind it.
        Err(Error::Damaged { .. } | Error::Overrun { .. }) => Ok(Some(())),
        Err(error) => Err(error),
    }
}
