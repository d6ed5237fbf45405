//! One round of the crash scenarios: load, a violent end, a restart, devices that come back and
//! send again, and the read-back of every value of the round.
//!
//! **Invariants**
//! - What counts as acknowledged is recorded in the load generator's process, outside of the
//!   server and of its disk.
//! - Every value of the round is read back, not a sample.
//! - What pipelines derive may come after the acknowledgement, so the derived topics are read again
//!   until nothing is missing or [`DERIVED_LIMIT`] is over; what is there twice is never forgiven.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::Value;

use super::flows::{self, TWIN};
use super::row::{Plan, Wish, spec};
use crate::load::book::{self, Entry};
use crate::load::crowd::wall_clock;
use crate::load::handle::Load;
use crate::load::spec::{Event, Keep, Payload};
use crate::readback::{Comparison, read_back, read_back_below};
use crate::server::Target;
use crate::server::appliance::Appliance;
use crate::stop;

/// How long devices try to come back.
const COME_BACK_MS: u64 = 60_000;
const EVENT_LIMIT: Duration = Duration::from_secs(90);
/// How long derived values may take to come after a restart.
const DERIVED_LIMIT: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(100);
/// The load of a round ends by the crash; this is only its bound.
const LOAD_MS_MAX: u64 = 60_000;

/// The load of a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundLoad {
    pub(crate) devices: usize,
    pub(crate) tags: u32,
    pub(crate) rate_per_s: f64,
    pub(crate) counter_first: u64,
    pub(crate) load_core: Option<usize>,
    /// Whether each value has a derived one on its twin topic.
    pub(crate) has_pipelines: bool,
}

/// What a round found.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RoundResult {
    pub(crate) sent: u64,
    pub(crate) resent: u64,
    pub(crate) acknowledged_before: u64,
    /// Sent again and still not acknowledged at the end.
    pub(crate) open: u64,
    pub(crate) refused: u64,
    pub(crate) restart_ms: f64,
    pub(crate) compared: Comparison,
    /// The derived values, if pipelines are deployed.
    pub(crate) derived: Option<Comparison>,
    /// From the last acknowledgement until no run was left.
    pub(crate) runs_ended_ms: Option<f64>,
    pub(crate) ledger: Value,
    pub(crate) ledger_balanced: bool,
    #[serde(skip)]
    pub(crate) counter_next: u64,
}

/// Runs a round: `crash` ends the running appliance and gives the restarted one.
pub(crate) fn run(
    appliance: Appliance,
    target: Target,
    load: &RoundLoad,
    notes: &Path,
    crash: &mut dyn FnMut(Appliance) -> Result<Appliance>,
) -> Result<(Appliance, RoundResult)> {
    let book_file = notes.join("book");
    let plan = Plan {
        clients: load.devices,
        tags: load.tags,
        rate_per_s: load.rate_per_s,
        warmup_ms: 0,
        measure_ms: LOAD_MS_MAX,
        values_per_client: 0,
        in_flight: 16,
        batch: 1,
        payload: Payload::Half,
        verdict_every: 0,
    };
    let wish = Wish {
        counter_first: load.counter_first,
        keep: Keep::Everything,
        book: Some(book_file.clone()),
        resend_ms: Some(COME_BACK_MS),
        ..Wish::default()
    };
    let began = wall_clock() - 1_000_000_000;
    let running = Load::start(&spec(&target, &plan, &wish), load.load_core)?;
    let mut quiet = || Ok(());
    loop {
        match running.next(EVENT_LIMIT, &mut quiet)? {
            Event::Measuring => break,
            Event::Connected => {}
            other => bail!("the load said {other:?} before it began"),
        }
    }
    stop::pause(random_moment()?)?;
    let appliance = crash(appliance)?;
    let mut acknowledged_before = 0;
    let report = running.finish(
        EVENT_LIMIT,
        &mut |event| {
            if let Event::Down { acknowledged } = event {
                acknowledged_before = *acknowledged;
            }
        },
        &mut quiet,
    )?;
    let ended = Instant::now();
    let entries = book::read(&book_file)?;
    let compared = read_back(&mut appliance.http(), &entries, load.tags, began, &mut stop::check)?;
    let (mut derived, mut runs_ended_ms) = (None, None);
    if load.has_pipelines {
        runs_ended_ms = Some(await_runs(&appliance, ended)?);
        derived = Some(read_derived(&appliance, &entries, load.tags, began)?);
    }
    let ledger = appliance.ledger()?;
    let result = RoundResult {
        sent: report.sent,
        resent: report.resent,
        acknowledged_before,
        open: report.open,
        refused: report.refused,
        restart_ms: appliance.start_took.as_secs_f64() * 1e3,
        compared,
        derived,
        runs_ended_ms,
        ledger_balanced: is_balanced(&ledger),
        ledger,
        counter_next: report.counter_next,
    };
    Ok((appliance, result))
}

