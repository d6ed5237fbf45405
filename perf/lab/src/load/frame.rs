//! MQTT 5 packets that the generator writes, and a reader of those that it gets.
//!
//! The value is a decimal number that says where it comes from: `17.0421` is counter 17 of the
//! topic with fingerprint 421. Read back as a number it must be that one and no other.
//!
//! **Invariants**
//! - `publish` allocates nothing when its buffer is large enough.
//! - `next` never trusts a length: what is not a whole packet stays where it is.

use std::io::Write as _;

use super::spec::{Body, Qos};

/// Fingerprints of topics: four decimals.
pub(crate) const FINGERPRINTS: u32 = 10_000;

/// What a PUBLISH needs beside its topic.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message<'a> {
    pub(crate) topic: &'a [u8],
    pub(crate) packet_id: u16,
    pub(crate) counter: u64,
    pub(crate) fingerprint: u32,
    /// Nanoseconds since 1970.
    pub(crate) source_time: Option<i64>,
    /// Response topic and correlation data.
    pub(crate) verdict: Option<(&'a [u8], u64)>,
    pub(crate) resent: bool,
    pub(crate) body: Body,
    pub(crate) qos: Qos,
}

/// A packet from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packet<'a> {
    Connack { reason: u8 },
    Suback { reason: u8 },
    Puback { packet_id: u16, reason: u8 },
    Publish { topic: &'a [u8], packet_id: Option<u16>, correlation: Option<u64>, payload: &'a [u8] },
    Disconnect { reason: u8 },
    Other,
}

/// Why a stream is no MQTT stream any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// The number that counter `counter` of a topic is sent as.
pub(crate) fn value_of(counter: u64, fingerprint: u32) -> f64 {
    let mut text = Vec::with_capacity(24);
    push_value(&mut text, counter, fingerprint);
    // The same text as on the wire, read by the same rule as any JSON reader's.
    std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// The fingerprint of a topic by its number in the run.
pub(crate) fn fingerprint(topic: u32) -> u32 {
    topic % FINGERPRINTS
}

/// Appends a CONNECT that starts clean, with keep-alive of five minutes.
pub(crate) fn connect(into: &mut Vec<u8>, client_id: &str, sign_in: Option<(&str, &str)>) {
    let mut body = Vec::with_capacity(128);
    push_text(&mut body, b"MQTT");
    body.push(5);
    body.push(if sign_in.is_some() { 0b1100_0010 } else { 0b0000_0010 });
    body.extend_from_slice(&300u16.to_be_bytes());
    body.push(0);
    push_text(&mut body, client_id.as_bytes());
    if let Some((user, secret)) = sign_in {
        push_text(&mut body, user.as_bytes());
        push_text(&mut body, secret.as_bytes());
    }
    push_packet(into, 0x10, &body);
}

/// Appends a SUBSCRIBE of one filter at QoS 0.
pub(crate) fn subscribe(into: &mut Vec<u8>, packet_id: u16, filter: &str) {
    subscribe_at(into, packet_id, filter, 0);
}

/// Appends a PUBACK: success.
pub(crate) fn puback(into: &mut Vec<u8>, packet_id: u16) {
    let [high, low] = packet_id.to_be_bytes();
    into.extend_from_slice(&[0x40, 2, high, low]);
}

/// Appends a SUBSCRIBE of one filter.
pub(crate) fn subscribe_at(into: &mut Vec<u8>, packet_id: u16, filter: &str, qos: u8) {
    let mut body = Vec::with_capacity(64);
    body.extend_from_slice(&packet_id.to_be_bytes());
    body.push(0);
    push_text(&mut body, filter.as_bytes());
    body.push(qos);
    push_packet(into, 0x82, &body);
}

/// Appends a DISCONNECT.
pub(crate) fn disconnect(into: &mut Vec<u8>) {
    into.extend_from_slice(&[0xe0, 0]);
}

/// Appends a PUBLISH.
pub(crate) fn publish(into: &mut Vec<u8>, message: &Message<'_>) {
    let start = into.len();
    let is_promised = message.qos == Qos::AtLeastOnce;
    into.push(match (is_promised, message.resent) {
        (true, true) => 0x3a,
        (true, false) => 0x32,
        (false, _) => 0x30,
    });
    // Two bytes of length: nearly all our packets are between 128 and 16,383 bytes, and the
    // encoding allows no padding; so the length is patched below.
    into.extend_from_slice(&[0, 0]);
    push_text(into, message.topic);
    if is_promised {
        into.extend_from_slice(&message.packet_id.to_be_bytes());
    }
    match message.verdict {
        None => into.push(0),
        Some((topic, correlation)) => {
            let length = 3 + topic.len() + 3 + 8;
            push_length(into, length);
            into.push(0x08);
            push_text(into, topic);
            into.push(0x09);
            into.extend_from_slice(&[0, 8]);
            into.extend_from_slice(&correlation.to_be_bytes());
        }
    }
    into.extend_from_slice(b"{\"value\": ");
    push_body(into, message);
    if let Some(time) = message.source_time {
        into.extend_from_slice(b", \"timestamp\": ");
        push_number(into, time.unsigned_abs(), 0);
    }
    into.push(b'}');
    patch_length(into, start);
}

/// Takes the first packet off `bytes`: the packet and its length, or none if it is not whole yet.
pub(crate) fn next(bytes: &[u8]) -> Result<Option<(Packet<'_>, usize)>, Malformed> {
    let Some((&first, rest)) = bytes.split_first() else { return Ok(None) };
    let Some((length, length_bytes)) = read_length(rest)? else { return Ok(None) };
    let whole = 1 + length_bytes + length;
    let Some(body) = bytes.get(1 + length_bytes..whole) else { return Ok(None) };
    let packet = match first >> 4 {
        2 => Packet::Connack { reason: *body.get(1).ok_or(Malformed)? },
        4 => Packet::Puback {
            packet_id: read_u16(body).ok_or(Malformed)?,
            reason: body.get(2).copied().unwrap_or(0),
        },
        9 => Packet::Suback { reason: *body.last().ok_or(Malformed)? },
        3 => read_publish(first, body).ok_or(Malformed)?,
        14 => Packet::Disconnect { reason: body.first().copied().unwrap_or(0) },
        _ => Packet::Other,
    };
    Ok(Some((packet, whole)))
}

/// Reads a variable length: the number and its own length; none if it is not whole yet.
pub(crate) fn read_length(bytes: &[u8]) -> Result<Option<(usize, usize)>, Malformed> {
    let mut length = 0usize;
    for (at, byte) in bytes.iter().take(4).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Ok(Some((length, at + 1)));
        }
    }
    if bytes.len() >= 4 { Err(Malformed) } else { Ok(None) }
}

