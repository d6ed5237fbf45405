//! The smallest MQTT 5 client that can prove something: connect, publish at QoS 1, hear the verdict.
//!
//! `check-windows` uses it, so that the proof needs no MQTT program on the machine.
//!
//! **Invariants**
//! - A publish returns only with the broker's acknowledgement or an error; every wait has a limit.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// How long an answer may take; generous, since the broker may run under Wine.
const ANSWER_MAX: Duration = Duration::from_secs(20);
/// Larger packets are not expected by this client.
const PACKET_BYTES_MAX: usize = 64 * 1024;

/// One signed-in connection.
pub(crate) struct Client {
    stream: TcpStream,
    packet_id: u16,
}

impl Client {
    /// Signs in; a refusal is an error with the reason code.
    pub(crate) fn connect(address: SocketAddr, user: &str, password: &str) -> Result<Self> {
        let stream = TcpStream::connect_timeout(&address, ANSWER_MAX)
            .with_context(|| format!("connect to {address}"))?;
        stream.set_read_timeout(Some(ANSWER_MAX)).context("limit reads")?;
        stream.set_nodelay(true).context("send at once")?;
        let mut client = Self { stream, packet_id: 0 };
        client.send(&connect_packet(user, password)?)?;
        let (kind, body) = client.receive()?;
        match (kind, body.as_slice()) {
            (0x20, [_, 0x00, ..]) => Ok(client),
            (0x20, [_, reason, ..]) => bail!("the broker refused to sign in: reason {reason:#04x}"),
            _ => bail!("the broker answered CONNECT with packet {kind:#04x}"),
        }
    }

    /// Publishes at QoS 1 and waits for the acknowledgement of exactly this packet.
    pub(crate) fn publish(&mut self, topic: &str, payload: &str) -> Result<()> {
        self.packet_id = self.packet_id.checked_add(1).unwrap_or(1);
        let packet_id = self.packet_id;
        self.send(&publish_packet(topic, packet_id, payload)?)?;
        loop {
            let (kind, body) = self.receive()?;
            let [high, low, rest @ ..] = body.as_slice() else { continue };
            if kind != 0x40 || u16::from_be_bytes([*high, *low]) != packet_id {
                continue;
            }
            // No reason code means success; 0x10 is success without a subscriber.
            return match rest.first().copied().unwrap_or(0) {
                0x00 | 0x10 => Ok(()),
                reason => bail!("the broker refused {topic}: reason {reason:#04x}"),
            };
        }
    }

    fn send(&mut self, packet: &[u8]) -> Result<()> {
        self.stream.write_all(packet).context("send to the broker")
    }

    fn receive(&mut self) -> Result<(u8, Vec<u8>)> {
        let [kind] = self.read_exactly()?;
        let mut length = 0usize;
        for shift in [0, 7, 14, 21] {
            let [byte] = self.read_exactly()?;
            length |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        if length > PACKET_BYTES_MAX {
            bail!("the broker announced a packet of {length} bytes");
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).context("read from the broker")?;
        Ok((kind & 0xf0, body))
    }

    fn read_exactly<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).context("read from the broker")?;
        Ok(bytes)
    }
}

fn connect_packet(user: &str, password: &str) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    text(&mut body, "MQTT")?;
    // Version 5; user name, password, clean start; keep alive 60 s; no properties; any client id.
    body.extend_from_slice(&[5, 0b1100_0010, 0, 60, 0]);
    text(&mut body, "xtask")?;
    text(&mut body, user)?;
    text(&mut body, password)?;
    packet(0x10, &body)
}

fn publish_packet(topic: &str, packet_id: u16, payload: &str) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    text(&mut body, topic)?;
    body.extend_from_slice(&packet_id.to_be_bytes());
    body.push(0);
    body.extend_from_slice(payload.as_bytes());
    packet(0x32, &body)
}

fn packet(kind: u8, body: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = vec![kind];
    let mut rest = body.len();
    loop {
        let low = u8::try_from(rest & 0x7f).context("encode a length")?;
        rest >>= 7;
        if rest == 0 {
            bytes.push(low);
            break;
        }
        bytes.push(low | 0x80);
    }
    bytes.extend_from_slice(body);
    Ok(bytes)
}

fn text(body: &mut Vec<u8>, text: &str) -> Result<()> {
    let length = u16::try_from(text.len()).context("encode a text longer than 65,535 bytes")?;
    body.extend_from_slice(&length.to_be_bytes());
    body.extend_from_slice(text.as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn encodes_lengths_over_127_in_two_bytes() {
        let bytes = packet(0x32, &[7; 200]).expect("200 bytes fit");
        assert_eq!(bytes[..3], [0x32, 0xc8, 0x01]);
        assert_eq!(bytes.len(), 203);
    }

    #[test]
    fn encodes_connect_as_the_standard_says() {
        let bytes = connect_packet("u", "p").expect("short names");
        assert_eq!(
            bytes,
            [
                &[0x10, 24][..],
                &[0, 4],
                b"MQTT",
                &[5, 0xc2, 0, 60, 0, 0, 5],
                b"xtask",
                &[0, 1, b'u', 0, 1, b'p']
            ]
            .concat()
        );
    }

    /// A broker that accepts the sign-in and answers one publish with `reason`.
    fn answering(reason: u8) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client comes");
            let mut heard = [0; 256];
            assert!(stream.read(&mut heard).expect("CONNECT") > 0);
            stream.write_all(&[0x20, 3, 0, 0, 0]).expect("CONNACK");
            assert!(stream.read(&mut heard).expect("PUBLISH") > 0);
            // The acknowledgement of another packet first: it must not be taken for ours.
            stream.write_all(&[0x40, 2, 0, 9, 0x40, 4, 0, 1, reason, 0]).expect("PUBACK");
        });
        address
    }

    #[test]
    fn returns_when_its_own_publish_is_acknowledged() {
        let mut client = Client::connect(answering(0x00), "u", "p").expect("signs in");
        client.publish("a/b", "1").expect("acknowledged");
    }

    #[test]
    fn reports_the_reason_of_a_refusal() {
        let mut client = Client::connect(answering(0x87), "u", "p").expect("signs in");
        let error = client.publish("a/b", "1").expect_err("refused");
        assert!(error.to_string().contains("0x87"), "{error}");
    }
}
