//! Values of fields as a person types them, by the form of the field.
//!
//! Text stays text. A number, switch or list is read as JSON; what cannot be read stays text, which
//! is right for an expression and which the validator objects to otherwise. A list of texts is typed
//! one entry a line.
//!
//! **Invariants**
//! - Reading what was shown gives the same value, whatever the value is.

use millrace_flow::FieldForm;
use serde_json::{Value, json};

/// How a field is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// One line.
    Line,
    /// Several lines of JSON.
    Json,
    /// One entry a line.
    Lines,
    /// One of these words, or nothing.
    Words(Vec<&'static str>),
    /// A script or statement.
    Code,
    /// The name of a secret.
    Secret,
}

/// How a field of this form is typed, with this value in it.
pub(super) fn control(form: FieldForm, value: Option<&Value>) -> Control {
    let is_text = value.is_none_or(Value::is_string);
    match form {
        FieldForm::Enum(words) if fits(words, value) => Control::Words(words.to_vec()),
        FieldForm::Bool if value.is_none_or(Value::is_boolean) => {
            Control::Words(vec!["true", "false"])
        }
        FieldForm::Code | FieldForm::Sql if is_text => Control::Code,
        FieldForm::Secret if value.is_none_or(|value| secret_name(value).is_some()) => {
            Control::Secret
        }
        FieldForm::List(of) if is_of_texts(*of) && value.is_none_or(is_lines) => Control::Lines,
        FieldForm::Secret
        | FieldForm::List(_)
        | FieldForm::Items(_)
        | FieldForm::Map
        | FieldForm::Headers
        | FieldForm::Json
        | FieldForm::Code
        | FieldForm::Sql => Control::Json,
        _ => Control::Line,
    }
}

fn fits(words: &[&str], value: Option<&Value>) -> bool {
    value.is_none_or(|value| value.as_str().is_some_and(|value| words.contains(&value)))
}

fn is_of_texts(form: FieldForm) -> bool {
    matches!(
        form,
        FieldForm::Text
            | FieldForm::Path
            | FieldForm::Filter
            | FieldForm::Topic
            | FieldForm::Enum(_)
            | FieldForm::Into
    )
}

/// Whether a value is a list of texts that stand on lines without doubt.
fn is_lines(value: &Value) -> bool {
    let stands = |text: &str| !text.contains('\n') && text.trim() == text && !text.is_empty();
    value.as_array().is_some_and(|items| {
        !items.is_empty() && items.iter().all(|item| item.as_str().is_some_and(stands))
    })
}

/// Whether the form takes text as it is.
fn is_text(form: FieldForm) -> bool {
    is_of_texts(form)
        || matches!(
            form,
            FieldForm::Code
                | FieldForm::Sql
                | FieldForm::Zone
                | FieldForm::Cron
                | FieldForm::Pipeline
                | FieldForm::Unit
        )
}

/// The text of a value.
pub(super) fn shown(form: FieldForm, value: &Value) -> String {
    match (control(form, Some(value)), value) {
        (Control::Lines, Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
        }
        (Control::Secret, value) => secret_name(value).unwrap_or_default().to_owned(),
        (Control::Line | Control::Words(_) | Control::Code, Value::String(text))
            if is_text(form) =>
        {
            text.clone()
        }
        // Text that would read as something else is shown in quotes.
        (_, Value::String(text))
            if serde_json::from_str::<Value>(text).is_err() && !text.is_empty() =>
        {
            text.clone()
        }
        (Control::Json, value) => serde_json::to_string_pretty(value).unwrap_or_default(),
        (_, value) => value.to_string(),
    }
}

/// The value of a text; `None` for an empty one, which takes the field out.
pub(super) fn read(form: FieldForm, before: Option<&Value>, text: &str) -> Option<Value> {
    if text.is_empty() {
        return None;
    }
    match control(form, before) {
        Control::Lines => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let lines: Vec<&str> = lines.collect();
            (!lines.is_empty()).then(|| json!(lines))
        }
        Control::Secret => Some(json!({ "secret": text })),
        Control::Line | Control::Words(_) | Control::Code
            if is_text(form) && before.is_none_or(Value::is_string) =>
        {
            Some(Value::String(text.to_owned()))
        }
        _ => Some(serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))),
    }
}

fn secret_name(value: &Value) -> Option<&str> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    object.get("secret")?.as_str().filter(|name| !name.is_empty())
}

/// A datum of the API for people: indented if it is whole.
pub(super) fn pretty(text: &str) -> String {
    // Numbers are passed through as they are, so that none loses digits.
    let read: Result<Value, _> = serde_json::from_str(text);
    match read {
        Ok(value) if is_exact(text, &value) => {
            serde_json::to_string_pretty(&value).unwrap_or_else(|_| text.to_owned())
        }
        _ => text.to_owned(),
    }
}

/// Whether a text says no more than its value.
fn is_exact(text: &str, value: &Value) -> bool {
    let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    bare(text) == bare(&value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: FieldForm = FieldForm::List(&FieldForm::Filter);
    const NUMBER: FieldForm = FieldForm::Number { least: 0.0, most: 9.0 };

    #[test]
    fn what_was_shown_reads_as_the_same_value() {
        let forms = [
            FieldForm::Text,
            NUMBER,
            FieldForm::Bool,
            FieldForm::Test,
            FieldForm::Json,
            FieldForm::Map,
            FieldForm::Secret,
            FieldForm::Code,
            TEXTS,
            FieldForm::Cron,
            FieldForm::Enum(&["a", "b"]),
            FieldForm::Headers,
        ];
        let values = [
            json!(5),
            json!("5"),
            json!(true),
            json!("true"),
            json!("a"),
            json!("plain text"),
            json!("{{ $item.value }}"),
            json!({"secret": "x"}),
            json!({"secret": "{x"}),
            json!(["a", "b/+"]),
            json!([]),
            json!([" a"]),
            json!([""]),
            json!(["a\nb"]),
            json!(null),
            json!({"a": [1, 2.5]}),
            json!("{\"a\": 1}"),
            json!("\"quoted\""),
            json!("line\nline"),
        ];
        for form in forms {
            for value in &values {
                let text = shown(form, value);
                let read = read(form, Some(value), &text);
                assert_eq!(read.as_ref(), Some(value), "{} shown as {text}", form.name());
            }
        }
    }

    #[test]
    fn empty_takes_the_field_out_and_forms_decide_the_type() {
        assert_eq!(read(FieldForm::Text, None, ""), None);
        assert_eq!(read(FieldForm::Text, None, "5"), Some(json!("5")));
        assert_eq!(read(NUMBER, None, "5"), Some(json!(5)));
        assert_eq!(read(NUMBER, None, "{{ $item.x }}"), Some(json!("{{ $item.x }}")));
        assert_eq!(read(TEXTS, None, "a/+\n\n b/# \n"), Some(json!(["a/+", "b/#"])));
        assert_eq!(read(FieldForm::Secret, None, "token"), Some(json!({"secret": "token"})));
    }

    #[test]
    fn digits_that_would_be_lost_are_shown_as_they_came() {
        assert_eq!(pretty("{\"a\":1}"), "{\n  \"a\": 1\n}");
        assert_eq!(pretty("123456789012345678901234567890"), "123456789012345678901234567890");
        assert_eq!(pretty("not json"), "not json");
    }
}
