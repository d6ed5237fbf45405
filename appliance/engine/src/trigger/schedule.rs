//! When a scheduled trigger is due.
//!
//! **Invariants**: after a gap, however many times were missed, one run follows at most.

use super::cron::Due;
use jiff::tz::TimeZone;
use millrace_model::Timestamp;
use std::time::Duration;

/// A schedule, read.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    form: Form,
    /// Whether times that passed while the box was off are made up for by one run.
    pub(crate) makes_up: bool,
}

#[derive(Clone, Debug)]
enum Form {
    Cron(Due, TimeZone),
    Every(Duration),
}

impl Schedule {
    pub(crate) fn cron(cron: Due, zone: TimeZone, makes_up: bool) -> Self {
        Self { form: Form::Cron(cron, zone), makes_up }
    }

    pub(crate) fn every(every: Duration, makes_up: bool) -> Self {
        Self { form: Form::Every(every), makes_up }
    }

    /// The first time after `after`.
    pub(crate) fn next(&self, after: Timestamp) -> Option<Timestamp> {
        match &self.form {
            Form::Cron(cron, zone) => cron.next(after, zone),
            Form::Every(every) => {
                let every = i64::try_from(every.as_nanos()).ok().filter(|every| *every > 0)?;
                after.0.div_euclid(every).checked_add(1)?.checked_mul(every).map(Timestamp)
            }
        }
    }

    /// The last time that was due up to `now`, given one that is known to be due.
    pub(crate) fn latest(&self, due: Timestamp, now: Timestamp) -> Timestamp {
        let mut latest = due;
        if let Form::Every(every) = &self.form {
            let every = i64::try_from(every.as_nanos()).unwrap_or(i64::MAX).max(1);
            return Timestamp((now.0.div_euclid(every) * every).max(due.0));
        }
        // A cron is due every second at most; a long gap is not walked second by second.
        for _ in 0..1_000 {
            match self.next(latest) {
                Some(next) if next <= now => latest = next,
                _ => break,
            }
        }
        latest
    }
}
