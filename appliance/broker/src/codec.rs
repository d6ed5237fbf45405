//! The MQTT codec: bytes to packets and back, for 3.1.1 and 5.0.
//!
//! What arrives often (PUBLISH, PUBACK) is borrowed from the read buffer and costs no
//! allocation; what arrives once (CONNECT, SUBSCRIBE, UNSUBSCRIBE) is owned. Encoders append to
//! the connection's output. docs/decisions/0003-mqtt-codec.md says why it is our own.
//!
//! **Invariants**: no bytes make it panic; everything that the standard forbids to send is a
//! [`Fault`] with the reason code that the standard names; nothing is allocated for a length
//! that was announced only.

pub mod acknowledgement;
pub mod connack;
pub mod connect;
pub mod frame;
pub mod property;
pub mod publish;
pub mod reason;
pub mod subscribe;
pub mod wire;

pub use acknowledgement::{encode_disconnect, encode_puback};
pub use connack::Connack;
pub use connect::{Connect, ConnectFault};
pub use frame::{Frame, FrameLimits, frame};
pub use publish::{Outgoing, Publish};
pub use subscribe::{Subscribe, SubscribeItem, Unsubscribe};

use thiserror::Error;

/// The protocol that a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// MQTT 3.1.1, protocol level 4.
    V311,
    /// MQTT 5.0, protocol level 5.
    V5,
}

impl Version {
    /// Its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V311 => "3.1.1",
            Self::V5 => "5.0",
        }
    }
}

/// A rule that the peer broke: the connection ends with this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{what} (reason code {code:#04x})")]
pub struct Fault {
    /// The MQTT 5 reason code.
    pub code: u8,
    /// The rule, as a sentence for the reason string.
    pub what: &'static str,
}

impl Fault {
    /// The bytes are no packet.
    #[must_use]
    pub fn malformed(what: &'static str) -> Self {
        Self { code: reason::MALFORMED_PACKET, what }
    }

    /// A packet that may not be sent.
    #[must_use]
    pub fn protocol(what: &'static str) -> Self {
        Self { code: reason::PROTOCOL_ERROR, what }
    }
}

#[cfg(test)]
mod tests;
