//! Changing pipelines: what is checked, and which definitions come of it.
//!
//! **Invariants**: one change of a pipeline at a time; nothing here is in force before it is
//! durable; every change has its entry in the audit trail.

use super::{HIGHEST, Pipeline, Pipelines, audit};
use millrace_model::{
    Definition, Deployment, PipelineRemoved, PipelineRevision, Timestamp, WorkspaceNumber,
};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;
use thiserror::Error;

/// Most pipelines of the box.
pub(super) const PIPELINES_MAX: usize = 10_000;
/// Longest document in bytes.
pub(super) const DOCUMENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest note in bytes.
pub(super) const NOTE_BYTES_MAX: usize = 2_000;
/// Longest name in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Who changes something, from where and when.
#[derive(Clone, Debug)]
pub struct By {
    /// `user:anna`, `local`.
    pub who: String,
    /// The address, if over a network.
    pub from: Option<String>,
    /// The time.
    pub at: Timestamp,
}

/// Which pipeline, or secret.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The workspace.
    pub workspace: WorkspaceNumber,
    /// Its name, for the audit trail.
    pub workspace_name: &'a str,
    /// The name in the workspace.
    pub name: &'a str,
}

/// A change that is not durable yet. Keep it until it is: meanwhile nobody else changes the
/// same pipeline.
#[derive(Debug)]
pub struct Change<T> {
    /// What it leads to.
    pub result: T,
    /// To be made durable together; none if nothing changes.
    pub definitions: Vec<Definition>,
    _turn: Turn,
}

/// A stored revision.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The revision.
    pub revision: Arc<PipelineRevision>,
    /// The document is that of the last revision, so no new one was made.
    pub is_unchanged: bool,
}

/// A changed deployment.
#[derive(Clone, Debug)]
pub struct Deployed {
    /// What is to run from now on.
    pub revision: Option<Arc<PipelineRevision>>,
    /// The deployment.
    pub deployment: Deployment,
}

/// A removed pipeline.
#[derive(Clone, Debug)]
pub struct Removed {
    /// Its number.
    pub pipeline: u32,
}

/// Why a pipeline is not changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PipelineError {
    /// There is none.
    #[error("there is no pipeline '{name}'")]
    Unknown {
        /// The name.
        name: String,
    },
    /// No such revision.
    #[error("pipeline '{name}' has no revision {revision}, or it is not kept any more")]
    UnknownRevision {
        /// The name.
        name: String,
        /// The number.
        revision: u32,
    },
    /// A name that none can have.
    #[error(
        "a pipeline's name has 1 to 64 lower-case letters, digits and hyphens, no hyphen first"
    )]
    NameInvalid,
    /// Too long a text.
    #[error("the {what} is longer than {bytes_max} bytes")]
    TooLong {
        /// Which text.
        what: &'static str,
        /// The limit.
        bytes_max: usize,
    },
    /// The box is full.
    #[error("the box has {max} pipelines, which is the most")]
    TooMany {
        /// The limit.
        max: usize,
    },
    /// Somebody else is at it.
    #[error("pipeline '{name}' is being changed by somebody else at this moment; try again")]
    Busy {
        /// The name.
        name: String,
    },
    /// It has changed since the caller looked.
    #[error("pipeline '{name}' is at revision {latest} by now; look at what is new and try again")]
    Moved {
        /// The name.
        name: String,
        /// The last revision.
        latest: u32,
    },
    /// It runs.
    #[error("pipeline '{name}' is deployed; undeploy it first")]
    Deployed {
        /// The name.
        name: String,
    },
    /// It does not run.
    #[error("pipeline '{name}' is not deployed")]
    NotDeployed {
        /// The name.
        name: String,
    },
    /// Nothing ran before.
    #[error("pipeline '{name}' has no earlier deployment to roll back to")]
    NothingBefore {
        /// The name.
        name: String,
    },
    /// All numbers were given out.
    #[error("all pipeline numbers have been given out")]
    NumbersExhausted,
}

