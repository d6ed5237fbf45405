//! Tags as a CSV file, out and in: one line a tag, the columns of [`COLUMNS`].
//!
//! A file that is written and read back changes nothing. Kinds stand side by side with spaces,
//! choices are a JSON list. A text that a spreadsheet would take for a formula is set off by an
//! apostrophe, which reading takes away again.
//!
//! Reading wants `path`; columns that are not there stay as they are, in any order. All faults of a
//! file are found at once, each with its line.
//!
//! **Invariants**: no text of a plant becomes a formula; what is written reads back to the same.

mod plan;
mod rows;

pub(crate) use plan::{Plan, plan};

use crate::csv;
use millrace_contract::v1;
use serde::Serialize;

/// The columns, in the order in which they are written.
pub(crate) const COLUMNS: [&str; 9] =
    ["path", "description", "unit", "retention", "kinds", "min", "max", "choices", "strict"];
/// What a spreadsheet may take for the beginning of a formula, and the apostrophe itself.
const MARKS: [char; 7] = ['=', '+', '-', '@', '\t', '\r', '\''];

/// The first line.
pub(crate) fn head() -> String {
    format!("{}\r\n", COLUMNS.join(","))
}

/// Appends a tag's line.
pub(crate) fn write_line(tag: &v1::Tag, out: &mut String) {
    for (at, text) in texts(tag).iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        csv::write_quoted(&set_off(at, text), out);
    }
    out.push_str("\r\n");
}

/// What stands in the columns.
fn texts(tag: &v1::Tag) -> [String; COLUMNS.len()] {
    let schema = &tag.schema;
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let kinds: Vec<String> = schema.kinds.iter().map(name).collect();
    let choices = match schema.choices.is_empty() {
        true => String::new(),
        false => serde_json::to_string(&schema.choices).unwrap_or_default(),
    };
    [
        tag.path.clone(),
        tag.description.clone(),
        tag.unit.clone(),
        name(&tag.retention),
        kinds.join(" "),
        number(schema.min),
        number(schema.max),
        choices,
        schema.strict.to_string(),
    ]
}

/// A word of the contract as it goes over the wire.
fn name(word: &impl Serialize) -> String {
    let value = serde_json::to_value(word).ok();
    value.as_ref().and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

/// Whether people write freely in this column.
fn is_free_text(column: usize) -> bool {
    column <= 2
}

fn set_off(column: usize, text: &str) -> String {
    if is_free_text(column) && text.starts_with(MARKS) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

fn taken_back(column: usize, text: String) -> String {
    match text.strip_prefix('\'') {
        Some(rest) if is_free_text(column) && rest.starts_with(MARKS) => rest.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests;
