//! The key of a run whose order is by an expression.
//!
//! **Invariants**: keys are evaluated in the order of arrival, as their pipeline's runs are on one
//! thread; a key that cannot be evaluated is the same for all such runs.

use super::Hand;
use super::batch::Turn;
use crate::queue::Taken;
use crate::queued::Queued;
use crate::run::{Bench, Run};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Hand {
    /// Evaluates the key of a run and lines it up, unless this worker was given up meanwhile.
    pub(super) fn evaluate_key(&mut self, queued: Arc<Queued>) -> Turn {
        let core = Arc::clone(&self.core);
        let (now, at) = (core.stage.clock.now(), core.stage.clock.monotonic());
        let mut run = Run::begin(Arc::clone(&queued), 0, now, at);
        let mut bench = Bench {
            stage: &core.stage,
            outbox: &mut *self.outbox,
            scripts: &mut *self.scripts,
            stubs: None,
            text: &mut self.text,
            undo: &mut self.undo,
        };
        let evaluated = match queued.defect() {
            // The run itself will fail with it.
            Some(_) => None,
            None => match run.evaluate_key(&mut bench) {
                Some(key) => Some(key),
                None if core.stage.is_stopping.load(Ordering::Acquire) => return Turn::Stops,
                None => match self.again(Arc::clone(&queued), Taken::Unkeyed) {
                    Some(again) => return again,
                    // It ends as soon as it begins.
                    None => None,
                },
            },
        };
        let key = match evaluated {
            Some(Ok(data)) => crate::queue::hash(&*data.to_json_text()),
            Some(Err(fault)) => {
                tracing::debug!(run = %queued.id(), "The order's key cannot be told: {fault}.");
                0
            }
            None => 0,
        };
        let known = Arc::clone(&queued);
        if core.queue.keyed(queued, key, now, || self.let_go(&known)) {
            self.done += 1;
        }
        Turn::Goes
    }
}
