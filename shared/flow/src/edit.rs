//! Edits: the closed set of changes of a document, each with its inverse.
//!
//! An edit changes one thing and keeps everything else as it is; what belongs together (a step and
//! its wires) is a [`crate::Transaction`]. Edits do not ask whether the result can be deployed: a
//! designer passes through documents that cannot. Renaming a step is one edit, because it rewrites
//! wires, layout, cases, `go_to`s and the expressions that name the step.
//!
//! **Invariants**: an edit that fails changes nothing; applying what [`Edit::apply`] gives undoes
//! it exactly, given a document whose wires are sorted and unique (as [`Document::parse`] makes
//! them); wires stay so.

mod rename;

pub(crate) use rename::rename;

use crate::case::Case;
use crate::document::{Document, OnError, Retry, Settings, Step, Wire};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::btree_map::Entry;
use thiserror::Error;

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Edit {
    /// Names the pipeline.
    SetName(String),
    /// Describes the pipeline.
    SetDescription(String),
    /// Sets how it runs.
    SetSettings(Settings),
    /// Adds a step.
    AddStep {
        /// Its id, which is free.
        id: String,
        /// The step.
        step: Step,
    },
    /// Removes a step; wires and layout stay.
    RemoveStep {
        /// Its id.
        id: String,
    },
    /// Puts a step in the place of another.
    ReplaceStep {
        /// The id.
        id: String,
        /// The new step.
        step: Step,
    },
    /// Renames a step everywhere.
    RenameStep {
        /// Its id.
        from: String,
        /// Its new id, which is free.
        to: String,
    },
    /// Sets a field of a step.
    SetField {
        /// The step.
        step: String,
        /// The field.
        field: String,
        /// What it holds.
        value: Value,
    },
    /// Takes a field of a step out.
    UnsetField {
        /// The step.
        step: String,
        /// The field, which is there.
        field: String,
    },
    /// Labels a step.
    SetLabel {
        /// The step.
        step: String,
        /// The label; empty for none.
        label: String,
    },
    /// Limits a step's time.
    SetTimeout {
        /// The step.
        step: String,
        /// Milliseconds; `None` for the kind's default.
        timeout_ms: Option<u64>,
    },
    /// Sets whether a step is tried again.
    SetRetry {
        /// The step.
        step: String,
        /// How.
        retry: Option<Retry>,
    },
    /// Sets what a step's failure does.
    SetOnError {
        /// The step.
        step: String,
        /// What.
        on_error: OnError,
    },
    /// Switches a step off or on.
    SetDisabled {
        /// The step.
        step: String,
        /// Whether it is off.
        disabled: bool,
    },
    /// Adds a wire, which is not there.
    AddWire(Wire),
    /// Removes a wire.
    RemoveWire(Wire),
    /// Moves a step on the designer's canvas.
    MoveStep {
        /// The step.
        step: String,
        /// Where to; `None` = wherever the designer puts it.
        to: Option<[i32; 2]>,
    },
    /// Adds a case before the one at this place, or at the end.
    AddCase {
        /// The place, from 0.
        at: usize,
        /// The case.
        case: Case,
    },
    /// Puts a case in the place of another.
    ReplaceCase {
        /// The place, from 0.
        at: usize,
        /// The new case.
        case: Case,
    },
    /// Removes a case.
    RemoveCase {
        /// The place, from 0.
        at: usize,
    },
}

/// Why an edit cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditError {
    /// The step is not there.
    #[error("there is no step `{0}`")]
    NoStep(String),
    /// The id is taken.
    #[error("there is a step `{0}` already")]
    StepExists(String),
    /// The field is not there.
    #[error("step `{step}` has no field `{field}`")]
    NoField {
        /// The step.
        step: String,
        /// The field.
        field: String,
    },
    /// The wire is there.
    #[error("there is a wire {0} already")]
    WireExists(Wire),
    /// The wire is not there.
    #[error("there is no wire {0}")]
    NoWire(Wire),
    /// The case is not there.
    #[error("there is no case {0}")]
    NoCase(usize),
    /// Too many edits in one transaction.
    #[error("{0} edits in one transaction, {most} at most", most = crate::transaction::EDITS_MAX)]
    TooMany(usize),
}

