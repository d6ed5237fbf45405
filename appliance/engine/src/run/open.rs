//! What a run that has not ended waits for, for those who look at it.
//!
//! **Invariants**: looking changes nothing; at most [`WAITS_TOLD_MAX`] waits are told.

use super::{Run, Wait, Waiting};
use crate::report::{OpenWait, WaitFor};
use millrace_model::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// Most waits of one run that are told.
const WAITS_TOLD_MAX: usize = 100;

impl Run {
    /// What it waits for: times and work outside first, then the steps around them.
    pub(crate) fn open_waits(&self, now: Timestamp, at: Duration) -> Vec<OpenWait> {
        let inner = self.waits.values().filter(|wait| wait.what.is_blocking());
        let outer = self.waits.values().filter(|wait| !wait.what.is_blocking());
        inner.chain(outer).take(WAITS_TOLD_MAX).map(|wait| self.tell_wait(wait, now, at)).collect()
    }

    fn tell_wait(&self, wait: &Wait, now: Timestamp, at: Duration) -> OpenWait {
        let ahead = |time: Duration| now.plus_nanos(nanos(time.saturating_sub(at)));
        let (what, until) = match &wait.what {
            Waiting::Future(_) => (WaitFor::Answer, None),
            Waiting::Pause { until, .. } => (WaitFor::Time, Some(*until)),
            Waiting::Retry { until } => (WaitFor::Retry, Some(ahead(*until))),
            Waiting::Each { .. } => (WaitFor::Items, None),
            Waiting::Guard => (WaitFor::Branch, None),
            Waiting::Call => (WaitFor::Call, None),
            Waiting::Gather { .. } => (WaitFor::Inputs, None),
        };
        let step = self
            .step_of(&wait.token)
            .and_then(|(plan, step)| plan.step(step).map(|step| Arc::clone(&step.id)));
        OpenWait {
            step: step.unwrap_or_else(|| "".into()),
            what,
            since: wait.begun,
            until: until.or_else(|| wait.deadline.map(ahead)),
        }
    }
}

pub(super) fn nanos(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}
