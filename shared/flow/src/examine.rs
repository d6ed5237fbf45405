//! All that is wrong with a document's text, at once: what keeps it from being read, and what the
//! rules say about all that can be read.
//!
//! **Invariants**: bounded as [`crate::validate`] is; what follows only from another fault (a step
//! that nothing leads to, because its wire cannot be read) is not told.

use crate::document::Document;
use crate::text::{ParseFault, Reading};
use crate::validate::{FAULTS_MAX, Fault, Severity, has_errors, too_many, validate};

/// What was found.
#[derive(Debug)]
pub struct Examined {
    /// The document, as far as it can be read; nothing of a text that is no JSON or of another
    /// format. What cannot be read has been left out or stands there empty.
    pub document: Option<Document>,
    /// All faults: those of the text first, then those of the rules.
    pub faults: Vec<Fault>,
}

impl Examined {
    /// The document, if nothing keeps it from being deployed.
    #[must_use]
    pub fn good(&self) -> Option<&Document> {
        self.document.as_ref().filter(|_| !has_errors(&self.faults))
    }
}

/// Reads a text and holds it against all rules.
#[must_use]
pub fn examine(text: &str) -> Examined {
    let Reading { document, faults: unread } = Document::read(text);
    let mut faults: Vec<Fault> = unread.iter().map(fault).collect();
    if let Some(document) = &document {
        let follows = |rule: &Fault| follows(rule, &unread);
        faults.extend(validate(document).into_iter().filter(|rule| !follows(rule)));
    }
    if faults.len() > FAULTS_MAX {
        faults.truncate(FAULTS_MAX);
        faults.push(too_many());
    }
    Examined { document, faults }
}

fn fault(unread: &ParseFault) -> Fault {
    Fault {
        severity: Severity::Error,
        step: unread.step().map(str::to_owned),
        field: unread.field(),
        line: Some(unread.line).filter(|line| *line > 0),
        code: unread.code,
        message: unread.message.clone(),
    }
}

/// Whether a rule only complains about what could not be read.
fn follows(rule: &Fault, unread: &[ParseFault]) -> bool {
    let is_within = |field: &Option<String>, around: &Option<String>| match (field, around) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(field), Some(around)) => field
            .strip_prefix(around.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])),
    };
    // A key that stands twice, or an unknown one, was read as far as the rules go.
    let was_lost = |fault: &&ParseFault| !["duplicate_key", "unknown_field"].contains(&fault.code);
    unread.iter().filter(was_lost).any(|fault| {
        let field = fault.field();
        let is_same_place = fault.step() == rule.step.as_deref() && is_within(&rule.field, &field);
        let follows_from_way = ["unreachable", "no_trigger"].contains(&rule.code)
            && is_way(fault.step(), field.as_deref());
        // An item of a list stands under its number, its own faults further in.
        is_same_place || follows_from_way || same_item(&rule.field, &field)
    })
}

/// Whether a place holds what leads from step to step.
fn is_way(step: Option<&str>, field: Option<&str>) -> bool {
    let is_step = step.is_some() && field.is_none_or(|at| at == "kind");
    let at = field.unwrap_or_default();
    is_step || at == "on_error" || at.starts_with("wires") || at == "steps"
}

/// Whether both are in the same item of a list of the document: `cases[1].when`, `cases[1].name`.
fn same_item(one: &Option<String>, other: &Option<String>) -> bool {
    let item = |field: &Option<String>| {
        let field = field.as_deref()?;
        let (item, _) = field.split_once(']')?;
        item.starts_with("cases[").then(|| item.to_owned())
    };
    item(one).is_some_and(|one| item(other) == Some(one))
}

#[cfg(test)]
mod tests;
