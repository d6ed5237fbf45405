//! A worker: the warm runtimes of one thread.
//!
//! Expressions of all pipelines share one runtime in which everything is frozen: an expression costs
//! half a kilobyte there, and no pipeline can leave anything behind for another. The bodies of
//! `javascript` steps have a runtime per pipeline, made when it first runs and kept until it is idle
//! for long, the worker's share of memory is used up (the one that was used longest ago goes first),
//! or a script reached a limit in it: what such a script left behind is not looked at again.
//!
//! **Invariants**
//! - A worker stays on its thread.
//! - After a limit nothing of the script is left: no job, no global, no memory.
//! - Loaded functions go before the runtime that they are loaded into.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::RandomState;
use millrace_engine::script::{
    Budget, Compiled, FaultKind, Form, Report, Scope, ScriptFault, Worker,
};

use crate::host::{Refused, Shared};
use crate::meter::Clocks;
use crate::unit::CompiledUnit;
use crate::warm::{Loaded, Warm};
use crate::watch::{GIVEN_UP_MAX, Slot};

/// By the pipeline's number.
type HashMap<T> = std::collections::HashMap<u32, T, RandomState>;

/// Runs scripts on the thread that made it.
pub(crate) struct JsWorker {
    shared: Arc<Shared>,
    slot: Arc<Slot>,
    clocks: Rc<Clocks>,
    expressions: Option<Expressions>,
    warm: HashMap<Kept>,
    /// Counts calls, for the order of last use.
    calls: u64,
    bytes: u64,
}

/// The runtime that expressions share. The fields' order is the order in which they are dropped.
struct Expressions {
    loaded: HashMap<Resident>,
    warm: Warm,
    bytes: u64,
}

/// Expressions of one pipeline.
struct Resident {
    loaded: Loaded,
    idle_since: Option<Duration>,
}

