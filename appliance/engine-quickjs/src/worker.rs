//! A worker: the warm runtimes of one thread.
//!
//! A pipeline's runtime is made when it first runs and kept until it is idle for long, the worker's
//! share of memory is used up (the one that was used longest ago goes first), or a script reached a
//! limit in it: what such a script left behind is not looked at again.
//!
//! **Invariants**
//! - A worker stays on its thread.
//! - After a limit nothing of the script is left: no job, no global, no memory.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use millrace_engine::script::{Budget, Compiled, FaultKind, Report, Scope, ScriptFault, Worker};

use crate::host::{Refused, Shared};
use crate::meter::Clocks;
use crate::unit::CompiledUnit;
use crate::warm::Warm;
use crate::watch::{GIVEN_UP_MAX, Slot};

/// Runs scripts on the thread that made it.
pub(crate) struct JsWorker {
    shared: Arc<Shared>,
    slot: Arc<Slot>,
    clocks: Rc<Clocks>,
    warm: HashMap<u32, Kept>,
    /// Counts calls, for the order of last use.
    calls: u64,
    bytes: u64,
}

/// A runtime, and when it was used.
struct Kept {
    warm: Warm,
    bytes: u64,
    last_call: u64,
    /// When `tidy` first found it unused.
    idle_since: Option<Duration>,
}

impl JsWorker {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let slot = shared.join();
        let clocks = Clocks::new(Arc::clone(&shared.clock));
        Self { shared, slot, clocks, warm: HashMap::new(), calls: 0, bytes: 0 }
    }

    /// The pipeline's runtime, made anew if there is none of this compilation.
    fn warm_up(&mut self, unit: &CompiledUnit) -> Result<&mut Kept, ScriptFault> {
        if self.warm.get(&unit.pipeline).is_none_or(|kept| !kept.warm.is_of(unit)) {
            self.drop_warm(unit.pipeline);
            let warm = Warm::new(unit, &self.clocks, &self.slot.heard)?;
            let bytes = warm.bytes();
            self.bytes += bytes;
            let kept = Kept { warm, bytes, last_call: 0, idle_since: None };
            self.warm.insert(unit.pipeline, kept);
        }
        self.calls += 1;
        let kept = self.warm.get_mut(&unit.pipeline).expect("it was there or just put there");
        kept.last_call = self.calls;
        kept.idle_since = None;
        Ok(kept)
    }

    fn drop_warm(&mut self, pipeline: u32) {
        if let Some(kept) = self.warm.remove(&pipeline) {
            self.bytes = self.bytes.saturating_sub(kept.bytes);
        }
    }

    /// Drops what was used longest ago until the worker's share is kept.
    fn shrink(&mut self, running: u32) {
        let share_bytes = self.shared.share_bytes();
        while self.bytes > share_bytes {
            let oldest = self
                .warm
                .iter()
                .filter(|(pipeline, _)| **pipeline != running)
                .min_by_key(|(_, kept)| kept.last_call);
            let Some((pipeline, _)) = oldest else { return };
            let pipeline = *pipeline;
            self.drop_warm(pipeline);
        }
    }
}

impl Worker for JsWorker {
    fn call(
        &mut self,
        unit: &Compiled,
        function: usize,
        scope: &mut dyn Scope,
        budget: &Budget,
    ) -> Report {
        let Some(unit) = unit.0.downcast_ref::<CompiledUnit>() else {
            return refused(FaultKind::Unusable, "this unit was compiled by another script host");
        };
        if let Some(why) = self.shared.refuses(unit.pipeline) {
            return refused(FaultKind::Quarantined, &why.text());
        }
        self.slot.begin(unit.pipeline, budget.cpu, self.clocks.wall());
        let called = self.warm_up(unit).map(|kept| {
            let ended = kept.warm.call(unit, function, scope, budget);
            let before = std::mem::replace(&mut kept.bytes, kept.warm.bytes());
            (ended, before, kept.bytes)
        });
        let report = match called {
            Ok((ended, before, after)) => {
                self.bytes = self.bytes.saturating_sub(before) + after;
                if ended.is_spoiled {
                    self.drop_warm(unit.pipeline);
                }
                ended.report
            }
            Err(fault) => Report { result: Err(fault), cpu: Duration::ZERO, memory_bytes: 0 },
        };
        if self.bytes > self.shared.share_bytes() {
            self.shrink(unit.pipeline);
        }
        self.slot.end();
        report
    }

    fn tidy(&mut self, now: Duration) {
        let idle_max = self.shared.settings.idle_max;
        let mut idle = Vec::new();
        for (pipeline, kept) in &mut self.warm {
            let since = *kept.idle_since.get_or_insert(now);
            if now.saturating_sub(since) >= idle_max {
                idle.push(*pipeline);
            }
        }
        for pipeline in idle {
            self.drop_warm(pipeline);
        }
        self.shrink(0);
    }

    fn forget(&mut self, pipeline: u32) {
        self.drop_warm(pipeline);
    }

    fn warm(&self) -> (u64, usize) {
        (self.bytes, self.warm.len())
    }

    fn number(&self) -> u64 {
        self.slot.number
    }

    fn is_given_up(&self) -> bool {
        self.slot.is_given_up()
    }
}

impl Drop for JsWorker {
    fn drop(&mut self) {
        self.shared.leave(&self.slot);
    }
}

impl Refused {
    fn text(self) -> String {
        match self {
            Self::Quarantined => "the pipeline's scripts are not run: one of them did not end at \
                                  its CPU limit; change it and deploy it again"
                .to_owned(),
            Self::TooManyLost => format!(
                "no scripts are run: {GIVEN_UP_MAX} threads are lost to scripts that do not end"
            ),
        }
    }
}

fn refused(kind: FaultKind, message: &str) -> Report {
    let fault = ScriptFault { kind, message: message.to_owned(), line: None };
    Report { result: Err(fault), cpu: Duration::ZERO, memory_bytes: 0 }
}
