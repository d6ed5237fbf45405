//! One connection to a broker: packets in, packets out, signs of life.
//!
//! **Invariants**: [`Link::next`] and [`Link::write_out`] may be dropped at any await and called
//! again without losing a byte; a packet over the limit ends the connection before it is read.

use crate::dial::{Dialer, Endpoint, Stream};
use crate::limits::{BACK_OFF_FIRST, CONNECT_MAX, MQTT_PACKET_BYTES_MAX};
use bytes::BytesMut;
use millrace_engine::step::StepFault;
use rumqttc::mqttbytes::Error as CodecFault;
use rumqttc::mqttbytes::v4::{Connect, ConnectReturnCode, Login, Packet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::time::{Instant, timeout_at};

/// A broker, and who connects to it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Broker {
    pub(crate) endpoint: Endpoint,
    pub(crate) client_id: String,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<Arc<str>>,
    pub(crate) keep_alive: Duration,
    /// Whether the broker forgets what it kept for this client id.
    pub(crate) is_clean: bool,
}

impl std::fmt::Debug for Broker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { endpoint, client_id, .. } = self;
        f.debug_struct("Broker")
            .field("endpoint", endpoint)
            .field("client_id", client_id)
            .finish_non_exhaustive()
    }
}

/// What happens on a connection.
#[derive(Debug)]
pub(crate) enum Event {
    Packet(Packet),
    /// All that was pushed is with the operating system.
    Written,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Link {
    reader: ReadHalf<Stream>,
    writer: WriteHalf<Stream>,
    inbound: BytesMut,
    outbound: BytesMut,
    is_unflushed: bool,
    keep_alive: Duration,
    heard_at: Instant,
    pinged_at: Instant,
}

impl Link {
    /// Connects and signs in. Also: whether the broker has kept a session for us.
    pub(crate) async fn open(dialer: &Dialer, broker: &Broker) -> Result<(Self, bool), StepFault> {
        let until = Instant::now() + CONNECT_MAX;
        let stream = dialer.connect(&broker.endpoint, until).await?;
        let (reader, writer) = tokio::io::split(stream);
        let now = Instant::now();
        let mut link = Self {
            reader,
            writer,
            inbound: BytesMut::with_capacity(4_096),
            outbound: BytesMut::new(),
            is_unflushed: false,
            keep_alive: broker.keep_alive,
            heard_at: now,
            pinged_at: now,
        };
        let mut connect = Connect::new(broker.client_id.clone());
        connect.keep_alive = u16::try_from(broker.keep_alive.as_secs()).unwrap_or(u16::MAX);
        connect.clean_session = broker.is_clean;
        connect.login = broker
            .user
            .as_ref()
            .map(|user| Login::new(user.clone(), broker.password.as_deref().unwrap_or_default()));
        link.push(&Packet::Connect(connect))?;
        let target = broker.endpoint.target("mqtt");
        let answer = timeout_at(until, link.next_packet()).await;
        let late = |_| StepFault::passing("timeout", format!("{target} does not answer CONNECT"));
        match answer.map_err(late)?? {
            Packet::ConnAck(ack) if ack.code == ConnectReturnCode::Success => {
                Ok((link, ack.session_present))
            }
            Packet::ConnAck(ack) => {
                let message = format!("{target} refuses the connection: {:?}", ack.code);
                Err(match ack.code {
                    ConnectReturnCode::ServiceUnavailable => {
                        StepFault::passing("unreachable", message)
                    }
                    _ => StepFault::lasting("answer", message),
                })
            }
            _ => Err(StepFault::passing(
                "bad_answer",
                format!("{target} answers CONNECT with something else"),
            )),
        }
    }

    /// Puts a packet into the buffer; [`Link::next`] writes it.
    pub(crate) fn push(&mut self, packet: &Packet) -> Result<(), StepFault> {
        packet.write(&mut self.outbound, MQTT_PACKET_BYTES_MAX).map(drop).map_err(|error| {
            StepFault::lasting("bad_input", format!("the packet cannot be sent: {error}"))
        })
    }

    /// Bytes that wait to be written.
    pub(crate) fn unwritten(&self) -> usize {
        self.outbound.len()
    }

    /// The next event: reads, and writes what was pushed.
    pub(crate) async fn next(&mut self) -> Result<Event, StepFault> {
        loop {
            if let Some(packet) = self.parse()? {
                return Ok(Event::Packet(packet));
            }
            if self.outbound.is_empty() && !self.is_unflushed {
                let count = self.reader.read_buf(&mut self.inbound).await;
                self.heard(count)?;
                continue;
            }
            tokio::select! {
                count = self.reader.read_buf(&mut self.inbound) => heard(&mut self.heard_at, count)?,
                written = write(&mut self.writer, &mut self.outbound, &mut self.is_unflushed) => {
                    written?;
                    return Ok(Event::Written);
                }
            }
        }
    }

