//! The key of a run whose order is by an expression.
//!
//! **Invariants**: keys are evaluated in the order of arrival, as their pipeline's runs are on one
//! thread; a key that cannot be evaluated is the same for all such runs.

use super::Hand;
use crate::queued::Queued;
use crate::run::{Bench, Run};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Hand {
    /// Evaluates the key of a run and lines it up; `false` if this worker was given up meanwhile.
    pub(super) fn evaluate_key(&mut self, queued: Arc<Queued>) -> bool {
        let core = Arc::clone(&self.core);
        let (now, at) = (core.stage.clock.now(), core.stage.clock.monotonic());
        let mut run = Run::begin(Arc::clone(&queued), 0, now, at);
        let mut bench = Bench {
            stage: &core.stage,
            outbox: &mut *self.outbox,
            scripts: &mut *self.scripts,
            stubs: None,
            text: &mut self.text,
        };
        let evaluated = match queued.defect() {
            // The run itself will fail with it.
            Some(_) => None,
            None => Some(run.evaluate_key(&mut bench)),
        };
        let key = match evaluated {
            Some(Ok(data)) => crate::queue::hash(&*data.to_json_text()),
            Some(Err(fault)) => {
                tracing::debug!(run = %queued.id(), "The order's key cannot be told: {fault}.");
                0
            }
            None => 0,
        };
        if let Some(held) = core.held.get(self.number) {
            let mut held = held.lock();
            if self.given_up.load(Ordering::Acquire) || self.scripts.is_given_up() {
                return false;
            }
            held.unkeyed.retain(|known| !Arc::ptr_eq(known, &queued));
        }
        core.queue.keyed(queued, key, now);
        true
    }
}
