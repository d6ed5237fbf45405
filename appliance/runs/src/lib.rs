//! Run history and the lasting state of pipelines, each in a SQLite file of its own.
//!
//! [`History`] keeps what ran: a bounded queue, a thread, one transaction a second with all runs
//! of that second in one row. [`StateStore`] keeps what pipelines remember: the engine's changes
//! together with the seq through which they count, in one transaction.
//!
//! **Invariants**: a damaged file is moved aside, never deleted, and an issue says what is gone;
//! nobody who hands over a run ever waits for a disk.

mod bytes;
mod file;
mod history;
mod run;
mod state;

pub use file::{Files, PlainFiles};
pub use history::{
    Config as HistoryConfig, Counts, Finish, History, Kept, Page, Query, QueryError, Stats,
    ThreadError,
};
pub use run::{
    Detail, Fault, ITEM_BYTES_MAX, Item, LINES_MAX, Level, Line, RUN_BYTES_MAX, Run, Status,
    StepRun, StepStatus, Trace,
};
pub use state::{
    Change, Config as StateConfig, ENTRY_BYTES_MAX, Entry, Loaded as LoadedState, Names, Refused,
    Scope, StateError, StateStore, Stored, TOTAL_BYTES_MAX,
};
