//! The starvation probe: whether the box's own work waits for a CPU, and for how long.
//!
//! A thread of normal priority sleeps to a deadline again and again and notes how late it wakes
//! ([`lateness`]). Linux says more: how long each thread of the process stood in a run queue, in
//! which share of the time something waited at all (pressure stall), and whether a quota held the
//! process back (throttling) ([`waiting`]). On other systems lateness alone is measured, and the
//! issue says so.
//!
//! **The rule.** The box is *starved* when runnable work waits 1 s or more (p99 over the last
//! 10 s) or waited in 50 % or more of the last 10 s; *critical* when the delay reaches 60 s. It is
//! well again when neither held for 30 s. Waits below a millisecond (mean of a thread's turns) do
//! not count as waiting: on any busy machine work waits for microseconds all the time.
//!
//! **Invariants**: time and files are parameters ([`Clock`], [`Source`]); the probe itself wakes
//! twenty times a second and reads files once.

mod busiest;
mod lateness;
mod source;
#[cfg(test)]
mod tests;
mod thread;
mod waiting;

pub use busiest::{Busiest, Consumers, Nobody};
pub use source::{Source, SystemSource};
pub use thread::{Running, start};

use crate::clock::Clock;
use crate::issues::{Issue, Issues, Severity};
use crate::metrics::Measure;
use lateness::Lateness;
use millrace_model::Timestamp;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use waiting::Waiting;

/// Key of the issue.
pub const ISSUE: &str = "cpu-starved";
/// Consumers that the issue names.
const NAMED: usize = 3;

/// When the box is starved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// What "the last seconds" are.
    pub window: Duration,
    /// Starved at this delay (p99).
    pub delay: Duration,
    /// Starved at this share of the window.
    pub share: f64,
    /// Critical at this delay.
    pub critical_delay: Duration,
    /// Well again after so long without either.
    pub clear_after: Duration,
    /// Shorter waits do not count as waiting.
    pub noticeable: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            window: Duration::from_secs(10),
            delay: Duration::from_secs(1),
            share: 0.5,
            critical_delay: Duration::from_mins(1),
            clear_after: Duration::from_secs(30),
            noticeable: Duration::from_millis(1),
        }
    }
}

/// What the probe found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// How long runnable work waits for a CPU: p99 over the window.
    pub delay_p99: Duration,
    /// The longest wait in the window.
    pub longest: Duration,
    /// Share of the window in which work waited, 0 to 1.
    pub waited_share: f64,
    /// Share of the window in which a CPU quota held the process back, 0 to 1.
    pub throttled_share: f64,
    /// Since when the box is starved; none while it is well.
    pub since: Option<Timestamp>,
    /// Whether the delay reached the critical limit.
    pub is_critical: bool,
}

/// Judges once a second; fed by its thread.
pub struct Probe {
    clock: Arc<dyn Clock>,
    issues: Arc<Issues>,
    source: Box<dyn Source>,
    busiest: Busiest,
    limits: Limits,
    lateness: Lateness,
    waiting: Waiting,
    since: Option<Timestamp>,
    bad_at: Duration,
    critical_at: Option<Duration>,
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("since", &self.since).finish_non_exhaustive()
    }
}

impl Probe {
    /// A probe that has seen nothing yet.
    #[must_use]
    pub fn new(
        clock: Arc<dyn Clock>,
        issues: Arc<Issues>,
        source: Box<dyn Source>,
        consumers: Box<dyn Consumers>,
        limits: Limits,
    ) -> Self {
        Self {
            clock,
            issues,
            source,
            busiest: Busiest::new(consumers),
            limits,
            lateness: Lateness::new(limits.window),
            waiting: Waiting::default(),
            since: None,
            bad_at: Duration::ZERO,
            critical_at: None,
        }
    }

    /// Its thread woke so much later than it had asked to.
    pub fn woke(&mut self, late: Duration) {
        self.lateness.record(self.clock.monotonic(), late);
    }

    /// Reads the system, judges, and raises or clears the issue. About once a second.
    pub fn judge(&mut self) -> Reading {
        let now = self.clock.monotonic();
        self.busiest.sample(now);
        let late = self.lateness.read(now, self.limits.noticeable);
        let waits = self.waiting.read(now, self.source.as_ref(), &self.limits, late.p99);
        let delay_p99 = late.p99.max(waits.turn);
        let longest = late.longest.max(waits.turn);
        let waited_share = late.share.max(waits.waited).max(waits.throttled);
        let is_bad = delay_p99 >= self.limits.delay || waited_share >= self.limits.share;
        if is_bad {
            self.bad_at = now;
            self.since.get_or_insert(self.clock.now());
            if longest >= self.limits.critical_delay {
                self.critical_at = Some(now);
            }
        }
        let is_recent = |at: Duration| now.saturating_sub(at) < self.limits.clear_after;
        if self.since.is_some() && !is_bad && !is_recent(self.bad_at) {
            self.since = None;
            self.issues.clear(ISSUE);
        }
        let reading = Reading {
            delay_p99,
            longest,
            waited_share,
            throttled_share: waits.throttled,
            since: self.since,
            is_critical: self.since.is_some() && self.critical_at.is_some_and(is_recent),
        };
        if is_bad {
            self.raise(&reading, waits.is_lateness_alone);
        }
        reading
    }

    fn raise(&self, reading: &Reading, is_lateness_alone: bool) {
        let throttled = if reading.throttled_share > 0.0 {
            let percent = percent(reading.throttled_share);
            format!(" A CPU quota held the process back in {percent} % of it.")
        } else {
            String::new()
        };
        let measured = if is_lateness_alone {
            " (Measured by timers alone: this system says nothing about its run queues.)"
        } else {
            ""
        };
        let quota = if reading.throttled_share > 0.0 { "raise its CPU quota, " } else { "" };
        self.issues.raise(Issue {
            key: ISSUE.to_owned(),
            severity: if reading.is_critical { Severity::Critical } else { Severity::Warning },
            what: format!(
                "Work waits for a CPU: {} (p99), and something waited in {} % of the last {} \
                 seconds.{throttled}{measured} {}",
                seconds(reading.delay_p99),
                percent(reading.waited_share),
                self.limits.window.as_secs(),
                self.busiest.sentence(NAMED),
            ),
            effect: "Values are acknowledged later and pipelines run later; nothing that was \
                     acknowledged is lost."
                .to_owned(),
            remedy: format!(
                "Give the box more cores, {quota}move other programs away from it, or relieve \
                 what is named here."
            ),
        });
    }
}

impl Reading {
    /// The figures for the registry.
    pub fn measures(&self, out: &mut Vec<Measure>) {
        let text = "How long runnable work waits for a CPU, p99 over the last 10 seconds";
        let delay = self.delay_p99.as_secs_f64();
        out.push(Measure::gauge("runtime_sched_latency_p99_seconds", text, delay));
        let text = "Share of the last 10 seconds in which work waited for a CPU";
        let share = self.waited_share * 100.0;
        out.push(Measure::gauge("runtime_cpu_pressure_percent", text, share));
        let text = "Share of the last 10 seconds in which a CPU quota held the process back";
        let share = self.throttled_share * 100.0;
        out.push(Measure::gauge("runtime_cpu_throttled_percent", text, share));
        let text = "1 while the box is starved of CPU";
        let starved = f64::from(u8::from(self.since.is_some()));
        out.push(Measure::gauge("runtime_cpu_starved", text, starved));
    }
}

fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

fn percent(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}
