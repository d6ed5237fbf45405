//! What no client may send, and the reason code that it gets for it.
//!
//! Goal: every rule of the standard that this broker holds to, in one table; method: one socket a
//! row, the crafted bytes, the answer, and afterwards a well-behaved client that still works.

use super::device::{
    connect4, connect5, connect5_with, inbox, packet, publish5, publish5_with, section, subscribe5,
    text,
};
use super::*;

/// How a row ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// CONNACK with this code, then closed.
    Connack(u8),
    /// DISCONNECT with this code, then closed.
    Disconnect(u8),
    /// Closed without a word.
    Silence,
    /// Answered (first byte, code at this place of the body); the connection lives.
    Answer(u8, usize, u8),
}
use End::{Answer, Connack, Disconnect, Silence};

async fn check(stand: &Stand, rows: Vec<(&str, Vec<u8>, End)>, is_signed_in: bool) {
    for (what, bytes, end) in rows {
        let mut device =
            if is_signed_in { stand.device("press").await } else { stand.socket().await };
        // The broker may have closed before everything is sent: that is no failure.
        let _sent = tokio::io::AsyncWriteExt::write_all(&mut device.stream, &bytes).await;
        let answer = device.packet_or_end().await;
        match (end, &answer) {
            (Connack(code), Some((0x20, body))) => assert_eq!(body[1], code, "{what}"),
            (Disconnect(code), Some((0xe0, body))) => assert_eq!(body[0], code, "{what}"),
            (Silence, None) => continue,
            (Answer(header, place, code), Some((got, body))) if header == *got => {
                assert_eq!(body.get(place), Some(&code), "{what}: {body:02x?}");
                device.ping().await;
                continue;
            }
            _ => panic!("{what}: {answer:02x?} instead of {end:?}"),
        }
        device.expect_end().await;
    }
    stand.device("well-behaved").await.ping().await;
}

fn connect_body(flags: u8, level: u8, rest: &[Vec<u8>]) -> Vec<u8> {
    let head = [&text("MQTT")[..], &[level, flags, 0, 0]].concat();
    packet(0x10, &[head, rest.concat()].concat())
}

fn connect_properties(properties: &[u8]) -> Vec<u8> {
    connect5_with(b"x", "press", b"secret", 0, properties)
}