    /// Writes what was pushed, without reading.
    pub(crate) async fn write_out(&mut self) -> Result<(), StepFault> {
        write(&mut self.writer, &mut self.outbound, &mut self.is_unflushed).await
    }

    async fn next_packet(&mut self) -> Result<Packet, StepFault> {
        loop {
            if let Event::Packet(packet) = self.next().await? {
                return Ok(packet);
            }
        }
    }

    fn heard(&mut self, count: std::io::Result<usize>) -> Result<(), StepFault> {
        heard(&mut self.heard_at, count)
    }

    fn parse(&mut self) -> Result<Option<Packet>, StepFault> {
        match Packet::read(&mut self.inbound, MQTT_PACKET_BYTES_MAX) {
            Ok(packet) => Ok(Some(packet)),
            Err(CodecFault::InsufficientBytes(more)) => {
                self.inbound.reserve(more.min(64 << 10));
                Ok(None)
            }
            Err(error) => {
                let message = format!("the broker does not speak MQTT 3.1.1: {error}");
                Err(StepFault::passing("bad_answer", message))
            }
        }
    }

    /// When [`Link::keep_alive`] wants to be called next.
    pub(crate) fn next_sign(&self) -> Instant {
        self.pinged_at + self.keep_alive
    }

    /// Sends a sign of life; fails if the broker has been silent since the last one.
    pub(crate) fn keep_alive(&mut self, is_reading: bool) -> Result<(), StepFault> {
        let now = Instant::now();
        if is_reading && self.heard_at < self.pinged_at {
            let message = "the broker has given no sign of life";
            return Err(StepFault::passing("unreachable", message));
        }
        self.pinged_at = now;
        self.push(&Packet::PingReq)
    }
}

fn heard(heard_at: &mut Instant, count: std::io::Result<usize>) -> Result<(), StepFault> {
    match count {
        Ok(0) => Err(StepFault::passing("unreachable", "the broker has closed the connection")),
        Ok(_) => {
            *heard_at = Instant::now();
            Ok(())
        }
        Err(error) => Err(broken(&error)),
    }
}

async fn write(
    writer: &mut WriteHalf<Stream>,
    outbound: &mut BytesMut,
    is_unflushed: &mut bool,
) -> Result<(), StepFault> {
    while !outbound.is_empty() {
        let count = writer.write_buf(outbound).await.map_err(|error| broken(&error))?;
        if count == 0 {
            return Err(StepFault::passing("unreachable", "the broker takes nothing more"));
        }
        *is_unflushed = true;
    }
    writer.flush().await.map_err(|error| broken(&error))?;
    *is_unflushed = false;
    Ok(())
}

fn broken(error: &std::io::Error) -> StepFault {
    StepFault::passing("unreachable", format!("the connection to the broker broke: {error}"))
}

/// The wait before the next attempt, growing, with some chance in it so that a fleet of boxes does
/// not come back in one moment.
#[derive(Debug)]
pub(crate) struct BackOff {
    next: Duration,
    most: Duration,
}

impl BackOff {
    pub(crate) fn up_to(most: Duration) -> Self {
        Self { next: BACK_OFF_FIRST, most }
    }

    /// After a success.
    pub(crate) fn reset(&mut self) {
        self.next = BACK_OFF_FIRST;
    }

    pub(crate) fn next(&mut self) -> Duration {
        let full = self.next;
        self.next = (full * 2).min(self.most);
        let chance = u32::try_from(RandomState::new().hash_one(0) % 1_000).unwrap_or(0);
        full / 2 + full / 2 * chance / 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_their_limit_and_begin_anew() {
        let mut back_off = BackOff::up_to(Duration::from_secs(3));
        let waits: Vec<_> = (0..20).map(|_| back_off.next()).collect();
        assert!(waits[0] <= BACK_OFF_FIRST && waits[0] >= BACK_OFF_FIRST / 2, "{waits:?}");
        assert!(waits.iter().all(|wait| *wait <= Duration::from_secs(3)), "{waits:?}");
        assert!(waits[19] >= Duration::from_millis(1_500), "{waits:?}");
        back_off.reset();
        assert!(back_off.next() <= BACK_OFF_FIRST);
    }

    #[test]
    fn no_bytes_of_a_broker_make_the_codec_panic() {
        let mut seed = 88_172_645_463_325_252_u64;
        let mut random = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        let mut packets = 0;
        for _ in 0..100_000 {
            let length = usize::try_from(random() % 24).unwrap();
            let mut bytes = BytesMut::with_capacity(length + 2);
            // Every type of packet with any flags, its length right or a little wrong.
            bytes.extend_from_slice(&[
                random() as u8,
                (length as u8).wrapping_add((random() % 3) as u8),
            ]);
            bytes.extend((0..length).map(|_| match random() % 2 {
                0 => (random() % 6) as u8,
                _ => random() as u8,
            }));
            packets += usize::from(Packet::read(&mut bytes, MQTT_PACKET_BYTES_MAX).is_ok());
        }
        assert!(packets > 1_000, "some of them are packets: {packets}");
    }
}
