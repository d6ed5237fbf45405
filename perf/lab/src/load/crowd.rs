//! All clients on one epoll: connecting, sending, waiting.
//!
//! **Invariants**
//! - One socket write per batch of values.
//! - The loop sleeps in the kernel until the next due time or an answer: it never spins, because a
//!   spinning client core would hide the server's cost of waking it.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, clock_gettime,
    timerfd_create, timerfd_settime,
};

use super::book::Book;
use super::client::{Client, Slot, State};
use super::dial::{dial, is_nobody};
use super::frame::{self, Message};
use super::listener::Listener;
use super::schedule::Schedule;
use super::spec::{Qos, Spec};
use super::tally::{RunClock, Tally};
use super::wire::{Tls, Wire};
use crate::measure::histogram::Histogram;

/// Events taken from the kernel at once; few, so that due values do not wait behind many answers.
const EVENTS_MAX: usize = 64;
const READ_BYTES: usize = 64 * 1024;
/// The timer's key; clients have their number.
const TIMER: u64 = u64::MAX;
/// The first live subscriber's key; the others follow.
const LISTENERS: u64 = 1 << 32;
/// Edge-triggered: what was read to its end is not asked again.
const READABLE: epoll::EventFlags = epoll::EventFlags::IN.union(epoll::EventFlags::ET);
/// Tags of a device whose derived values have a latency of their own.
const TAGS_TOLD_APART: usize = 8;
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
    pub(crate) listeners: Vec<Listener>,
    /// Clients whose connection is gone.
    pub(crate) offline: usize,
    /// Values in flight of all clients.
    pub(crate) in_flight: usize,
    /// The last reason that a server gave for closing a connection.
    pub(crate) close_reason: Option<u8>,
    tls: Option<Tls>,
    epoll: OwnedFd,
    timer: OwnedFd,
    /// The due time that the timer is set to.
    timer_due: u64,
    pub(super) read_buffer: Vec<u8>,
    scratch: Vec<u8>,
    events: Vec<epoll::Event>,
    /// The last look gave as many answers as it could.
    answers_left: bool,
}

