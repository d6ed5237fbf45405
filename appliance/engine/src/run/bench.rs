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
use crate::state::undo::Undo;
use millrace_flow::Data;
use millrace_supervisor::{Clock, Issues};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The box around runs.
pub(crate) struct Stage {
    pub(crate) services: Arc<dyn Services>,
    pub(crate) states: Arc<States>,
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) issues: Arc<Issues>,
    pub(crate) issue_hops: IssueHops,
    pub(crate) config: Config,
    /// Whether the box stops: what computes is left as it is, and runs again after the start.
    pub(crate) is_stopping: Arc<AtomicBool>,
}

/// Through how many pipelines the issues came that pipelines raised or cleared last, so that
/// pipelines which start one another over issues are seen to go in a circle.
#[derive(Debug, Default)]
pub(crate) struct IssueHops(Mutex<HashMap<String, u8>>);

/// Most keys that are kept; the list of issues holds fewer.
const ISSUE_HOPS_MAX: usize = 2 * millrace_supervisor::issues::ISSUES_MAX;

impl IssueHops {
    pub(crate) fn note(&self, key: &str, hops: u8, issues: &Issues) {
        let mut kept = self.0.lock();
        if kept.len() >= ISSUE_HOPS_MAX {
            kept.retain(|key, _| issues.is_open(key));
        }
        kept.insert(key.to_owned(), hops);
    }

    pub(crate) fn of(&self, key: &str) -> u8 {
        self.0.lock().get(key).copied().unwrap_or(0)
    }
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
    /// What the run in hand changed of lasting state since it was taken in hand.
    pub(crate) undo: &'a mut Undo,
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
