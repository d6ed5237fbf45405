//! MQTT 5 properties: the table of the standard (2.2.2.2), and a reader that holds to it.
//!
//! **Invariants**: a property that the table does not allow in a packet is a malformed packet;
//! one that comes twice is a protocol error (user properties excepted); user properties are
//! counted and bounded, never collected.

use super::wire::Reader;
use super::{Fault, reason};

/// Identifiers of the properties that a client sends or we send.
pub mod id {
    /// Payload format indicator.
    pub const PAYLOAD_FORMAT: u8 = 0x01;
    /// Message expiry interval.
    pub const MESSAGE_EXPIRY: u8 = 0x02;
    /// Content type.
    pub const CONTENT_TYPE: u8 = 0x03;
    /// Response topic.
    pub const RESPONSE_TOPIC: u8 = 0x08;
    /// Correlation data.
    pub const CORRELATION_DATA: u8 = 0x09;
    /// Subscription identifier.
    pub const SUBSCRIPTION_ID: u8 = 0x0b;
    /// Session expiry interval.
    pub const SESSION_EXPIRY: u8 = 0x11;
    /// Assigned client identifier.
    pub const ASSIGNED_CLIENT_ID: u8 = 0x12;
    /// Server keep alive.
    pub const SERVER_KEEP_ALIVE: u8 = 0x13;
    /// Authentication method.
    pub const AUTHENTICATION_METHOD: u8 = 0x15;
    /// Authentication data.
    pub const AUTHENTICATION_DATA: u8 = 0x16;
    /// Request problem information.
    pub const REQUEST_PROBLEM: u8 = 0x17;
    /// Will delay interval.
    pub const WILL_DELAY: u8 = 0x18;
    /// Request response information.
    pub const REQUEST_RESPONSE: u8 = 0x19;
    /// Reason string.
    pub const REASON_STRING: u8 = 0x1f;
    /// Receive maximum.
    pub const RECEIVE_MAXIMUM: u8 = 0x21;
    /// Topic alias maximum.
    pub const TOPIC_ALIAS_MAXIMUM: u8 = 0x22;
    /// Topic alias.
    pub const TOPIC_ALIAS: u8 = 0x23;
    /// Maximum QoS.
    pub const MAXIMUM_QOS: u8 = 0x24;
    /// Retain available.
    pub const RETAIN_AVAILABLE: u8 = 0x25;
    /// User property.
    pub const USER: u8 = 0x26;
    /// Maximum packet size.
    pub const MAXIMUM_PACKET_SIZE: u8 = 0x27;
    /// Wildcard subscription available.
    pub const WILDCARD_AVAILABLE: u8 = 0x28;
    /// Subscription identifiers available.
    pub const SUBSCRIPTION_IDS_AVAILABLE: u8 = 0x29;
    /// Shared subscription available.
    pub const SHARED_AVAILABLE: u8 = 0x2a;
}

/// A set of property identifiers, a bit each.
pub type Allowed = u64;

const fn set(ids: &[u8]) -> Allowed {
    let mut bits = 0;
    let mut rest = ids;
    while let Some((first, others)) = rest.split_first() {
        bits |= 1 << *first;
        rest = others;
    }
    bits
}

/// Those of CONNECT.
pub const CONNECT: Allowed = set(&[
    id::SESSION_EXPIRY,
    id::AUTHENTICATION_METHOD,
    id::AUTHENTICATION_DATA,
    id::REQUEST_PROBLEM,
    id::REQUEST_RESPONSE,
    id::RECEIVE_MAXIMUM,
    id::TOPIC_ALIAS_MAXIMUM,
    id::USER,
    id::MAXIMUM_PACKET_SIZE,
]);
/// Those of a will.
pub const WILL: Allowed = set(&[
    id::PAYLOAD_FORMAT,
    id::MESSAGE_EXPIRY,
    id::CONTENT_TYPE,
    id::RESPONSE_TOPIC,
    id::CORRELATION_DATA,
    id::WILL_DELAY,
    id::USER,
]);
/// Those of a PUBLISH that a client sends (a subscription identifier is the server's alone).
pub const PUBLISH: Allowed = set(&[
    id::PAYLOAD_FORMAT,
    id::MESSAGE_EXPIRY,
    id::CONTENT_TYPE,
    id::RESPONSE_TOPIC,
    id::CORRELATION_DATA,
    id::TOPIC_ALIAS,
    id::USER,
]);
/// Those of PUBACK.
pub const PUBACK: Allowed = set(&[id::REASON_STRING, id::USER]);
/// Those of SUBSCRIBE.
pub const SUBSCRIBE: Allowed = set(&[id::SUBSCRIPTION_ID, id::USER]);
/// Those of UNSUBSCRIBE.
pub const UNSUBSCRIBE: Allowed = set(&[id::USER]);
/// Those of a DISCONNECT that a client sends.
pub const DISCONNECT: Allowed = set(&[id::SESSION_EXPIRY, id::REASON_STRING, id::USER]);

