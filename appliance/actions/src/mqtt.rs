//! External MQTT brokers: `mqtt.publish`, and the trigger `mqtt.subscribe`.
//!
//! Packets are encoded and decoded by `rumqttc`; the connection is ours, because the addresses must
//! be judged, acknowledgements must be told apart, and what a broker sends must wait for the
//! journal. MQTT 3.1.1, which every broker speaks.
//!
//! **Invariants**: every queue is bounded in count and bytes; a broken connection is tried again
//! with growing waits; nothing is acknowledged to a broker before its run is durable.

pub(crate) mod link;
mod payload;
mod publisher;
mod session;
mod source;
pub(crate) mod sources;
pub(crate) mod step;

pub(crate) use publisher::Publishers;

#[cfg(test)]
mod tests;
