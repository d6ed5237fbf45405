//! What happens on the journal's thread after each commit, in one pass over its records.
//!
//! A sample goes to the historian's memory (so the next query sees it), to the ledger, and to
//! live subscribers, and starts the runs of the pipelines that want it; a definition comes into
//! force and the catalog is told that there is something to read; a refusal goes to the ledger.
//! Only when all that is done does the journal let the acknowledgements go.
//!
//! **Invariants**: nothing here waits for a disk or a socket; a record that cannot be read is
//! counted and raised, never fatal.

use super::live_payload::live_payload;
use super::state::Shared;
use millrace_admission::{Applier, Outcome};
use millrace_catalog::Marks;
use millrace_historian::Intake;
use millrace_journal::Committed;
use millrace_model::{Definition, Record, SampleRecord};
use std::sync::Arc;

/// The one follower of the journal.
pub(super) struct Follower {
    pub(super) shared: Arc<Shared>,
    pub(super) intake: Intake,
    pub(super) applier: Applier,
    /// Tells changes of definitions from a snapshot's repetitions, which are not applied.
    pub(super) marks: Marks,
}

impl millrace_journal::Follower for Follower {
    fn committed(&mut self, batch: &Committed<'_>) {
        let Self { shared, intake, applier, marks } = self;
        let is_watched = shared.fanout.is_watched();
        let mut memory = intake.lock();
        let mut runs = shared.engine.committed();
        for (seq, bytes) in batch.records() {
            match Record::decode(bytes) {
                Ok(Record::Sample(sample)) => {
                    let outcome = outcome(memory.append(seq, &sample));
                    applier.sample(sample.client, outcome);
                    // A redelivered value was published, and started its runs, when it first came.
                    if outcome != Outcome::Redelivered {
                        runs.sample(seq, &sample);
                        if is_watched {
                            publish(shared, &sample);
                        }
                    }
                }
                Ok(Record::Refused { reason, client, count, .. }) => {
                    applier.refused(client, reason, count);
                }
                Ok(Record::Run(run)) => runs.run(seq, &run),
                Ok(record) => {
                    if marks.is_change(&record)
                        && let Record::Definition(json) = record
                    {
                        shared.define(seq, json);
                    }
                }
                Err(error) => shared.unreadable(seq, &error),
            }
        }
        memory.done(batch.last());
        // Now the values are visible to the runs that they start.
        runs.done(batch.last());
        // Written here, on the journal's thread, so that counts and seq belong together.
        shared.ledger_snapshot.offer(&shared.ledger, batch.last());
        shared.catalog.seen(batch.last());
    }
}

fn publish(shared: &Shared, sample: &SampleRecord<'_>) {
    shared.fanout.publish_sample(
        sample.tag,
        &|| shared.live_topic(sample.tag),
        &|| live_payload(sample),
        shared.live_qos,
    );
}

/// The historian's word in the ledger's.
pub(super) fn outcome(outcome: millrace_historian::Outcome) -> Outcome {
    match outcome {
        millrace_historian::Outcome::Stored => Outcome::Stored,
        millrace_historian::Outcome::Redelivered => Outcome::Redelivered,
        millrace_historian::Outcome::Superseded => Outcome::Superseded,
    }
}

/// Reads a definition's record, for whoever applies it.
pub(super) fn read_definition(json: &[u8]) -> Option<Definition> {
    match Definition::decode(json) {
        Ok(definition) => Some(definition),
        Err(error) => {
            tracing::error!("A definition in the journal cannot be read: {error}.");
            None
        }
    }
}