pub(crate) fn read_u16(bytes: &[u8]) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.first_chunk::<2>()?))
}

fn read_publish(first: u8, body: &[u8]) -> Option<Packet<'_>> {
    let topic_bytes = usize::from(read_u16(body)?);
    let topic = body.get(2..2 + topic_bytes)?;
    let mut rest = body.get(2 + topic_bytes..)?;
    let mut packet_id = None;
    if first & 0x06 != 0 {
        packet_id = Some(read_u16(rest)?);
        rest = rest.get(2..)?;
    }
    let (length, length_bytes) = read_length(rest).ok()??;
    let properties = rest.get(length_bytes..length_bytes + length)?;
    let payload = rest.get(length_bytes + length..)?;
    Some(Packet::Publish { topic, packet_id, correlation: read_correlation(properties), payload })
}

/// Walks the properties that a verdict may carry.
fn read_correlation(mut properties: &[u8]) -> Option<u64> {
    loop {
        let (&kind, rest) = properties.split_first()?;
        let skip = match kind {
            0x01 => 1,
            0x02 => 4,
            0x23 => 2,
            0x0b => read_length(rest).ok()??.1,
            0x26 => {
                let name = 2 + usize::from(read_u16(rest)?);
                name + 2 + usize::from(read_u16(rest.get(name..)?)?)
            }
            0x09 => {
                let length = usize::from(read_u16(rest)?);
                let data = rest.get(2..2 + length)?;
                return data.first_chunk::<8>().map(|bytes| u64::from_be_bytes(*bytes));
            }
            0x03 | 0x08 => 2 + usize::from(read_u16(rest)?),
            _ => return None,
        };
        properties = rest.get(skip..)?;
    }
}

