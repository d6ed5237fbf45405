//! The rounds: each load in turn, its rate and CPU taken, and the medians of all rounds.

use super::Progress;
use super::generator::{Pace, Sent};
use super::guard::Guard;
use super::private_box::{PrivateBox, path};
use anyhow::{Context as _, bail};
use cpu_time::ProcessTime;
use millrace_sizing::calibration::{Load, Observation};
use millrace_supervisor::Shutdown;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Rounds; their median leaves one disturbed round out.
pub(super) const ROUNDS: usize = 3;
/// The part of a load's time that is not measured: queues and caches settle.
const SETTLE: f64 = 0.3;
/// Time between two looks at production and the wish to stop.
const LOOK: Duration = Duration::from_millis(250);
/// A load that reaches less than this of its rate cannot be measured.
const REACHED: f64 = 0.9;

pub(super) enum Outcome {
    Measured(Vec<Observation>),
    Cancelled,
    Yielded(String),
}

/// The pace of a load.
fn pace(load: Load) -> Pace {
    let (values_per_s, at_once) = match load {
        Load::Alone => (5_000.0, 1),
        Load::AloneFast => (15_000.0, 1),
        Load::Bunched => (40_000.0, 20),
        Load::PassThrough | Load::InOrder | Load::Waiting => (4_000.0, 1),
        Load::Script => (40.0, 1),
    };
    Pace { values_per_s, at_once, path: path(load) }
}

/// Counters at one moment.
struct Moment {
    at: Instant,
    process: Duration,
    sent: Sent,
    scripts: Duration,
}

impl Moment {
    fn take(private: &PrivateBox) -> anyhow::Result<Self> {
        let process = ProcessTime::try_now().context("read the CPU time")?.as_duration();
        Ok(Self {
            at: Instant::now(),
            process,
            sent: private.generator.sent(),
            scripts: private.script_cpu(),
        })
    }
}

enum Pause {
    Over,
    Cancelled,
    Yielded(String),
}

/// How far all rounds are.
struct Clockwork<'a> {
    began: Instant,
    whole: Duration,
    cancel: &'a Shutdown,
    guard: Option<Guard>,
    tell: &'a mut dyn FnMut(&Progress),
}

impl Clockwork<'_> {
    /// Lets time pass, tells how far it is, and looks whether to stop.
    async fn pause(&mut self, time: Duration, text: &str) -> Pause {
        let end = Instant::now() + time;
        loop {
            let passed = self.began.elapsed();
            (self.tell)(&Progress {
                text: text.to_owned(),
                done: (passed.as_secs_f64() / self.whole.as_secs_f64()).min(1.0),
                left: self.whole.saturating_sub(passed),
            });
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Pause::Over;
            }
            tokio::select! {
                () = tokio::time::sleep(left.min(LOOK)) => {}
                () = self.cancel.begun() => return Pause::Cancelled,
            }
            if let Some(guard) = &mut self.guard
                && let Some(why) = guard.look().await
            {
                return Pause::Yielded(why);
            }
        }
    }
}

/// Measures all loads, round after round.
pub(super) async fn measure(
    private: &PrivateBox,
    guard: Option<Guard>,
    duration: Duration,
    cancel: &Shutdown,
    tell: &mut dyn FnMut(&Progress),
) -> anyhow::Result<Outcome> {
    let loads = Load::ALL.len();
    let turns = u32::try_from(loads * ROUNDS).unwrap_or(1);
    let calm = if guard.is_some() { super::guard::CALM } else { Duration::ZERO };
    let each = duration.saturating_sub(calm) / turns;
    let settle = each.mul_f64(SETTLE);
    let mut clockwork = Clockwork { began: Instant::now(), whole: duration, cancel, guard, tell };
    // Production as it is without us.
    match clockwork.pause(calm, "watching production").await {
        Pause::Over => {}
        Pause::Cancelled => return Ok(Outcome::Cancelled),
        Pause::Yielded(why) => return Ok(Outcome::Yielded(why)),
    }
    let mut all: BTreeMap<Load, Vec<Observation>> = BTreeMap::new();
    for round in 1..=ROUNDS {
        for load in Load::ALL {
            let text = format!("round {round} of {ROUNDS}: {}", load.text());
            private.generator.set(Some(pace(load)));
            let mut begin = None;
            for (time, is_measured) in [(settle, false), (each - settle, true)] {
                if is_measured {
                    begin = Some(Moment::take(private)?);
                }
                match clockwork.pause(time, &text).await {
                    Pause::Over => {}
                    Pause::Cancelled => return Ok(Outcome::Cancelled),
                    Pause::Yielded(why) => return Ok(Outcome::Yielded(why)),
                }
            }
            let end = Moment::take(private)?;
            private.generator.set(None);
            let begin = begin.context("a load is measured after it has settled")?;
            all.entry(load).or_default().push(observe(load, &begin, &end)?);
        }
    }
    Ok(Outcome::Measured(all.into_iter().map(|(load, rounds)| median(load, &rounds)).collect()))
}

