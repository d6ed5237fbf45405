//! The MQTT broker: listener, codec, connections, deferred acknowledgement, live fan-out.
//!
//! MQTT 5 and 3.1.1 on one port. A publish into a client's inbox goes through an
//! [`IngestSession`] into the journal and is acknowledged when it is durable; stored samples come
//! back through [`Fanout`] to whoever subscribes.
//!
//! **Invariants**
//! - No PUBACK before the journal is durable up to its record, refusals included; in order.
//! - Passing trouble (a full or degraded journal, a stop) is never answered as a refusal.
//! - No bytes from outside make it panic, wait for another client, or hold unbounded memory.
//! - What is not built (QoS 2, retain, wills, shared subscriptions, plain topics) is answered so.

pub mod codec;
mod config;
mod stats;

mod ingest;

mod fanout;
mod link;
mod shared;
mod table;

mod connection;
mod pace;
mod sweep;

mod broker;

pub use broker::{Broker, DisconnectReason};
pub use config::{
    CLIENT_ID_BYTES_MAX, CONNECT_BYTES_MAX, CONTROL_BYTES_MAX, Config, READ_BUFFER_BYTES,
    TOPIC_ALIAS_MAXIMUM,
};
pub use fanout::{Fanout, LocalSubscription, SUBSCRIBER_QUEUE_BYTES_MAX};
pub use ingest::{
    BatchDecision, Decision, Durable, ElementDecision, Gate, Grant, IngestSession, SignIn,
    SignInError, Submitted,
};
pub use link::ConnectionInfo;
pub use shared::Wiring;
pub use stats::{ConnectRefusal, REFUSED_CONNECTS_KEPT, RefusedConnect, Stats};

#[cfg(test)]
mod tests;
