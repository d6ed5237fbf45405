//! The durable journal: one write-ahead log that every entrance appends to and every other part
//! reads from.
//!
//! Records are opaque bytes. Many appends become one frame, one write and one sync (group
//! commit); what was not synced is never announced. Segments are fixed files that are filled with
//! zeros once and then recycled. The layout is in docs/formats/journal.md.
//!
//! Reading order: [`Seq`], [`RecordBuf`], frame, header, segment, pool, group_commit, writer,
//! keeper, reader, cursor, recovery; [`Disk`] is the only way to the operating system.
//!
//! **Invariants**
//! - A seq is given once and never again, also after damage.
//! - `durable()` moves only after the sync and after the follower has seen the records.
//! - A page that holds acknowledged records is never written again while they are needed.
//! - A file on which a write or a sync failed is never written again.
//! - Opening always succeeds if the folder can be listed: damage is reported, never fatal.
//! - This crate knows nothing of the workspace.

pub mod disk;

mod commit_times;
mod config;
mod core;
mod cursor;
mod error;
mod follower;
mod frame;
mod group_commit;
mod header;
mod health;
mod journal;

mod keeper;
mod pool;
mod reader;
mod record_buf;
mod recovery;
mod segment;
mod seq;
mod status;
#[cfg(test)]
mod tests;
mod wait;
mod window;
mod writer;

pub use commit_times::COMMIT_BOUNDS_MICROS;
pub use config::{Config, Durability, Note};
pub use cursor::Cursor;
pub use disk::{Disk, DiskFile, LockError, LockGuard, RealDisk, lock_folder};
pub use error::{AppendError, Error, Result};
pub use follower::{Committed, Follower};
pub use group_commit::Registration;
pub use journal::Journal;
pub use reader::{Batch, Reader};
pub use record_buf::{RecordBuf, Records};
pub use recovery::Recovery;
pub use seq::{Seq, SeqRange};
pub use status::{State, Stats, Status};
