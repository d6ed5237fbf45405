//! Checks what is left of a document with faults: a person is told all of them at once.

use super::{Deployed, Engine};
use crate::compile::CompileFault;
use crate::plan::STEPS_MAX;
use millrace_flow::document::{OnError, Order, Step};
use millrace_flow::{Document, Fault, FieldForm};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Engine {
    /// What [`Engine::check`] would find in the scripts and expressions of a document that has
    /// `known` faults: in all fields that have none of these. Each is compiled apart from its step,
    /// which may not compile at all; a document with more than [`STEPS_MAX`] of them is looked at
    /// as far as that.
    #[must_use]
    pub fn check_rest(&self, deployed: &Deployed, known: &[Fault]) -> Vec<CompileFault> {
        let document = &deployed.document;
        let is_known = |step: &str, field: &str| {
            let is_of_step = |fault: &&Fault| fault.step.as_deref() == Some(step);
            known.iter().filter(is_of_step).any(|fault| {
                let at = fault.field.as_deref().unwrap_or_default();
                at.split(['.', '[']).next() == Some(field)
            })
        };
        let mut places = BTreeMap::new();
        let mut rest = Document::clone(document);
        (rest.steps, rest.wires) = (BTreeMap::new(), Vec::new());
        rest.settings.order = Order::Parallel;
        for (id, step) in &document.steps {
            let Some(kind) = step.known_kind() else { continue };
            for (name, value) in step.fields.iter().filter(|(name, _)| !is_known(id, name)) {
                let Some(spec) = kind.field(name) else { continue };
                let (kind, field) = match spec.form {
                    FieldForm::Code => ("javascript", "code"),
                    _ if spec.allows_expression => ("map", "output"),
                    _ => continue,
                };
                let place = format!("f{}", places.len());
                rest.steps.insert(place.clone(), lone_step(kind, Some((field, value))));
                places.insert(place, (id, name));
            }
        }
        while rest.steps.len() >= STEPS_MAX {
            rest.steps.pop_last();
        }
        rest.steps.insert("start".to_owned(), lone_step("manual", None));
        let rest = Deployed { document: Arc::new(rest), ..deployed.clone() };
        let mut faults = self.check(&rest).err().unwrap_or_default();
        faults.retain_mut(|fault| {
            let Some((step, field)) = places.get(&fault.step) else { return false };
            (fault.step, fault.field) = ((*step).clone(), Some((*field).clone()));
            true
        });
        faults
    }
}

fn lone_step(kind: &str, field: Option<(&str, &Value)>) -> Step {
    Step {
        kind: kind.to_owned(),
        label: String::new(),
        fields: field.into_iter().map(|(name, value)| (name.to_owned(), value.clone())).collect(),
        timeout_ms: None,
        retry: None,
        on_error: OnError::Stop,
        disabled: false,
    }
}
