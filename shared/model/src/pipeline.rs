//! Pipelines as the catalog keeps them: frozen revisions, what is deployed, sealed secrets.
//!
//! The document is opaque text here; `flow` knows what it says. A change is a record that carries
//! the whole new state, as all definitions do: a [`Deployment`] names both what runs now and what
//! ran before, so that rolling back needs no history.
//!
//! **Invariants**: a revision never changes; a pipeline's number is never given out twice; a
//! secret's value is nowhere but inside of its sealed text.

use crate::definition::WorkspaceNumber;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A frozen version of a pipeline. The first one creates the pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineRevision {
    /// The pipeline's number, unique in the box.
    pub pipeline: u32,
    /// Its workspace.
    pub workspace: WorkspaceNumber,
    /// Its name, unique in the workspace.
    pub name: String,
    /// The first is 1.
    pub revision: u32,
    /// When it was stored.
    pub at: Timestamp,
    /// Who stored it: `user:anna`, `local`.
    pub author: String,
    /// What is new in it.
    #[serde(default)]
    pub note: String,
    /// The document, JSON.
    pub document: Arc<str>,
}

/// What runs of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deployment {
    /// The pipeline's number.
    pub pipeline: u32,
    /// Its workspace.
    pub workspace: WorkspaceNumber,
    /// The revision that runs; `None` = it does not run.
    pub revision: Option<u32>,
    /// The revision that ran before this one, where a roll back goes.
    #[serde(default)]
    pub previous: Option<u32>,
    /// Since when.
    pub at: Timestamp,
    /// Who did it.
    pub by: String,
    /// Why.
    #[serde(default)]
    pub note: String,
}

/// A pipeline that is there no more, with all its revisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineRemoved {
    /// Its number; it is never given out again.
    pub pipeline: u32,
    /// Its workspace.
    pub workspace: WorkspaceNumber,
    /// Its name, free again.
    pub name: String,
    /// When.
    pub at: Timestamp,
    /// Who did it.
    pub by: String,
}

/// A secret that steps use by name: a password, a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    /// Its workspace.
    pub workspace: WorkspaceNumber,
    /// Its name.
    pub name: String,
    /// Its value, encrypted and authenticated; `None` = it was removed.
    pub sealed: Option<String>,
    /// When it was set or removed.
    pub at: Timestamp,
    /// Who did it.
    pub by: String,
}
