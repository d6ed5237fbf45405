//! What pipeline steps do outside the box: HTTP, SQL, MQTT, mail, files.
//!
//! A step evaluates its fields, hands work to the shared [`Pool`] and gives the engine a future; a
//! rehearsal stops after the evaluation. Every connection is made by one dialer, which judges the
//! resolved address; every target has its account in one table.
//!
//! **Invariants**: nothing waits without an end or grows without a limit; no secret is in a fault,
//! a log, a stub or an issue; nothing outside happens in a rehearsal.
#![deny(missing_docs)]

mod budget;
mod call;
mod dial;
mod fields;
mod file;
mod http;
pub mod limits;
mod mail;
mod mqtt;
mod policy;
mod pool;
mod pooled;
mod register;
mod sql;
mod targets;
mod text;

#[cfg(test)]
mod testing;

pub use dial::{Resolve, SystemResolver};
pub use http::step::HOPS_HEADER;
pub use mqtt::sources::{Ending, Receiver, SourceKey, SourceSpec, SourceState, Sources};
pub use policy::{Policy, Rule};
pub use pool::Pool;
pub use register::register;
pub use targets::{TargetState, Targets};
