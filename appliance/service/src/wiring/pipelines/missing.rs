//! Secrets that documents name and that are not there, or cannot be opened.
//!
//! A deployment that names one is refused. One that came to miss it later (it was removed, or the
//! box was restored without it) runs on, and an issue says which steps will fail.
//!
//! **Invariants**: only names are told, never values.

use millrace_catalog::{Pipelines, SecretKey, Secrets};
use millrace_contract::v1;
use millrace_flow::{Document, secret};
use millrace_model::WorkspaceNumber;
use millrace_supervisor::{Issue, Issues, Severity};
use std::collections::BTreeSet;

const ISSUE: &str = "secret-missing";

/// A fault for each place of a document that names a secret which is not there.
pub(in crate::wiring) fn faults(
    document: &Document,
    workspace: WorkspaceNumber,
    secrets: &Secrets,
) -> Vec<v1::DocumentFault> {
    let uses = secret::used(document);
    let missing = uses.iter().filter(|used| !secrets.is_there(workspace, used.name));
    missing
        .map(|used| v1::DocumentFault {
            step: Some(used.step.to_owned()),
            field: Some(used.field.to_owned()),
            line: None,
            code: "unknown_secret".to_owned(),
            message: format!(
                "there is no secret `{0}` in this workspace; set it first: `millrace secret set {0}`",
                used.name
            ),
        })
        .collect()
}

/// A fault for each place of a document that names a secret which is there and cannot be opened: the
/// box's key was damaged, lost or replaced.
pub(in crate::wiring) fn unreadable(
    document: &Document,
    workspace: WorkspaceNumber,
    secrets: &Secrets,
    key: &SecretKey,
) -> Vec<v1::DocumentFault> {
    let uses = secret::used(document);
    let closed = uses.iter().filter_map(|used| {
        let error = secrets.reveal(workspace, used.name, key).err()?;
        Some(v1::DocumentFault {
            step: Some(used.step.to_owned()),
            field: Some(used.field.to_owned()),
            line: None,
            code: "secret_unreadable".to_owned(),
            message: format!(
                "the secret `{0}` cannot be opened ({error}): restore secret.key from a copy and \
                 start again, or, with a new key, set it anew: `millrace secret set {0}`",
                used.name
            ),
        })
    });
    closed.collect()
}

/// Raises an issue for each deployed pipeline that names secrets which are not there, and clears
/// those of the others.
pub(in crate::wiring) fn look(pipelines: &Pipelines, secrets: &Secrets, issues: &Issues) {
    let mut raised = BTreeSet::new();
    for pipeline in pipelines.deployed() {
        let Some(revision) = pipeline.deployed() else { continue };
        let Ok(document) = Document::parse(&revision.document) else { continue };
        let missing = faults(&document, revision.workspace, secrets);
        let Some(first) = missing.first() else { continue };
        let (step, field) = (&first.step, &first.field);
        let key = format!("{ISSUE}:{}", pipeline.name());
        raised.insert(key.clone());
        issues.raise(Issue {
            key,
            severity: Severity::Warning,
            what: format!(
                "The pipeline `{}` names {} secrets that are not there; the first: step `{}`, field \
                 `{}`: {}.",
                pipeline.name(),
                missing.len(),
                step.as_deref().unwrap_or_default(),
                field.as_deref().unwrap_or_default(),
                first.message
            ),
            effect: "These steps fail, a webhook lets nobody in, a subscription is not made; the \
                     rest of the pipeline runs."
                .to_owned(),
            remedy: "Set it (`millrace secret set NAME`); nothing needs to be deployed again."
                .to_owned(),
        });
    }
    for issue in issues.list() {
        if issue.key.starts_with(ISSUE) && !raised.contains(&issue.key) {
            issues.clear(&issue.key);
        }
    }
}

/// Why a secret cannot be had, for people.
pub(super) fn why_none(secrets: &Secrets, key: &SecretKey, workspace: u16, name: &str) -> String {
    match secrets.reveal(WorkspaceNumber(workspace), name, key) {
        Err(error) => format!("the secret `{name}` cannot be opened: {error}"),
        Ok(_) => format!("there is no secret `{name}` in this workspace; set it"),
    }
}