/// A pipeline's own runtime, and when it was used. The order of fields matters here too.
struct Kept {
    loaded: Loaded,
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
        Self {
            shared,
            slot,
            clocks,
            expressions: None,
            warm: HashMap::default(),
            calls: 0,
            bytes: 0,
        }
    }

    fn call_expression(
        &mut self,
        unit: &CompiledUnit,
        function: usize,
        scope: &mut dyn Scope,
        mut limits: (Duration, &Budget),
    ) -> Result<Report, ScriptFault> {
        if self.expressions.is_none() {
            let warm = Warm::of_expressions(&self.clocks, &self.slot.heard)?;
            let bytes = warm.bytes();
            self.bytes += bytes;
            self.expressions = Some(Expressions { loaded: HashMap::default(), warm, bytes });
            // Making a runtime is not the script's time.
            limits.0 = self.clocks.wall();
        }
        let Some(expressions) = self.expressions.as_mut() else { return Ok(not_here()) };
        let resident = expressions
            .loaded
            .entry(unit.pipeline)
            .or_insert_with(|| Resident { loaded: Loaded::new(unit), idle_since: None });
        if !resident.loaded.is_of(unit) {
            resident.loaded = Loaded::new(unit);
        }
        resident.idle_since = None;
        let ended = expressions.warm.call(unit, function, &mut resident.loaded, scope, limits);
        let bytes = expressions.warm.bytes();
        let before = std::mem::replace(&mut expressions.bytes, bytes);
        self.bytes = self.bytes.saturating_sub(before) + bytes;
        if ended.is_spoiled {
            self.bytes = self.bytes.saturating_sub(bytes);
            self.expressions = None;
        }
        Ok(ended.report)
    }

    fn call_body(
        &mut self,
        unit: &CompiledUnit,
        function: usize,
        scope: &mut dyn Scope,
        mut limits: (Duration, &Budget),
    ) -> Result<Report, ScriptFault> {
        if self.warm.get(&unit.pipeline).is_none_or(|kept| !kept.loaded.is_of(unit)) {
            self.drop_warm(unit.pipeline);
            let warm = Warm::of_pipeline(unit, &self.clocks, &self.slot.heard)?;
            let (loaded, bytes) = (Loaded::new(unit), warm.bytes());
            self.bytes += bytes;
            let kept = Kept { loaded, warm, bytes, last_call: 0, idle_since: None };
            self.warm.insert(unit.pipeline, kept);
            limits.0 = self.clocks.wall();
        }
        self.calls += 1;
        let Some(kept) = self.warm.get_mut(&unit.pipeline) else { return Ok(not_here()) };
        kept.last_call = self.calls;
        kept.idle_since = None;
        let ended = kept.warm.call(unit, function, &mut kept.loaded, scope, limits);
        let bytes = kept.warm.bytes();
        let before = std::mem::replace(&mut kept.bytes, bytes);
        self.bytes = self.bytes.saturating_sub(before) + bytes;
        if ended.is_spoiled {
            self.drop_warm(unit.pipeline);
        }
        Ok(ended.report)
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
            let others = self.warm.iter().filter(|(pipeline, _)| **pipeline != running);
            let oldest = others.min_by_key(|(_, kept)| kept.last_call);
            let Some((pipeline, _)) = oldest else {
                // Nothing is left but expressions, thousands of them: they are loaded again in
                // microseconds.
                if let Some(expressions) = self.expressions.take_if(|all| all.bytes > share_bytes) {
                    self.bytes = self.bytes.saturating_sub(expressions.bytes);
                }
                return;
            };
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
        let now = self.clocks.wall();
        self.slot.begin(unit.pipeline, budget.cpu, now);
        let form = unit.functions.get(function).map(|function| function.form);
        // A fault of the engine itself costs the script's runtime, not the thread.
        let called = catch_unwind(AssertUnwindSafe(|| match form {
            Some(Form::Expression) => self.call_expression(unit, function, scope, (now, budget)),
            Some(Form::Body) | None => self.call_body(unit, function, scope, (now, budget)),
        }));
        let called = called.unwrap_or_else(|_panic| {
            self.leak(unit.pipeline, form);
            let message =
                "the script engine failed on this; its runtime was thrown away".to_owned();
            Err(ScriptFault { kind: FaultKind::Unusable, message, line: None })
        });
        let report = called.unwrap_or_else(|fault| Report {
            result: Err(fault),
            cpu: Duration::ZERO,
            memory_bytes: 0,
        });
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
        if let Some(expressions) = &mut self.expressions {
            expressions.loaded.retain(|_, resident| {
                now.saturating_sub(*resident.idle_since.get_or_insert(now)) < idle_max
            });
        }
        self.shrink(0);
    }

    fn forget(&mut self, pipeline: u32) {
        self.drop_warm(pipeline);
        if let Some(expressions) = &mut self.expressions {
            expressions.loaded.remove(&pipeline);
        }
    }

    fn warm(&self) -> (u64, usize) {
        (self.bytes, self.warm.len() + usize::from(self.expressions.is_some()))
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

impl JsWorker {
    /// Lets go of a runtime in which something went wrong, without looking at it again.
    fn leak(&mut self, pipeline: u32, form: Option<Form>) {
        if form == Some(Form::Expression) {
            std::mem::forget(self.expressions.take());
        } else {
            std::mem::forget(self.warm.remove(&pipeline));
        }
        let warm: u64 = self.warm.values().map(|kept| kept.bytes).sum();
        self.bytes = warm + self.expressions.as_ref().map_or(0, |shared| shared.bytes);
    }
}

fn refused(kind: FaultKind, message: &str) -> Report {
    let fault = ScriptFault { kind, message: message.to_owned(), line: None };
    Report { result: Err(fault), cpu: Duration::ZERO, memory_bytes: 0 }
}

/// What was put there a line before is gone: not possible, and no reason to panic.
fn not_here() -> Report {
    refused(FaultKind::Unusable, "the script's runtime is not there")
}
