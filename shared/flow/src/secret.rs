//! Secrets as documents name them: `{ "secret": "name" }`.
//!
//! The workspace keeps the values; whoever deploys asks [`used`] which must be there, and whoever
//! shows a document that was never validated calls [`hide_literals`] first.
//!
//! **Invariants**: a value that stands where a secret is named is never given out by this module.

use crate::document::Document;
use crate::kind::{FieldForm, FieldSpec};
use serde_json::Value;

/// One place where a document names a secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use<'a> {
    /// The secret's name.
    pub name: &'a str,
    /// The step.
    pub step: &'a str,
    /// The field.
    pub field: &'a str,
}

/// The name of the secret that a value stands for.
#[must_use]
pub fn name_of(value: &Value) -> Option<&str> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    fields.get("secret")?.as_str()
}

/// All places where a document names a secret, in the order of the document.
#[must_use]
pub fn used(document: &Document) -> Vec<Use<'_>> {
    let mut uses = Vec::new();
    for (step, content) in &document.steps {
        for (field, value) in &content.fields {
            let Some(spec) = content.known_kind().and_then(|kind| kind.field(field)) else {
                continue;
            };
            let mut add = |value| {
                if let Some(name) = name_of(value) {
                    uses.push(Use { name, step, field });
                }
            };
            match spec.form {
                FieldForm::Secret => add(value),
                FieldForm::Headers => {
                    value.as_object().into_iter().flatten().for_each(|(_, value)| add(value));
                }
                _ => {}
            }
        }
    }
    uses
}

/// Puts null in the place of whatever stands where only a secret's name may, and says how often.
/// A document that passed [`crate::validate`] has nothing of that kind.
pub fn hide_literals(document: &mut Document) -> usize {
    let mut hidden = 0;
    for step in document.steps.values_mut() {
        let Some(kind) = step.known_kind() else { continue };
        for (field, value) in &mut step.fields {
            let is_secret = |spec: &FieldSpec| spec.form == FieldForm::Secret;
            if kind.field(field).is_some_and(is_secret) && name_of(value).is_none() {
                *value = Value::Null;
                hidden += 1;
            }
            if kind.field(field).is_some_and(|spec| spec.form == FieldForm::Headers)
                && let Value::Object(headers) = value
            {
                for (name, value) in headers {
                    if crate::kinds::carries_credentials(name) && name_of(value).is_none() {
                        *value = Value::Null;
                        hidden += 1;
                    }
                }
            }
        }
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(fields: Value) -> Document {
        serde_json::from_value(serde_json::json!({
            "millrace": 1, "name": "p",
            "steps": {"ask": {"kind": "http.request", "fields": fields}},
        }))
        .unwrap()
    }

    #[test]
    fn what_is_named_is_found() {
        let document = request(serde_json::json!({
            "bearer": {"secret": "token"}, "body": {"secret": "no-field-of-that-form"},
            "headers": {"A": "b", "X-Api-Key": {"secret": "key"}},
        }));
        let names: Vec<_> = used(&document).into_iter().map(|u| (u.name, u.field)).collect();
        assert_eq!(names, [("token", "bearer"), ("key", "headers")]);
        assert_eq!(hide_literals(&mut document.clone()), 0);
    }

    #[test]
    fn what_was_written_in_its_place_is_not_shown() {
        let mut document = request(serde_json::json!({
            "bearer": "s3cr3t", "headers": {"Authorization": "Basic s3cr3t", "X-Line": "4"},
        }));
        assert_eq!(hide_literals(&mut document), 2);
        assert!(!document.to_text().contains("s3cr3t"));
        assert!(document.to_text().contains("X-Line"));
        assert!(crate::has_errors(&crate::validate(&document)));
    }
}
