//! The document as text: bounded reading, and one canonical way of writing.
//!
//! Written text is made for people and git: keys in a fixed order, steps and wires sorted, one wire
//! a line, and a text of several lines in a field of form text, JavaScript or SQL as a list of its
//! lines. Reading takes such a list, or the text itself. Secrets are only named in documents, so a
//! text can be handed on.
//!
//! **Invariants**: reading is bounded in bytes and depth and never panics; a key that stands twice,
//! and a whole number that would lose digits, are refused; `parse(to_text(d)) = d` for documents
//! that were read or validated; text that was written reads and writes as itself.

mod scan;
mod write;

use crate::document::{Document, FORMAT};
use crate::kind::FieldForm;
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// Largest document in bytes.
pub const DOCUMENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Deepest nesting of a document's JSON.
pub const DOCUMENT_DEPTH_MAX: usize = 64;

/// Why text is no document.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}, at `{path}`: {message}")]
pub struct ParseFault {
    /// Where in the document: `steps.scale.fields.factor`; `.` for the whole.
    pub path: String,
    /// Line, from 1; 0 if no line is to blame.
    pub line: usize,
    /// Column, from 1, in bytes.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl ParseFault {
    fn whole(message: String) -> Self {
        Self { path: ".".into(), line: 0, column: 0, message }
    }
}

/// The one field that every version has.
#[derive(Deserialize)]
struct Format {
    millrace: u32,
}

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// The first thing that keeps the text from being a document, and where. Whether it can be
    /// deployed is for [`crate::validate`].
    pub fn parse(text: &str) -> Result<Self, ParseFault> {
        if text.len() > DOCUMENT_BYTES_MAX {
            let message = format!("{} bytes, {DOCUMENT_BYTES_MAX} at most", text.len());
            return Err(ParseFault::whole(message));
        }
        scan::scan(text)?;
        let mut reader = serde_json::Deserializer::from_str(text);
        let read: Result<Self, _> = serde_path_to_error::deserialize(&mut reader);
        let mut document = match read {
            Ok(document) => document,
            Err(fault) => return Err(Self::fault(text, &fault)),
        };
        if let Err(fault) = reader.end() {
            return Err(ParseFault {
                path: ".".into(),
                line: fault.line(),
                column: fault.column(),
                message: without_place(&fault),
            });
        }
        if document.millrace != FORMAT {
            return Err(ParseFault::whole(other_format(document.millrace)));
        }
        document.normalize();
        Ok(document)
    }

    /// Reads a document from bytes.
    ///
    /// # Errors
    /// As [`Document::parse`], and bytes that are no UTF-8.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Self, ParseFault> {
        let text = std::str::from_utf8(bytes).map_err(|fault| {
            ParseFault::whole(format!("no UTF-8 from byte {} on", fault.valid_up_to()))
        })?;
        Self::parse(text)
    }

    /// Writes the document in its one canonical form, with a line break at the end.
    #[must_use]
    pub fn to_text(&self) -> String {
        write::document(self)
    }

    /// Sorts the wires, drops those that stand twice, and joins texts that are lists of lines.
    /// Whoever reads a document without [`Document::parse`] calls this.
    pub fn normalize(&mut self) {
        self.wires.sort();
        self.wires.dedup();
        for step in self.steps.values_mut() {
            let Some(kind) = step.known_kind() else { continue };
            for (name, value) in &mut step.fields {
                if kind.field(name).is_some_and(|field| is_of_lines(field.form))
                    && let Some(text) = joined(value)
                {
                    *value = Value::String(text);
                }
            }
        }
    }

    fn fault(text: &str, fault: &serde_path_to_error::Error<serde_json::Error>) -> ParseFault {
        // A document of a later version may have what this one does not know: say that first.
        if let Ok(Format { millrace }) = serde_json::from_str(text)
            && millrace != FORMAT
        {
            return ParseFault::whole(other_format(millrace));
        }
        ParseFault {
            path: fault.path().to_string(),
            line: fault.inner().line(),
            column: fault.inner().column(),
            message: without_place(fault.inner()),
        }
    }
}

fn other_format(format: u32) -> String {
    format!("format {format} is not known to this version, which reads format {FORMAT}")
}

/// The message of a JSON error without the place, which has fields of its own.
fn without_place(fault: &serde_json::Error) -> String {
    let message = fault.to_string();
    message.split(" at line ").next().unwrap_or_default().to_owned()
}

/// Whether text of this form is written as a list of its lines.
fn is_of_lines(form: FieldForm) -> bool {
    matches!(form, FieldForm::Text | FieldForm::Code | FieldForm::Sql)
}

/// The text of a list of lines.
fn joined(value: &Value) -> Option<String> {
    let lines: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
    Some(lines?.join("\n"))
}

#[cfg(test)]
mod tests;