/// One property's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number: byte, two bytes, four bytes or variable.
    Number(u32),
    /// A string.
    Text(&'a str),
    /// Binary data.
    Binary(&'a [u8]),
    /// A user property.
    Pair(&'a str, &'a str),
}

impl<'a> Value<'a> {
    /// The number, 0 for another kind.
    #[must_use]
    pub fn number(self) -> u32 {
        if let Self::Number(number) = self { number } else { 0 }
    }

    /// The text, empty for another kind.
    #[must_use]
    pub fn text(self) -> &'a str {
        if let Self::Text(text) = self { text } else { "" }
    }

    /// The bytes, empty for another kind.
    #[must_use]
    pub fn binary(self) -> &'a [u8] {
        if let Self::Binary(bytes) = self { bytes } else { &[] }
    }
}

/// Reads the properties of one packet.
#[derive(Debug)]
pub struct Properties<'a> {
    reader: Reader<'a>,
    allowed: Allowed,
    seen: u64,
    user_left: usize,
}

impl<'a> Properties<'a> {
    /// Takes the property section (its length first) off `reader`.
    ///
    /// # Errors
    /// When the length is none or reaches beyond the packet.
    #[inline]
    pub fn take(reader: &mut Reader<'a>, allowed: Allowed, user_max: usize) -> Result<Self, Fault> {
        let count = reader.variable()?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let section = reader.take(count)?;
        Ok(Self { reader: Reader::new(section), allowed, seen: 0, user_left: user_max })
    }

    /// The next property, `None` after the last.
    ///
    /// # Errors
    /// A property that is not allowed here, comes twice, is cut off or is out of its range.
    #[inline]
    pub fn next_property(&mut self) -> Result<Option<(u8, Value<'a>)>, Fault> {
        if self.reader.is_empty() {
            return Ok(None);
        }
        let name = self.reader.byte()?;
        let bit = 1u64.checked_shl(u32::from(name)).unwrap_or(0);
        if self.allowed & bit == 0 {
            return Err(Fault::malformed("a property is not allowed in this packet"));
        }
        if name == id::USER {
            self.user_left = self.user_left.checked_sub(1).ok_or(Fault {
                code: reason::QUOTA_EXCEEDED,
                what: "the packet has too many user properties",
            })?;
        } else if self.seen & bit != 0 {
            return Err(Fault::protocol("a property comes twice"));
        }
        self.seen |= bit;
        let value = self.value(name)?;
        Ok(Some((name, value)))
    }

    /// Reads and checks all of them, for packets whose properties mean nothing to us.
    ///
    /// # Errors
    /// As [`Properties::next_property`].
    pub fn skip(mut self) -> Result<(), Fault> {
        while self.next_property()?.is_some() {}
        Ok(())
    }

    fn value(&mut self, name: u8) -> Result<Value<'a>, Fault> {
        let reader = &mut self.reader;
        Ok(match name {
            id::PAYLOAD_FORMAT | id::REQUEST_PROBLEM | id::REQUEST_RESPONSE => {
                let byte = reader.byte()?;
                if byte > 1 {
                    return Err(Fault::protocol("a property takes 0 or 1 only"));
                }
                Value::Number(u32::from(byte))
            }
            id::RECEIVE_MAXIMUM => {
                let number = reader.two()?;
                if number == 0 {
                    return Err(Fault::protocol("a receive maximum of 0"));
                }
                Value::Number(u32::from(number))
            }
            id::TOPIC_ALIAS | id::TOPIC_ALIAS_MAXIMUM => Value::Number(u32::from(reader.two()?)),
            id::MAXIMUM_PACKET_SIZE => {
                let number = reader.four()?;
                if number == 0 {
                    return Err(Fault::protocol("a maximum packet size of 0"));
                }
                Value::Number(number)
            }
            id::MESSAGE_EXPIRY | id::SESSION_EXPIRY | id::WILL_DELAY => {
                Value::Number(reader.four()?)
            }
            id::SUBSCRIPTION_ID => {
                let number = reader.variable()?;
                if number == 0 {
                    return Err(Fault::protocol("a subscription identifier of 0"));
                }
                Value::Number(number)
            }
            id::CORRELATION_DATA | id::AUTHENTICATION_DATA => Value::Binary(reader.binary()?),
            id::USER => Value::Pair(reader.string()?, reader.string()?),
            // The tables above leave only strings here.
            _ => Value::Text(reader.string()?),
        })
    }
}
