//! The phases of a run: first contact, the load, the drain.
//!
//! **Invariants**
//! - The window opens and closes by the clock, not by what the server did.
//! - Up to 25,000 sends a second each leaves at its own time; above that the generator sleeps in
//!   whole steps of 100 us, because falling asleep and waking costs more than the time between two
//!   sends. Its lag says how late that makes them.
//! - The load ends early only when the server went away and the run is one that sends again.

use std::time::Duration;

use anyhow::{Result, bail};

use super::crowd::Crowd;
use super::schedule::Schedule;
use super::spec::{Event, FirstContact};
use super::tally::Mark;
use crate::measure::histogram::Histogram;

/// Due events handled before answers are read again.
const FIRED_MAX: usize = 64;
/// How long a run without a rate, or a first contact, may take.
const UNPACED_LIMIT: Duration = Duration::from_secs(120);
/// How long to wait for the last acknowledgements.
const DRAIN_LIMIT: Duration = Duration::from_secs(10);
/// A first value that takes longer than this is counted.
const LATE: Duration = Duration::from_secs(2);
/// Events closer together than this are sent in steps.
const DENSE_BELOW: Duration = Duration::from_micros(40);
/// One such step.
const STEP_NANOS: u64 = 100_000;
const IDLE_POLL_NANOS: u64 = 20_000_000;

/// The two ends of the measured window.
pub(crate) struct Window {
    pub(crate) open: Mark,
    pub(crate) close: Mark,
    /// Values that were due in it.
    pub(crate) offered: u64,
}

/// Every topic sends its first value at once.
pub(crate) fn first_contact(crowd: &mut Crowd) -> Result<FirstContact> {
    let start = crowd.clock.now();
    let tags = u64::from(crowd.spec.tags);
    let topics = tags * crowd.clients.len() as u64;
    let before = crowd.tally.acknowledged;
    crowd.tally.window = (0, u64::MAX);
    let batch = std::mem::replace(&mut crowd.spec.batch, 1);
    // All due at the same moment, whenever the loop comes to send them.
    crowd.schedule = Schedule::new(start, crowd.clients.len(), 1, 1e15);
    for client in 0..crowd.clients.len() {
        crowd.due(client, tags);
        if client % FIRED_MAX == 0 {
            crowd.poll(0)?;
        }
    }
    let limit = start + nanos(UNPACED_LIMIT);
    wait_for_answers(crowd, limit)?;
    let seconds = (crowd.clock.now() - start) as f64 / 1e9;
    crowd.spec.batch = batch;
    let histogram: Histogram = std::mem::take(&mut crowd.tally.ack);
    crowd.tally.verdict = Histogram::default();
    crowd.tally.window = (0, 0);
    for client in &mut crowd.clients {
        client.sent_before += client.sent;
        (client.due, client.sent) = (0, 0);
    }
    Ok(FirstContact {
        topics,
        seconds,
        p99_ms: histogram.percentile_ms(0.99).unwrap_or(0.0),
        later_than_2_s: histogram.count_above(nanos(LATE)),
        acknowledged: crowd.tally.acknowledged - before,
    })
}

/// Publishes by the schedule, or as fast as the windows allow, and drains.
pub(crate) fn load(crowd: &mut Crowd, tell: &mut dyn FnMut(Event)) -> Result<Window> {
    let start = crowd.clock.now() + 1_000_000;
    let clients = crowd.clients.len();
    let plan = Schedule::new(start, clients, crowd.spec.batch, crowd.spec.rate_per_s);
    crowd.schedule = plan;
    match plan {
        Some(plan) => paced(crowd, plan, start, tell),
        None => unpaced(crowd, tell),
    }
}

