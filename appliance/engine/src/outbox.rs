//! The way of a run's effects into the journal, as a trait; the service's wiring implements it
//! over admission.
//!
//! A worker opens an outbox of its own and collects in it the effects of many runs; one submit
//! gives them to the journal. The effects of one run between two of its stops, and the record that
//! tells of the stop, stand in one append and so become durable together or not at all.
//!
//! **Invariants**: between `begin` of a run and the `push` of its record nothing is submitted.

use millrace_journal::SeqRange;
use millrace_model::Record;
use std::task::Waker;

/// Whose effects follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The workspace that paths are below of.
    pub workspace: u16,
    /// The pipeline, for permissions and the ledger.
    pub pipeline: u32,
    /// The hops of its values.
    pub hops: u8,
}

/// What became of a submit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It waits for its commit. The range is that of the last append (there may be one per
    /// workspace).
    Queued(SeqRange),
    /// The journal takes no more now; the waker is called when to submit again. What was
    /// collected stays.
    Full,
    /// Nothing was collected.
    Empty,
    /// The journal is closed: the appliance stops.
    Closed,
}

/// A place among the collected effects. There is one of each at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Where the effects of the run that is executed begin.
    Run,
    /// Where values begin that are published all or not at all.
    Batch,
}

/// Collects effects. One per worker.
pub trait Outbox: Send {
    /// The effects of a run follow. Also starts a wake where none is under way: clocks and
    /// generations may be read once for all runs up to the next submit.
    fn begin(&mut self, source: Source);

    /// Publishes a value on a path, as JSON in one of admission's shapes.
    ///
    /// # Errors
    /// The refusal, for people.
    fn publish(&mut self, path: &str, payload: &[u8]) -> Result<(), String>;

    /// Puts a mark behind all that is collected, for [`Outbox::undo`] before the next submit.
    fn mark(&mut self, mark: Mark);

    /// Takes back all effects and records since a mark, as if they had never been given; nothing if
    /// there is no such mark since the last submit.
    fn undo(&mut self, mark: Mark);

    /// Adds a record of the engine.
    fn push(&mut self, record: &Record<'_>);

    /// About how many bytes are collected.
    fn bytes(&self) -> usize;

    /// Gives everything that was collected to the journal: one append per workspace, a run's
    /// effects never parted. To be called again after [`Sent::Full`].
    fn submit(&mut self, waker: &Waker) -> Sent;
}

/// Opens outboxes.
pub trait Outboxes: Send + Sync {
    /// An outbox for one thread.
    fn open(&self) -> Box<dyn Outbox>;
}
