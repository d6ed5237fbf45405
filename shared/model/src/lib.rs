//! The words of the product as types: values, samples, topics, definitions, journal records.
//!
//! Builds for the host and for wasm32; holds no files, clocks or threads.
//! Every other crate speaks in these types; the binary form of what the journal carries is here
//! too ([`record`]), so that the writer (admission) and the readers (historian, catalog, ledger)
//! agree without knowing one another.
//!
//! **Invariants**: parsing returns a type or a refusal, never a panic; a value is never altered.
#![deny(missing_docs)]

pub mod definition;
pub mod filter;
pub mod json;
pub mod ledger;
pub mod limits;
pub mod pipeline;
pub mod quality;
pub mod record;
pub mod refusal;
pub mod retention;
pub mod schema;
pub mod tag;
pub mod time;
pub mod topic;
pub mod value;

pub use definition::{
    ApiClient, AuditEntry, ClientNumber, Definition, Person, Role, Workspace, WorkspaceNumber,
};
pub use filter::Filter;
pub use ledger::LedgerCounts;
pub use pipeline::{Deployment, PipelineRemoved, PipelineRevision, Secret};
pub use quality::Quality;
pub use record::{Record, RunEvent, RunRecord, SampleRecord};
pub use refusal::{Reason, Refusal};
pub use retention::Retention;
pub use schema::Schema;
pub use tag::{Tag, TagId};
pub use time::Timestamp;
pub use value::{Kind, Value, ValueRef};
