//! PUBACK in both directions, and DISCONNECT.
//!
//! **Invariants**: a reason string goes out only where it fits into the client's maximum packet
//! size; a success PUBACK is the four bytes that both protocols share.

use super::property::{self, Properties, id};
use super::wire::{Reader, put_string, put_variable, shorten};
use super::{Fault, Version, reason};

/// Longest reason string that we send, in bytes.
pub const REASON_STRING_BYTES_MAX: usize = 256;
/// Most user properties of an acknowledgement or DISCONNECT that a client sends.
pub const USER_PROPERTIES_MAX: usize = 10;

/// Appends a PUBACK. `text` is sent on MQTT 5 only, where the packet stays within `bytes_max`.
#[inline]
pub fn encode_puback(
    version: Version,
    packet_id: u16,
    code: u8,
    text: Option<&str>,
    bytes_max: usize,
    out: &mut Vec<u8>,
) {
    let [high, low] = packet_id.to_be_bytes();
    if version == Version::V311 || (code == reason::SUCCESS && text.is_none()) {
        out.extend_from_slice(&[0x40, 2, high, low]);
        return;
    }
    encode_with_reason(0x40, &[high, low, code], text, bytes_max, out);
}

/// Appends a DISCONNECT of MQTT 5 (3.1.1 has none from the server).
pub fn encode_disconnect(code: u8, text: Option<&str>, bytes_max: usize, out: &mut Vec<u8>) {
    encode_with_reason(0xe0, &[code], text, bytes_max, out);
}

fn encode_with_reason(
    header: u8,
    fixed: &[u8],
    text: Option<&str>,
    bytes_max: usize,
    out: &mut Vec<u8>,
) {
    let text = text.map(|text| shorten(text, REASON_STRING_BYTES_MAX)).filter(|text| {
        // Two bytes of remaining length and two of property length at most.
        // A sentence may quote what a device sent: U+0000 must not get into a string.
        !text.is_empty()
            && !text.contains('\0')
            && 1 + 2 + fixed.len() + 2 + 3 + text.len() <= bytes_max
    });
    out.push(header);
    let Some(text) = text else {
        put_variable(out, fixed.len());
        out.extend_from_slice(fixed);
        return;
    };
    let properties = 3 + text.len();
    put_variable(out, fixed.len() + super::wire::variable_bytes(properties) + properties);
    out.extend_from_slice(fixed);
    put_variable(out, properties);
    out.push(id::REASON_STRING);
    put_string(out, text);
}

/// Reads a PUBACK: its packet id. The reason code does not matter to us: the message is done.
///
/// # Errors
/// The first rule of the standard that it breaks.
pub fn decode_puback(body: &[u8], version: Version) -> Result<u16, Fault> {
    let mut reader = Reader::new(body);
    let packet_id = reader.two()?;
    if packet_id == 0 {
        return Err(Fault::protocol("packet identifier 0"));
    }
    if version == Version::V5 && !reader.is_empty() {
        reader.byte()?;
        if !reader.is_empty() {
            Properties::take(&mut reader, property::PUBACK, USER_PROPERTIES_MAX)?.skip()?;
        }
    }
    if reader.is_empty() { Ok(packet_id) } else { Err(Fault::malformed("bytes after a PUBACK")) }
}

/// Reads a DISCONNECT: its reason code.
///
/// # Errors
/// The first rule of the standard that it breaks.
pub fn decode_disconnect(body: &[u8], version: Version) -> Result<u8, Fault> {
    let mut reader = Reader::new(body);
    let mut code = reason::SUCCESS;
    if version == Version::V5 && !reader.is_empty() {
        code = reader.byte()?;
        if !reader.is_empty() {
            Properties::take(&mut reader, property::DISCONNECT, USER_PROPERTIES_MAX)?.skip()?;
        }
    }
    if reader.is_empty() { Ok(code) } else { Err(Fault::malformed("bytes after a DISCONNECT")) }
}
