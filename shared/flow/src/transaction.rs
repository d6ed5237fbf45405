//! Transactions: edits that belong together, applied all or not at all, and undone as one.
//!
//! **Invariants**: a transaction that fails leaves the document as it was; applying its inverse
//! undoes it exactly; the inverse of the inverse does it again.

use crate::document::{Document, Step, Wire};
use crate::edit::{Edit, EditError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Most edits of one transaction: enough to replace any document by any other.
pub const EDITS_MAX: usize = 20_000;

/// Edits in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Transaction {
    /// The edits.
    pub edits: Vec<Edit>,
}

/// Which edit of a transaction cannot be applied, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("edit {at}: {error}")]
pub struct TransactionError {
    /// The edit's place, from 0.
    pub at: usize,
    /// Why.
    pub error: EditError,
}

impl Transaction {
    /// Changes the document; gives the transaction that undoes it.
    ///
    /// # Errors
    /// The first edit that cannot be applied; the document is unchanged.
    pub fn apply(&self, document: &mut Document) -> Result<Self, TransactionError> {
        if self.edits.len() > EDITS_MAX {
            return Err(TransactionError {
                at: EDITS_MAX,
                error: EditError::TooMany(self.edits.len()),
            });
        }
        // The last edit is undone first.
        let mut inverses = Vec::with_capacity(self.edits.len());
        for (at, edit) in self.edits.iter().enumerate() {
            match edit.apply(document) {
                Ok(inverse) => inverses.push(inverse),
                Err(error) => {
                    for edit in inverses.iter().rev().flatten() {
                        // What was just done can be undone: see the invariant of edits.
                        edit.apply(document).expect("an edit's inverse applies right after it");
                    }
                    return Err(TransactionError { at, error });
                }
            }
        }
        Ok(Self { edits: inverses.into_iter().rev().flatten().collect() })
    }

    /// Whether nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Adds a step, wired behind another if `after` says so, where the designer was clicked.
    #[must_use]
    pub fn adding(id: &str, step: Step, after: Option<(&str, &str)>, at: Option<[i32; 2]>) -> Self {
        let id = id.to_owned();
        let mut edits = vec![Edit::AddStep { id: id.clone(), step }];
        if at.is_some() {
            edits.push(Edit::MoveStep { step: id.clone(), to: at });
        }
        if let Some((from, port)) = after {
            edits.push(Edit::AddWire(Wire { from: from.into(), port: port.into(), to: id }));
        }
        Self { edits }
    }

    /// Removes a step with its wires and its place in the layout.
    #[must_use]
    pub fn removing(document: &Document, id: &str) -> Self {
        let wires = document.wires.iter().filter(|wire| wire.from == id || wire.to == id);
        let mut edits: Vec<_> = wires.cloned().map(Edit::RemoveWire).collect();
        if document.layout.contains_key(id) {
            edits.push(Edit::MoveStep { step: id.to_owned(), to: None });
        }
        edits.push(Edit::RemoveStep { id: id.to_owned() });
        Self { edits }
    }
}

impl From<Edit> for Transaction {
    fn from(edit: Edit) -> Self {
        Self { edits: vec![edit] }
    }
}

#[cfg(test)]
mod tests;
