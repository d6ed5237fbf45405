//! PUBLISH: borrowed when it comes in, appended to the output when it goes out.
//!
//! **Invariants**: decoding allocates nothing; a topic that comes out of [`Publish::decode`] is
//! UTF-8 without U+0000 and without wildcards, or empty with an alias; a QoS 1 packet id is not 0.

use super::property::{self, Properties, id};
use super::wire::{Reader, put_binary, put_string, put_variable, variable_bytes};
use super::{Fault, Version, reason};

/// A PUBLISH as it lies in the read buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publish<'a> {
    /// Sent again.
    pub is_duplicate: bool,
    /// 0, 1 or 2.
    pub qos: u8,
    /// To be retained.
    pub retain: bool,
    /// The topic; empty = the alias names it.
    pub topic: &'a str,
    /// The packet id; 0 at QoS 0.
    pub packet_id: u16,
    /// The topic alias, when there is one.
    pub alias: Option<u16>,
    /// Where the sender wants the verdict.
    pub response_topic: Option<&'a str>,
    /// What it wants to find in the verdict again.
    pub correlation: Option<&'a [u8]>,
    /// The payload.
    pub payload: &'a [u8],
}

impl<'a> Publish<'a> {
    /// Reads a PUBLISH from its first byte and body.
    ///
    /// # Errors
    /// The first rule of the standard that it breaks.
    #[inline]
    pub fn decode(header: u8, body: &'a [u8], version: Version) -> Result<Self, Fault> {
        let qos = (header >> 1) & 3;
        let is_duplicate = header & 8 != 0;
        if qos == 3 {
            return Err(Fault::malformed("QoS 3 does not exist"));
        }
        if is_duplicate && qos == 0 {
            return Err(Fault::malformed("DUP is set on QoS 0"));
        }
        let mut reader = Reader::new(body);
        let topic = reader.string()?;
        let packet_id = if qos > 0 { reader.two()? } else { 0 };
        if qos > 0 && packet_id == 0 {
            return Err(Fault::protocol("packet identifier 0"));
        }
        let mut publish = Self {
            is_duplicate,
            qos,
            retain: header & 1 != 0,
            topic,
            packet_id,
            alias: None,
            response_topic: None,
            correlation: None,
            payload: &[],
        };
        if version == Version::V5 {
            publish.read_properties(&mut reader)?;
        }
        if has_wildcard(topic) {
            return Err(Fault {
                code: reason::TOPIC_NAME_INVALID,
                what: "a topic name holds a wildcard",
            });
        }
        if topic.is_empty() && publish.alias.is_none() {
            return Err(Fault::protocol("neither a topic nor a topic alias"));
        }
        publish.payload = reader.rest();
        Ok(publish)
    }

    #[inline]
    fn read_properties(&mut self, reader: &mut Reader<'a>) -> Result<(), Fault> {
        // The packet size bounds the user properties of a PUBLISH; nothing is kept of them.
        let mut properties = Properties::take(reader, property::PUBLISH, usize::MAX)?;
        while let Some((name, value)) = properties.next_property()? {
            match name {
                id::TOPIC_ALIAS => self.alias = u16::try_from(value.number()).ok(),
                id::RESPONSE_TOPIC => {
                    let topic = value.text();
                    if topic.is_empty() || has_wildcard(topic) {
                        return Err(Fault::protocol("a response topic that is no topic name"));
                    }
                    self.response_topic = Some(topic);
                }
                id::CORRELATION_DATA => self.correlation = Some(value.binary()),
                _ => {}
            }
        }
        Ok(())
    }
}

#[inline]
fn has_wildcard(topic: &str) -> bool {
    topic.bytes().fold(false, |found, byte| found | (byte == b'+') | (byte == b'#'))
}

/// A PUBLISH on its way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing<'a> {
    /// The topic.
    pub topic: &'a str,
    /// The payload.
    pub payload: &'a [u8],
    /// The packet id; `None` = QoS 0.
    pub packet_id: Option<u16>,
    /// Correlation data of a verdict; MQTT 5 only.
    pub correlation: Option<&'a [u8]>,
}

impl Outgoing<'_> {
    /// Bytes of the whole packet.
    #[must_use]
    pub fn packet_bytes(&self, version: Version) -> usize {
        let remaining = self.remaining(version);
        1 + variable_bytes(remaining) + remaining
    }

    /// Appends the packet.
    pub fn encode(&self, version: Version, out: &mut Vec<u8>) {
        out.push(0x30 | if self.packet_id.is_some() { 2 } else { 0 });
        put_variable(out, self.remaining(version));
        put_string(out, self.topic);
        if let Some(packet_id) = self.packet_id {
            out.extend_from_slice(&packet_id.to_be_bytes());
        }
        if version == Version::V5 {
            put_variable(out, self.properties());
            if let Some(correlation) = self.correlation {
                out.push(id::CORRELATION_DATA);
                put_binary(out, correlation);
            }
        }
        out.extend_from_slice(self.payload);
    }

    fn properties(&self) -> usize {
        self.correlation.map_or(0, |bytes| 3 + bytes.len())
    }

    fn remaining(&self, version: Version) -> usize {
        let properties = match version {
            Version::V5 => variable_bytes(self.properties()) + self.properties(),
            Version::V311 => 0,
        };
        let packet_id = if self.packet_id.is_some() { 2 } else { 0 };
        2 + self.topic.len() + packet_id + properties + self.payload.len()
    }
}
