//! What decoding one QoS 1 PUBLISH and encoding its PUBACK costs.
//!
//! The method of the codec comparison in docs/decisions/0003-mqtt-codec.md: topic of 52 bytes,
//! payload `{"value": 42.7}`, 64 packets in one buffer; the best of many rounds counts, each short
//! enough to fit between two interruptions.
//! Run with `cargo bench -p millrace-broker --bench codec`.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::hint::black_box;
use std::time::Instant;

use millrace_broker::codec::{
    Frame, FrameLimits, Publish, Version, encode_puback, frame, reason, wire,
};

const PACKETS: usize = 64;
const ROUNDS: usize = 501;
const REPEATS: usize = 200;
const LIMITS: FrameLimits =
    FrameLimits { publish_bytes_max: 4 << 20, control_bytes_max: 4 << 20, version: Version::V5 };

fn main() {
    let topic = format!("mr/v1/main/_ingress/{}/press/temperature", "d".repeat(52 - 38));
    assert_eq!(topic.len(), 52);
    measure("no properties", &topic, &[]);
    let three = [&[0x01, 1][..], &[0x02, 0, 0, 0, 60], &[0x26, 0, 1, b'k', 0, 1, b'v']].concat();
    measure("three properties", &topic, &three);
}

fn measure(name: &str, topic: &str, properties: &[u8]) {
    let mut input = Vec::new();
    for packet_id in 1..=PACKETS {
        let mut body = Vec::new();
        wire::put_string(&mut body, topic);
        body.extend_from_slice(&u16::try_from(packet_id).unwrap_or(1).to_be_bytes());
        wire::put_variable(&mut body, properties.len());
        body.extend_from_slice(properties);
        body.extend_from_slice(br#"{"value": 42.7}"#);
        input.push(0x32);
        wire::put_variable(&mut input, body.len());
        input.extend_from_slice(&body);
    }
    let mut out = Vec::with_capacity(PACKETS * 8);
    let mut best_ns = f64::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..REPEATS {
            out.clear();
            answer_all(black_box(&input), &mut out);
            black_box(&out);
        }
        let count = f64::from(u32::try_from(PACKETS * REPEATS).unwrap_or(u32::MAX));
        best_ns = best_ns.min(start.elapsed().as_secs_f64() * 1e9 / count);
    }
    assert_eq!(out.len(), PACKETS * 4);
    println!("{name}: {best_ns:.1} ns a PUBLISH and its PUBACK");
}

fn answer_all(mut input: &[u8], out: &mut Vec<u8>) {
    while let Ok(Frame::Whole { header, body, total }) = frame(input, LIMITS) {
        if let Ok(publish) = Publish::decode(header, body, Version::V5) {
            black_box((publish.topic, publish.payload));
            encode_puback(Version::V5, publish.packet_id, reason::SUCCESS, None, usize::MAX, out);
        }
        input = input.get(total..).unwrap_or_default();
    }
}
