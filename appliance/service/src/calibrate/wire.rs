//! The few MQTT 5 packets that the load needs: CONNECT and PUBLISH out, CONNACK and PUBACK in.
//!
//! **Invariants**
//! - What comes in is bounded: a packet longer than [`PACKET_MAX`] is a fault.

use thiserror::Error;

/// No answer that is expected is longer.
const PACKET_MAX: usize = 64 * 1024;

/// Why what came in is not what was expected.
#[derive(Debug, Error)]
pub(super) enum WireFault {
    #[error("the box answered with something that is no MQTT packet")]
    Malformed,
    #[error("the box refused the connection with reason {0:#04x}")]
    Refused(u8),
    #[error("the box ended the connection")]
    Disconnected,
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    // Ids, secrets and topics are far shorter than 64 KiB.
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn push_packet(out: &mut Vec<u8>, first: u8, body: &[u8]) {
    out.push(first);
    let mut length = body.len();
    loop {
        let digit = u8::try_from(length % 128).unwrap_or(0);
        length /= 128;
        out.push(if length > 0 { digit | 0x80 } else { digit });
        if length == 0 {
            break;
        }
    }
    out.extend_from_slice(body);
}

/// CONNECT with a clean start and a user name that is the client id.
pub(super) fn connect(id: &str, secret: &str) -> Vec<u8> {
    let mut body = Vec::new();
    push_text(&mut body, "MQTT");
    // Version 5; user name, password, clean start; no keep alive; no properties.
    body.extend_from_slice(&[5, 0xC2, 0, 0, 0]);
    push_text(&mut body, id);
    push_text(&mut body, id);
    push_text(&mut body, secret);
    let mut out = Vec::new();
    push_packet(&mut out, 0x10, &body);
    out
}

/// PUBLISH with QoS 1.
pub(super) fn publish(out: &mut Vec<u8>, topic: &str, packet_id: u16, payload: &str) {
    let mut body = Vec::with_capacity(topic.len() + payload.len() + 5);
    push_text(&mut body, topic);
    body.extend_from_slice(&packet_id.to_be_bytes());
    body.push(0);
    body.extend_from_slice(payload.as_bytes());
    push_packet(out, 0x32, &body);
}

/// What a box has answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) connected: bool,
    pub(super) stored: u32,
    pub(super) refused: u32,
}

/// Reads answers out of what arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct Answers {
    rest: Vec<u8>,
}

impl Answers {
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Answered, WireFault> {
        self.rest.extend_from_slice(bytes);
        let mut answered = Answered::default();
        let mut at = 0;
        while let Some((first, body, next)) = packet(self.rest.get(at..).unwrap_or_default())? {
            match (first >> 4, body) {
                (2, [_, 0, ..]) => answered.connected = true,
                (2, [_, reason, ..]) => return Err(WireFault::Refused(*reason)),
                (4, [_, _]) => answered.stored += 1,
                (4, [_, _, reason, ..]) if *reason < 0x80 => answered.stored += 1,
                (4, [_, _, ..]) => answered.refused += 1,
                (14, _) => return Err(WireFault::Disconnected),
                _ => return Err(WireFault::Malformed),
            }
            at += next;
        }
        self.rest.drain(..at);
        Ok(answered)
    }
}

type Packet<'a> = (u8, &'a [u8], usize);

/// The first whole packet: its first byte, its body, and its length.
fn packet(bytes: &[u8]) -> Result<Option<Packet<'_>>, WireFault> {
    let Some((first, rest)) = bytes.split_first() else { return Ok(None) };
    let mut length = 0;
    for digits in 0..4 {
        let Some(byte) = rest.get(digits) else { return Ok(None) };
        length |= usize::from(byte & 0x7F) << (7 * digits);
        if byte & 0x80 == 0 {
            if length > PACKET_MAX {
                return Err(WireFault::Malformed);
            }
            let begin = digits + 1;
            let body = rest.get(begin..begin + length);
            return Ok(body.map(|body| (*first, body, 1 + begin + length)));
        }
    }
    Err(WireFault::Malformed)
}

#[cfg(test)]
mod tests {
    use super::{Answered, Answers, WireFault, connect, publish};

    #[test]
    fn packets_are_as_the_standard_has_them() {
        let packet = connect("c", "s");
        assert_eq!(packet[..9], [0x10, 20, 0, 4, b'M', b'Q', b'T', b'T', 5]);
        let mut out = Vec::new();
        publish(&mut out, "a/b", 7, "1");
        assert_eq!(out, [0x32, 9, 0, 3, b'a', b'/', b'b', 0, 7, 0, b'1']);
        // A length of two digits.
        out.clear();
        publish(&mut out, &"x".repeat(200), 1, "1");
        assert_eq!(out[1..3], [206 & 0x7F | 0x80, 1]);
    }

    #[test]
    fn answers_are_counted_whole_or_in_pieces() {
        let bytes = [0x20, 3, 0, 0, 0, 0x40, 2, 0, 1, 0x40, 3, 0, 2, 0x97, 0x40, 3, 0, 3, 0x10];
        let whole = Answers::default().take(&bytes).unwrap();
        assert_eq!(whole, Answered { connected: true, stored: 2, refused: 1 });
        let mut answers = Answers::default();
        let mut sum = Answered::default();
        for byte in bytes {
            let one = answers.take(&[byte]).unwrap();
            sum.connected |= one.connected;
            sum.stored += one.stored;
            sum.refused += one.refused;
        }
        assert_eq!(sum, whole);
    }

    #[test]
    fn what_is_no_answer_is_a_fault() {
        let fault = |bytes: &[u8]| Answers::default().take(bytes).unwrap_err();
        assert!(matches!(fault(&[0x20, 3, 0, 0x86, 0]), WireFault::Refused(0x86)));
        assert!(matches!(fault(&[0xE0, 1, 0x8B]), WireFault::Disconnected));
        assert!(matches!(fault(&[0x40, 0xFF, 0xFF, 0xFF, 0xFF, 1]), WireFault::Malformed));
        assert!(matches!(fault(&[0x30, 0]), WireFault::Malformed));
    }
}
