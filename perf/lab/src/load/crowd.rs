//! All clients on one epoll: connecting, sending, reading answers.
//!
//! **Invariants**
//! - One socket write per batch of values; one read per readiness.
//! - The loop sleeps in the kernel until the next due time or an answer: it never spins, because a
//!   spinning client core would hide the server's cost of waking it.

use std::io::Read as _;
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;
use rustix::time::{ClockId, clock_gettime};

use super::book::Book;
use super::client::{Client, Slot, State};
use super::frame::{self, Message, Packet};
use super::schedule::Schedule;
use super::spec::Spec;
use super::tally::{RunClock, Tally};

/// Events taken from the kernel at once; few, so that due values do not wait behind many answers.
const EVENTS_MAX: usize = 64;
const READ_BYTES: usize = 64 * 1024;
/// Clients that connect at once: below every listener's backlog.
const CONNECTING_MAX: usize = 100;

/// The clients and all that they share.
pub(crate) struct Crowd {
    pub(crate) spec: Spec,
    pub(crate) clock: RunClock,
    pub(crate) clients: Vec<Client>,
    pub(crate) tally: Tally,
    pub(crate) book: Book,
    pub(crate) schedule: Option<Schedule>,
    /// Clients whose connection is gone.
    pub(crate) offline: usize,
    /// Values in flight of all clients.
    pub(crate) in_flight: usize,
    /// The last reason that a server gave for closing a connection.
    pub(crate) close_reason: Option<u8>,
    epoll: OwnedFd,
    read_buffer: Vec<u8>,
    scratch: Vec<u8>,
    events: Vec<epoll::Event>,
}

