//! SUBSCRIBE, UNSUBSCRIBE and their answers.
//!
//! **Invariants**: the packet's size bounds the lists (it is a control packet, see
//! [`super::FrameLimits`]), and so does [`ITEMS_MAX`]; reserved option bits are malformed; an
//! empty list is a protocol error.

use super::property::{self, Properties, id};
use super::wire::{Reader, put_variable};
use super::{Fault, Version, reason};

/// Most filters of one SUBSCRIBE or UNSUBSCRIBE.
pub const ITEMS_MAX: usize = 1_000;
/// Most user properties of one SUBSCRIBE or UNSUBSCRIBE.
pub const USER_PROPERTIES_MAX: usize = 10;

/// One filter of a SUBSCRIBE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscribeItem {
    /// The filter as sent.
    pub filter: String,
    /// Highest QoS that the client wants.
    pub qos: u8,
    /// Whether its own messages stay away.
    pub no_local: bool,
    /// Whether the retain flag is kept as it was published.
    pub retain_as_published: bool,
    /// When retained messages are sent.
    pub retain_handling: u8,
}

/// A SUBSCRIBE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscribe {
    /// Its packet id.
    pub packet_id: u16,
    /// Its filters.
    pub items: Vec<SubscribeItem>,
}

impl Subscribe {
    /// Reads a SUBSCRIBE from its body.
    ///
    /// # Errors
    /// The first rule of the standard that it breaks.
    pub fn decode(body: &[u8], version: Version) -> Result<Self, Fault> {
        let mut reader = Reader::new(body);
        let packet_id = packet_id(&mut reader)?;
        if version == Version::V5 {
            let mut properties =
                Properties::take(&mut reader, property::SUBSCRIBE, USER_PROPERTIES_MAX)?;
            while let Some((name, _)) = properties.next_property()? {
                if name == id::SUBSCRIPTION_ID {
                    return Err(Fault {
                        code: reason::SUBSCRIPTION_IDS_NOT_SUPPORTED,
                        what: "subscription identifiers are not built in this version",
                    });
                }
            }
        }
        let mut items = Vec::new();
        while !reader.is_empty() {
            check_count(items.len())?;
            items.push(item(&mut reader, version)?);
        }
        if items.is_empty() {
            return Err(Fault::protocol("a SUBSCRIBE without a filter"));
        }
        Ok(Self { packet_id, items })
    }
}

fn item(reader: &mut Reader<'_>, version: Version) -> Result<SubscribeItem, Fault> {
    let filter = reader.string()?.to_owned();
    let options = reader.byte()?;
    let reserved = if version == Version::V5 { 0xc0 } else { 0xfc };
    if options & reserved != 0 {
        return Err(Fault::malformed("a reserved bit of the subscription options is set"));
    }
    let item = SubscribeItem {
        filter,
        qos: options & 3,
        no_local: options & 4 != 0,
        retain_as_published: options & 8 != 0,
        retain_handling: (options >> 4) & 3,
    };
    if item.qos == 3 {
        return Err(Fault::malformed("QoS 3 does not exist"));
    }
    if item.retain_handling == 3 {
        return Err(Fault::protocol("retain handling 3 does not exist"));
    }
    if item.no_local && item.filter.starts_with("$share/") {
        return Err(Fault::protocol("no-local on a shared subscription"));
    }
    Ok(item)
}

/// An UNSUBSCRIBE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsubscribe {
    /// Its packet id.
    pub packet_id: u16,
    /// Its filters.
    pub filters: Vec<String>,
}

impl Unsubscribe {
    /// Reads an UNSUBSCRIBE from its body.
    ///
    /// # Errors
    /// The first rule of the standard that it breaks.
    pub fn decode(body: &[u8], version: Version) -> Result<Self, Fault> {
        let mut reader = Reader::new(body);
        let packet_id = packet_id(&mut reader)?;
        if version == Version::V5 {
            Properties::take(&mut reader, property::UNSUBSCRIBE, USER_PROPERTIES_MAX)?.skip()?;
        }
        let mut filters = Vec::new();
        while !reader.is_empty() {
            check_count(filters.len())?;
            filters.push(reader.string()?.to_owned());
        }
        if filters.is_empty() {
            return Err(Fault::protocol("an UNSUBSCRIBE without a filter"));
        }
        Ok(Self { packet_id, filters })
    }
}

fn packet_id(reader: &mut Reader<'_>) -> Result<u16, Fault> {
    match reader.two()? {
        0 => Err(Fault::protocol("packet identifier 0")),
        packet_id => Ok(packet_id),
    }
}

fn check_count(count: usize) -> Result<(), Fault> {
    if count < ITEMS_MAX {
        return Ok(());
    }
    Err(Fault { code: reason::QUOTA_EXCEEDED, what: "too many filters in one packet" })
}

/// Appends a SUBACK.
pub fn encode_suback(version: Version, packet_id: u16, codes: &[u8], out: &mut Vec<u8>) {
    encode_answer(0x90, version, packet_id, codes, out);
}

/// Appends an UNSUBACK; 3.1.1 has no codes in it.
pub fn encode_unsuback(version: Version, packet_id: u16, codes: &[u8], out: &mut Vec<u8>) {
    let codes = if version == Version::V5 { codes } else { &[] };
    encode_answer(0xb0, version, packet_id, codes, out);
}

fn encode_answer(header: u8, version: Version, packet_id: u16, codes: &[u8], out: &mut Vec<u8>) {
    let properties = usize::from(version == Version::V5);
    out.push(header);
    put_variable(out, 2 + properties + codes.len());
    out.extend_from_slice(&packet_id.to_be_bytes());
    if version == Version::V5 {
        out.push(0);
    }
    out.extend_from_slice(codes);
}