#[tokio::test]
async fn refuses_bad_connects_with_the_standards_code() {
    let stand = stand().await;
    let empty = || section(&[]);
    let user_properties = |count: usize| [0x26, 0, 0, 0, 0].repeat(count);
    let rows = vec![
        ("garbage", vec![0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 0], Silence),
        ("HTTP", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(), Silence),
        ("TLS hello on the plain port", vec![0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc], Silence),
        ("type 0", vec![0x00, 0], Silence),
        ("PUBLISH first", publish5("a", 0, b"1"), Silence),
        ("PINGREQ first", vec![0xc0, 0], Silence),
        ("reserved flag in CONNECT's first byte", vec![0x11, 0], Silence),
        ("five length bytes", vec![0x10, 0xff, 0xff, 0xff, 0xff, 0x7f], Silence),
        ("huge announced length", vec![0x10, 0xff, 0xff, 0xff, 0x7f], Silence),
        ("64 KiB and one byte announced", vec![0x10, 0xff, 0xff, 0x03], Silence),
        ("protocol name", packet(0x10, &[text("MQTX"), vec![4, 2, 0, 0, 0, 0]].concat()), Silence),
        ("empty CONNECT", vec![0x10, 0], Silence),
        ("level 3", packet(0x10, &[text("MQIsdp"), vec![3, 2, 0, 0, 0, 0]].concat()), Connack(1)),
        ("level 6", connect_body(2, 6, &[empty(), text("x")]), Connack(0x84)),
        ("reserved connect flag", connect_body(3, 5, &[empty(), text("x")]), Connack(0x81)),
        ("reserved connect flag, 3.1.1", connect_body(3, 4, &[text("x")]), Silence),
        ("will QoS 3", connect_body(0x1e, 5, &[empty(), text("x")]), Connack(0x81)),
        ("will flags without a will", connect_body(0x22, 5, &[empty(), text("x")]), Connack(0x81)),
        ("password without user, 3.1.1", connect_body(0x42, 4, &[text("x"), text("p")]), Silence),
        ("cut off", connect_body(0xc2, 5, &[empty(), text("x")]), Connack(0x81)),
        ("bytes after it", connect_body(2, 5, &[empty(), text("x"), vec![0]]), Connack(0x81)),
        ("id with NUL", connect5("ab\0c", "press", b"secret"), Connack(0x81)),
        ("id not UTF-8", connect5_with(b"ab\xff\xfe", "press", b"secret", 0, &[]), Connack(0x81)),
        ("id not UTF-8, 3.1.1", connect_body(2, 4, &[text(b"ab\xff\xfe")]), Silence),
        ("id too long", connect5(&"x".repeat(257), "press", b"secret"), Connack(0x85)),
        ("id empty, not clean, 3.1.1", connect_body(0x80, 4, &[text(""), text("u")]), Connack(2)),
        ("receive maximum 0", connect_properties(&[0x21, 0, 0]), Connack(0x82)),
        ("receive maximum twice", connect_properties(&[0x21, 0, 1, 0x21, 0, 1]), Connack(0x82)),
        ("maximum packet size 0", connect_properties(&[0x27, 0, 0, 0, 0]), Connack(0x82)),
        ("problem information 2", connect_properties(&[0x17, 2]), Connack(0x82)),
        ("a PUBLISH's property", connect_properties(&[0x23, 0, 1]), Connack(0x81)),
        ("unknown property", connect_properties(&[0x7f, 0]), Connack(0x81)),
        ("authentication data alone", connect_properties(&[0x16, 0, 0]), Connack(0x82)),
        ("maximum packet size of 20", connect_properties(&[0x27, 0, 0, 0, 20]), Connack(0x83)),
        ("enhanced authentication", connect_properties(&[0x15, 0, 1, b'x']), Connack(0x8c)),
        ("11 user properties", connect_properties(&user_properties(11)), Connack(0x97)),
        ("50,000 user properties", connect_properties(&user_properties(50_000)), Silence),
        (
            "will",
            connect_body(
                0xc6,
                5,
                &[empty(), text("x"), empty(), text("t"), text("w"), text("press"), text("secret")],
            ),
            Connack(0x83),
        ),
        (
            "will, 3.1.1",
            connect_body(0xc6, 4, &["x", "t", "w", "press", "secret"].map(text)),
            Connack(3),
        ),
        ("will with a wildcard", connect_body(6, 4, &["x", "#", "w"].map(text)), Silence),
        ("no user", connect_body(2, 5, &[empty(), text("x")]), Connack(0x87)),
        ("no user, 3.1.1", connect_body(2, 4, &[text("x")]), Connack(5)),
        ("wrong secret", connect5("x", "press", b"wrong"), Connack(0x86)),
        ("wrong secret, 3.1.1", connect4("x", "press", b"wrong"), Connack(4)),
        ("revoked", connect5("x", "revoked", b"secret"), Connack(0x87)),
        ("barred, 3.1.1", connect4("x", "barred", b"secret"), Connack(5)),
        ("too many attempts", connect5("x", "hasty", b"secret"), Connack(0x9f)),
        ("too many attempts, 3.1.1", connect4("x", "hasty", b"secret"), Connack(3)),
    ];
    let count = rows.len() as u64;
    check(&stand, rows, false).await;
    let refused: u64 = stand.broker.stats().refused_connects.iter().sum();
    assert_eq!(refused, count, "each is counted");
    assert_eq!(stand.plant.offered(), 0);
}

