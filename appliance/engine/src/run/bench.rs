//! What a run is executed with: the box around it, and the tools of the thread.
//!
//! The same run code serves the live engine, rehearsals and test cases; they differ only in the
//! [`Bench`] that they bring.
//!
//! **Invariants**: with [`Stubs`] nothing leaves the bench.

use crate::config::Config;
use crate::outbox::Outbox;
use crate::plan::Plan;
use crate::rehearse::{Output, OutputForm};
use crate::script::Worker;
use crate::services::Services;
use crate::state::cells::States;
use millrace_flow::Data;
use millrace_supervisor::{Clock, Issues};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The box around runs.
pub(crate) struct Stage {
    pub(crate) services: Arc<dyn Services>,
    pub(crate) states: Arc<States>,
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) issues: Arc<Issues>,
    pub(crate) config: Config,
}

/// Finds pipelines that are called.
pub(crate) trait Directory: Send + Sync {
    /// A deployed pipeline by name.
    fn find(&self, workspace: u16, name: &str) -> Option<Arc<Plan>>;
}

/// What one thread executes with.
pub(crate) struct Bench<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) outbox: &'a mut dyn Outbox,
    pub(crate) scripts: &'a mut dyn Worker,
    pub(crate) stubs: Option<&'a mut Stubs>,
    /// Where payloads are put together.
    pub(crate) text: &'a mut String,
}

/// Most outputs that a rehearsal keeps.
pub(crate) const OUTPUTS_MAX: usize = 100_000;

/// Takes effects instead of the box.
#[derive(Debug, Default)]
pub(crate) struct Stubs {
    /// What outside steps answer, by step.
    pub(crate) answers: BTreeMap<String, Data>,
    /// Outside steps that are not reached, and why.
    pub(crate) faults: BTreeMap<String, String>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) left_out: u64,
    /// Which trigger is being run, from 0.
    pub(crate) run: usize,
}

impl Stubs {
    pub(crate) fn note(&mut self, step: &Arc<str>, form: OutputForm) {
        if self.outputs.len() >= OUTPUTS_MAX {
            self.left_out += 1;
            return;
        }
        self.outputs.push(Output { run: self.run, step: Arc::clone(step), form });
    }
}
