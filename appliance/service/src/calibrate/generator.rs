//! The load: devices on connections of their own, sending at an exact rate from one thread.
//!
//! **Invariants**
//! - What is in flight is bounded for each device: a slow box is sent less, and the rate that was
//!   reached tells it.
//! - The thread publishes its own CPU time, so that the rest of the process can be told from it.

use super::wire::{self, Answers};
use anyhow::{Context as _, anyhow};
use cpu_time::ThreadTime;
use millrace_supervisor::{Shutdown, spawn};
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// Most messages of a device that are sent and not answered.
const IN_FLIGHT_MAX: u32 = 200;
/// Topics of a device.
const TOPICS: u64 = 10;
/// How long all devices may take to connect.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);
/// Sends of one tick; what is beyond is left out, and the rate that was reached tells it.
const SENDS_PER_TICK_MAX: u64 = 500;

/// What to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    /// Values per second of all devices together.
    pub(super) values_per_s: f64,
    /// Values that a device sends at once.
    pub(super) at_once: u32,
    /// The first level of the path.
    pub(super) path: &'static str,
}

#[derive(Debug, Default)]
struct Counts {
    stored: AtomicU64,
    refused: AtomicU64,
    cpu_ns: AtomicU64,
    lost: AtomicBool,
}

/// What has been sent, as it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sent {
    pub(super) stored: u64,
    pub(super) refused: u64,
    /// CPU time of the thread that sends.
    pub(super) cpu: Duration,
    /// Whether a connection was lost.
    pub(super) lost: bool,
}

/// The running load.
pub(super) struct Generator {
    pace: Arc<Mutex<Option<Pace>>>,
    counts: Arc<Counts>,
    ending: Shutdown,
}

struct Device {
    topics: Vec<String>,
    writer: OwnedWriteHalf,
    in_flight: Arc<AtomicU32>,
    packet_id: u16,
}

impl Generator {
    /// Connects all devices; they send nothing yet.
    pub(super) async fn start(
        address: SocketAddr,
        root: String,
        devices: Vec<(String, String)>,
    ) -> anyhow::Result<Self> {
        let generator = Self {
            pace: Arc::new(Mutex::new(None)),
            counts: Arc::new(Counts::default()),
            ending: Shutdown::new(),
        };
        let (ready, connected) = oneshot::channel::<anyhow::Result<()>>();
        let (pace, counts) = (Arc::clone(&generator.pace), Arc::clone(&generator.counts));
        let ending = generator.ending.clone();
        spawn::thread("load", move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            match runtime {
                Err(error) => {
                    let _nobody = ready.send(Err(error.into())).is_err();
                }
                Ok(runtime) => runtime.block_on(async {
                    let made = connect_all(address, &root, devices, &counts);
                    let made = tokio::time::timeout(CONNECT_LIMIT, made).await;
                    let made = made.map_err(|_| anyhow!("the private box is too slow"));
                    match made.and_then(|made| made) {
                        Err(error) => {
                            let _nobody = ready.send(Err(error)).is_err();
                        }
                        Ok(devices) => {
                            let _nobody = ready.send(Ok(())).is_err();
                            send(devices, &pace, &counts, &ending).await;
                        }
                    }
                }),
            }
        })
        .context("start the load's thread")?;
        connected.await.context("the load's thread ended")?.context("connect the devices")?;
        Ok(generator)
    }

    /// What to send from now on; `None` = nothing.
    pub(super) fn set(&self, pace: Option<Pace>) {
        *self.pace.lock() = pace;
    }

    pub(super) fn sent(&self) -> Sent {
        let counts = &self.counts;
        Sent {
            stored: counts.stored.load(Ordering::Relaxed),
            refused: counts.refused.load(Ordering::Relaxed),
            cpu: Duration::from_nanos(counts.cpu_ns.load(Ordering::Relaxed)),
            lost: counts.lost.load(Ordering::Relaxed),
        }
    }

    /// Ends the thread and its connections.
    pub(super) fn stop(&self) {
        self.ending.begin();
    }
}