#[expect(clippy::cast_precision_loss, reason = "counts of seconds")]
fn observe(load: Load, begin: &Moment, end: &Moment) -> anyhow::Result<Observation> {
    let seconds = (end.at - begin.at).as_secs_f64();
    let wanted = pace(load);
    let stored = end.sent.stored - begin.sent.stored;
    if end.sent.lost {
        bail!("a device lost its connection to the private box");
    }
    if end.sent.refused > 0 {
        bail!("the private box refused {} values", end.sent.refused);
    }
    let values_per_s = stored as f64 / seconds;
    if values_per_s < wanted.values_per_s * REACHED {
        bail!(
            "{}: only {values_per_s:.0} of {:.0} a second were reached: the machine is too busy to \
             be measured now; try again when there is less load",
            load.text(),
            wanted.values_per_s
        );
    }
    let load_cpu = end.sent.cpu.saturating_sub(begin.sent.cpu);
    let process = end.process.saturating_sub(begin.process);
    Ok(Observation {
        load,
        values_per_s,
        at_once: f64::from(wanted.at_once),
        busy_cores: process.saturating_sub(load_cpu).as_secs_f64() / seconds,
        script_cores: end.scripts.saturating_sub(begin.scripts).as_secs_f64() / seconds,
    })
}

/// The round in the middle, by busy cores.
fn median(load: Load, rounds: &[Observation]) -> Observation {
    let mut sorted = rounds.to_vec();
    sorted.sort_by(|a, b| a.busy_cores.total_cmp(&b.busy_cores));
    let none =
        Observation { load, values_per_s: 0.0, at_once: 1.0, busy_cores: 0.0, script_cores: 0.0 };
    sorted.get(sorted.len() / 2).copied().unwrap_or(none)
}

#[cfg(test)]
mod tests {
    use super::{Moment, REACHED, Sent, median, observe, pace};
    use millrace_sizing::calibration::Load;
    use std::time::{Duration, Instant};

    fn moment(at: Instant, seconds: u64, stored: u64, cpu_ms: u64, load_ms: u64) -> Moment {
        Moment {
            at: at + Duration::from_secs(seconds),
            process: Duration::from_millis(cpu_ms),
            sent: Sent { stored, refused: 0, cpu: Duration::from_millis(load_ms), lost: false },
            scripts: Duration::ZERO,
        }
    }

    #[test]
    fn what_the_load_itself_takes_is_not_the_boxs() {
        let now = Instant::now();
        let (begin, end) = (moment(now, 0, 100, 50, 20), moment(now, 10, 50_100, 5_050, 2_020));
        let found = observe(Load::Alone, &begin, &end).unwrap();
        assert!((found.values_per_s - 5_000.0).abs() < 1e-9);
        assert!((found.busy_cores - 0.3).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_rate_that_was_not_reached_is_told() {
        let now = Instant::now();
        let reached = (pace(Load::Alone).values_per_s * (REACHED - 0.01)) as u64;
        let (begin, end) = (moment(now, 0, 0, 0, 0), moment(now, 1, reached, 10, 1));
        let error = observe(Load::Alone, &begin, &end).unwrap_err().to_string();
        assert!(error.contains("too busy to be measured"), "{error}");
        let mut refused = moment(now, 1, 9_000, 10, 1);
        refused.sent.refused = 3;
        let error = observe(Load::Alone, &begin, &refused).unwrap_err().to_string();
        assert!(error.contains("refused 3"), "{error}");
    }

    #[test]
    fn one_disturbed_round_is_left_out() {
        let now = Instant::now();
        let round = |cpu_ms| {
            observe(Load::Alone, &moment(now, 0, 0, 0, 0), &moment(now, 1, 5_000, cpu_ms, 0))
                .unwrap()
        };
        let found = median(Load::Alone, &[round(210), round(900), round(200)]);
        assert!((found.busy_cores - 0.21).abs() < 1e-9, "{found:?}");
    }
}
