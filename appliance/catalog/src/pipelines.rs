//! The pipelines of the box, in memory: which there are, what was stored last, what runs.
//!
//! Changes are made in two steps, as everywhere: a method here checks, gives numbers out and
//! answers a [`Change`] with the definitions to make durable; [`Pipelines::apply`] brings them into
//! force when they come back from the journal. While its `Change` lives a pipeline is not changed
//! by anybody else, so two people never store the same revision number.
//!
//! Memory holds the documents that matter now: what was stored last, what runs, what ran before.
//! The older ones are in the catalog file (`store/pipelines.rs`).
//!
//! **Invariants**: a pipeline's number is never given out twice; what is deployed is held; names
//! are unique in their workspace.

mod change;
mod held;
#[cfg(test)]
mod tests;

pub use change::{By, Change, Deployed, PipelineError, Place, Removed, Saved};
pub use held::Pipeline;

use change::Turns;
use millrace_model::{
    Definition, Deployment, PipelineRemoved, PipelineRevision, Timestamp, WorkspaceNumber,
};
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

/// The setting that keeps the highest number of a removed pipeline.
const HIGHEST: &str = "pipelines.highest";

/// All pipelines of the box.
#[derive(Debug, Default)]
pub struct Pipelines {
    state: RwLock<State>,
    turns: Arc<Turns>,
}

#[derive(Debug, Default)]
struct State {
    by_number: BTreeMap<u32, Arc<Pipeline>>,
    by_name: BTreeMap<(WorkspaceNumber, String), u32>,
    highest: u32,
}

impl Pipelines {
    /// Brings a change into force; what is no business of pipelines is passed over. Applying the
    /// same change again changes nothing.
    pub fn apply(&self, definition: &Definition) {
        match definition {
            Definition::PipelineRevision(revision) => self.state.write().apply_revision(revision),
            Definition::Deployment(deployment) => self.state.write().apply_deployment(deployment),
            Definition::PipelineRemoved(removed) => self.state.write().apply_removed(removed),
            Definition::Setting { name, value } if name == HIGHEST => {
                let mut state = self.state.write();
                state.highest = state.highest.max(value.parse().unwrap_or(0));
            }
            _ => {}
        }
    }

    /// The pipeline with this number.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<Arc<Pipeline>> {
        self.state.read().by_number.get(&number).filter(|pipeline| pipeline.is_known()).cloned()
    }

    /// The pipeline with this name.
    #[must_use]
    pub fn find(&self, workspace: WorkspaceNumber, name: &str) -> Option<Arc<Pipeline>> {
        let state = self.state.read();
        let number = state.by_name.get(&(workspace, name.to_owned()))?;
        state.by_number.get(number).cloned()
    }

    /// The pipelines of a workspace behind a name, in the order of names.
    #[must_use]
    pub fn list(
        &self,
        workspace: WorkspaceNumber,
        after: Option<&str>,
        limit: usize,
    ) -> Vec<Arc<Pipeline>> {
        let from = match after {
            Some(name) => Bound::Excluded((workspace, name.to_owned())),
            None => Bound::Included((workspace, String::new())),
        };
        let state = self.state.read();
        let rows = state.by_name.range((from, Bound::Unbounded));
        rows.take_while(|((of, _), _)| *of == workspace)
            .filter_map(|(_, number)| state.by_number.get(number).cloned())
            .take(limit)
            .collect()
    }

    /// Every pipeline that is to run.
    #[must_use]
    pub fn deployed(&self) -> Vec<Arc<Pipeline>> {
        let state = self.state.read();
        state.by_number.values().filter(|pipeline| pipeline.deployed().is_some()).cloned().collect()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.state.read().by_name.len()
    }

    /// The state, for a snapshot: of each pipeline what memory holds.
    #[must_use]
    pub fn definitions(&self) -> Vec<Definition> {
        let state = self.state.read();
        let highest = state.highest.to_string();
        let mut all = vec![Definition::Setting { name: HIGHEST.to_owned(), value: highest }];
        for pipeline in state.by_number.values() {
            // What is deployed is told first, so that its revision is held when it comes.
            all.extend(pipeline.deployment().cloned().map(Definition::Deployment));
            let revisions = pipeline.revisions().map(|row| PipelineRevision::clone(row));
            all.extend(revisions.map(Definition::PipelineRevision));
        }
        all
    }
}

impl State {
    fn apply_revision(&mut self, revision: &PipelineRevision) {
        let number = revision.pipeline;
        self.highest = self.highest.max(number);
        let mut pipeline = self.taken(number, revision.workspace);
        pipeline.hold(revision);
        let key = (revision.workspace, revision.name.clone());
        self.by_name.insert(key, number);
        self.by_number.insert(number, Arc::new(pipeline));
    }

    fn apply_deployment(&mut self, deployment: &Deployment) {
        let number = deployment.pipeline;
        self.highest = self.highest.max(number);
        let mut pipeline = self.taken(number, deployment.workspace);
        pipeline.deploy(deployment);
        self.by_number.insert(number, Arc::new(pipeline));
    }

    fn apply_removed(&mut self, removed: &PipelineRemoved) {
        self.highest = self.highest.max(removed.pipeline);
        if let Some(pipeline) = self.by_number.remove(&removed.pipeline) {
            self.by_name.remove(&(pipeline.workspace(), pipeline.name().to_owned()));
        }
    }

    /// The pipeline out of the map, to be put back changed.
    fn taken(&mut self, number: u32, workspace: WorkspaceNumber) -> Pipeline {
        let known = self.by_number.remove(&number).map(Arc::unwrap_or_clone);
        known.unwrap_or_else(|| Pipeline::new(number, workspace))
    }
}

/// An entry of the audit trail.
fn audit(at: Timestamp, by: &By, action: &str, subject: String) -> Definition {
    Definition::Audit(millrace_model::AuditEntry {
        at,
        who: by.who.clone(),
        action: action.to_owned(),
        subject,
        from: by.from.clone(),
    })
}
