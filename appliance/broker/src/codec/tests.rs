//! The codec alone: round trips, and that no bytes make it panic.

use proptest::prelude::*;

use super::frame::kind;
use super::*;

const LIMITS: FrameLimits =
    FrameLimits { publish_bytes_max: 70_000, control_bytes_max: 70_000, version: Version::V5 };

/// Reads whatever stands at the front as whatever it says it is.
fn decode_anything(bytes: &[u8], version: Version) {
    let limits = FrameLimits { version, ..LIMITS };
    let Ok(Frame::Whole { header, body, total }) = frame(bytes, limits) else { return };
    assert!(total <= bytes.len());
    match header >> 4 {
        kind::CONNECT => drop(Connect::decode(body)),
        kind::PUBLISH => {
            if let Ok(publish) = Publish::decode(header, body, version) {
                assert!(!publish.topic.contains(['+', '#', '\0']));
                assert!(publish.qos == 0 || publish.packet_id != 0);
                assert!(!publish.topic.is_empty() || publish.alias.is_some());
            }
        }
        kind::PUBACK => drop(acknowledgement::decode_puback(body, version)),
        kind::SUBSCRIBE => drop(Subscribe::decode(body, version)),
        kind::UNSUBSCRIBE => drop(Unsubscribe::decode(body, version)),
        kind::DISCONNECT => drop(acknowledgement::decode_disconnect(body, version)),
        _ => {}
    }
}

fn version() -> impl Strategy<Value = Version> {
    prop_oneof![Just(Version::V311), Just(Version::V5)]
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        header in any::<u8>(),
        body in proptest::collection::vec(any::<u8>(), 0..200),
        version in version(),
    ) {
        let mut bytes = vec![header];
        wire::put_variable(&mut bytes, body.len());
        bytes.extend(&body);
        decode_anything(&bytes, version);
        decode_anything(&body, version);
    }

    #[test]
    fn no_flipped_bytes_make_it_panic(
        flips in proptest::collection::vec((0usize..120, any::<u8>()), 1..6),
    ) {
        let mut connect = vec![0x10, 46, 0, 4, b'M', b'Q', b'T', b'T', 5, 0xc6, 0, 9, 3, 0x21, 0, 9];
        connect.extend(b"\0\x02id\0\0\x04will\0\x03bye\0\x05press\0\x06secret");
        let mut publish = Vec::new();
        let outgoing = Outgoing {
            topic: "mr/v1/main/x",
            payload: b"42",
            packet_id: Some(7),
            correlation: Some(b"c"),
        };
        outgoing.encode(Version::V5, &mut publish);
        for mut bytes in [connect, publish] {
            for (place, byte) in &flips {
                let place = place % bytes.len();
                bytes[place] = *byte;
            }
            decode_anything(&bytes, Version::V5);
        }
    }

    #[test]
    fn publish_comes_back_as_it_went(
        topic in "[a-z0-9/$_ äöü]{1,60}",
        payload in proptest::collection::vec(any::<u8>(), 0..300),
        packet_id in proptest::option::of(1u16..),
        correlation in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..40)),
        version in version(),
    ) {
        let correlation = correlation.filter(|_| version == Version::V5);
        let sent = Outgoing {
            topic: &topic,
            payload: &payload,
            packet_id,
            correlation: correlation.as_deref(),
        };
        let mut bytes = Vec::new();
        sent.encode(version, &mut bytes);
        prop_assert_eq!(bytes.len(), sent.packet_bytes(version));
        let Ok(Frame::Whole { header, body, total }) = frame(&bytes, LIMITS) else {
            return Err(TestCaseError::fail("not whole"));
        };
        prop_assert_eq!(total, bytes.len());
        let got = Publish::decode(header, body, version).unwrap();
        prop_assert_eq!(got.topic, &topic);
        prop_assert_eq!(got.payload, &payload[..]);
        prop_assert_eq!(got.packet_id, packet_id.unwrap_or(0));
        prop_assert_eq!(got.correlation, correlation.as_deref());
        // Each front of it is unfinished, never something else.
        for cut in 0..bytes.len() {
            let unfinished = matches!(frame(&bytes[..cut], LIMITS), Ok(Frame::Unfinished(_)));
            prop_assert!(unfinished);
        }
    }

    #[test]
    fn variable_integers_come_back(number in 0usize..=268_435_455) {
        let mut bytes = Vec::new();
        wire::put_variable(&mut bytes, number);
        prop_assert_eq!(bytes.len(), wire::variable_bytes(number));
        let got = wire::Reader::new(&bytes).variable().unwrap();
        prop_assert_eq!(got as usize, number);
    }

    #[test]
    fn pubacks_come_back(packet_id in 1u16.., code in any::<u8>(), text in ".{0,80}") {
        let mut bytes = Vec::new();
        encode_puback(Version::V5, packet_id, code, Some(&text), usize::MAX, &mut bytes);
        let Ok(Frame::Whole { body, .. }) = frame(&bytes, LIMITS) else {
            return Err(TestCaseError::fail("not whole"));
        };
        prop_assert_eq!(acknowledgement::decode_puback(body, Version::V5), Ok(packet_id));
    }
}

#[test]
fn an_old_clients_padded_length_is_taken_and_a_new_ones_is_not() {
    let bytes = [0xc0, 0x80, 0x00];
    let old = FrameLimits { version: Version::V311, ..LIMITS };
    assert_eq!(frame(&bytes, old), Ok(Frame::Whole { header: 0xc0, body: &[], total: 3 }));
    assert_eq!(frame(&bytes, LIMITS).unwrap_err().code, reason::MALFORMED_PACKET);
}

#[test]
fn a_reason_string_never_exceeds_the_clients_packet_size() {
    for bytes_max in 4..60 {
        let mut out = Vec::new();
        encode_puback(Version::V5, 1, 0x97, Some("over the rate limit"), bytes_max, &mut out);
        assert!(out.len() <= bytes_max.max(5), "{bytes_max}: {}", out.len());
        let mut out = Vec::new();
        encode_disconnect(0x97, Some("over the rate limit"), bytes_max, &mut out);
        assert!(out.len() <= bytes_max.max(3), "{bytes_max}: {}", out.len());
    }
}

#[test]
fn a_string_is_cut_between_characters() {
    assert_eq!(wire::shorten("aäb", 2), "a");
    assert_eq!(wire::shorten("aäb", 3), "aä");
    assert_eq!(wire::shorten("aäb", 9), "aäb");
}
