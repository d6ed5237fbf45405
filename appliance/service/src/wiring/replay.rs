//! One pass over the journal at a start: memory, ledger and highest numbers up to its end.
//!
//! Samples behind the historian's checkpoint go back to its memory; what stands behind the engine's
//! cursor starts its runs again, unless they have ended. The ledger begins with its
//! last record and counts what lies behind the seq that the record speaks of. A sample that is in
//! a part already counts as stored: what it was when it came cannot be told again.
//!
//! **Invariants**: damaged places are passed over, as the journal's recovery has reported them.

use super::follower::outcome;
use super::pipelines::Deployments;
use millrace_admission::{Applier, Ledger, Outcome};
use millrace_catalog::Marks;
use millrace_engine::Engine;
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

/// Replays the journal into the historian, the ledger (which counts up to `counted`) and the engine
/// (whose cursor is given with it).
pub(super) fn replay(
    journal: &Journal,
    ledger: &Arc<Ledger>,
    intake: &mut Intake,
    history: Seq,
    engine: (&Engine, Seq),
    counted: Seq,
) -> Result<Replayed, Error> {
    let (engine, run_through) = engine;
    let mut applier = Applier::new(Arc::clone(ledger));
    let mut replayed = Replayed { highest_tag: TagId(0), highest_client: ClientNumber(0) };
    let mut note = 0;
    let mut reader = journal.reader(counted.min(history).min(run_through));
    while let Some(()) = step(&mut reader, |batch| {
        note = batch.note;
        let mut memory = intake.lock();
        let mut runs = engine.committed();
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
                    if seq > run_through && outcome != Outcome::Redelivered {
                        runs.sample(seq, &sample);
                    }
                }
                Ok(Record::Refused { reason, client, count, .. }) if seq > counted => {
                    applier.refused(client, reason, count);
                }
                Ok(Record::Run(run)) if seq > run_through => runs.run(seq, &run),
                // Definitions are the catalog's, which has read them; the rest tells nothing here.
                Ok(_) | Err(_) => {}
            }
        }
        let last = SeqRange { first: batch.first, count: batch.count }.last();
        memory.done(last);
        if last > run_through {
            runs.done(last);
        }
    })? {}
    let interrupted = ledger.finish_recovery(note);
    if interrupted > 0 {
        tracing::warn!(interrupted, "Values were in flight when the appliance last ended.");
    }
    Ok(replayed)
}

/// Restores the ledger from its last record, or from the counts aside if they reach further;
/// gives the seq up to which they count, and since when each pipeline runs.
pub(super) fn restore(
    journal: &Journal,
    ledger: &Ledger,
    aside: Option<Vec<u8>>,
) -> Result<(Seq, Deployments), Error> {
    let mut last: Option<Vec<u8>> = None;
    let mut deployments = Deployments::default();
    let mut reader = journal.reader(Seq(0));
    while let Some(()) = step(&mut reader, |batch| {
        let mut marks = Marks::default();
        for (seq, bytes) in batch.records() {
            match Record::decode(bytes) {
                Ok(Record::Ledger(json)) => last = Some(json.to_vec()),
                Ok(record) => deployments.look(seq, &record, &mut marks),
                Err(_) => {}
            }
        }
    })? {}
    let Some(json) = further(last, aside, journal.durable()) else {
        return Ok((Seq(0), deployments));
    };
    match ledger.restore(&json) {
        Ok(through) => Ok((Seq(through), deployments)),
        Err(error) => {
            tracing::error!("The ledger begins anew: {error}.");
            Ok((Seq(0), deployments))
        }
    }
}

/// Of the two the counts that reach further, but not beyond what the journal knows of.
fn further(record: Option<Vec<u8>>, aside: Option<Vec<u8>>, end: Seq) -> Option<Vec<u8>> {
    #[derive(serde::Deserialize)]
    struct Reach {
        through: u64,
    }
    let reach = |json: &Option<Vec<u8>>| -> u64 {
        let reach = json.as_deref().map(serde_json::from_slice::<Reach>);
        reach.and_then(Result::ok).map_or(0, |reach| reach.through)
    };
    let is_aside = (reach(&record) + 1..=end.0).contains(&reach(&aside));
    if is_aside { aside } else { record }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_aside_are_taken_only_if_they_reach_further_and_no_further_than_the_journal() {
        let counts = |through: u64| Some(format!("{{\"through\":{through}}}").into_bytes());
        for (record, aside, taken) in [
            (counts(5), None, 5),
            (None, counts(5), 5),
            (counts(5), counts(5), 5),
            (counts(5), counts(9), 9),
            (counts(9), counts(5), 9),
            // Of a journal that was there before.
            (counts(5), counts(11), 5),
            (counts(5), Some(b"torn".to_vec()), 5),
        ] {
            let expected = counts(taken);
            let of = format!("{record:?} and {aside:?}");
            assert_eq!(further(record, aside, Seq(10)), expected, "{of}");
        }
    }
}