impl Pipelines {
    /// Stores a document as the next revision; the first one makes the pipeline. `expected` is the
    /// last revision that the author has seen, 0 = none yet; without it the last one wins.
    ///
    /// # Errors
    /// What is wrong with the name or the lengths, or who came first.
    pub fn save(
        &self,
        place: Place<'_>,
        document: Arc<str>,
        note: &str,
        expected: Option<u32>,
        by: &By,
    ) -> Result<Change<Saved>, PipelineError> {
        if !is_name(place.name) {
            return Err(PipelineError::NameInvalid);
        }
        check_length("document", &document, DOCUMENT_BYTES_MAX)?;
        check_length("note", note, NOTE_BYTES_MAX)?;
        let turn = self.turn(place)?;
        let known = self.find(place.workspace, place.name);
        let latest = known.as_ref().map_or(0, |pipeline| pipeline.latest().revision);
        if expected.is_some_and(|expected| expected != latest) {
            return Err(PipelineError::Moved { name: place.name.to_owned(), latest });
        }
        if let Some(same) = known.as_ref().map(|pipeline| pipeline.latest())
            && same.document == document
        {
            let saved = Saved { revision: Arc::clone(same), is_unchanged: true };
            return Ok(Change { result: saved, definitions: Vec::new(), _turn: turn });
        }
        let pipeline = match &known {
            Some(pipeline) => pipeline.number(),
            None => self.next_number()?,
        };
        let revision = Arc::new(PipelineRevision {
            pipeline,
            workspace: place.workspace,
            name: place.name.to_owned(),
            revision: latest.saturating_add(1),
            at: by.at,
            author: by.who.clone(),
            note: note.to_owned(),
            document,
        });
        let subject = subject(place, Some(revision.revision));
        let definitions = vec![
            Definition::PipelineRevision(PipelineRevision::clone(&revision)),
            audit(by.at, by, "pipeline.save", subject),
        ];
        Ok(Change { result: Saved { revision, is_unchanged: false }, definitions, _turn: turn })
    }

    /// Lets a revision run: one that memory holds, or one that was read from the catalog file.
    ///
    /// # Errors
    /// When there is no such pipeline, or somebody else is at it.
    pub fn deploy(
        &self,
        place: Place<'_>,
        revision: &Arc<PipelineRevision>,
        note: &str,
        by: &By,
    ) -> Result<Change<Deployed>, PipelineError> {
        check_length("note", note, NOTE_BYTES_MAX)?;
        let taken = self.taken(place)?;
        if taken.pipeline.number() != revision.pipeline {
            let (name, revision) = (place.name.to_owned(), revision.revision);
            return Err(PipelineError::UnknownRevision { name, revision });
        }
        Ok(taken.deployment(revision, note, "pipeline.deploy", by))
    }

    /// Lets what ran before run again.
    ///
    /// # Errors
    /// When nothing ran before, or as [`Pipelines::deploy`].
    pub fn roll_back(
        &self,
        place: Place<'_>,
        note: &str,
        by: &By,
    ) -> Result<Change<Deployed>, PipelineError> {
        check_length("note", note, NOTE_BYTES_MAX)?;
        let taken = self.taken(place)?;
        let Some(previous) = taken.pipeline.previous().cloned() else {
            return Err(PipelineError::NothingBefore { name: place.name.to_owned() });
        };
        Ok(taken.deployment(&previous, note, "pipeline.rollback", by))
    }

    /// Stops a pipeline.
    ///
    /// # Errors
    /// When it does not run, or as [`Pipelines::deploy`].
    pub fn undeploy(
        &self,
        place: Place<'_>,
        note: &str,
        by: &By,
    ) -> Result<Change<Deployed>, PipelineError> {
        check_length("note", note, NOTE_BYTES_MAX)?;
        let Taken { pipeline, turn, .. } = self.taken(place)?;
        let Some(runs) = pipeline.deployed() else {
            return Err(PipelineError::NotDeployed { name: place.name.to_owned() });
        };
        let deployment = Deployment {
            pipeline: pipeline.number(),
            workspace: place.workspace,
            revision: None,
            previous: Some(runs.revision),
            at: by.at,
            by: by.who.clone(),
            note: note.to_owned(),
        };
        let definitions = vec![
            Definition::Deployment(deployment.clone()),
            audit(by.at, by, "pipeline.undeploy", subject(place, Some(runs.revision))),
        ];
        Ok(Change { result: Deployed { revision: None, deployment }, definitions, _turn: turn })
    }

