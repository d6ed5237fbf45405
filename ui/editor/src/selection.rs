//! What is selected, and the one step that the keyboard is at.
//!
//! **Invariants**: the current step is selected, or nothing is current; after [`Selection::keep`]
//! nothing is selected that the document does not have.

use millrace_flow::Document;
use millrace_flow::document::Wire;
use std::collections::BTreeSet;

/// Selected steps and wires.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    steps: BTreeSet<String>,
    wires: BTreeSet<Wire>,
    current: Option<String>,
}

impl Selection {
    /// The selected steps.
    #[must_use]
    pub const fn steps(&self) -> &BTreeSet<String> {
        &self.steps
    }

    /// The selected wires.
    #[must_use]
    pub const fn wires(&self) -> &BTreeSet<Wire> {
        &self.wires
    }

    /// The step that the keyboard and the inspector are at.
    #[must_use]
    pub fn current(&self) -> Option<&str> {
        self.current.as_deref()
    }

    /// Whether nothing is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.wires.is_empty()
    }

    /// How many steps and wires are selected.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len() + self.wires.len()
    }

    /// Whether a step is selected.
    #[must_use]
    pub fn has(&self, step: &str) -> bool {
        self.steps.contains(step)
    }

    /// Nothing.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// This step alone.
    pub fn only(&mut self, step: &str) {
        self.all([step.to_owned()]);
    }

    /// These steps alone; the first is current, or the one that was if it is among them.
    pub fn all(&mut self, steps: impl IntoIterator<Item = String>) {
        self.steps = steps.into_iter().collect();
        self.wires.clear();
        if !self.current.as_ref().is_some_and(|id| self.steps.contains(id)) {
            self.current = self.steps.first().cloned();
        }
    }

    /// These steps too.
    pub fn add(&mut self, steps: impl IntoIterator<Item = String>) {
        self.steps.extend(steps);
        if self.current.is_none() {
            self.current = self.steps.first().cloned();
        }
    }

    /// This step too, or not any more.
    pub fn toggle(&mut self, step: &str) {
        if self.steps.remove(step) {
            if self.current.as_deref() == Some(step) {
                self.current = self.steps.first().cloned();
            }
        } else {
            self.steps.insert(step.to_owned());
            self.current = Some(step.to_owned());
        }
    }

    /// This wire alone, or with `is_adding` this wire too or not any more.
    pub fn wire(&mut self, wire: &Wire, is_adding: bool) {
        if !is_adding {
            self.clear();
        }
        if !self.wires.remove(wire) {
            self.wires.insert(wire.clone());
        }
    }

    /// Drops what the document does not have any more.
    pub fn keep(&mut self, document: &Document) {
        self.steps.retain(|id| document.steps.contains_key(id));
        self.wires.retain(|wire| document.wires.binary_search(wire).is_ok());
        if !self.current.as_ref().is_some_and(|id| self.steps.contains(id)) {
            self.current = self.steps.first().cloned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{document, wire};

    #[test]
    fn the_current_step_is_always_a_selected_one() {
        let mut selection = Selection::default();
        selection.all(["b".into(), "a".into()]);
        assert_eq!(selection.current(), Some("a"));
        selection.toggle("a");
        assert_eq!(selection.current(), Some("b"));
        selection.toggle("c");
        assert_eq!(selection.current(), Some("c"));
        selection.wire(&wire("a-b"), true);
        assert_eq!(selection.len(), 3);
        selection.keep(&document("b:map"));
        assert_eq!((selection.current(), selection.len()), (Some("b"), 1));
        selection.clear();
        assert!(selection.current().is_none() && selection.is_empty());
    }
}
