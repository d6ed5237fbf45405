//! A live subscriber beside the devices: it sees their values, or what pipelines make of them.
//!
//! A derived value is the device's own number again (`17.0421` is counter 17 of topic 421), so the
//! payload alone says which value it came from, and the schedule says when that one was due.
//!
//! **Invariants**
//! - One read and at most one write per readiness; acknowledgements go out in the order of arrival.
//! - A value that comes twice, or behind a later one of its topic, is counted as such.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use super::dial::dial;
use super::frame::{self, FINGERPRINTS, Packet};
use super::spec::Live;
use super::tally::{RunClock, Tally};

const SIGN_IN_LIMIT: Duration = Duration::from_secs(10);
const READ_BYTES: usize = 64 * 1024;
/// Topics take turns, so a part of them has not exactly that part of the values.
const NEARLY: f64 = 0.95;

/// The subscriber.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) stream: TcpStream,
    partial: Vec<u8>,
    answer: Vec<u8>,
    /// The highest counter seen, plus one, by topic.
    next: Vec<u64>,
    /// Tags of each device.
    tags: usize,
    pub(crate) arrived: u64,
    /// See [`Live`].
    share: f64,
    pub(crate) repeated: u64,
    pub(crate) overtaken: u64,
    /// Whether the server has gone.
    pub(crate) is_gone: bool,
}

impl Listener {
    /// Connects, signs in and subscribes; returns when the subscription is confirmed.
    pub(crate) fn start(
        address: std::net::SocketAddr,
        name: &str,
        live: &Live,
        (devices, tags): (usize, usize),
    ) -> Result<Self> {
        let stream = dial(address, Duration::from_secs(2))
            .with_context(|| format!("connect the subscriber to {address}"))?;
        stream.set_nodelay(true).context("turn Nagle's algorithm off")?;
        stream.set_read_timeout(Some(SIGN_IN_LIMIT)).context("limit the sign-in")?;
        let mut listener = Self {
            stream,
            partial: Vec::new(),
            answer: Vec::new(),
            next: vec![0; devices * tags],
            tags: tags.max(1),
            arrived: 0,
            share: live.share,
            repeated: 0,
            overtaken: 0,
            is_gone: false,
        };
        let mut bytes = Vec::new();
        let secret = live.credential.secret.as_deref();
        let sign_in = secret.map(|secret| (live.credential.user.as_str(), secret));
        frame::connect(&mut bytes, name, sign_in);
        frame::subscribe_at(&mut bytes, 1, &live.filter, 1);
        listener.stream.write_all(&bytes).context("sign the subscriber in")?;
        listener.confirmed()?;
        listener.stream.set_nonblocking(true).context("make a socket non-blocking")?;
        Ok(listener)
    }

    /// Whether all has come that is made of so many acknowledged values; of a part of them, nearly
    /// all.
    pub(crate) fn has_all(&self, acknowledged: u64) -> bool {
        if self.share >= 1.0 {
            return self.arrived >= acknowledged;
        }
        self.arrived as f64 >= acknowledged as f64 * self.share * NEARLY
    }

    fn confirmed(&mut self) -> Result<()> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            while let Some((packet, length)) = next_of(&self.partial)? {
                match packet {
                    Packet::Connack { reason } if reason != 0 => {
                        bail!("the server refused the subscriber with 0x{reason:02x}")
                    }
                    Packet::Suback { reason } if reason >= 0x80 => {
                        bail!("the server refused the live subscription with 0x{reason:02x}")
                    }
                    Packet::Suback { .. } => {
                        self.partial.drain(..length);
                        return Ok(());
                    }
                    _ => {}
                }
                self.partial.drain(..length);
            }
            let got = self.stream.read(&mut buffer).context("wait for the subscription")?;
            if got == 0 {
                bail!("the server closed the subscriber's connection");
            }
            self.partial.extend_from_slice(buffer.get(..got).unwrap_or_default());
        }
    }

    /// One read, and all that it brought. `due_of` gives when a value of a topic was due.
    pub(crate) fn read(
        &mut self,
        buffer: &mut [u8],
        clock: &RunClock,
        tally: &mut Tally,
        due_of: &dyn Fn(usize, u64) -> Option<u64>,
    ) -> Result<()> {
        let got = match self.stream.read(buffer) {
            Ok(got) => got,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(()),
            Err(_) => 0,
        };
        if got == 0 {
            self.is_gone = true;
            return Ok(());
        }
        let now = clock.now();
        tally.bytes_in += got as u64;
        let mut bytes = std::mem::take(&mut self.partial);
        bytes.extend_from_slice(buffer.get(..got).unwrap_or_default());
        let mut used = 0;
        while let Some((packet, length)) = next_of(bytes.get(used..).unwrap_or_default())? {
            used += length;
            let Packet::Publish { packet_id, payload, .. } = packet else { continue };
            if let Some(packet_id) = packet_id {
                frame::puback(&mut self.answer, packet_id);
            }
            let Some((topic, counter)) = origin(payload) else { continue };
            self.arrived += 1;
            let Some(next) = self.next.get_mut(topic) else { continue };
            match (counter + 1).cmp(next) {
                std::cmp::Ordering::Greater => *next = counter + 1,
                std::cmp::Ordering::Equal => self.repeated += 1,
                std::cmp::Ordering::Less => self.overtaken += 1,
            }
            if let Some(due) = due_of(topic, counter) {
                tally.derive(topic % self.tags, due, now);
            }
        }
        bytes.drain(..used);
        self.partial = bytes;
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        if self.answer.is_empty() {
            return Ok(());
        }
        match send(&self.stream, &self.answer, SendFlags::NOSIGNAL) {
            Ok(written) => {
                self.answer.drain(..written);
                Ok(())
            }
            // They go out with the next ones.
            Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(_) => {
                self.is_gone = true;
                Ok(())
            }
        }
    }
}

fn next_of(bytes: &[u8]) -> Result<Option<(Packet<'_>, usize)>> {
    match frame::next(bytes) {
        Ok(found) => Ok(found),
        Err(frame::Malformed) => bail!("the subscriber got something that is not MQTT"),
    }
}

/// Topic and counter of a payload: the bare number, or the number behind `"value":`.
fn origin(payload: &[u8]) -> Option<(usize, u64)> {
    const KEY: &[u8] = b"\"value\":";
    let text = std::str::from_utf8(payload).ok()?;
    let from = text.find(std::str::from_utf8(KEY).ok()?).map_or(0, |at| at + KEY.len());
    let rest = text.get(from..)?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let number = rest.get(..end)?;
    let (counter, fraction) = number.split_once('.').unwrap_or((number, ""));
    // `17.5` came as `17.5000`: trailing zeros do not survive a number.
    let fingerprint: u32 = format!("{fraction:0<4}").parse().ok()?;
    (fingerprint < FINGERPRINTS).then_some((fingerprint as usize, counter.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_where_a_derived_value_came_from() {
        assert_eq!(origin(b"17.0421"), Some((421, 17)));
        assert_eq!(origin(b"{\"value\":17.0421,\"quality\":0}"), Some((421, 17)));
        assert_eq!(origin(b"{\"value\": 3.5}"), Some((5_000, 3)));
        assert_eq!(origin(b"{\"value\":12}"), Some((0, 12)));
        assert_eq!(origin(b"{\"value\":\"x\"}"), None);
    }
}
