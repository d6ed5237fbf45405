//! The fixed header: which packet comes, and how long it is.
//!
//! ```text
//! byte 1      packet type (4 bits), flags (4 bits)
//! byte 2..5   remaining length, variable byte integer
//! ```
//! **Invariants**: a packet that is longer than its limit is refused as soon as its header is
//! there, before a byte of its body is kept; so is a type or a flag that the standard reserves.

use super::{Fault, Version, reason};

/// Packet types, in the upper half of the first byte.
pub mod kind {
    /// Client asks for a connection.
    pub const CONNECT: u8 = 1;
    /// Answer to it.
    pub const CONNACK: u8 = 2;
    /// A message.
    pub const PUBLISH: u8 = 3;
    /// Answer to QoS 1.
    pub const PUBACK: u8 = 4;
    /// QoS 2, first answer.
    pub const PUBREC: u8 = 5;
    /// QoS 2, release.
    pub const PUBREL: u8 = 6;
    /// QoS 2, complete.
    pub const PUBCOMP: u8 = 7;
    /// Client asks for messages.
    pub const SUBSCRIBE: u8 = 8;
    /// Answer to it.
    pub const SUBACK: u8 = 9;
    /// Client wants them no more.
    pub const UNSUBSCRIBE: u8 = 10;
    /// Answer to it.
    pub const UNSUBACK: u8 = 11;
    /// Sign of life.
    pub const PINGREQ: u8 = 12;
    /// Answer to it.
    pub const PINGRESP: u8 = 13;
    /// Farewell.
    pub const DISCONNECT: u8 = 14;
    /// Enhanced authentication.
    pub const AUTH: u8 = 15;
}

/// What a packet may be.
#[derive(Clone, Copy, Debug)]
pub struct FrameLimits {
    /// Largest PUBLISH in bytes, its fixed header included.
    pub publish_bytes_max: usize,
    /// Largest other packet in bytes, its fixed header included.
    pub control_bytes_max: usize,
    /// The protocol: 5.0 asks for the shortest form of the remaining length.
    pub version: Version,
}

/// What stands at the front of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A whole packet.
    Whole {
        /// The first byte: type and flags.
        header: u8,
        /// Everything after the remaining length.
        body: &'a [u8],
        /// Bytes of the packet, its fixed header included.
        total: usize,
    },
    /// The front of a packet; how many bytes it has in all, once that is known.
    Unfinished(Option<usize>),
}

/// Finds the packet at the front of `bytes`.
///
/// # Errors
/// A reserved type or flag, an overlong length, or a packet above its limit.
#[inline]
pub fn frame(bytes: &[u8], limits: FrameLimits) -> Result<Frame<'_>, Fault> {
    let Some((&header, after)) = bytes.split_first() else { return Ok(Frame::Unfinished(None)) };
    check_header(header)?;
    let mut length = 0usize;
    let mut size = 1usize;
    for shift in [0, 7, 14, 21] {
        let Some(&byte) = after.get(size - 1) else { return Ok(Frame::Unfinished(None)) };
        size += 1;
        length |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            if byte == 0 && shift > 0 && limits.version == Version::V5 {
                return Err(Fault::malformed("the remaining length is not in its shortest form"));
            }
            return whole(bytes, header, size, size + length, limits);
        }
    }
    Err(Fault::malformed("the remaining length has more than four bytes"))
}

fn whole(
    bytes: &[u8],
    header: u8,
    body_start: usize,
    total: usize,
    limits: FrameLimits,
) -> Result<Frame<'_>, Fault> {
    let bytes_max = if header >> 4 == kind::PUBLISH {
        limits.publish_bytes_max
    } else {
        limits.control_bytes_max
    };
    if total > bytes_max {
        return Err(Fault {
            code: reason::PACKET_TOO_LARGE,
            what: "the packet is larger than the maximum packet size",
        });
    }
    Ok(match bytes.get(body_start..total) {
        Some(body) => Frame::Whole { header, body, total },
        None => Frame::Unfinished(Some(total)),
    })
}

fn check_header(header: u8) -> Result<(), Fault> {
    let flags = header & 0x0f;
    let expected = match header >> 4 {
        0 => return Err(Fault::malformed("packet type 0 is reserved")),
        kind::PUBLISH => return Ok(()),
        kind::PUBREL | kind::SUBSCRIBE | kind::UNSUBSCRIBE => 2,
        _ => 0,
    };
    if flags == expected {
        Ok(())
    } else {
        Err(Fault::malformed("a reserved flag of the fixed header is set"))
    }
}
