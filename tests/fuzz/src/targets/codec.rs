//! The MQTT codec: a stream of packets, and CONNECT by itself.
//!
//! **Invariants** held: a packet lies within the bytes given; the same packet cut short is
//! unfinished, never something else; a PUBLISH that is read is written and read as the same one.

use super::ensure;
use crate::runner::Target;
use millrace_broker::codec::frame::{Frame, FrameLimits, frame, kind};
use millrace_broker::codec::{
    Connect, Outgoing, Publish, Subscribe, Unsubscribe, Version, acknowledgement,
};
use millrace_model::limits::PACKET_BYTES_MAX;

pub(super) const STREAM: Target = Target {
    name: "codec_stream",
    corpus: streams,
    words: &[
        b"\x30",
        b"\x32\x09",
        b"\x3d",
        b"\x40\x02",
        b"\x82",
        b"\xa2",
        b"\xc0\x00",
        b"\xe0\x00",
        b"\xff\xff\xff\x7f",
        b"\x80\x80\x80\x80",
        b"\x00\x00",
        b"\x26\x00\x00\x00\x00",
        b"\x23\x00\x00",
        b"\x08\x00\x01a",
        b"\x09\x00\x01c",
        b"\xed\xa0\x80",
        b"\x01",
        b"\x0b\x01",
        b"plant/a",
        b"#",
        b"+",
    ],
    check: check_stream,
};

pub(super) const CONNECT: Target = Target {
    name: "codec_connect",
    corpus: connects,
    words: &[
        b"\x00\x04MQTT\x05",
        b"\x00\x04MQTT\x04",
        b"\x00\x06MQIsdp\x03",
        b"\xff",
        b"\x26\x00\x00\x00\x00",
        b"\x11\x00\x00\x00\x0a",
        b"\x21\x00\x00",
        b"\x27\x00\x00\x00\x00",
        b"\x15\x00\x01a",
        b"\x16\x00\x01a",
        b"\x00\x00",
        b"\xed\xa0\x80",
        b"\x00",
    ],
    check: check_connect,
};

const VERSIONS: [Version; 2] = [Version::V311, Version::V5];

fn streams() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = [
        &b"\xc0\x00\x40\x02\x00\x01\x40\x04\x00\x02\x10\x00\xe0\x00"[..],
        b"\x82\x0c\x00\x01\x00\x00\x07plant/a\x01".get(..14).unwrap_or_default(),
        b"\x82\x0e\x00\x01\x00\x00\x08plant/+a\x01",
        b"\xa2\x0b\x00\x02\x00\x07plant/a",
        b"\xa2\x0c\x00\x02\x00\x00\x07plant/a",
        b"\x32\x19\x00\x03a/b\x00\x09\x0d\x08\x00\x03r/t\x09\x00\x02cd\x23\x00\x0142",
        b"\xe0\x02\x04\x00",
    ]
    .map(<[u8]>::to_vec)
    .into();
    for version in VERSIONS {
        let mut bytes = Vec::new();
        for packet_id in [None, Some(7)] {
            let topic = "mr/v1/main/_ingress/c4/press-4/temperature";
            let correlation = (version == Version::V5).then_some(&b"id"[..]);
            Outgoing { topic, payload: b"{\"value\": 1}", packet_id, correlation }
                .encode(version, &mut bytes);
        }
        all.push(bytes);
    }
    all
}

fn check_stream(input: &[u8]) -> Result<(), String> {
    for version in VERSIONS {
        let limits = FrameLimits {
            publish_bytes_max: PACKET_BYTES_MAX,
            control_bytes_max: 64 * 1024,
            version,
        };
        let mut rest = input;
        while let Ok(Frame::Whole { header, body, total }) = frame(rest, limits) {
            ensure(
                total >= 2 && total <= rest.len() && body.len() < total,
                "a packet beyond its bytes",
            )?;
            let short = rest.get(..total - 1).unwrap_or_default();
            let is_unfinished = matches!(frame(short, limits), Ok(Frame::Unfinished(_)));
            ensure(is_unfinished, "a packet cut short is not unfinished")?;
            decode(header, body, version)?;
            rest = rest.get(total..).unwrap_or_default();
        }
    }
    Ok(())
}

