//! Pipeline documents on their way in and out: read, judged by `flow`'s rules, compared.
//!
//! **Invariants**: what is handed to the backend is a document without faults; every fault names
//! its step and field where it has one.

use crate::error::{ApiError, Result};
use millrace_contract::v1::{DocumentFault, PipelineDiff};
use millrace_flow::{Document, Examined, Fault, Severity};
use serde_json::value::RawValue;
use std::sync::Arc;

/// A document that may be stored.
pub(crate) struct Judged {
    pub(crate) document: Arc<Document>,
    /// The compact text to store.
    pub(crate) text: Arc<str>,
    pub(crate) warnings: Vec<DocumentFault>,
}

/// Reads a document and holds it against all rules. `check` adds what the rules do not know, beyond
/// the errors that they have found.
pub(crate) fn judge(
    text: &RawValue,
    name: &str,
    check: impl FnOnce(&Document, &[Fault]) -> Result<Vec<DocumentFault>>,
) -> Result<Judged> {
    let Examined { document, faults } = millrace_flow::examine(text.get());
    let (errors, warnings): (Vec<_>, Vec<_>) =
        faults.into_iter().partition(|fault| fault.severity == Severity::Error);
    let more = document.as_ref().map_or_else(|| Ok(Vec::new()), |found| check(found, &errors))?;
    let mut errors: Vec<_> = errors.into_iter().map(outward).collect();
    // A document without a name that can be read has been told so, or is none at all.
    let is_told = errors.iter().any(|fault| {
        fault.step.is_none() && fault.field.as_deref().is_none_or(|field| field == "name")
    });
    if !is_told && document.as_ref().is_some_and(|document| document.name != name) {
        let message = format!("must be '{name}', as the address says");
        let (field, code) = (Some("name".to_owned()), "bad_name".to_owned());
        errors.insert(0, DocumentFault { field, code, message, ..DocumentFault::default() });
    }
    errors.extend(more);
    let Some(document) = document.filter(|_| errors.is_empty()) else {
        return Err(ApiError::document(errors));
    };
    let text = serde_json::to_string(&document)
        .map_err(|error| ApiError::internal(&format!("a document is not JSON: {error}")))?;
    let warnings = warnings.into_iter().map(outward).collect();
    Ok(Judged { document: Arc::new(document), text: text.into(), warnings })
}

/// A stored document's text, read back.
pub(crate) fn stored(text: &str) -> Result<Document> {
    Document::parse(text)
        .map_err(|error| ApiError::internal(&format!("a stored document cannot be read: {error}")))
}

/// A stored document's text as JSON.
pub(crate) fn stored_json(text: &str) -> Result<Box<RawValue>> {
    RawValue::from_string(text.to_owned())
        .map_err(|error| ApiError::internal(&format!("a stored document is not JSON: {error}")))
}

fn outward(fault: Fault) -> DocumentFault {
    let Fault { step, field, line, code, message, .. } = fault;
    DocumentFault { step, field, line, code: code.to_owned(), message }
}

/// What is different between two stored documents.
pub(crate) fn diff(from: (u32, &Document), to: (u32, &Document)) -> Result<PipelineDiff> {
    let transaction = millrace_flow::diff(from.1, to.1);
    let lines = millrace_flow::diff::lines(from.1, &transaction);
    let edits: std::result::Result<_, _> =
        transaction.edits.iter().map(serde_json::to_value).collect();
    let edits =
        edits.map_err(|error| ApiError::internal(&format!("an edit is not JSON: {error}")))?;
    Ok(PipelineDiff { from: from.0, to: to.0, lines, edits })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn document(change: impl FnOnce(&mut Value)) -> Box<RawValue> {
        let mut value = json!({
            "millrace": 1,
            "name": "a",
            "steps": { "in": { "kind": "manual" }, "note": { "kind": "log", "fields": { "message": "x" } } },
            "wires": [{ "from": "in", "to": "note" }],
        });
        change(&mut value);
        RawValue::from_string(value.to_string()).unwrap()
    }

    /// By the rules alone.
    fn judge(text: &RawValue, name: &str) -> Result<Judged> {
        super::judge(text, name, |_, _| Ok(Vec::new()))
    }

    fn faults(text: &RawValue) -> Vec<(Option<String>, Option<String>)> {
        let Err(error) = judge(text, "a") else { return Vec::new() };
        let faults = error.detail().faults;
        faults.into_iter().map(|fault| (fault.step, fault.field)).collect()
    }

    #[test]
    fn a_good_document_is_stored_compact_and_reads_back() {
        let judged = judge(&document(|_| ()), "a").map_err(ApiError::detail).unwrap();
        assert!(!judged.text.contains('\n'), "{}", judged.text);
        assert_eq!(stored(&judged.text).map_err(ApiError::detail).unwrap(), *judged.document);
    }

    #[test]
    fn every_fault_names_its_step_and_field() {
        let some = |text: &str| Some(text.to_owned());
        let unknown = document(|value| value["steps"]["note"]["kind"] = json!("teleport"));
        assert_eq!(faults(&unknown)[0].0, some("note"));
        let number = document(|value| value["steps"]["note"]["timeout_ms"] = json!("soon"));
        assert_eq!(faults(&number), [(some("note"), some("timeout_ms"))]);
        let both = document(|value| {
            value["steps"]["note"]["timeout_ms"] = json!("soon");
            value["steps"]["in"]["kind"] = json!("manuel");
            value["name"] = json!("b");
        });
        let told = faults(&both);
        assert_eq!(told.len(), 3, "{told:?}");
        let renamed = document(|value| value["name"] = json!("b"));
        assert_eq!(faults(&renamed), [(None, some("name"))]);
        let future = document(|value| value["millrace"] = json!(99));
        assert_eq!(faults(&future).len(), 1);
        let twice =
            RawValue::from_string(r#"{"millrace":1,"name":"a","name":"a"}"#.into()).unwrap();
        assert_eq!(faults(&twice), [(None, some("name")), (None, some("steps"))]);
        assert_eq!(faults(&RawValue::from_string("7".into()).unwrap()).len(), 1);
    }

    #[test]
    fn what_only_the_engine_finds_is_told_with_what_the_rules_find() {
        let wrong = document(|value| value["steps"]["note"]["timeout_ms"] = json!("soon"));
        let found = DocumentFault { step: Some("in".to_owned()), ..DocumentFault::default() };
        let judged = super::judge(&wrong, "a", |_, known| {
            assert_eq!(known.len(), 1, "{known:?}");
            Ok(vec![found])
        });
        let told = judged.err().unwrap().detail().faults;
        let steps: Vec<_> = told.iter().map(|fault| fault.step.as_deref()).collect();
        assert_eq!(steps, [Some("note"), Some("in")]);
    }

    #[test]
    fn a_difference_is_told_in_lines_and_edits_and_the_layout_in_edits_alone() {
        let before = judge(&document(|_| ()), "a").map_err(ApiError::detail).unwrap().document;
        let mut after = Document::clone(&before);
        after.layout.insert("in".to_owned(), [3, 4]);
        let moved = diff((1, &before), (2, &after)).map_err(ApiError::detail).unwrap();
        assert_eq!((moved.lines.len(), moved.edits.len()), (0, 1), "{moved:?}");
        let step = after.steps.get_mut("note").unwrap();
        step.fields.insert("message".to_owned(), json!("y"));
        let changed = diff((1, &before), (2, &after)).map_err(ApiError::detail).unwrap();
        assert_eq!((changed.from, changed.to), (1, 2));
        assert!(changed.lines[0].contains("step `note`, `message`"), "{changed:?}");
    }
}