#[expect(clippy::too_many_lines, reason = "one table, a line for each rule")]
#[tokio::test]
async fn ends_or_answers_bad_packets_with_the_standards_code() {
    let stand = stand().await;
    stand.plant.state.lock().is_prompt = true;
    let own = inbox("press", "t");
    let raw = |header: u8, parts: &[Vec<u8>]| packet(header, &parts.concat());
    let properties = |bytes: &[u8]| publish5_with(&own, 1, bytes, b"1");
    let filter = |parts: &[Vec<u8>]| packet(0x82, &parts.concat());
    let rows = vec![
        ("PUBLISH ends after the topic", raw(0x32, &[text("plant/a")]), Disconnect(0x81)),
        ("PUBLISH without properties", raw(0x32, &[text("a"), vec![0, 1]]), Disconnect(0x81)),
        ("topic longer than the packet", raw(0x30, &[vec![0, 9, b'a']]), Disconnect(0x81)),
        ("topic not UTF-8", raw(0x30, &[text(b"pla\xff"), vec![0]]), Disconnect(0x81)),
        ("topic with a surrogate", raw(0x30, &[text(b"\xed\xa0\x80"), vec![0]]), Disconnect(0x81)),
        ("topic overlong UTF-8", raw(0x30, &[text(b"\xc0\x80"), vec![0]]), Disconnect(0x81)),
        ("topic with NUL", raw(0x30, &[text("a\0b"), vec![0]]), Disconnect(0x81)),
        ("topic with +", publish5("mr/+/x", 1, b"1"), Disconnect(0x90)),
        ("topic with #", publish5("mr/v1/#", 0, b"1"), Disconnect(0x90)),
        ("empty topic, no alias", publish5("", 1, b"1"), Disconnect(0x82)),
        ("packet id 0", raw(0x32, &[text(&own), vec![0, 0, 0]]), Disconnect(0x82)),
        ("QoS 3", raw(0x36, &[text(&own), vec![0, 1, 0]]), Disconnect(0x81)),
        ("QoS 2", raw(0x34, &[text(&own), vec![0, 1, 0]]), Disconnect(0x9b)),
        ("DUP at QoS 0", raw(0x38, &[text(&own), vec![0]]), Disconnect(0x81)),
        ("retain", raw(0x33, &[text(&own), vec![0, 1, 0]]), Disconnect(0x9a)),
        ("alias 0", properties(&[0x23, 0, 0]), Disconnect(0x94)),
        ("alias above the maximum", properties(&[0x23, 0xff, 0xff]), Disconnect(0x94)),
        ("alias one above", properties(&[0x23, 0, 33]), Disconnect(0x94)),
        ("alias not set", publish5_with("", 1, &[0x23, 0, 5], b"1"), Disconnect(0x82)),
        ("alias twice", properties(&[0x23, 0, 1, 0x23, 0, 1]), Disconnect(0x82)),
        ("property of CONNECT", properties(&[0x21, 0, 1]), Disconnect(0x81)),
        ("subscription id from a client", properties(&[0x0b, 1]), Disconnect(0x81)),
        ("payload format 2", properties(&[0x01, 2]), Disconnect(0x82)),
        ("property cut off", properties(&[0x02, 0, 0]), Disconnect(0x81)),
        (
            "response topic with a wildcard",
            properties(&[&[8][..], &text("a/#")].concat()),
            Disconnect(0x82),
        ),
        (
            "property length beyond the packet",
            raw(0x30, &[text("a"), vec![0x7f]]),
            Disconnect(0x81),
        ),
        ("property length too long", raw(0x30, &[text("a"), vec![0x80, 0]]), Disconnect(0x81)),
        ("length not shortest", vec![0xc0, 0x80, 0x00], Disconnect(0x81)),
        ("five length bytes", vec![0x30, 0xff, 0xff, 0xff, 0xff, 1], Disconnect(0x81)),
        ("huge announced PUBLISH", vec![0x30, 0xff, 0xff, 0xff, 0x7f], Disconnect(0x95)),
        ("huge announced SUBSCRIBE", vec![0x82, 0xff, 0xff, 0xff, 0x7f], Disconnect(0x95)),
        ("SUBSCRIBE without options", filter(&[vec![0, 1, 0], text("plant/a")]), Disconnect(0x81)),
        ("SUBSCRIBE id 0", filter(&[vec![0, 0, 0], text("a"), vec![0]]), Disconnect(0x82)),
        ("SUBSCRIBE without filters", filter(&[vec![0, 1, 0]]), Disconnect(0x82)),
        ("SUBSCRIBE flags", packet(0x80, &[0, 1, 0, 0, 1, b'a', 0]), Disconnect(0x81)),
        ("reserved options", subscribe5(1, "a", 0x40), Disconnect(0x81)),
        ("subscribe QoS 3", subscribe5(1, "a", 3), Disconnect(0x81)),
        ("retain handling 3", subscribe5(1, "a", 0x30), Disconnect(0x82)),
        ("no-local on $share", subscribe5(1, "$share/g/a", 4), Disconnect(0x82)),
        ("filter with NUL", subscribe5(1, "a\0", 0), Disconnect(0x81)),
        (
            "subscription identifier",
            filter(&[vec![0, 1, 2, 0x0b, 1], text("a"), vec![0]]),
            Disconnect(0xa1),
        ),
        ("$share", subscribe5(1, "$share/g/mr/v1/main/press/#", 0), Answer(0x90, 3, 0x9e)),
        ("misplaced wildcard", subscribe5(1, "mr/v1/main/press/a#", 0), Answer(0x90, 3, 0x8f)),
        ("empty filter", subscribe5(1, "", 0), Answer(0x90, 3, 0x8f)),
        ("everything", subscribe5(1, "#", 0), Answer(0x90, 3, 0x87)),
        ("whole workspace", subscribe5(1, "mr/v1/main/#", 0), Answer(0x90, 3, 0x87)),
        ("other workspace", subscribe5(1, "mr/v1/other/press/#", 0), Answer(0x90, 3, 0x87)),
        ("other's verdicts", subscribe5(1, "mr/v1/main/_verdict/b", 0), Answer(0x90, 3, 0x87)),
        ("all verdicts", subscribe5(1, "mr/v1/main/_verdict/+", 0), Answer(0x90, 3, 0x87)),
        ("an inbox", subscribe5(1, "mr/v1/main/_ingress/press/#", 0), Answer(0x90, 3, 0x87)),
        ("plain topic", subscribe5(1, "factory/#", 0), Answer(0x90, 3, 0x83)),
        ("QoS 2 is granted as 1", subscribe5(1, "mr/v1/main/press/#", 2), Answer(0x90, 3, 1)),
        (
            "UNSUBSCRIBE of what is not there",
            packet(0xa2, &[0, 1, 0, 0, 1, b'a']),
            Answer(0xb0, 3, 0x11),
        ),
        ("UNSUBSCRIBE without filters", packet(0xa2, &[0, 1, 0]), Disconnect(0x82)),
        ("PUBACK id 0", vec![0x40, 2, 0, 0], Disconnect(0x82)),
        ("PUBACK cut off", vec![0x40, 1, 0], Disconnect(0x81)),
        ("PUBREL", vec![0x62, 2, 0, 1], Disconnect(0x82)),
        ("PUBREL flags", vec![0x60, 2, 0, 1], Disconnect(0x81)),
        ("CONNACK from a client", vec![0x20, 2, 0, 0], Disconnect(0x82)),
        ("PINGREQ with a body", vec![0xc0, 1, 0], Disconnect(0x81)),
        ("AUTH", vec![0xf0, 0], Disconnect(0x82)),
        ("second CONNECT", connect5("x", "press", b"secret"), Disconnect(0x82)),
        ("DISCONNECT with bytes after it", vec![0xe0, 3, 0, 0, 1], Disconnect(0x81)),
        ("DISCONNECT", vec![0xe0, 0], Silence),
        ("stray PUBACK is ignored", vec![0x40, 2, 0, 9, 0xc0, 0, 0xc0, 0], Answer(0xd0, 0, 0)),
    ];
    // A PINGRESP has no body to look into.
    let (pings, rows): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|(_, _, end)| matches!(end, Answer(0xd0, ..)));
    check(&stand, rows, true).await;
    for (what, bytes, _) in pings {
        let mut device = stand.device("press").await;
        device.send(&bytes).await;
        assert_eq!(device.packet().await, (0xd0, vec![]), "{what}");
    }
    assert_eq!(stand.plant.offered(), 0);
    assert!(stand.broker.stats().protocol_faults > 40);
}