impl Edit {
    /// Changes the document; gives the edits that undo it, in the order to apply them.
    ///
    /// # Errors
    /// What it is about is not there, or there already; the document is unchanged.
    pub fn apply(&self, document: &mut Document) -> Result<Vec<Self>, EditError> {
        use std::mem::replace;
        let inverse = match self {
            Self::SetName(name) => Self::SetName(replace(&mut document.name, name.clone())),
            Self::SetDescription(text) => {
                Self::SetDescription(replace(&mut document.description, text.clone()))
            }
            Self::SetSettings(settings) => {
                Self::SetSettings(replace(&mut document.settings, settings.clone()))
            }
            Self::AddStep { id, step } => {
                match document.steps.entry(id.clone()) {
                    Entry::Occupied(_) => return Err(EditError::StepExists(id.clone())),
                    Entry::Vacant(place) => drop(place.insert(step.clone())),
                }
                Self::RemoveStep { id: id.clone() }
            }
            Self::RemoveStep { id } => {
                let step = document.steps.remove(id);
                let step = step.ok_or_else(|| EditError::NoStep(id.clone()))?;
                Self::AddStep { id: id.clone(), step }
            }
            Self::RenameStep { from, to } => return rename::apply(document, from, to),
            Self::AddWire(wire) => match document.wires.binary_search(wire) {
                Ok(_) => return Err(EditError::WireExists(wire.clone())),
                Err(place) => {
                    document.wires.insert(place, wire.clone());
                    Self::RemoveWire(wire.clone())
                }
            },
            Self::RemoveWire(wire) => match document.wires.binary_search(wire) {
                Err(_) => return Err(EditError::NoWire(wire.clone())),
                Ok(place) => Self::AddWire(document.wires.remove(place)),
            },
            Self::MoveStep { step, to } => {
                let before = match to {
                    Some(to) => document.layout.insert(step.clone(), *to),
                    None => document.layout.remove(step),
                };
                Self::MoveStep { step: step.clone(), to: before }
            }
            Self::AddCase { .. } | Self::ReplaceCase { .. } | Self::RemoveCase { .. } => {
                self.apply_to_cases(&mut document.cases)?
            }
            _ => self.apply_to_step(document)?,
        };
        Ok(vec![inverse])
    }

    fn apply_to_cases(&self, cases: &mut Vec<Case>) -> Result<Self, EditError> {
        match self {
            Self::AddCase { at, case } if *at <= cases.len() => {
                cases.insert(*at, case.clone());
                Ok(Self::RemoveCase { at: *at })
            }
            Self::RemoveCase { at } if *at < cases.len() => {
                Ok(Self::AddCase { at: *at, case: cases.remove(*at) })
            }
            Self::ReplaceCase { at, case } => match cases.get_mut(*at) {
                Some(place) => {
                    let before = std::mem::replace(place, case.clone());
                    Ok(Self::ReplaceCase { at: *at, case: before })
                }
                None => Err(EditError::NoCase(*at)),
            },
            Self::AddCase { at, .. } | Self::RemoveCase { at } => Err(EditError::NoCase(*at)),
            _ => Err(EditError::NoCase(cases.len())),
        }
    }

    fn apply_to_step(&self, document: &mut Document) -> Result<Self, EditError> {
        use std::mem::replace;
        let id = self.step().unwrap_or_default().to_owned();
        let Some(step) = document.steps.get_mut(&id) else { return Err(EditError::NoStep(id)) };
        Ok(match self {
            Self::ReplaceStep { step: new, .. } => {
                Self::ReplaceStep { id, step: replace(step, new.clone()) }
            }
            Self::SetField { field, value, .. } => {
                let field = field.clone();
                match step.fields.insert(field.clone(), value.clone()) {
                    Some(value) => Self::SetField { step: id, field, value },
                    None => Self::UnsetField { step: id, field },
                }
            }
            Self::UnsetField { field, .. } => match step.fields.remove(field) {
                Some(value) => Self::SetField { step: id, field: field.clone(), value },
                None => return Err(EditError::NoField { step: id, field: field.clone() }),
            },
            Self::SetLabel { label, .. } => {
                Self::SetLabel { step: id, label: replace(&mut step.label, label.clone()) }
            }
            Self::SetTimeout { timeout_ms, .. } => Self::SetTimeout {
                step: id,
                timeout_ms: replace(&mut step.timeout_ms, *timeout_ms),
            },
            Self::SetRetry { retry, .. } => {
                Self::SetRetry { step: id, retry: replace(&mut step.retry, *retry) }
            }
            Self::SetOnError { on_error, .. } => Self::SetOnError {
                step: id,
                on_error: replace(&mut step.on_error, on_error.clone()),
            },
            Self::SetDisabled { disabled, .. } => {
                Self::SetDisabled { step: id, disabled: replace(&mut step.disabled, *disabled) }
            }
            // All others are about something else than one step that is there.
            _ => return Err(EditError::NoStep(id)),
        })
    }

    /// The step that the edit is about, by the id that it has before.
    #[must_use]
    pub fn step(&self) -> Option<&str> {
        match self {
            Self::AddStep { id, .. }
            | Self::RemoveStep { id }
            | Self::ReplaceStep { id, .. }
            | Self::RenameStep { from: id, .. } => Some(id),
            Self::SetField { step, .. }
            | Self::UnsetField { step, .. }
            | Self::SetLabel { step, .. }
            | Self::SetTimeout { step, .. }
            | Self::SetRetry { step, .. }
            | Self::SetOnError { step, .. }
            | Self::SetDisabled { step, .. }
            | Self::MoveStep { step, .. } => Some(step),
            _ => None,
        }
    }
}

impl std::fmt::Display for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{} → {}", self.from, self.port, self.to)
    }
}

#[cfg(test)]
pub(crate) mod tests;
