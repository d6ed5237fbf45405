//! One call outside: its time, its target's account, and its fault without secrets.
//!
//! **Invariants**: every call ends in its time; every fault that leaves this crate is scrubbed;
//! a call that is dropped at its deadline counts as one that was not answered.

use crate::limits::STEP_MAX;
use crate::targets::Targets;
use crate::text::scrub_fault;
use millrace_engine::Secrets;
use millrace_engine::step::{Context, Outcome, StepFault};
use millrace_flow::Data;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// So much before the engine's own timeout a call ends by itself, to say what it waited for.
const MARGIN: Duration = Duration::from_millis(20);

/// A call that is about to be made.
pub(crate) struct Call {
    targets: Arc<Targets>,
    /// Kind and address, as in the table of targets.
    pub(crate) target: String,
    pub(crate) secrets: Secrets,
    within: Duration,
}

impl Call {
    pub(crate) fn new(targets: &Arc<Targets>, target: String, context: &dyn Context) -> Self {
        let left = context.time_left().min(STEP_MAX);
        let within = left.saturating_sub(MARGIN.min(left / 10));
        Self { targets: Arc::clone(targets), target, secrets: Secrets::default(), within }
    }

    /// The outcome that waits for the work. `work` is given the deadline.
    pub(crate) fn wait<F>(self, work: impl FnOnce(Instant) -> F + Send + 'static) -> Outcome
    where
        F: Future<Output = Result<Data, StepFault>> + Send + 'static,
    {
        Outcome::Wait(Box::pin(async move {
            let until = Instant::now() + self.within;
            let account = Account { call: &self, until, is_settled: false };
            let result = match timeout_at(until, work(until)).await {
                Ok(result) => result,
                Err(_) => Err(StepFault::passing(
                    "timeout",
                    format!("{} did not answer within {} ms", self.target, self.within.as_millis()),
                )),
            };
            account.settle(result)
        }))
    }
}

/// Makes sure that a call is counted once.
struct Account<'a> {
    call: &'a Call,
    until: Instant,
    is_settled: bool,
}

impl Account<'_> {
    fn settle(mut self, result: Result<Data, StepFault>) -> Result<Data, StepFault> {
        self.is_settled = true;
        let Call { targets, target, secrets, .. } = self.call;
        let fault = match result {
            Ok(data) => {
                targets.succeeded(target);
                return Ok(data);
            }
            Err(fault) => scrub_fault(secrets, fault),
        };
        match fault.code {
            "unreachable" | "timeout" | "tls" | "bad_answer" => {
                targets.failed(target, &fault.message);
            }
            "status" | "answer" => targets.answered_badly(target, &fault.message),
            // The step's own mistake or our own limit: says nothing about the target.
            _ => {}
        }
        Err(fault)
    }
}

impl Drop for Account<'_> {
    fn drop(&mut self) {
        if !self.is_settled && Instant::now() + MARGIN * 2 >= self.until {
            self.call.targets.failed(&self.call.target, "no answer before the step's timeout");
        }
    }
}