fn paced(
    crowd: &mut Crowd,
    plan: Schedule,
    start: u64,
    tell: &mut dyn FnMut(Event),
) -> Result<Window> {
    let opens = start + crowd.spec.warmup_ms * 1_000_000;
    let closes = opens + crowd.spec.measure_ms * 1_000_000;
    crowd.tally.window = (opens, closes);
    let batch = u64::from(crowd.spec.batch);
    let is_dense = plan.interval() < DENSE_BELOW;
    let mut event = 0;
    let mut open = None;
    loop {
        let mut fired = 0;
        let mut now = crowd.clock.now();
        while fired < FIRED_MAX && plan.due(event) <= now && plan.due(event) < closes {
            crowd.tally.late(plan.due(event), now);
            crowd.due(plan.client(event), batch);
            event += 1;
            fired += 1;
            now = crowd.clock.now();
        }
        if open.is_none() && now >= opens {
            open = Some(mark(crowd));
            tell(Event::Measuring);
        }
        if now >= closes || lost(crowd)? {
            break;
        }
        let next = plan.due(event).min(closes);
        if is_dense {
            crowd.poll_in_step(next, STEP_NANOS)?;
        } else {
            crowd.poll_until(next)?;
        }
    }
    let close = mark(crowd);
    let open = open.unwrap_or_else(|| close.clone());
    if crowd.offline == 0 {
        drain(crowd)?;
    }
    Ok(Window { open, close, offered: plan.values_between(opens, closes) })
}

/// Counters of the load and of its server now.
fn mark(crowd: &Crowd) -> Mark {
    let spec = &crowd.spec;
    Mark::take(&crowd.clock, &crowd.tally, spec.server_pid, &spec.beside_pids)
}

fn unpaced(crowd: &mut Crowd, tell: &mut dyn FnMut(Event)) -> Result<Window> {
    crowd.tally.window = (0, u64::MAX);
    let open = mark(crowd);
    tell(Event::Measuring);
    let each = crowd.spec.values_per_client;
    for client in 0..crowd.clients.len() {
        crowd.due(client, each);
        crowd.poll(0)?;
    }
    let limit = crowd.clock.now() + nanos(UNPACED_LIMIT);
    wait_for_answers(crowd, limit)?;
    let close = mark(crowd);
    Ok(Window { open, close, offered: each * crowd.clients.len() as u64 })
}

/// Waits for the last acknowledgements and verdicts; what stays open is reported, not hidden.
pub(crate) fn drain(crowd: &mut Crowd) -> Result<()> {
    let limit = crowd.clock.now() + nanos(DRAIN_LIMIT);
    while crowd.clock.now() < limit && !lost(crowd)? {
        let verdicts = crowd.tally.verdicts >= crowd.tally.verdicts_asked;
        let derived = crowd
            .listeners
            .iter()
            .all(|listener| listener.is_gone || listener.has_all(crowd.tally.acknowledged));
        let acknowledged = crowd.in_flight == 0 && derived;
        // A server without verdicts never sends any: the first second shows it.
        if acknowledged && (verdicts || crowd.clock.now() + 9_000_000_000 > limit) {
            return Ok(());
        }
        crowd.poll(IDLE_POLL_NANOS)?;
    }
    Ok(())
}

fn wait_for_answers(crowd: &mut Crowd, limit: u64) -> Result<()> {
    while crowd.in_flight > 0 || crowd.clients.iter().any(|client| client.due > client.sent) {
        if crowd.clock.now() > limit {
            bail!("{} values were not acknowledged in {UNPACED_LIMIT:?}", crowd.in_flight);
        }
        if lost(crowd)? {
            bail!("the server closed {} connections{}", crowd.offline, crowd.reason());
        }
        crowd.poll(IDLE_POLL_NANOS)?;
    }
    Ok(())
}

/// True when the server went away in a run that sends again; an error in any other run.
fn lost(crowd: &Crowd) -> Result<bool> {
    if crowd.offline == 0 {
        return Ok(false);
    }
    if crowd.spec.resend_ms.is_none() {
        bail!("the server closed {} connections{}", crowd.offline, crowd.reason());
    }
    Ok(true)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