impl Crowd {
    pub(crate) fn new(mut spec: Spec) -> Result<Self> {
        let clients: Vec<Client> = std::mem::take(&mut spec.clients)
            .into_iter()
            .enumerate()
            .map(|(number, credential)| Client::new(number, credential, &spec))
            .collect();
        let topics = u32::try_from(clients.len())?.saturating_mul(spec.tags);
        let tls = spec.certificate.as_deref().map(Tls::trusting).transpose()?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).context("create an epoll")?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).context("create a timer")?;
        // Edge-triggered: it need not be read, only set again.
        let edge = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(TIMER), edge)
            .context("watch the timer")?;
        Ok(Self {
            clock: RunClock::start(),
            tally: Tally::default(),
            book: Book::new(spec.keep, topics),
            schedule: None,
            listeners: Vec::new(),
            tls,
            offline: clients.len(),
            in_flight: 0,
            close_reason: None,
            clients,
            spec,
            epoll,
            timer,
            timer_due: 0,
            read_buffer: vec![0; READ_BYTES],
            scratch: Vec::with_capacity(READ_BYTES),
            events: Vec::with_capacity(EVENTS_MAX),
            answers_left: false,
        })
    }

    /// Connects and signs in the first client alone. False when nobody took the connection, or it
    /// ended without an answer: a server that is dying has a listener for a moment longer than
    /// connections.
    pub(crate) fn connect_first(&mut self, end: u64) -> Result<bool> {
        match self.connect(0) {
            Ok(()) => {}
            Err(error) if error.downcast_ref().is_some_and(is_nobody) => return Ok(false),
            Err(error) => return Err(error),
        }
        loop {
            match self.clients.first().map(|client| client.state) {
                Some(State::Ready) | None => return Ok(true),
                Some(State::Offline) if self.close_reason.is_none() => return Ok(false),
                Some(State::Offline) => {
                    bail!("the server closed the first connection{}", self.reason())
                }
                Some(State::SigningIn | State::Subscribing) => {}
            }
            if self.clock.now() > end {
                bail!("the first client was not signed in in time");
            }
            self.poll(20_000_000)?;
        }
    }

    /// Connects and signs in all clients that are not yet, some at a time.
    pub(crate) fn connect_all(&mut self, limit: Duration) -> Result<()> {
        let end = self.clock.now() + u64::try_from(limit.as_nanos())?;
        let count = self.clients.len();
        let at_once = match self.spec.connecting_max {
            0 => CONNECTING_MAX,
            most => most,
        };
        for first in (0..count).step_by(at_once) {
            let lot = first..(first + at_once).min(count);
            for number in lot.clone() {
                if self.clients.get(number).is_some_and(|client| client.state == State::Offline) {
                    self.connect(number)?;
                }
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

    /// Starts the live subscribers, if the run has some.
    pub(crate) fn listen(&mut self) -> Result<()> {
        let tags = self.spec.tags as usize;
        let told_apart = if tags <= TAGS_TOLD_APART { tags } else { 0 };
        self.tally.derived_by_tag = vec![Histogram::default(); told_apart];
        for (number, live) in self.spec.live.iter().enumerate() {
            let name = format!("lab-live-{number}");
            let listener =
                Listener::start(self.spec.address, &name, live, (self.clients.len(), tags))?;
            let data = epoll::EventData::new_u64(LISTENERS + number as u64);
            epoll::add(&self.epoll, &listener.stream, data, epoll::EventFlags::IN)
                .context("watch the subscriber's socket")?;
            self.listeners.push(listener);
        }
        Ok(())
    }

    /// Reads what a live subscriber got.
    fn hear(&mut self, number: usize) -> Result<()> {
        let Self { listeners, read_buffer, clock, tally, clients, spec, schedule, .. } = self;
        let listener = listeners.get_mut(number).filter(|listener| !listener.is_gone);
        let Some(listener) = listener else { return Ok(()) };
        let tags = u64::from(spec.tags);
        // The counter goes up by one per round over a client's tags.
        let due_of = |topic: usize, counter: u64| {
            let client = topic / spec.tags as usize;
            let tag = topic as u64 % tags;
            let value = counter.checked_sub(spec.counter_first)? * tags + tag;
            let number = value.checked_sub(clients.get(client)?.sent_before)?;
            Some(schedule.as_ref()?.due_of(client, number))
        };
        listener.read(read_buffer, clock, tally, &due_of)?;
        if listener.is_gone {
            epoll::delete(&self.epoll, &listener.stream).context("leave the subscriber")?;
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
        self.wait(Some(&timespec(nanos)))
    }

    /// Waits for answers until `due` and handles them. The timer is set once per due time: an
    /// epoll timeout would be set at every answer, and each setting costs a virtual machine a
    /// trip to its host.
    pub(crate) fn poll_until(&mut self, due: u64) -> Result<()> {
        let now = self.clock.now();
        if due <= now {
            return self.poll(0);
        }
        if self.timer_due != due {
            self.timer_due = due;
            let once = Itimerspec { it_interval: timespec(0), it_value: timespec(due - now) };
            timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)
                .context("set the timer")?;
        }
        self.wait(None)
    }

    /// Handles the answers that are there. If nothing is due then, sleeps until `due`, but for
    /// `step` nanoseconds at least; answers do not wake it.
    #[expect(clippy::disallowed_methods, reason = "sleeps for a time, not for a condition")]
    pub(crate) fn poll_in_step(&mut self, due: u64, step: u64) -> Result<()> {
        self.poll(0)?;
        let now = self.clock.now();
        if self.answers_left || due <= now {
            return Ok(());
        }
        std::thread::sleep(Duration::from_nanos((due - now).max(step)));
        Ok(())
    }

    fn wait(&mut self, timeout: Option<&Timespec>) -> Result<()> {
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), timeout) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).context("wait for answers"),
        }
        for event in &events {
            let key = event.data.u64();
            if key == TIMER {
                continue;
            }
            let (key, is_listener) = match key.checked_sub(LISTENERS) {
                Some(number) => (number, true),
                None => (key, false),
            };
            let Ok(client) = usize::try_from(key) else { continue };
            if is_listener {
                self.hear(client)?;
                continue;
            }
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
        self.answers_left = events.len() == EVENTS_MAX;
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
                body: self.spec.body,
                qos: self.spec.qos,
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
        let dialed = self.clock.now();
        let stream = dial(self.spec.address, Duration::from_secs(2))
            .with_context(|| format!("connect to {}", self.spec.address))?;
        stream.set_nonblocking(true).context("make a socket non-blocking")?;
        stream.set_nodelay(true).context("turn Nagle's algorithm off")?;
        let data = epoll::EventData::new_u64(number as u64);
        epoll::add(&self.epoll, &stream, data, READABLE).context("watch a socket")?;
        client.disconnected();
        client.dialed = dialed;
        client.stream = Some(match &self.tls {
            Some(tls) => tls.wire(stream)?,
            None => Wire::Plain(stream),
        });
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
        let is_promised = self.spec.qos == Qos::AtLeastOnce;
        loop {
            let Some(client) = self.clients.get(number) else { return };
            // Without acknowledgements the socket alone holds a client back.
            if !is_promised && client.has_rest() {
                return;
            }
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
        self.scratch.clear();
        for _ in 0..count {
            let value = client.sent_before + client.sent;
            let due = match &self.schedule {
                Some(plan) => plan.due_of(number, client.sent),
                None => self.clock.now(),
            };
            let tag = (value % u64::from(spec.tags)) as u32;
            let counter = spec.counter_first + value / u64::from(spec.tags);
            let topic = number as u32 * spec.tags + tag;
            let source_time = if spec.payload.has_source_time(tag) { wall_clock() } else { 0 };
            let book_place = self.book.sent(topic, counter, source_time);
            let slot = Slot::new(due, tag, counter, source_time, book_place);
            let is_promised = spec.qos == Qos::AtLeastOnce;
            let packet_id = if is_promised { client.take_slot(slot) } else { Some(0) };
            let Some(packet_id) = packet_id else { break };
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
                body: spec.body,
                qos: spec.qos,
            };
            frame::publish(&mut self.scratch, &message);
            client.sent += 1;
            if is_promised {
                self.in_flight += 1;
            } else {
                self.tally.acknowledged += 1;
                self.book.note(book_place, |entry| entry.acknowledged = true);
            }
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
        if let (false, Some(stream)) = (client.has_rest(), &client.stream) {
            let data = epoll::EventData::new_u64(number as u64);
            epoll::modify(&self.epoll, stream.socket(), data, READABLE)
                .context("watch a socket for reading")?;
        }
        self.after_write(number, alive);
        if self.spec.qos == Qos::AtMostOnce {
            self.send_due(number);
        }
        Ok(())
    }

    /// Asks to be told when a full socket has room. A socket that fails here is found by reading.
    pub(super) fn after_write(&mut self, number: usize, alive: bool) {
        let Some(client) = self.clients.get(number) else { return };
        if let (true, true, Some(stream)) = (alive, client.has_rest(), &client.stream) {
            let data = epoll::EventData::new_u64(number as u64);
            let flags = READABLE.union(epoll::EventFlags::OUT);
            let _found_by_reading = epoll::modify(&self.epoll, stream.socket(), data, flags);
        }
    }
}

fn timespec(nanos: u64) -> Timespec {
    // The remainder is below 10^9, and seconds of a run fit any integer.
    Timespec {
        tv_sec: (nanos / 1_000_000_000).cast_signed(),
        tv_nsec: (nanos % 1_000_000_000).cast_signed(),
    }
}

/// Nanoseconds since 1970.
pub(crate) fn wall_clock() -> i64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