fn push_packet(into: &mut Vec<u8>, first: u8, body: &[u8]) {
    into.push(first);
    push_length(into, body.len());
    into.extend_from_slice(body);
}

fn push_text(into: &mut Vec<u8>, text: &[u8]) {
    // Our topics and names are far shorter than 65,535 bytes.
    into.extend_from_slice(&(text.len() as u16).to_be_bytes());
    into.extend_from_slice(text);
}

fn push_length(into: &mut Vec<u8>, mut length: usize) {
    loop {
        let byte = (length & 0x7f) as u8;
        length >>= 7;
        if length == 0 {
            into.push(byte);
            return;
        }
        into.push(byte | 0x80);
    }
}

/// What a body is filled with: words, so that it is as easy to compress as a plant's own texts.
const FILLER: &[u8] = b" press 4 shift 2 batch 0815 line north;";

/// The value: the number in front, and what fills it up.
fn push_body(into: &mut Vec<u8>, message: &Message<'_>) {
    let start = into.len();
    let number = |into: &mut Vec<u8>| push_value(into, message.counter, message.fingerprint);
    let fill = |into: &mut Vec<u8>, bytes: u32| {
        let missing = (bytes as usize).saturating_sub(into.len() - start);
        into.extend(FILLER.iter().copied().cycle().take(missing));
    };
    match message.body {
        Body::Number => number(into),
        Body::Text(bytes) => {
            into.push(b'"');
            number(into);
            fill(into, bytes);
            into.push(b'"');
        }
        Body::Object(bytes) => {
            into.extend_from_slice(b"{\"reading\": ");
            number(into);
            into.extend_from_slice(b", \"unit\": \"bar\", \"ok\": true, \"note\": \"");
            fill(into, bytes);
            into.extend_from_slice(b"\"}");
        }
        Body::Array(count) => {
            into.push(b'[');
            number(into);
            for place in 1..count {
                into.extend_from_slice(b", ");
                push_value(into, u64::from(place), message.fingerprint);
            }
            into.push(b']');
        }
    }
}

/// Puts the packet's length into the two bytes left for it; makes it shorter or longer if need be.
fn patch_length(into: &mut Vec<u8>, start: usize) {
    let length = into.len() - start - 3;
    if length > 0x3fff {
        let mut bytes = Vec::with_capacity(4);
        push_length(&mut bytes, length);
        into.splice(start + 1..start + 3, bytes);
        return;
    }
    let (low, high) = ((length & 0x7f) as u8, (length >> 7) as u8);
    if high == 0 {
        into.remove(start + 2);
    }
    if let Some(bytes) = into.get_mut(start + 1..) {
        let mut bytes = bytes.iter_mut();
        if let Some(byte) = bytes.next() {
            *byte = if high == 0 { low } else { low | 0x80 };
        }
        if let (true, Some(byte)) = (high != 0, bytes.next()) {
            *byte = high;
        }
    }
}

fn push_value(into: &mut Vec<u8>, counter: u64, fingerprint: u32) {
    push_number(into, counter, 0);
    into.push(b'.');
    push_number(into, u64::from(fingerprint), 4);
}