/// Waits until no run is left; gives the milliseconds since `ended`.
fn await_runs(appliance: &Appliance, ended: Instant) -> Result<f64> {
    let mut http = appliance.http();
    stop::wait_for("the runs to end", DERIVED_LIMIT, LOOK, || {
        Ok((flows::unfinished(&mut http)? == 0.0).then_some(()))
    })?;
    Ok(ended.elapsed().as_secs_f64() * 1e3)
}

/// Reads the derived topics until nothing is missing, or the limit is over.
fn read_derived(
    appliance: &Appliance,
    entries: &[Entry],
    tags: u32,
    from: i64,
) -> Result<Comparison> {
    let mut http = appliance.http();
    let end = Instant::now() + DERIVED_LIMIT;
    loop {
        let found = read_back_below(&mut http, TWIN, entries, tags, from, &mut stop::check)?;
        if found.lost == 0 || Instant::now() > end {
            return Ok(found);
        }
        stop::pause(LOOK)?;
    }
}

/// The sampled entries of a round, for the read-back at the very end.
pub(crate) fn sampled(notes: &Path, topics: u32, count: u32) -> Result<Vec<Entry>> {
    let mut entries = book::read(&notes.join("book"))?;
    entries.retain(|entry| book::keeps(Keep::Sample(count), topics, entry.topic));
    Ok(entries)
}

/// received = stored + redelivered + refused + interrupted + in flight, and the appliance agrees.
pub(crate) fn is_balanced(ledger: &Value) -> bool {
    let count = |name| crate::server::appliance::count(ledger, name);
    let parts = ["stored", "redelivered", "refused", "interrupted", "in_flight"];
    let sum: u64 = parts.iter().map(|name| count(name)).sum();
    count("received") == sum && ledger.get("balanced").and_then(Value::as_bool) != Some(false)
}

/// 200 to 900 ms into the load, different each time.
fn random_moment() -> Result<Duration> {
    let mut bytes = [0; 2];
    fs::File::open(PathBuf::from("/dev/urandom"))
        .and_then(|mut file| file.read_exact(&mut bytes))
        .context("read a random number")?;
    Ok(Duration::from_micros(200_000 + u64::from(u16::from_le_bytes(bytes)) * 700_000 / 65_536))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn adds_the_ledger_up_itself() {
        let ledger = json!({
            "received": 10, "stored": 6, "redelivered": 1, "refused": 1, "interrupted": 1,
            "in_flight": 1, "balanced": true,
        });
        assert!(is_balanced(&ledger));
        assert!(!is_balanced(&json!({ "received": 10, "stored": 6, "balanced": true })));
        assert!(!is_balanced(&json!({ "received": 0, "balanced": false })));
    }

    #[test]
    fn crashes_at_a_moment_within_the_load() {
        for _ in 0..20 {
            let moment = random_moment().unwrap();
            assert!((200..900).contains(&moment.as_millis()), "{moment:?}");
        }
    }
}
