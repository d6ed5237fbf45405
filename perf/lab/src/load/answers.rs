//! Reading what the server answers: acknowledgements, verdicts, refusals, closings.
//!
//! **Invariants**
//! - A socket is read until a read does not fill the buffer; the time of an answer is taken after
//!   its read.
//! - An answer to a packet that is not in flight ends the run: the server is wrong or we are.

use anyhow::{Result, bail};

use super::client::State;
use super::crowd::Crowd;
use super::frame::{self, Packet};

impl Crowd {
    /// Reads a client's socket to its end, and handles all that it brought.
    pub(super) fn read(&mut self, number: usize) -> Result<()> {
        while self.read_once(number)? {}
        self.send_due(number);
        Ok(())
    }

    /// One read; true when there may be more.
    fn read_once(&mut self, number: usize) -> Result<bool> {
        let Some(client) = self.clients.get_mut(number) else { return Ok(false) };
        let Some(stream) = &mut client.stream else { return Ok(false) };
        let kept = client.partial.len();
        // An unfinished packet of a verdict is short: it always fits in front.
        if let Some(front) = self.read_buffer.get_mut(..kept) {
            front.copy_from_slice(&client.partial);
        }
        client.partial.clear();
        let got = match stream.read(self.read_buffer.get_mut(kept..).unwrap_or_default()) {
            Ok(0) => 0,
            Ok(got) => got,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                client.partial.extend_from_slice(self.read_buffer.get(..kept).unwrap_or_default());
                return Ok(false);
            }
            Err(_) => 0,
        };
        if got == 0 {
            client.disconnected();
            self.offline += 1;
            return Ok(false);
        }
        self.tally.bytes_in += got as u64;
        let buffer = std::mem::take(&mut self.read_buffer);
        let used = self.take_packets(number, buffer.get(..kept + got).unwrap_or_default());
        let rest = buffer.get(*used.as_ref().unwrap_or(&0)..kept + got).unwrap_or_default();
        if let Some(client) = self.clients.get_mut(number) {
            client.partial.extend_from_slice(rest);
        }
        let is_full = kept + got == buffer.len();
        self.read_buffer = buffer;
        used?;
        Ok(is_full)
    }

    /// Handles all whole packets; gives how many bytes they had.
    fn take_packets(&mut self, number: usize, bytes: &[u8]) -> Result<usize> {
        let now = self.clock.now();
        let mut used = 0;
        loop {
            let rest = bytes.get(used..).unwrap_or_default();
            let (packet, length) = match frame::next(rest) {
                Ok(Some(found)) => found,
                Ok(None) => return Ok(used),
                Err(frame::Malformed) => bail!("the server sent something that is not MQTT"),
            };
            used += length;
            self.handle(number, now, &packet)?;
        }
    }

    fn signed_in(&mut self, number: usize, now: u64) {
        let Some(client) = self.clients.get_mut(number) else { return };
        client.state = State::Ready;
        self.tally.sign_in.record(now.saturating_sub(client.dialed));
    }

    fn handle(&mut self, number: usize, now: u64, packet: &Packet<'_>) -> Result<()> {
        let Some(client) = self.clients.get_mut(number) else { return Ok(()) };
        match *packet {
            Packet::Puback { packet_id, reason } => {
                let Some(slot) = client.free_slot(packet_id) else {
                    bail!("the server acknowledged packet {packet_id}, which is not in flight");
                };
                self.in_flight -= 1;
                self.tally.acknowledge(slot.due, now, reason);
                self.book.note(slot.book_place, |entry| {
                    entry.acknowledged = reason < 0x80;
                    entry.refused = reason >= 0x80;
                });
            }
            Packet::Publish { correlation, payload, .. } => {
                let stored = !payload.starts_with(b"{\"stored\":false");
                self.tally.verdict(correlation.unwrap_or(now), now, stored);
            }
            Packet::Connack { reason: 0 } if self.spec.verdict_every != 0 => {
                client.state = State::Subscribing;
                let filter = String::from_utf8_lossy(&client.verdict_topic).into_owned();
                let mut bytes = Vec::new();
                frame::subscribe(&mut bytes, 1, &filter);
                let alive = client.write(&bytes);
                self.after_write(number, alive);
            }
            Packet::Connack { reason: 0 } => self.signed_in(number, now),
            Packet::Suback { reason } if reason < 0x80 => self.signed_in(number, now),
            Packet::Connack { reason } => {
                bail!("the server refused client {} with 0x{reason:02x}", client.name)
            }
            Packet::Suback { reason } => {
                bail!("the server refused the verdict subscription with 0x{reason:02x}")
            }
            Packet::Disconnect { reason } => self.close_reason = Some(reason),
            Packet::Other => {}
        }
        Ok(())
    }
}
