//! What the kernel says of waiting, over the window.
//!
//! - Run queues: the nanoseconds that each thread stood in one, and its turns. A thread whose
//!   mean wait a turn is noticeable was held up; the others waited for microseconds and do not
//!   count. The one that waited most gives a lower bound of the share in which *something*
//!   waited, the sum of all held-up threads an upper bound.
//! - Pressure (`some avg10`): the share in which something waited, however shortly: another upper
//!   bound, and the only figure where run queues are not told.
//! - Throttling: the time for which a quota stopped the group, at most the share of periods in
//!   which it did (the kernel adds the time up over CPUs).
//!
//! **Invariants**: counters that went back (a thread's number was given again) count as new ones;
//! text that is not understood counts as not there.

use crate::probe::{Limits, Source};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// Samples held: one a second, and some more when called oftener.
const SAMPLES_MAX: usize = 64;

#[derive(Clone, Copy, Debug, Default)]
struct Turns {
    wait_ns: u64,
    turns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Throttle {
    periods: u64,
    throttled: u64,
    micros: u64,
}

#[derive(Debug)]
struct Sample {
    at: Duration,
    threads: HashMap<u64, Turns>,
    throttle: Option<Throttle>,
}

/// The samples of the window.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    samples: VecDeque<Sample>,
}

/// What they say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Waits {
    /// Mean wait a turn of the thread that waited longest a turn.
    pub(crate) turn: Duration,
    pub(crate) waited: f64,
    pub(crate) throttled: f64,
    /// The system tells nothing of all this.
    pub(crate) is_lateness_alone: bool,
}

impl Waiting {
    /// Takes a sample and reads the window. `late` is what the probe's own thread found.
    pub(crate) fn read(
        &mut self,
        now: Duration,
        source: &dyn Source,
        limits: &Limits,
        late: Duration,
    ) -> Waits {
        let threads: HashMap<u64, Turns> = source
            .threads()
            .into_iter()
            .filter_map(|(number, text)| Some((number, turns(&text)?)))
            .collect();
        let pressure = source.pressure().as_deref().and_then(pressure);
        let throttle = source.group_stat().as_deref().and_then(throttle);
        let from = now.saturating_sub(limits.window);
        // The youngest sample that is as old as the window stays: differences are to it.
        while self.samples.get(1).is_some_and(|second| second.at <= from)
            || self.samples.len() >= SAMPLES_MAX
        {
            self.samples.pop_front();
        }
        let mut waits = Waits {
            is_lateness_alone: threads.is_empty() && pressure.is_none() && throttle.is_none(),
            ..Waits::default()
        };
        if let Some(base) = self.samples.front() {
            let window = limits.window.max(now.saturating_sub(base.at)).as_secs_f64();
            waits.run_queues(&threads, base, window, limits, pressure);
            waits.throttling(throttle, base, window);
        }
        if threads.is_empty() && late >= limits.noticeable {
            waits.waited = pressure.unwrap_or(0.0);
        }
        self.samples.push_back(Sample { at: now, threads, throttle });
        waits
    }
}

impl Waits {
    fn run_queues(
        &mut self,
        threads: &HashMap<u64, Turns>,
        base: &Sample,
        window: f64,
        limits: &Limits,
        pressure: Option<f64>,
    ) {
        let (mut most, mut sum) = (Duration::ZERO, Duration::ZERO);
        for (number, now) in threads {
            let before = base.threads.get(number).copied().unwrap_or_default();
            let (Some(wait_ns), Some(turns)) =
                (now.wait_ns.checked_sub(before.wait_ns), now.turns.checked_sub(before.turns))
            else {
                continue;
            };
            let turn = Duration::from_nanos(wait_ns.checked_div(turns).unwrap_or(0));
            if turn >= limits.noticeable {
                let wait = Duration::from_nanos(wait_ns);
                most = most.max(wait);
                sum = sum.saturating_add(wait);
            }
            self.turn = self.turn.max(turn);
        }
        let share = |wait: Duration| (wait.as_secs_f64() / window).min(1.0);
        self.waited = share(most).max(share(sum).min(pressure.unwrap_or(0.0)));
    }

    #[expect(clippy::cast_precision_loss, reason = "a share of counts")]
    fn throttling(&mut self, now: Option<Throttle>, base: &Sample, window: f64) {
        let (Some(now), Some(before)) = (now, base.throttle) else { return };
        let periods = now.periods.saturating_sub(before.periods);
        let throttled = now.throttled.saturating_sub(before.throttled);
        let time = Duration::from_micros(now.micros.saturating_sub(before.micros));
        if periods > 0 {
            let of_periods = throttled as f64 / periods as f64;
            self.throttled = (time.as_secs_f64() / window).min(of_periods).min(1.0);
        }
    }
}

/// `<on a CPU ns> <in a run queue ns> <turns>`.
fn turns(text: &str) -> Option<Turns> {
    let mut fields = text.split_ascii_whitespace().skip(1);
    let wait_ns = fields.next()?.parse().ok()?;
    Some(Turns { wait_ns, turns: fields.next()?.parse().ok()? })
}

/// `some avg10=12.34 ...`, as a share.
fn pressure(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let percent = line.split(' ').find_map(|field| field.strip_prefix("avg10="))?;
    let share = percent.parse::<f64>().ok()? / 100.0;
    share.is_finite().then(|| share.clamp(0.0, 1.0))
}

/// `nr_periods`, `nr_throttled` and `throttled_usec`, where there is a quota.
fn throttle(text: &str) -> Option<Throttle> {
    let figure = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse().ok()
    };
    Some(Throttle {
        periods: figure("nr_periods")?,
        throttled: figure("nr_throttled")?,
        micros: figure("throttled_usec")?,
    })
}
