//! Data as text: JSON, the short form for messages, and the form of keys and cells.
//!
//! **Invariants**: text for messages is short whatever the datum; a key is bounded.

use crate::step::StepFault;
use millrace_flow::Data;

/// Longest key of a state, bytes: a tag's path and a few words more.
pub(super) const KEY_BYTES_MAX: usize = 640;
/// Longest text shown of a datum in a message, characters.
const SHOWN_MAX: usize = 40;

/// The datum as JSON text.
pub(super) fn json_text(data: &Data) -> String {
    let mut out = String::new();
    crate::json::write(data, &mut out);
    out
}

/// The datum as plain text: text as it is, the rest as JSON writes it; nothing for null.
pub(super) fn plain_text(data: &Data) -> String {
    match data {
        Data::Missing | Data::Null => String::new(),
        Data::Text(text) => text.to_string(),
        Data::Float(value) if value.is_nan() => "NaN".to_owned(),
        Data::Float(value) if value.is_infinite() => {
            if *value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
        }
        other => json_text(other),
    }
}

/// The datum as text within other text, as JavaScript joins it: `2.0` is `2`. Lists and objects as
/// JSON; nothing for null.
pub(super) fn joined_text(data: &Data) -> String {
    match data {
        Data::Missing | Data::Null => String::new(),
        Data::List(_) | Data::Map(_) => json_text(data),
        other => other.to_js_text(),
    }
}

/// What a datum is, for messages: `text "abc"`, `number 5`, `a list of 3`.
pub(super) fn describe(data: &Data) -> String {
    match data {
        Data::Missing => "nothing".to_owned(),
        Data::Null => "null".to_owned(),
        Data::Bool(value) => value.to_string(),
        Data::Int(_) | Data::UInt(_) | Data::Float(_) => format!("number {}", plain_text(data)),
        Data::Text(text) => {
            let mut shown: String = text.chars().take(SHOWN_MAX).collect();
            if shown.len() < text.len() {
                shown.push('\u{2026}');
            }
            format!("text \"{shown}\"")
        }
        Data::List(items) => format!("a list of {}", items.len()),
        Data::Map(map) => format!("an object of {}", map.len()),
    }
}

/// The text of a key. Numbers and texts stand for themselves, the rest as JSON.
///
/// # Errors
/// Longer than [`KEY_BYTES_MAX`], or nothing at all.
pub(super) fn key_text(data: &Data) -> Result<String, StepFault> {
    if matches!(data, Data::Missing | Data::Null) {
        return Err(StepFault::lasting(
            "bad_input",
            format!("the key is {}; a key must be there", describe(data)),
        ));
    }
    let text = joined_text(data);
    if text.len() > KEY_BYTES_MAX {
        return Err(StepFault::lasting(
            "limit",
            format!("the key has {} bytes; at most {KEY_BYTES_MAX} are taken", text.len()),
        ));
    }
    Ok(text)
}

/// A fault of the input.
pub(super) fn bad_input(message: impl Into<String>) -> StepFault {
    StepFault::lasting("bad_input", message)
}

/// A fault of a limit.
pub(super) fn over_limit(message: impl Into<String>) -> StepFault {
    StepFault::lasting("limit", message)
}
