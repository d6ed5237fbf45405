//! Triggers that go by the clock, in a rehearsal: schedules and startup triggers.
//!
//! They start their runs when the rehearsal's clock comes by, as if the pipeline were deployed when
//! the rehearsal begins. Their runs are numbered by their time, apart from those of values, so that
//! two revisions with different schedules are still compared run by run.
//!
//! **Invariants**: at most [`CLOCK_RUNS_MAX`] such runs; who asks learns that there would be more.

use super::Rehearsal;
use crate::agenda::Agenda;
use crate::queued::Start;
use crate::trigger::Cause;
use millrace_model::Timestamp;
use millrace_model::time::NANOS_PER_MILLI;
use std::sync::Arc;

/// Most runs that the clock starts in one rehearsal.
const CLOCK_RUNS_MAX: u64 = 100_000;
/// Numbers of runs that the clock started begin here, a millisecond each.
const CLOCK_RUNS: usize = 1 << (usize::BITS / 2);

/// What the clock starts.
#[derive(Debug, Default)]
pub(super) struct ClockTriggers {
    agenda: Agenda,
    start: Timestamp,
    end: Timestamp,
    /// How many runs it may start, and has started.
    pub(super) most: u64,
    count: u64,
    is_cut: bool,
}

impl ClockTriggers {
    /// When it starts the next run.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.agenda.first().filter(|due| *due < self.end)
    }
}

impl Rehearsal {
    /// From now on schedules and startup triggers start runs too, up to a time of the rehearsal's
    /// clock.
    pub fn keep_time(&mut self, end: Timestamp) {
        let start = self.stage.clock.now();
        let mut agenda = Agenda::default();
        for (number, trigger) in (0u16..).zip(&self.plan.triggers) {
            let is_deploy = !matches!(trigger.cause, Cause::Startup { on_deploy: false, .. });
            agenda.add(&self.stage.states, &self.plan, (number, trigger), is_deploy, start);
        }
        let most = CLOCK_RUNS_MAX;
        self.by_clock = ClockTriggers { agenda, start, end, most, ..ClockTriggers::default() };
    }

    /// Starts the run that is due then.
    pub(super) fn start_due(&mut self, due: Timestamp) {
        self.clock.set(due);
        let Some((step, data)) = self.by_clock.agenda.step(due) else { return };
        if self.by_clock.count >= self.by_clock.most {
            self.by_clock.is_cut = true;
            self.by_clock.agenda = Agenda::default();
            return;
        }
        self.by_clock.count += 1;
        let place = self.plan.triggers.iter().position(|trigger| trigger.id == step);
        let Some(trigger) = place.and_then(|place| u16::try_from(place).ok()) else { return };
        let millis = due.nanos_since(self.by_clock.start) / NANOS_PER_MILLI;
        let number = CLOCK_RUNS.saturating_add(usize::try_from(millis).unwrap_or(0));
        self.start(number, trigger, &[], Start::Data(data));
    }

    /// How many runs the clock started, and whether it would have started more.
    #[must_use]
    pub fn clock_runs(&self) -> (u64, bool) {
        (self.by_clock.count, self.by_clock.is_cut)
    }

    /// When a run was triggered.
    #[must_use]
    pub fn time_of(&self, run: usize) -> Option<Timestamp> {
        match run.checked_sub(CLOCK_RUNS) {
            Some(millis) => {
                let nanos = i64::try_from(millis).ok()?.checked_mul(NANOS_PER_MILLI)?;
                Some(self.by_clock.start.plus_nanos(nanos))
            }
            None => self.times.get(run).copied(),
        }
    }

    /// Trigger steps that nothing starts in a rehearsal over history: people, programs, other
    /// brokers and issues are not recorded.
    #[must_use]
    pub fn triggers_left_out(&self) -> Vec<Arc<str>> {
        let is_out = |cause: &Cause| {
            !matches!(cause, Cause::Value(_) | Cause::Schedule(_) | Cause::Startup { .. })
        };
        let out = self.plan.triggers.iter().filter(|trigger| is_out(&trigger.cause));
        out.map(|trigger| Arc::clone(&trigger.id)).collect()
    }

    /// Tags whose last value was asked for and was not fed before: what was given is today's.
    #[must_use]
    pub fn todays_values(&self) -> Vec<String> {
        self.room.todays()
    }
}
