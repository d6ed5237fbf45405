//! The catalog: what the box knows of workspaces, tags, clients, people, pipelines and secrets.
//!
//! Three forms of one truth. The journal carries each change as a record; [`Namespace`],
//! [`Pipelines`], [`Secrets`] (and access) hold the state in memory, where it is authoritative while the box runs; [`Catalog`]
//! keeps it in SQLite, where a start loads it from and people can query it. The [`Snapshotter`]
//! repeats the whole state in the journal now and then, so that segments can be recycled and a
//! lost SQLite file can still be rebuilt.
//!
//! **Invariants**: SQLite is never ahead of what the follower has applied, and its checkpoint is
//! in the same transaction as the data; a damaged file is moved aside, never deleted.

mod catalog;
mod marks;
mod namespace;
mod pipelines;
mod rebuild;
mod sealed;
mod secrets;
mod snapshot;
mod source;
mod store;

pub use catalog::{Catalog, Config, Error, Loaded};
pub use marks::Marks;
pub use namespace::{CreateError, Level, Namespace, NewTag, TAG_NUMBER_MAX};
pub use pipelines::{
    By, Change, Deployed, Pipeline, PipelineError, Pipelines, Place, Removed, Saved,
};
pub use sealed::{SealError, SecretKey};
pub use secrets::{SecretError, SecretLine, Secrets};
pub use snapshot::{Definitions, SnapshotError, Snapshotter};
pub use source::{JournalSource, ReadReport, Source, Take};
pub use store::{AUDIT_ROWS_MAX, AuditLine, REVISIONS_MAX, RevisionLine, verify};
