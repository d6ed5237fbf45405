//! A device that speaks MQTT byte by byte (MQTT 5.0, chapters 2 and 3).

use crate::appliance::Credentials;
use crate::wait::LIMIT;
use anyhow::{Context as _, bail};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

/// A connected device.
#[derive(Debug)]
pub struct Device {
    stream: TcpStream,
    packet_id: u16,
    /// Protocol level: 5, or 4 for 3.1.1.
    level: u8,
}

/// A PUBLISH from the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub topic: String,
    /// The properties as they came.
    pub properties: Vec<u8>,
    pub payload: Vec<u8>,
}

/// A packet from the broker: its first byte and its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    pub first: u8,
    pub body: Vec<u8>,
}

/// What a PUBACK says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub packet_id: u16,
    pub reason: u8,
    pub text: String,
}

impl Device {
    /// Connects and signs in with MQTT 5.
    ///
    /// # Errors
    /// When the broker does not say yes.
    pub fn connect(
        address: SocketAddr,
        credentials: &Credentials,
        client_id: &str,
    ) -> anyhow::Result<Self> {
        Self::connect_with(address, &connect(5, client_id, credentials))
    }

    /// The same with 3.1.1.
    ///
    /// # Errors
    /// When the broker does not say yes.
    pub fn connect_v311(
        address: SocketAddr,
        credentials: &Credentials,
        client_id: &str,
    ) -> anyhow::Result<Self> {
        let mut device = Self::connect_with(address, &connect(4, client_id, credentials))?;
        device.level = 4;
        Ok(device)
    }

    /// The same with a CONNECT of one's own.
    ///
    /// # Errors
    /// When the broker does not say yes.
    pub fn connect_with(address: SocketAddr, connect: &[u8]) -> anyhow::Result<Self> {
        let mut device = Self::open(address)?;
        device.send(connect)?;
        let connack = device.receive()?;
        match connack.body.get(1) {
            Some(0) if connack.first == 0x20 => Ok(device),
            reason => bail!("CONNACK {reason:02x?}"),
        }
    }

    /// A socket on which nothing was said yet.
    ///
    /// # Errors
    /// When nobody listens.
    pub fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).context("connect")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LIMIT))?;
        Ok(Self { stream, packet_id: 0, level: 5 })
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn send(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.stream.write_all(bytes).context("send")
    }

    /// The next packet.
    ///
    /// # Errors
    /// When the connection ends or nothing comes in time.
    pub fn receive(&mut self) -> anyhow::Result<Packet> {
        let mut first = [0];
        self.stream.read_exact(&mut first).context("receive")?;
        let (mut length, mut shift) = (0_usize, 0);
        loop {
            let mut byte = [0];
            self.stream.read_exact(&mut byte)?;
            length |= usize::from(byte[0] & 0x7f) << shift;
            shift += 7;
            if byte[0] & 0x80 == 0 {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(Packet { first: first[0], body })
    }

    /// Whether the broker has closed the connection (after whatever it still had to say).
    pub fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        self.stream.read_to_end(&mut rest).is_ok()
    }

    /// Whether something has come that was not received yet; does not wait.
    ///
    /// # Errors
    /// When the socket cannot be asked.
    pub fn has_answer(&self) -> anyhow::Result<bool> {
        self.stream.set_nonblocking(true)?;
        let peeked = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false)?;
        Ok(peeked.is_ok())
    }

    /// Publishes with QoS 1 and waits for the answer.
    ///
    /// # Errors
    /// When none comes.
    pub fn publish(&mut self, topic: &str, payload: &str) -> anyhow::Result<Answer> {
        self.packet_id = self.packet_id.checked_add(1).unwrap_or(1);
        let packet = publish(topic, payload.as_bytes(), self.packet_id);
        self.send(&packet)?;
        self.answer()
    }

    /// Waits for the next PUBACK.
    ///
    /// # Errors
    /// When something else comes, or nothing.
    pub fn answer(&mut self) -> anyhow::Result<Answer> {
        let packet = self.receive()?;
        if packet.first != 0x40 {
            bail!("not a PUBACK: {packet:02x?}");
        }
        let body = &packet.body;
        let packet_id = u16::from_be_bytes([body[0], body[1]]);
        let reason = body.get(2).copied().unwrap_or(0);
        // Property 0x1f is the reason string: two bytes of length and the text.
        let text = match body.get(4) {
            Some(0x1f) => String::from_utf8_lossy(&body[7..]).into_owned(),
            _ => String::new(),
        };
        Ok(Answer { packet_id, reason, text })
    }

    /// Subscribes to one filter and gives the reason code.
    ///
    /// # Errors
    /// When no SUBACK comes.
    pub fn subscribe(&mut self, filter: &str, qos: u8) -> anyhow::Result<u8> {
        let mut body = if self.level == 5 { vec![0, 1, 0] } else { vec![0, 1] };
        text(&mut body, filter.as_bytes());
        body.push(qos);
        self.send(&packet(0x82, &body))?;
        let suback = self.receive()?;
        if suback.first != 0x90 {
            bail!("not a SUBACK: {suback:02x?}");
        }
        suback.body.last().copied().context("a reason code")
    }

    /// The next PUBLISH: topic and payload. QoS 1 is acknowledged.
    ///
    /// # Errors
    /// When something else comes, or nothing.
    pub fn delivery(&mut self) -> anyhow::Result<(String, Vec<u8>)> {
        let Delivery { topic, payload, .. } = self.whole_delivery()?;
        Ok((topic, payload))
    }

    /// The same with its properties.
    ///
    /// # Errors
    /// When something else comes, or nothing.
    pub fn whole_delivery(&mut self) -> anyhow::Result<Delivery> {
        let packet = self.receive()?;
        if packet.first & 0xf0 != 0x30 {
            bail!("not a PUBLISH: {packet:02x?}");
        }
        let body = &packet.body;
        let length = usize::from(u16::from_be_bytes([body[0], body[1]]));
        let topic = String::from_utf8(body[2..2 + length].to_vec())?;
        let mut position = 2 + length;
        if packet.first & 0x06 != 0 {
            let id = [body[position], body[position + 1]];
            position += 2;
            self.send(&[0x40, 2, id[0], id[1]])?;
        }
        let mut properties = Vec::new();
        if self.level == 5 {
            // Our own deliveries have fewer than 128 bytes of properties.
            let start = position + 1;
            position = start + usize::from(body[position]);
            properties = body[start..position].to_vec();
        }
        Ok(Delivery { topic, properties, payload: body[position..].to_vec() })
    }
}