fn push_number(into: &mut Vec<u8>, mut number: u64, width: usize) {
    let mut digits = [0u8; 20];
    let mut count = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        count += 1;
        if number == 0 && count >= width {
            break;
        }
    }
    let text = digits.get(digits.len() - count..).unwrap_or_default();
    into.write_all(text).expect("a vector takes every write");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(topic: &[u8]) -> Message<'_> {
        Message { topic, packet_id: 7, counter: 17, fingerprint: 421, ..Message::default() }
    }

    #[test]
    fn builds_a_short_publish_byte_for_byte() {
        let mut bytes = Vec::new();
        publish(&mut bytes, &message(b"a/b"));
        assert_eq!(bytes, b"\x32\x1a\0\x03a/b\0\x07\0{\"value\": 17.0421}");
    }

    #[test]
    fn patches_a_two_byte_length_and_marks_a_repeat() {
        let topic = vec![b'x'; 150];
        let mut bytes = Vec::new();
        publish(&mut bytes, &Message { resent: true, ..message(&topic) });
        assert_eq!(bytes[0], 0x3a);
        let (length, length_bytes) = read_length(&bytes[1..]).unwrap().unwrap();
        assert_eq!((length_bytes, 1 + length_bytes + length), (2, bytes.len()));
    }

    #[test]
    fn fills_bodies_behind_the_number_and_writes_their_lengths() {
        let check = |body, least: usize, begin: &[u8]| {
            let mut bytes = Vec::new();
            publish(&mut bytes, &Message { body, ..message(b"a/b") });
            let (packet, length) = next(&bytes).unwrap().unwrap();
            let Packet::Publish { payload, .. } = packet else { panic!("{packet:?}") };
            assert_eq!(length, bytes.len());
            assert!(payload.len() >= least && payload.len() < least + 100, "{}", payload.len());
            assert!(payload.starts_with(begin), "{}", String::from_utf8_lossy(payload));
            let text: serde_json::Value = serde_json::from_slice(payload).unwrap();
            assert!(text.get("value").is_some());
        };
        check(Body::Text(200), 200, b"{\"value\": \"17.0421 press");
        check(Body::Text(65_536), 65_536, b"{\"value\": \"17.0421 press");
        check(Body::Object(1_000), 1_000, b"{\"value\": {\"reading\": 17.0421, ");
        check(Body::Array(3), 30, b"{\"value\": [17.0421, 1.0421, 2.0421]");
    }

    #[test]
    fn a_publish_without_a_promise_has_no_packet_id() {
        let mut bytes = Vec::new();
        publish(&mut bytes, &Message { qos: Qos::AtMostOnce, ..message(b"a/b") });
        assert_eq!(bytes, b"\x30\x18\0\x03a/b\0{\"value\": 17.0421}");
    }

    #[test]
    fn sends_correlation_data_that_a_verdict_brings_back() {
        let mut bytes = Vec::new();
        publish(&mut bytes, &Message { verdict: Some((b"v/c", 123_456_789)), ..message(b"a/b") });
        let (packet, length) = next(&bytes).unwrap().unwrap();
        assert_eq!(length, bytes.len());
        let expected = Packet::Publish {
            topic: b"a/b",
            packet_id: Some(7),
            correlation: Some(123_456_789),
            payload: b"{\"value\": 17.0421}",
        };
        assert_eq!(packet, expected);
    }

    #[test]
    fn reads_answers_and_waits_for_the_rest_of_a_packet() {
        let check = |bytes: &[u8], expected| assert_eq!(next(bytes), Ok(expected), "{bytes:?}");
        check(b"\x40\x02\0\x05\x40", Some((Packet::Puback { packet_id: 5, reason: 0 }, 4)));
        check(b"\x40\x03\0\x05\x87", Some((Packet::Puback { packet_id: 5, reason: 0x87 }, 5)));
        check(b"\x20\x03\0\x86\0", Some((Packet::Connack { reason: 0x86 }, 5)));
        check(b"\x90\x04\0\x01\0\x80", Some((Packet::Suback { reason: 0x80 }, 6)));
        check(b"\xe0\x00", Some((Packet::Disconnect { reason: 0 }, 2)));
        check(b"\x40\x02\0", None);
        check(b"", None);
        assert_eq!(next(b"\x40\xff\xff\xff\xff"), Err(Malformed));
        assert_eq!(next(b"\x40\x01\0"), Err(Malformed));
    }

    #[test]
    fn values_are_unique_and_survive_a_round_through_text() {
        assert_eq!(value_of(17, 421), 17.0421);
        assert_eq!(value_of(0, 0), 0.0);
        assert_ne!(value_of(200_000_000, 1), value_of(200_000_000, 2));
        assert_eq!(value_of(200_000_000, 9_999).to_string(), "200000000.9999");
    }

    #[test]
    fn builds_a_connect_with_and_without_a_secret() {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        connect(&mut with, "d1", Some(("u", "s")));
        connect(&mut without, "d1", None);
        assert_eq!(without, b"\x10\x0f\0\x04MQTT\x05\x02\x01\x2c\0\0\x02d1");
        assert_eq!(with[9], 0b1100_0010);
        assert_eq!(with.len(), without.len() + 6);
    }
}
