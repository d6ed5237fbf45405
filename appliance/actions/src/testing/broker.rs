//! An MQTT broker that does what a test wants, for connections of the crate under test.
//!
//! **Invariants**: it never acknowledges, sends or closes but as its [`Manner`] says.

use super::Notes;
use super::server::{Server, serve};
use bytes::BytesMut;
use parking_lot::Mutex;
use rumqttc::mqttbytes::v4::{
    ConnAck, ConnectReturnCode, Packet, PubAck, PubComp, PubRec, PubRel, Publish, SubAck,
    SubscribeReasonCode,
};
use rumqttc::mqttbytes::{Error, QoS};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// How the broker behaves; may change while it runs.
#[derive(Debug, Default)]
pub(crate) struct Manner {
    pub(crate) is_silent: AtomicBool,
    pub(crate) refuses: AtomicBool,
    /// Closes after so many publishes, once.
    pub(crate) closes_after: AtomicUsize,
    /// What subscribers are sent, in order, as long as it is not acknowledged.
    pub(crate) outbox: Mutex<Vec<Publish>>,
}

pub(crate) async fn broker() -> (Server<Packet>, Arc<Manner>) {
    let manner = Arc::new(Manner::default());
    let shared = Arc::clone(&manner);
    let server = serve(move |stream: tokio::net::TcpStream, notes| {
        let manner = Arc::clone(&shared);
        async move { connection(stream, notes, &manner).await }
    })
    .await;
    (server, manner)
}

/// A message for subscribers.
pub(crate) fn message(id: u16, qos: QoS, topic: &str, payload: &str) -> Publish {
    let mut publish = Publish::new(topic, qos, payload);
    publish.pkid = id;
    publish
}

pub(super) async fn connection(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    notes: Notes<Packet>,
    manner: &Manner,
) -> Option<()> {
    let mut inbound = BytesMut::new();
    loop {
        let packet = loop {
            match Packet::read(&mut inbound, 2 << 20) {
                Ok(packet) => break packet,
                Err(Error::InsufficientBytes(_)) => {
                    if stream.read_buf(&mut inbound).await.ok()? == 0 {
                        return None;
                    }
                }
                Err(_) => return None,
            }
        };
        notes.lock().push(packet.clone());
        for answer in answers(packet, manner)? {
            let mut outbound = BytesMut::new();
            answer.write(&mut outbound, 2 << 20).ok()?;
            stream.write_all(&outbound).await.ok()?;
        }
    }
}

/// What is answered; `None` closes the connection.
fn answers(packet: Packet, manner: &Manner) -> Option<Vec<Packet>> {
    Some(match packet {
        Packet::Connect(_) if manner.refuses.load(Ordering::Relaxed) => {
            vec![Packet::ConnAck(ConnAck::new(ConnectReturnCode::BadUserNamePassword, false))]
        }
        Packet::Connect(connect) => {
            vec![Packet::ConnAck(ConnAck::new(ConnectReturnCode::Success, !connect.clean_session))]
        }
        Packet::Publish(publish) => {
            let left = manner.closes_after.load(Ordering::Relaxed);
            if left > 0 {
                manner.closes_after.store(left - 1, Ordering::Relaxed);
                if left == 1 {
                    return None;
                }
            }
            match publish.qos {
                _ if manner.is_silent.load(Ordering::Relaxed) => Vec::new(),
                QoS::AtMostOnce => Vec::new(),
                QoS::AtLeastOnce => vec![Packet::PubAck(PubAck::new(publish.pkid))],
                QoS::ExactlyOnce => vec![Packet::PubRec(PubRec::new(publish.pkid))],
            }
        }
        Packet::PubRel(release) => vec![Packet::PubComp(PubComp::new(release.pkid))],
        Packet::Subscribe(subscribe) => {
            let codes = subscribe.filters.iter();
            let codes = codes.map(|filter| SubscribeReasonCode::Success(filter.qos)).collect();
            let ack = Packet::SubAck(SubAck::new(subscribe.pkid, codes));
            let waiting =
                manner.outbox.lock().iter().cloned().map(Packet::Publish).collect::<Vec<_>>();
            std::iter::once(ack).chain(waiting).collect()
        }
        Packet::PubAck(ack) => {
            manner.outbox.lock().retain(|publish| publish.pkid != ack.pkid);
            Vec::new()
        }
        Packet::PubRec(received) => {
            manner.outbox.lock().retain(|publish| publish.pkid != received.pkid);
            vec![Packet::PubRel(PubRel::new(received.pkid))]
        }
        Packet::PingReq => vec![Packet::PingResp],
        Packet::Disconnect => return None,
        _ => Vec::new(),
    })
}
