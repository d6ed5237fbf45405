//! One pipeline and the revisions that memory holds of it.
//!
//! **Invariants**: holds what was stored last, what runs and what ran before, beside the one that
//! came last; never more than four.

use millrace_model::{Deployment, PipelineRevision, WorkspaceNumber};
use std::sync::Arc;

/// A pipeline as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    number: u32,
    workspace: WorkspaceNumber,
    deployment: Option<Deployment>,
    /// By ascending revision.
    held: Vec<Arc<PipelineRevision>>,
}

impl Pipeline {
    pub(super) fn new(number: u32, workspace: WorkspaceNumber) -> Self {
        Self { number, workspace, deployment: None, held: Vec::new() }
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Its workspace.
    #[must_use]
    pub fn workspace(&self) -> WorkspaceNumber {
        self.workspace
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.held.last().map_or("", |revision| &revision.name)
    }

    /// What was stored last.
    ///
    /// # Panics
    /// Never: who sees a pipeline sees one with a revision.
    #[must_use]
    pub fn latest(&self) -> &Arc<PipelineRevision> {
        self.held.last().expect("only pipelines with a revision are shown")
    }

    /// What runs.
    #[must_use]
    pub fn deployed(&self) -> Option<&Arc<PipelineRevision>> {
        self.revision(self.deployment.as_ref()?.revision?)
    }

    /// What ran before, where a roll back goes.
    #[must_use]
    pub fn previous(&self) -> Option<&Arc<PipelineRevision>> {
        self.revision(self.deployment.as_ref()?.previous?)
    }

    /// The last deployment or undeployment.
    #[must_use]
    pub fn deployment(&self) -> Option<&Deployment> {
        self.deployment.as_ref()
    }

    /// A revision, if memory holds it.
    #[must_use]
    pub fn revision(&self, number: u32) -> Option<&Arc<PipelineRevision>> {
        self.held.iter().find(|held| held.revision == number)
    }

    /// All revisions that memory holds.
    pub fn revisions(&self) -> impl Iterator<Item = &Arc<PipelineRevision>> {
        self.held.iter()
    }

    /// Whether there is a revision of it at all.
    pub(super) fn is_known(&self) -> bool {
        !self.held.is_empty()
    }

    /// Takes a revision over; it is held at least until the next change.
    pub(super) fn hold(&mut self, revision: &PipelineRevision) {
        self.held.retain(|held| held.revision != revision.revision);
        let place = self.held.partition_point(|held| held.revision < revision.revision);
        self.held.insert(place, Arc::new(revision.clone()));
        self.let_go(Some(revision.revision));
    }

    pub(super) fn deploy(&mut self, deployment: &Deployment) {
        self.deployment = Some(deployment.clone());
        self.let_go(None);
    }

    fn let_go(&mut self, came_last: Option<u32>) {
        let latest = self.held.last().map(|held| held.revision);
        let deployment = self.deployment.as_ref();
        let runs = deployment.and_then(|deployment| deployment.revision);
        let ran = deployment.and_then(|deployment| deployment.previous);
        let wanted = [came_last, latest, runs, ran];
        self.held.retain(|held| wanted.contains(&Some(held.revision)));
    }
}
