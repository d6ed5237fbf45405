//! What comes to a run that waits: results of futures, times, timeouts, the end.
//!
//! **Invariants**: an event for a wait that is no more is nothing.

use super::{End, Entry, Run, Wait, Waiting};
use crate::report::RunFault;
use crate::step::StepFault;
use millrace_flow::Data;
use millrace_model::Timestamp;
use std::time::Duration;

/// Something that a waiting run is told.
#[derive(Debug)]
pub(crate) enum Event {
    /// The future of a wait is done.
    Done(u32, Box<Result<Data, StepFault>>),
    /// A time may have come: look at everything that waits for one.
    Time,
    /// It must end.
    Cancel(&'static str, String),
}

impl Run {
    /// Takes an event; the run is to be driven afterwards.
    pub(crate) fn tell(&mut self, event: Event, now: Timestamp, at: Duration) {
        match event {
            Event::Done(number, result) => {
                if let Some(Wait { what: Waiting::Future(_), .. }) = self.waits.get(&number) {
                    self.go_on(number, *result);
                }
            }
            Event::Time => self.time_passed(now, at),
            Event::Cancel(code, message) => {
                let step = self.standing();
                self.end = Some(End::Failed(RunFault { step, code, message, line: None }));
            }
        }
    }

    fn time_passed(&mut self, now: Timestamp, at: Duration) {
        let due: Vec<u32> = self
            .waits
            .iter()
            .filter(|(_, wait)| wait.is_due(now, at))
            .map(|(number, _)| *number)
            .collect();
        for number in due {
            let Some(wait) = self.waits.get_mut(&number) else { continue };
            match &mut wait.what {
                Waiting::Pause { carry, .. } => {
                    let carry = std::mem::take(carry);
                    self.go_on(number, Ok(carry));
                }
                Waiting::Retry { .. } => {
                    if let Some(Wait { token, .. }) = self.unpark(number) {
                        self.ready.push_back(token);
                    }
                }
                Waiting::Future(_) | Waiting::Each { .. } | Waiting::Guard | Waiting::Call => {
                    let took = at.saturating_sub(wait.since).as_millis();
                    let message = format!("did not end within its time ({took} ms)");
                    self.clear_opened_by(number);
                    self.go_on(number, Err(StepFault::passing("timeout", message)));
                }
                Waiting::Gather { .. } => {}
            }
        }
    }

    fn go_on(&mut self, number: u32, result: Result<Data, StepFault>) {
        if let Some(Wait { mut token, .. }) = self.unpark(number) {
            token.entry = match result {
                Ok(data) => Entry::Resume(data),
                Err(fault) => Entry::Fail(Box::new(fault)),
            };
            self.ready.push_back(token);
        }
    }

    /// The next times at which it must be looked at: on the wall, and monotonic.
    pub(crate) fn next_times(&self) -> (Option<Timestamp>, Option<Duration>) {
        let mut wall: Option<Timestamp> = None;
        let mut mono: Option<Duration> = None;
        for wait in self.waits.values() {
            match wait.what {
                Waiting::Pause { until, .. } => {
                    wall = Some(wall.map_or(until, |known| known.min(until)));
                }
                Waiting::Retry { until } => {
                    mono = Some(mono.map_or(until, |known| known.min(until)));
                }
                _ => {}
            }
            if let Some(deadline) = wait.deadline {
                mono = Some(mono.map_or(deadline, |known| known.min(deadline)));
            }
        }
        (wall, mono)
    }
}

impl Wait {
    fn is_due(&self, now: Timestamp, at: Duration) -> bool {
        match self.what {
            Waiting::Pause { until, .. } => now >= until,
            Waiting::Retry { until } => at >= until,
            _ => self.deadline.is_some_and(|deadline| at >= deadline),
        }
    }
}
