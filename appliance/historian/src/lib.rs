//! History: values in memory and in Parquet parts, and the questions about them.
//!
//! A reader of the journal: the journal's thread gives each committed sample to the [`Intake`],
//! which puts it in a memtable where queries see it at once. The historian's own thread seals
//! memtables into parts and removes parts whose time has come. After a crash the journal's
//! records behind the last checkpoint are given to the intake again.
//!
//! Reading order: `sample`, `memtable`, `memory`, `intake`, `part`, `manifest`, `seal`,
//! `recovery`, `retention`, `query`, `worker`, `historian`. Formats: docs/formats/part.md.
//!
//! **Invariants**
//! - A sample is in the journal until it is in a durable part that a durable manifest names.
//! - Queries see each sample once: in memory or in a part.
//! - Values and times are never altered; what cannot be read is said, never guessed.
//! - Nothing is deleted but by retention, whole files, with a clock that is believed.

pub mod config;

mod error;
mod historian;
mod intake;
mod manifest;
mod memory;
mod memtable;
mod part;
mod query;
mod recovery;
mod retention;
mod sample;
mod seal;
mod shared;
mod slots;
mod verify;
mod worker;

pub use config::Config;
pub use error::{Error, Result};
pub use historian::{Historian, Opened, Stats};
pub use intake::{Intake, IntakeGuard};
pub use sample::{
    After, Bucket, Outcome, Page, Point, Range, RangeQuery, RawQuery, Sample, sample_of,
};
pub use shared::{Around, Checkpoint, Reclassified, Tags};
pub use verify::{Report, verify};

#[cfg(test)]
mod tests;