#[tokio::test]
async fn old_clients_are_closed_without_a_word_or_told_0x80() {
    let stand = stand().await;
    for bytes in [
        packet(0x34, &[text(inbox("press", "t")), vec![0, 1]].concat()),
        packet(0x30, &text("a/+")),
        packet(0x82, &[&[0, 1][..], &text("a"), &[4]].concat()),
    ] {
        let mut device = stand.old_device("press").await;
        device.send(&bytes).await;
        device.expect_end().await;
    }
    let mut device = stand.old_device("press").await;
    device.send(&packet(0x82, &[&[0, 1][..], &text("#"), &[0]].concat())).await;
    assert_eq!(device.packet().await, (0x90, vec![0, 1, 0x80]));
}

#[tokio::test]
async fn twenty_huge_announcements_hold_no_memory() {
    let stand = stand().await;
    let mut devices = Vec::new();
    for number in 0..20 {
        let mut device = stand.device(&format!("d{number}")).await;
        // 4 MiB announced and allowed, three bytes sent.
        device.send(&[0x30, 0xf0, 0xff, 0xff, 0x01, 0, 1, b'a']).await;
        devices.push(device);
    }
    stand.device("well-behaved").await.ping().await;
    let held = stand.broker.shared().unfinished_bytes.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(held, 0);
}
