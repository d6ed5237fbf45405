//! A device at the other end of the socket, and the packets that it sends.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::DEADLINE;
use crate::codec::wire::put_variable;

pub(super) struct Device {
    pub(super) stream: TcpStream,
    read: Vec<u8>,
}

impl Device {
    pub(super) async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, read: Vec::new() }
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// The next packet: first byte and body.
    pub(super) async fn packet(&mut self) -> (u8, Vec<u8>) {
        match self.packet_or_end().await {
            Some(packet) => packet,
            None => panic!("the broker closed instead of answering"),
        }
    }

    /// The next packet, `None` when the broker closed.
    pub(super) async fn packet_or_end(&mut self) -> Option<(u8, Vec<u8>)> {
        loop {
            if let Some((header, body, total)) = split(&self.read) {
                self.read.drain(..total);
                return Some((header, body));
            }
            let mut bytes = [0; 4096];
            let read = tokio::time::timeout(DEADLINE, self.stream.read(&mut bytes)).await;
            match read.expect("no packet within the deadline") {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.read.extend_from_slice(&bytes[..count]),
            }
        }
    }

    /// What one `read` of the socket gives.
    pub(super) async fn one_read(&mut self) -> Vec<u8> {
        assert!(self.read.is_empty());
        let mut bytes = vec![0; 65_536];
        let read = tokio::time::timeout(DEADLINE, self.stream.read(&mut bytes)).await;
        let count = read.expect("no bytes within the deadline").unwrap();
        bytes.truncate(count);
        bytes
    }

    /// Sends a PINGREQ and waits for its answer: everything before is handled then.
    pub(super) async fn ping(&mut self) {
        self.send(&[0xc0, 0]).await;
        assert_eq!(self.packet().await, (0xd0, vec![]));
    }

    /// The broker says DISCONNECT with this code, then closes.
    pub(super) async fn expect_disconnect(&mut self, code: u8) {
        let (header, body) = self.packet().await;
        assert_eq!((header, body.first()), (0xe0, Some(&code)), "{body:02x?}");
        self.expect_end().await;
    }

    pub(super) async fn expect_end(&mut self) {
        let packet = self.packet_or_end().await;
        assert!(packet.is_none(), "{packet:02x?} instead of the end");
    }

    /// Subscribes; the codes of the answer.
    pub(super) async fn subscribe(&mut self, filter: &str, options: u8) -> Vec<u8> {
        self.send(&subscribe5(7, filter, options)).await;
        let (header, body) = self.packet().await;
        assert_eq!((header, &body[..3]), (0x90, &[0, 7, 0][..]));
        body[3..].to_vec()
    }
}

fn split(bytes: &[u8]) -> Option<(u8, Vec<u8>, usize)> {
    let header = *bytes.first()?;
    let mut length = 0usize;
    for (place, byte) in bytes.iter().skip(1).take(4).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            let start = 2 + place;
            let body = bytes.get(start..start + length)?.to_vec();
            return Some((header, body, start + length));
        }
    }
    None
}

pub(super) fn packet(header: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![header];
    put_variable(&mut out, body.len());
    out.extend_from_slice(body);
    out
}

/// A string or binary data with its length.
pub(super) fn text(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    let mut out = u16::try_from(bytes.len()).unwrap().to_be_bytes().to_vec();
    out.extend_from_slice(bytes);
    out
}

pub(super) fn section(properties: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_variable(&mut out, properties.len());
    out.extend_from_slice(properties);
    out
}

pub(super) fn connect5(mqtt_id: &str, user: &str, password: &[u8]) -> Vec<u8> {
    connect5_with(mqtt_id.as_bytes(), user, password, 0, &[])
}

pub(super) fn connect5_with(
    mqtt_id: &[u8],
    user: &str,
    password: &[u8],
    keep_alive: u16,
    properties: &[u8],
) -> Vec<u8> {
    let mut body = [&text("MQTT")[..], &[5, 0xc2]].concat();
    body.extend_from_slice(&keep_alive.to_be_bytes());
    body.extend(section(properties));
    body.extend(text(mqtt_id));
    body.extend(text(user));
    body.extend(text(password));
    packet(0x10, &body)
}

pub(super) fn connect4(mqtt_id: &str, user: &str, password: &[u8]) -> Vec<u8> {
    let head = [&text("MQTT")[..], &[4, 0xc2, 0, 0]].concat();
    packet(0x10, &[head, text(mqtt_id), text(user), text(password)].concat())
}

pub(super) fn publish5(topic: &str, packet_id: u16, payload: &[u8]) -> Vec<u8> {
    publish5_with(topic, packet_id, &[], payload)
}

pub(super) fn publish5_with(
    topic: &str,
    packet_id: u16,
    properties: &[u8],
    payload: &[u8],
) -> Vec<u8> {
    let mut body = text(topic);
    if packet_id != 0 {
        body.extend_from_slice(&packet_id.to_be_bytes());
    }
    body.extend(section(properties));
    body.extend_from_slice(payload);
    packet(if packet_id == 0 { 0x30 } else { 0x32 }, &body)
}

pub(super) fn publish4(topic: &str, packet_id: u16, payload: &[u8]) -> Vec<u8> {
    let mut body = text(topic);
    if packet_id != 0 {
        body.extend_from_slice(&packet_id.to_be_bytes());
    }
    body.extend_from_slice(payload);
    packet(if packet_id == 0 { 0x30 } else { 0x32 }, &body)
}

pub(super) fn subscribe5(packet_id: u16, filter: &str, options: u8) -> Vec<u8> {
    let mut body = packet_id.to_be_bytes().to_vec();
    body.push(0);
    body.extend(text(filter));
    body.push(options);
    packet(0x82, &body)
}

pub(super) fn inbox(client: &str, path: &str) -> String {
    format!("mr/v1/main/_ingress/{client}/{path}")
}
