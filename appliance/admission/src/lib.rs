//! The one gate for every entrance, and the ledger.
//!
//! A connection opens a [`Session`]; for each wake it calls `begin`, offers what was read, and
//! submits once. The gate judges in the order of cost: permission, rate, payload, schema, time
//! window. What is admitted becomes a sample record, what is refused a refusal record; both are
//! appended to the journal in one go, and nothing is told to a device before they are durable.
//!
//! Where it stands in the way of one value: behind the protocol, before the journal.
//!
//! **Invariants**
//! - A tag's definition stands in the journal before its first sample.
//! - A value or its refusal is counted as received before it can be counted as decided.
//! - No allocation for a publish in the steady state: known topic, a number.
//! - No panic on any topic or payload.

pub mod shape;

mod append;
mod bucket;
mod client;
mod decision;
mod gate;
mod judge;
mod ledger;
mod namespace;
mod refused;
mod session;
mod topics;
mod undefined;

pub use append::Append;
pub use client::Client;
pub use decision::{BatchDecision, Decision, ElementDecision, Submitted};
pub use gate::{Config, Gate};
pub use ledger::{Applier, Counters, LEDGER_CLIENTS_MAX, Ledger, Outcome, RestoreError, THE_BOX};
pub use namespace::{CreateError, Created, Namespace, NewTag};
pub use refused::{
    REFUSED_BYTES_MAX, REFUSED_PAYLOAD_BYTES_MAX, REFUSED_PER_TOPIC_MAX, REFUSED_TOPICS_MAX,
    Refused,
};
pub use session::{Mark, Session};
