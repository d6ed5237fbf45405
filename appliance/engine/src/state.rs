//! Lasting state, as the engine needs it kept: a store that is written in groups.
//!
//! What steps and triggers remember and the variables of a workspace live in memory. Changes
//! stand in the journal with the run that made them; now and then the changed keys go to the
//! [`StateStore`], so that the journal behind them may go.
//!
//! **Invariants**: an entry is bounded ([`STATE_BYTES_MAX`]), the entries of a step are
//! ([`STEP_STATE_BYTES_MAX`]), all of them together are ([`STATE_TOTAL_BYTES_MAX`]).

pub(crate) mod cells;
pub(crate) mod undo;

use millrace_journal::Seq;

/// Most bytes that one step keeps under one key.
pub const STATE_BYTES_MAX: usize = 64 * 1024;
/// Most bytes that one step keeps under all its keys.
pub const STEP_STATE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Most bytes of all lasting state together.
pub const STATE_TOTAL_BYTES_MAX: usize = 64 * 1024 * 1024;

/// One entry of lasting state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateEntry {
    /// Whose it is, opaque to the store: `step/12/scale`, `trigger/12/start`, `variable/1`.
    pub owner: String,
    /// Its name there.
    pub key: String,
    /// Its value, opaque to the store; `None` removes it.
    pub value: Option<Vec<u8>>,
}

/// Where lasting state is kept over a restart. Implemented over the run database.
pub trait StateStore: Send + Sync {
    /// Everything that is kept, at the start.
    ///
    /// # Errors
    /// For people: why it cannot be read.
    fn load(&self) -> Result<Vec<StateEntry>, String>;

    /// Takes changed entries to be written in one transaction, soon; never waits for the disk.
    /// They hold all changes up to `through`.
    ///
    /// # Errors
    /// For people: why they were not taken; they will be offered again.
    fn store(&self, changed: Vec<StateEntry>, through: Seq) -> Result<(), String>;

    /// Up to where everything that [`StateStore::store`] took is on the disk. Without a pending
    /// write this is the `through` of the last one.
    fn stored_through(&self) -> Seq;
}