/// A packet with its remaining length.
#[must_use]
pub fn packet(first: u8, body: &[u8]) -> Vec<u8> {
    let mut packet = vec![first];
    counted(&mut packet, body);
    packet
}

/// Bytes behind their number as a variable byte integer: a packet's body, or properties.
fn counted(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut length = bytes.len();
    loop {
        let byte = (length % 128) as u8;
        length /= 128;
        out.push(if length > 0 { byte | 0x80 } else { byte });
        if length == 0 {
            break;
        }
    }
    out.extend_from_slice(bytes);
}

/// A CONNECT of protocol level 4 (3.1.1) or 5, clean, keep alive 60 s.
#[must_use]
pub fn connect(level: u8, client_id: &str, credentials: &Credentials) -> Vec<u8> {
    connect_with(level, client_id, credentials, &[])
}

/// The same with properties (MQTT 5).
#[must_use]
pub fn connect_with(
    level: u8,
    client_id: &str,
    credentials: &Credentials,
    properties: &[u8],
) -> Vec<u8> {
    let mut body = Vec::new();
    text(&mut body, b"MQTT");
    body.extend_from_slice(&[level, 0xc2, 0, 60]);
    if level == 5 {
        counted(&mut body, properties);
    }
    text(&mut body, client_id.as_bytes());
    text(&mut body, credentials.id.as_bytes());
    text(&mut body, credentials.secret.as_bytes());
    packet(0x10, &body)
}

/// An MQTT 5 PUBLISH with QoS 1.
#[must_use]
pub fn publish(topic: &str, payload: &[u8], packet_id: u16) -> Vec<u8> {
    publish_with(topic, payload, packet_id, &[])
}

/// The same with properties.
#[must_use]
pub fn publish_with(topic: &str, payload: &[u8], packet_id: u16, properties: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    text(&mut body, topic.as_bytes());
    body.extend_from_slice(&packet_id.to_be_bytes());
    counted(&mut body, properties);
    body.extend_from_slice(payload);
    packet(0x32, &body)
}

/// A 3.1.1 PUBLISH with QoS 1.
#[must_use]
pub fn publish_v311(topic: &str, payload: &[u8], packet_id: u16) -> Vec<u8> {
    let mut body = Vec::new();
    text(&mut body, topic.as_bytes());
    body.extend_from_slice(&packet_id.to_be_bytes());
    body.extend_from_slice(payload);
    packet(0x32, &body)
}

/// A property with a string or binary value.
#[must_use]
pub fn property(id: u8, value: &[u8]) -> Vec<u8> {
    let mut property = vec![id];
    text(&mut property, value);
    property
}

fn text(body: &mut Vec<u8>, text: &[u8]) {
    body.extend_from_slice(&(text.len() as u16).to_be_bytes());
    body.extend_from_slice(text);
}