async fn connect_all(
    address: SocketAddr,
    root: &str,
    devices: Vec<(String, String)>,
    counts: &Arc<Counts>,
) -> anyhow::Result<Vec<Device>> {
    let mut all = Vec::new();
    for (number, (id, secret)) in devices.into_iter().enumerate() {
        let mut stream = TcpStream::connect(address).await.context("connect")?;
        stream.set_nodelay(true).context("send at once")?;
        stream.write_all(&wire::connect(&id, &secret)).await.context("sign in")?;
        let mut answers = Answers::default();
        let mut bytes = [0; 256];
        loop {
            let count = stream.read(&mut bytes).await.context("wait for the sign-in")?;
            if count == 0 {
                return Err(anyhow!("the box closed the connection"));
            }
            if answers.take(bytes.get(..count).unwrap_or_default())?.connected {
                break;
            }
        }
        let (reader, writer) = stream.into_split();
        let in_flight = Arc::new(AtomicU32::new(0));
        let reading = read(reader, answers, Arc::clone(counts), Arc::clone(&in_flight));
        spawn::task("load-answers", reading);
        let number = u32::try_from(number).unwrap_or(0);
        let group = super::private_box::group(number);
        let topics =
            (0..TOPICS).map(|topic| format!("{root}/main/_ingress/{id}/{{}}/{group}/{id}-{topic}"));
        all.push(Device { topics: topics.collect(), writer, in_flight, packet_id: 0 });
    }
    Ok(all)
}

/// Counts a device's answers until its connection ends.
async fn read(
    mut reader: OwnedReadHalf,
    mut answers: Answers,
    counts: Arc<Counts>,
    in_flight: Arc<AtomicU32>,
) {
    let mut bytes = vec![0; 4096];
    loop {
        let count = reader.read(&mut bytes).await.unwrap_or(0);
        match answers.take(bytes.get(..count).unwrap_or_default()) {
            Ok(answered) if count > 0 => {
                counts.stored.fetch_add(answered.stored.into(), Ordering::Relaxed);
                counts.refused.fetch_add(answered.refused.into(), Ordering::Relaxed);
                in_flight.fetch_sub(answered.stored + answered.refused, Ordering::Relaxed);
            }
            _ => {
                counts.lost.store(true, Ordering::Relaxed);
                return;
            }
        }
    }
}

/// Sends at the pace that is set, until the end.
async fn send(
    mut devices: Vec<Device>,
    pace: &Mutex<Option<Pace>>,
    counts: &Counts,
    ending: &Shutdown,
) {
    let mut ticks = interval(Duration::from_millis(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut current: Option<(Pace, Instant, u64)> = None;
    let (mut next, mut value) = (0, 0_u64);
    let mut frame = Vec::new();
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = ending.begun() => return,
        }
        let wanted = *pace.lock();
        if current.map(|(pace, ..)| pace) != wanted {
            current = wanted.map(|pace| (pace, Instant::now(), 0));
        }
        if let Some((pace, begun, sends)) = &mut current {
            let due = due(*pace, begun.elapsed());
            for _ in 0..due.saturating_sub(*sends).min(SENDS_PER_TICK_MAX) {
                let length = devices.len().max(1);
                let Some(device) = devices.get_mut(next % length) else { return };
                next = next.wrapping_add(1);
                value = value.wrapping_add(1);
                if device.send(*pace, value, &mut frame).await.is_err() {
                    counts.lost.store(true, Ordering::Relaxed);
                    return;
                }
            }
            *sends = due;
        }
        if let Ok(cpu) = ThreadTime::try_now() {
            let cpu = u64::try_from(cpu.as_duration().as_nanos()).unwrap_or(u64::MAX);
            counts.cpu_ns.store(cpu, Ordering::Relaxed);
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bounded rate over minutes"
)]
fn due(pace: Pace, elapsed: Duration) -> u64 {
    (elapsed.as_secs_f64() * pace.values_per_s / f64::from(pace.at_once.max(1))) as u64
}

impl Device {
    /// Sends one go, unless too much is in flight.
    async fn send(&mut self, pace: Pace, value: u64, frame: &mut Vec<u8>) -> std::io::Result<()> {
        if self.in_flight.load(Ordering::Relaxed) + pace.at_once > IN_FLIGHT_MAX {
            return Ok(());
        }
        frame.clear();
        for offset in 0..u64::from(pace.at_once) {
            self.packet_id = self.packet_id.checked_add(1).unwrap_or(1);
            let number = usize::try_from((value + offset) % TOPICS).unwrap_or(0);
            let Some(topic) = self.topics.get(number) else { continue };
            let topic = topic.replace("{}", pace.path);
            let payload =
                format!("{{\"value\": {}.{:04}}}", value % 1000, (value + offset) % 10_000);
            wire::publish(frame, &topic, self.packet_id, &payload);
        }
        self.in_flight.fetch_add(pace.at_once, Ordering::Relaxed);
        self.writer.write_all(frame).await
    }
}
