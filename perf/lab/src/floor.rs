//! The floor server: what a broker on this machine costs at least.
//!
//! One epoll loop that accepts connections, reads frames, and answers with the right packet: the
//! acknowledgements of one read go out in one write. No topic or payload is looked at, nothing is
//! stored, anyone may come in. When messages arrive alone, its one receive and one send are the
//! least that any server can do.
//!
//! **Invariants**
//! - One read and at most one write per readiness; no allocation per message.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use anyhow::{Context, Result};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::net::{SendFlags, send};

use crate::load::frame::{Malformed, read_length, read_u16};

const EVENTS_MAX: usize = 256;
const READ_BYTES: usize = 64 * 1024;
/// The listener's key; connections have their slot's number.
const LISTENER: u64 = u64::MAX;

/// One client.
struct Connection {
    stream: TcpStream,
    partial: Vec<u8>,
    /// Protocol level of CONNECT: 5 answers with properties, 4 without.
    level: u8,
}

/// Listens on `address` and serves until killed. Says its address on standard output.
pub(crate) fn serve(address: SocketAddr) -> Result<()> {
    let listener = TcpListener::bind(address).with_context(|| format!("listen on {address}"))?;
    listener.set_nonblocking(true).context("make the listener non-blocking")?;
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC).context("create an epoll")?;
    epoll::add(&poll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)
        .context("watch the listener")?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?).context("say the address")?;
    let mut connections: Vec<Option<Connection>> = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    let mut answer = Vec::with_capacity(READ_BYTES);
    let mut events = Vec::with_capacity(EVENTS_MAX);
    loop {
        events.clear();
        match epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).context("wait for clients"),
        }
        for event in &events {
            let key = event.data.u64();
            if key == LISTENER {
                accept_all(&listener, &poll, &mut connections)?;
                continue;
            }
            let Ok(place) = usize::try_from(key) else { continue };
            let Some(slot) = connections.get_mut(place) else { continue };
            let Some(connection) = slot else { continue };
            if !serve_one(connection, &mut buffer, &mut answer) {
                *slot = None;
            }
        }
    }
}

fn accept_all(
    listener: &TcpListener,
    poll: &impl rustix::fd::AsFd,
    connections: &mut Vec<Option<Connection>>,
) -> Result<()> {
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error).context("accept a client"),
        };
        stream.set_nonblocking(true).context("make a socket non-blocking")?;
        stream.set_nodelay(true).context("turn Nagle's algorithm off")?;
        let place = connections.iter().position(Option::is_none).unwrap_or(connections.len());
        epoll::add(poll, &stream, EventData::new_u64(place as u64), EventFlags::IN)
            .context("watch a socket")?;
        let connection = Some(Connection { stream, partial: Vec::new(), level: 5 });
        match connections.get_mut(place) {
            Some(slot) => *slot = connection,
            None => connections.push(connection),
        }
    }
}

/// One read, one write. False when the connection is to be closed.
fn serve_one(connection: &mut Connection, buffer: &mut [u8], answer: &mut Vec<u8>) -> bool {
    let kept = connection.partial.len();
    let Some(front) = buffer.get_mut(..kept) else { return false };
    front.copy_from_slice(&connection.partial);
    connection.partial.clear();
    let got = match connection.stream.read(buffer.get_mut(kept..).unwrap_or_default()) {
        Ok(0) => return false,
        Ok(got) => got,
        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
        Err(_) => return false,
    };
    let bytes = buffer.get(..kept + got).unwrap_or_default();
    answer.clear();
    let Ok((used, open)) = answer_all(bytes, &mut connection.level, answer) else { return false };
    connection.partial.extend_from_slice(bytes.get(used..).unwrap_or_default());
    open && write_whole(&connection.stream, answer)
}

/// Answers every whole packet: bytes used, and whether the client stays.
pub(crate) fn answer_all(
    bytes: &[u8],
    level: &mut u8,
    answer: &mut Vec<u8>,
) -> Result<(usize, bool), Malformed> {
    let mut used = 0;
    loop {
        let rest = bytes.get(used..).unwrap_or_default();
        let Some((&first, after)) = rest.split_first() else { return Ok((used, true)) };
        let Some((length, length_bytes)) = read_length(after)? else { return Ok((used, true)) };
        let whole = 1 + length_bytes + length;
        let Some(body) = rest.get(1 + length_bytes..whole) else { return Ok((used, true)) };
        used += whole;
        match first >> 4 {
            // The topic's length is all that is read of a PUBLISH: the packet id lies behind it.
            3 if first & 0x06 != 0 => {
                let topic = usize::from(read_u16(body).ok_or(Malformed)?);
                let id = body.get(2 + topic..4 + topic).ok_or(Malformed)?;
                answer.extend_from_slice(&[0x40, 2]);
                answer.extend_from_slice(id);
            }
            1 => {
                *level = *body.get(6).ok_or(Malformed)?;
                answer.extend_from_slice(if *level == 5 { CONNACK_5 } else { CONNACK_4 });
            }
            8 => {
                let id = body.get(..2).ok_or(Malformed)?;
                let properties: &[u8] = if *level == 5 { &[0] } else { &[] };
                answer.extend_from_slice(&[0x90, 3 + properties.len() as u8]);
                answer.extend_from_slice(id);
                answer.extend_from_slice(properties);
                answer.push(0);
            }
            12 => answer.extend_from_slice(&[0xd0, 0]),
            14 => return Ok((used, false)),
            _ => {}
        }
    }
}

const CONNACK_5: &[u8] = &[0x20, 3, 0, 0, 0];
const CONNACK_4: &[u8] = &[0x20, 2, 0, 0];

/// Acknowledgements of one read are far smaller than a socket's buffer: a client that does not
/// read them is closed, as nothing is kept for it.
fn write_whole(stream: &TcpStream, answer: &[u8]) -> bool {
    answer.is_empty() || send(stream, answer, SendFlags::NOSIGNAL) == Ok(answer.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::frame::{self, Message};

    #[test]
    fn acknowledges_all_packets_of_one_read_at_once_and_keeps_the_rest() {
        // Given a CONNECT, a SUBSCRIBE, two PUBLISH and half of a third
        let mut bytes = Vec::new();
        frame::connect(&mut bytes, "d", None);
        frame::subscribe(&mut bytes, 9, "v/d");
        for packet_id in [1, 2, 3] {
            let message = Message {
                topic: b"a/b",
                packet_id,
                counter: 1,
                fingerprint: 1,
                ..Message::default()
            };
            frame::publish(&mut bytes, &message);
        }
        let cut = bytes.len() - 4;
        // When they are read at once
        let (mut answer, mut level) = (Vec::new(), 0);
        let (used, open) = answer_all(&bytes[..cut], &mut level, &mut answer).unwrap();
        // Then each whole packet is answered, and the last one waits
        let expected = b"\x20\x03\0\0\0\x90\x04\0\x09\0\0\x40\x02\0\x01\x40\x02\0\x02";
        assert_eq!(answer, expected);
        assert!(open && used < cut);
    }

    #[test]
    fn closes_on_disconnect_and_on_garbage() {
        let check = |bytes: &[u8]| answer_all(bytes, &mut 5, &mut Vec::new());
        assert_eq!(check(b"\xe0\0"), Ok((2, false)));
        assert_eq!(check(b"\x32\xff\xff\xff\xff"), Err(Malformed));
        assert_eq!(check(b"\x32\x03\xff\xffa"), Err(Malformed));
    }
}