impl Crowd {
    pub(crate) fn new(mut spec: Spec) -> Result<Self> {
        let clients: Vec<Client> = std::mem::take(&mut spec.clients)
            .into_iter()
            .enumerate()
            .map(|(number, credential)| Client::new(number, credential, &spec))
            .collect();
        let topics = u32::try_from(clients.len())?.saturating_mul(spec.tags);
        Ok(Self {
            clock: RunClock::start(),
            tally: Tally::default(),
            book: Book::new(spec.keep, topics),
            schedule: None,
            offline: clients.len(),
            in_flight: 0,
            close_reason: None,
            clients,
            spec,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC).context("create an epoll")?,
            read_buffer: vec![0; READ_BYTES],
            scratch: Vec::with_capacity(READ_BYTES),
            events: Vec::with_capacity(EVENTS_MAX),
        })
    }

    /// Connects and signs in all clients, some at a time.
    pub(crate) fn connect_all(&mut self, limit: Duration) -> Result<()> {
        let end = self.clock.now() + u64::try_from(limit.as_nanos())?;
        let count = self.clients.len();
        for first in (0..count).step_by(CONNECTING_MAX) {
            let lot = first..(first + CONNECTING_MAX).min(count);
            for number in lot.clone() {
                self.connect(number)?;
            }
            while self
                .clients
                .get(lot.clone())
                .into_iter()
                .flatten()
                .any(|c| c.state != State::Ready)
            {
                self.poll(20_000_000)?;
                let gone = self.clients.get(lot.clone()).into_iter().flatten();
                if gone.clone().any(|client| client.state == State::Offline) {
                    bail!("the server closed a connection while signing in{}", self.reason());
                }
                if self.clock.now() > end {
                    bail!("{} clients were not signed in after {limit:?}", count - first);
                }
            }
        }
        Ok(())
    }

    /// Makes `count` more values of `client` due, and sends what its window allows.
    pub(crate) fn due(&mut self, client: usize, count: u64) {
        if let Some(found) = self.clients.get_mut(client) {
            found.due += count;
        }
        self.send_due(client);
    }

    /// Waits at most `nanos` for answers and handles them.
    pub(crate) fn poll(&mut self, nanos: u64) -> Result<()> {
        let timeout = Timespec {
            tv_sec: i64::try_from(nanos / 1_000_000_000)?,
            tv_nsec: i64::try_from(nanos % 1_000_000_000)?,
        };
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&timeout))
        {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).context("wait for answers"),
        }
        for event in &events {
            let Ok(client) = usize::try_from(event.data.u64()) else { continue };
            let flags = event.flags;
            if flags.contains(epoll::EventFlags::OUT) {
                self.write_rest(client)?;
            }
            if flags
                .intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR)
            {
                self.read(client)?;
            }
        }
        self.events = events;
        Ok(())
    }

    /// Sends again all that a client has in flight, marked as a repetition.
    pub(crate) fn resend(&mut self, number: usize) {
        let Some(client) = self.clients.get_mut(number) else { return };
        self.scratch.clear();
        let waiting: Vec<(u16, Slot)> = client.waiting().collect();
        for (packet_id, slot) in waiting {
            let topic = number as u32 * self.spec.tags + slot.tag;
            let Some(name) = client.topics.get(slot.tag as usize) else { continue };
            let message = Message {
                topic: name,
                packet_id,
                counter: slot.counter,
                fingerprint: frame::fingerprint(topic),
                source_time: (slot.source_time != 0).then_some(slot.source_time),
                verdict: None,
                resent: true,
            };
            frame::publish(&mut self.scratch, &message);
            self.book.note(slot.book_place, |entry| entry.resent = true);
            self.tally.resent += 1;
        }
        let alive = client.write(&self.scratch);
        self.after_write(number, alive);
    }

    /// What the server said when it closed, as text.
    pub(crate) fn reason(&self) -> String {
        self.close_reason.map_or_else(String::new, |reason| format!(", reason code 0x{reason:02x}"))
    }

    fn connect(&mut self, number: usize) -> Result<()> {
        let Some(client) = self.clients.get_mut(number) else { return Ok(()) };
        let stream = TcpStream::connect_timeout(&self.spec.address, Duration::from_secs(2))
            .with_context(|| format!("connect to {}", self.spec.address))?;
        stream.set_nonblocking(true).context("make a socket non-blocking")?;
        stream.set_nodelay(true).context("turn Nagle's algorithm off")?;
        let data = epoll::EventData::new_u64(number as u64);
        epoll::add(&self.epoll, &stream, data, epoll::EventFlags::IN).context("watch a socket")?;
        client.disconnected();
        client.stream = Some(stream);
        client.state = State::SigningIn;
        self.offline = self.offline.saturating_sub(1);
        let mut bytes = Vec::new();
        let sign_in = client.credential.secret.as_deref();
        let sign_in = sign_in.map(|secret| (client.credential.user.as_str(), secret));
        frame::connect(&mut bytes, &client.name, sign_in);
        let alive = client.write(&bytes);
        self.after_write(number, alive);
        Ok(())
    }

    /// Sends batches of `number` while some are due and its window has room for a whole one.
    pub(crate) fn send_due(&mut self, number: usize) {
        let batch = u64::from(self.spec.batch);
        loop {
            let Some(client) = self.clients.get(number) else { return };
            let waits = client.due - client.sent;
            if waits < batch || (client.room() as u64) < batch || client.state != State::Ready {
                return;
            }
            self.send_batch(number, batch);
        }
    }

    fn send_batch(&mut self, number: usize, count: u64) {
        let Some(client) = self.clients.get_mut(number) else { return };
        let spec = &self.spec;
        let now = self.clock.now();
        self.scratch.clear();
        for _ in 0..count {
            let value = client.sent_before + client.sent;
            let due = self.schedule.map_or(now, |plan| plan.due_of(number, client.sent));
            let tag = (value % u64::from(spec.tags)) as u32;
            let counter = spec.counter_first + value / u64::from(spec.tags);
            let topic = number as u32 * spec.tags + tag;
            let source_time = if spec.payload.has_source_time(tag) { wall_clock() } else { 0 };
            let book_place = self.book.sent(topic, counter, source_time);
            let slot = Slot { due, tag, counter, source_time, book_place };
            let Some(packet_id) = client.take_slot(slot) else { break };
            let every = u64::from(spec.verdict_every);
            let asks = every != 0 && self.tally.sent.is_multiple_of(every);
            let Some(name) = client.topics.get(tag as usize) else { break };
            let message = Message {
                topic: name,
                packet_id,
                counter,
                fingerprint: frame::fingerprint(topic),
                source_time: (source_time != 0).then_some(source_time),
                verdict: asks.then_some((client.verdict_topic.as_slice(), due)),
                resent: false,
            };
            frame::publish(&mut self.scratch, &message);
            client.sent += 1;
            self.in_flight += 1;
            self.tally.sent += 1;
            self.tally.verdicts_asked += u64::from(asks);
        }
        self.tally.bytes_out += self.scratch.len() as u64;
        let alive = client.write(&self.scratch);
        self.after_write(number, alive);
    }

    fn write_rest(&mut self, number: usize) -> Result<()> {
        let Some(client) = self.clients.get_mut(number) else { return Ok(()) };
        let alive = client.write_rest();
        if let (true, Some(stream)) = (client.unsent.is_empty(), &client.stream) {
            let data = epoll::EventData::new_u64(number as u64);
            epoll::modify(&self.epoll, stream, data, epoll::EventFlags::IN)
                .context("watch a socket for reading")?;
        }
        self.after_write(number, alive);
        Ok(())
    }

    /// Asks to be told when a full socket has room. A socket that fails here is found by reading.
    fn after_write(&mut self, number: usize, alive: bool) {
        let Some(client) = self.clients.get(number) else { return };
        if let (true, false, Some(stream)) = (alive, client.unsent.is_empty(), &client.stream) {
            let data = epoll::EventData::new_u64(number as u64);
            let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT;
            let _found_by_reading = epoll::modify(&self.epoll, stream, data, flags);
        }
    }

    fn read(&mut self, number: usize) -> Result<()> {
        let Some(client) = self.clients.get_mut(number) else { return Ok(()) };
        let Some(stream) = &mut client.stream else { return Ok(()) };
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
                return Ok(());
            }
            Err(_) => 0,
        };
        if got == 0 {
            client.disconnected();
            self.offline += 1;
            return Ok(());
        }
        self.tally.bytes_in += got as u64;
        let buffer = std::mem::take(&mut self.read_buffer);
        let used = self.take_packets(number, buffer.get(..kept + got).unwrap_or_default());
        let rest = buffer.get(*used.as_ref().unwrap_or(&0)..kept + got).unwrap_or_default();
        if let Some(client) = self.clients.get_mut(number) {
            client.partial.extend_from_slice(rest);
        }
        self.read_buffer = buffer;
        used?;
        self.send_due(number);
        Ok(())
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
            Packet::Publish { correlation, payload } => {
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
            Packet::Connack { reason: 0 } => client.state = State::Ready,
            Packet::Suback { reason } if reason < 0x80 => client.state = State::Ready,
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

/// Nanoseconds since 1970.
pub(crate) fn wall_clock() -> i64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