fn decode(header: u8, body: &[u8], version: Version) -> Result<(), String> {
    match header >> 4 {
        kind::PUBLISH => {
            if let Ok(publish) = Publish::decode(header, body, version) {
                check_publish(&publish, version)?;
            }
        }
        kind::SUBSCRIBE => {
            if let Ok(subscribe) = Subscribe::decode(body, version) {
                ensure(!subscribe.items.is_empty(), "a SUBSCRIBE of nothing")?;
            }
        }
        kind::UNSUBSCRIBE => drop(Unsubscribe::decode(body, version)),
        kind::PUBACK => drop(acknowledgement::decode_puback(body, version)),
        kind::DISCONNECT => drop(acknowledgement::decode_disconnect(body, version)),
        kind::CONNECT => drop(Connect::decode(body)),
        _ => {}
    }
    Ok(())
}

fn check_publish(publish: &Publish<'_>, version: Version) -> Result<(), String> {
    ensure(
        publish.qos < 3 && (publish.qos == 0) == (publish.packet_id == 0),
        "a packet id or QoS",
    )?;
    ensure(!publish.topic.contains(['+', '#', '\0']), "a topic with a wildcard or NUL")?;
    if publish.topic.is_empty() {
        return ensure(publish.alias.is_some(), "neither topic nor alias");
    }
    let outgoing = Outgoing {
        topic: publish.topic,
        payload: publish.payload,
        packet_id: (publish.qos > 0).then_some(publish.packet_id),
        correlation: publish.correlation,
    };
    let mut bytes = Vec::new();
    outgoing.encode(version, &mut bytes);
    ensure(bytes.len() == outgoing.packet_bytes(version), "a wrong count of bytes")?;
    let limits = FrameLimits { publish_bytes_max: usize::MAX, control_bytes_max: 0, version };
    let Ok(Frame::Whole { header, body, .. }) = frame(&bytes, limits) else {
        return Err("a written PUBLISH is no packet".into());
    };
    let again = Publish::decode(header, body, version).map_err(|fault| fault.to_string())?;
    let is_same = again.topic == publish.topic
        && again.payload == publish.payload
        && again.packet_id == publish.packet_id
        && again.correlation == publish.correlation;
    ensure(is_same, "another PUBLISH")
}

fn connects() -> Vec<Vec<u8>> {
    [
        &b"\x00\x04MQTT\x04\xc2\x00\x3c\x00\x02c1\x00\x02c4\x00\x06secret"[..],
        b"\x00\x04MQTT\x05\xc2\x00\x3c\x00\x00\x02c1\x00\x02c4\x00\x06secret",
        b"\x00\x04MQTT\x05\x02\x00\x3c\x05\x11\x00\x00\x00\x0a\x00\x00",
        b"\x00\x04MQTT\x05\xce\x00\x3c\x0a\x21\x00\x0a\x27\x00\x00\x10\x00\x17\x00\x00\x02c1\x05\x18\x00\x00\x00\x01\x00\x01w\x00\x01m\x00\x02c4\x00\x01s",
        b"\x00\x04MQTT\x04\x02\x00\x00\x00\x00",
        b"\x00\x06MQIsdp\x03\x02\x00\x00\x00\x01a",
    ]
    .map(<[u8]>::to_vec)
    .into()
}

fn check_connect(input: &[u8]) -> Result<(), String> {
    let Ok(connect) = Connect::decode(input) else { return Ok(()) };
    let texts = [Some(&connect.client_id), connect.user.as_ref()];
    ensure(texts.into_iter().flatten().all(|text| !text.contains('\0')), "a text with NUL")?;
    ensure(connect.receive_maximum > 0 && connect.packet_bytes_max > 0, "a maximum of 0")
}