    /// Removes a pipeline that does not run, with all its revisions.
    ///
    /// # Errors
    /// When it runs, or as [`Pipelines::deploy`].
    pub fn remove(&self, place: Place<'_>, by: &By) -> Result<Change<Removed>, PipelineError> {
        let Taken { pipeline, turn, .. } = self.taken(place)?;
        if pipeline.deployed().is_some() {
            return Err(PipelineError::Deployed { name: place.name.to_owned() });
        }
        let removed = PipelineRemoved {
            pipeline: pipeline.number(),
            workspace: place.workspace,
            name: place.name.to_owned(),
            at: by.at,
            by: by.who.clone(),
        };
        let highest = self.state.read().highest.to_string();
        let definitions = vec![
            Definition::PipelineRemoved(removed),
            Definition::Setting { name: HIGHEST.to_owned(), value: highest },
            audit(by.at, by, "pipeline.remove", subject(place, None)),
        ];
        let result = Removed { pipeline: pipeline.number() };
        Ok(Change { result, definitions, _turn: turn })
    }

    fn taken<'a>(&self, place: Place<'a>) -> Result<Taken<'a>, PipelineError> {
        let turn = self.turn(place)?;
        let found = self.find(place.workspace, place.name);
        let unknown = || PipelineError::Unknown { name: place.name.to_owned() };
        Ok(Taken { place, pipeline: found.ok_or_else(unknown)?, turn })
    }

    fn turn(&self, place: Place<'_>) -> Result<Turn, PipelineError> {
        let turn = self.turns.take(place.workspace, place.name);
        turn.ok_or_else(|| PipelineError::Busy { name: place.name.to_owned() })
    }

    fn next_number(&self) -> Result<u32, PipelineError> {
        let mut state = self.state.write();
        if state.by_name.len() >= PIPELINES_MAX {
            return Err(PipelineError::TooMany { max: PIPELINES_MAX });
        }
        state.highest = state.highest.checked_add(1).ok_or(PipelineError::NumbersExhausted)?;
        Ok(state.highest)
    }
}

/// A pipeline whose turn it is.
struct Taken<'a> {
    place: Place<'a>,
    pipeline: Arc<Pipeline>,
    turn: Turn,
}

impl Taken<'_> {
    fn deployment(
        self,
        revision: &Arc<PipelineRevision>,
        note: &str,
        action: &str,
        by: &By,
    ) -> Change<Deployed> {
        let Self { place, pipeline, turn } = self;
        let runs = pipeline.deployed().map(|runs| runs.revision);
        let ran = pipeline.previous().map(|ran| ran.revision);
        let before = [runs, ran].into_iter().flatten();
        let previous = before.into_iter().find(|number| *number != revision.revision);
        let deployment = Deployment {
            pipeline: pipeline.number(),
            workspace: place.workspace,
            revision: Some(revision.revision),
            previous,
            at: by.at,
            by: by.who.clone(),
            note: note.to_owned(),
        };
        let mut definitions = Vec::new();
        // Memory takes an older one over again, in the same commit.
        if pipeline.revision(revision.revision).is_none() {
            definitions.push(Definition::PipelineRevision(PipelineRevision::clone(revision)));
        }
        definitions.push(Definition::Deployment(deployment.clone()));
        definitions.push(audit(by.at, by, action, subject(place, Some(revision.revision))));
        let result = Deployed { revision: Some(Arc::clone(revision)), deployment };
        Change { result, definitions, _turn: turn }
    }
}

fn subject(place: Place<'_>, revision: Option<u32>) -> String {
    let Place { workspace_name, name, .. } = place;
    match revision {
        Some(revision) => format!("{workspace_name}/{name}@{revision}"),
        None => format!("{workspace_name}/{name}"),
    }
}

fn check_length(what: &'static str, text: &str, bytes_max: usize) -> Result<(), PipelineError> {
    if text.len() > bytes_max { Err(PipelineError::TooLong { what, bytes_max }) } else { Ok(()) }
}

/// The rule of `flow`'s documents too.
fn is_name(name: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.len() <= NAME_BYTES_MAX
        && name.bytes().all(is_good)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
}

/// Who is changing what.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashSet<(WorkspaceNumber, String)>>);

/// The right to change one pipeline; given back when dropped.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Arc<Turns>,
    key: (WorkspaceNumber, String),
}

impl Turns {
    fn take(self: &Arc<Self>, workspace: WorkspaceNumber, name: &str) -> Option<Turn> {
        let key = (workspace, name.to_owned());
        self.0.lock().insert(key.clone()).then(|| Turn { turns: Arc::clone(self), key })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.0.lock().remove(&self.key);
    }
}
