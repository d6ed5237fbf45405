//! Undo and redo: what was done, as the transactions that undo it.
//!
//! There is no code for undoing anything in particular: `flow` gives the inverse of what it applied.
//! Changes with the same [`Grain`] that follow one another (letters typed into one field, one step
//! nudged along) become one entry, until something else happens.
//!
//! The history has no limit in entries. Its entries' size is bounded by [`HISTORY_BYTES_MAX`]: over
//! it the oldest are forgotten, the newest never.
//!
//! **Invariants**: undoing everything gives the document before the oldest entry; redoing what was
//! undone gives the same document again; a new change forgets what could be redone.

use millrace_flow::{Document, Edit, Transaction, TransactionError};
use std::collections::VecDeque;

/// Most bytes that the entries take together, measured as JSON.
pub const HISTORY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What changes have in common that become one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grain {
    /// Text of a field of a step, or of a setting of it.
    Field {
        /// The step; empty for the document.
        step: String,
        /// The field.
        field: String,
    },
    /// Steps that are moved by keys.
    Nudge,
}

#[derive(Clone, Debug)]
struct Entry {
    name: String,
    transaction: Transaction,
    bytes: usize,
    grain: Option<Grain>,
}

/// What was done and what was undone.
#[derive(Clone, Debug)]
pub struct History {
    done: VecDeque<Entry>,
    undone: Vec<Entry>,
    bytes: usize,
    bytes_max: usize,
    forgotten: u64,
}

impl Default for History {
    fn default() -> Self {
        Self::with_limit(HISTORY_BYTES_MAX)
    }
}

impl History {
    /// An empty history with a limit of its own.
    #[must_use]
    pub const fn with_limit(bytes_max: usize) -> Self {
        Self { done: VecDeque::new(), undone: Vec::new(), bytes: 0, bytes_max, forgotten: 0 }
    }

    /// Applies a transaction and remembers how to undo it.
    ///
    /// # Errors
    /// What cannot be applied; nothing is changed.
    pub fn apply(
        &mut self,
        document: &mut Document,
        name: &str,
        transaction: &Transaction,
        grain: Option<Grain>,
    ) -> Result<(), TransactionError> {
        let mut inverse = transaction.apply(document)?;
        self.forget_undone();
        if grain.is_some()
            && let Some(last) = self.done.back()
            && last.grain == grain
            && let Some(last) = self.done.pop_back()
        {
            self.bytes -= last.bytes;
            inverse.edits.extend(last.transaction.edits);
            inverse = thinned(inverse, document);
        }
        if !inverse.is_empty() {
            let entry = Entry::new(name.to_owned(), inverse, grain);
            self.bytes += entry.bytes;
            self.done.push_back(entry);
            self.shrink();
        }
        Ok(())
    }

    /// Ends an entry that further changes of its grain would go into.
    pub fn seal(&mut self) {
        if let Some(last) = self.done.back_mut() {
            last.grain = None;
        }
    }

    /// Undoes the last entry; gives its name.
    ///
    /// # Errors
    /// The document was changed by something else; nothing is undone.
    pub fn undo(&mut self, document: &mut Document) -> Result<Option<String>, TransactionError> {
        let Some(entry) = self.done.back() else { return Ok(None) };
        let redo = Entry::new(entry.name.clone(), entry.transaction.apply(document)?, None);
        let bytes = entry.bytes;
        self.done.pop_back();
        self.bytes = self.bytes - bytes + redo.bytes;
        let name = redo.name.clone();
        self.undone.push(redo);
        Ok(Some(name))
    }

    /// Does again what was undone last; gives its name.
    ///
    /// # Errors
    /// The document was changed by something else; nothing is done.
    pub fn redo(&mut self, document: &mut Document) -> Result<Option<String>, TransactionError> {
        let Some(entry) = self.undone.last() else { return Ok(None) };
        let undo = Entry::new(entry.name.clone(), entry.transaction.apply(document)?, None);
        let bytes = entry.bytes;
        self.undone.pop();
        self.bytes = self.bytes - bytes + undo.bytes;
        let name = undo.name.clone();
        self.done.push_back(undo);
        Ok(Some(name))
    }

    /// What would be undone.
    #[must_use]
    pub fn undo_name(&self) -> Option<&str> {
        self.done.back().map(|entry| entry.name.as_str())
    }

    /// What would be done again.
    #[must_use]
    pub fn redo_name(&self) -> Option<&str> {
        self.undone.last().map(|entry| entry.name.as_str())
    }

    /// How many entries can be undone.
    #[must_use]
    pub fn len(&self) -> usize {
        self.done.len()
    }

    /// Whether nothing can be undone.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// How many entries were forgotten for the limit's sake.
    #[must_use]
    pub const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    fn forget_undone(&mut self) {
        self.bytes -= self.undone.iter().map(|entry| entry.bytes).sum::<usize>();
        self.undone.clear();
    }

    fn shrink(&mut self) {
        while self.bytes > self.bytes_max && self.done.len() > 1 {
            if let Some(oldest) = self.done.pop_front() {
                self.bytes -= oldest.bytes;
                self.forgotten += 1;
            }
        }
    }
}

impl Entry {
    fn new(name: String, transaction: Transaction, grain: Option<Grain>) -> Self {
        let bytes = serde_json::to_vec(&transaction).map_or(0, |text| text.len());
        Self { name, transaction, bytes, grain }
    }
}

/// The same way back without its stations: of several edits that set one and the same thing, the
/// last one counts.
fn thinned(transaction: Transaction, document: &Document) -> Transaction {
    let mut kept: Vec<Edit> = Vec::new();
    for edit in transaction.edits.into_iter().rev() {
        if !kept.iter().any(|later| is_overruled(&edit, later)) {
            kept.push(edit);
        }
    }
    // A field that is not there need not be taken out.
    kept.retain(|edit| match edit {
        Edit::UnsetField { step, field } => {
            document.steps.get(step).is_some_and(|step| step.fields.contains_key(field))
        }
        _ => true,
    });
    kept.reverse();
    Transaction { edits: kept }
}

fn is_overruled(edit: &Edit, later: &Edit) -> bool {
    match (field_of(edit), field_of(later)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => {
            edit.step() == later.step()
                && std::mem::discriminant(edit) == std::mem::discriminant(later)
                && matches!(
                    edit,
                    Edit::MoveStep { .. }
                        | Edit::SetLabel { .. }
                        | Edit::SetTimeout { .. }
                        | Edit::SetRetry { .. }
                        | Edit::SetOnError { .. }
                        | Edit::SetName(_)
                        | Edit::SetDescription(_)
                        | Edit::SetSettings(_)
                )
        }
        _ => false,
    }
}

fn field_of(edit: &Edit) -> Option<(&str, &str)> {
    match edit {
        Edit::SetField { step, field, .. } | Edit::UnsetField { step, field } => {
            Some((step, field))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
