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

mod place;
mod scan;
mod shape;
mod words;
mod write;

use crate::document::{Document, FORMAT};
use crate::kind::FieldForm;
use place::Place;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashSet;
use thiserror::Error;

/// Largest document in bytes.
pub const DOCUMENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Deepest nesting of a document's JSON.
pub const DOCUMENT_DEPTH_MAX: usize = 64;

/// Why text is no document.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{message}", self.whereabouts())]
pub struct ParseFault {
    /// A stable word: one of [`crate::validate::CODES`].
    pub code: &'static str,
    place: Place,
    /// Line, from 1; 0 if no line is to blame.
    pub line: u32,
    /// Column, from 1, in bytes.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl ParseFault {
    fn whole(code: &'static str, message: String) -> Self {
        Self::new(code, Place::default(), message)
    }

    fn new(code: &'static str, place: Place, message: String) -> Self {
        Self { code, place, line: 0, column: 0, message }
    }

    /// The step, if it is about one.
    #[must_use]
    pub fn step(&self) -> Option<&str> {
        self.place.step()
    }

    /// The field of the step or of the document, if it is about one.
    #[must_use]
    pub fn field(&self) -> Option<String> {
        self.place.field()
    }

    fn at(mut self, (line, column): (usize, usize)) -> Self {
        let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (self.line, self.column) = (short(line), short(column));
        self
    }

    fn whereabouts(&self) -> String {
        let mut text = match self.line {
            0 => String::new(),
            line => format!("line {line}, column {}", self.column),
        };
        let path = self.place.to_string();
        if !path.is_empty() {
            let comma = if text.is_empty() { "" } else { ", " };
            text.push_str(&format!("{comma}at `{path}`"));
        }
        if !text.is_empty() {
            text.push_str(": ");
        }
        text
    }
}

/// A text that was read to its end, whatever is wrong with it.
pub(crate) struct Reading {
    /// The document: as it was written if there is no fault, else as far as it can be read; nothing
    /// if the text is no JSON, or of another format.
    pub(crate) document: Option<Document>,
    /// All that keeps it from being a document.
    pub(crate) faults: Vec<ParseFault>,
}

impl Reading {
    fn nothing(fault: ParseFault) -> Self {
        Self { document: None, faults: vec![fault] }
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
    /// The first thing that keeps the text from being a document, and where; [`crate::examine`]
    /// finds all. Whether it can be deployed is for [`crate::validate`].
    pub fn parse(text: &str) -> Result<Self, ParseFault> {
        let Reading { document, faults } = Self::read(text);
        match (faults.into_iter().next(), document) {
            (None, Some(document)) => Ok(document),
            (Some(fault), _) => Err(fault),
            (None, None) => {
                Err(ParseFault::whole("bad_shape", "is no pipeline document".to_owned()))
            }
        }
    }

    /// Reads as much of a document as there is.
    pub(crate) fn read(text: &str) -> Reading {
        if text.len() > DOCUMENT_BYTES_MAX {
            let message =
                format!("the document has {} bytes, {DOCUMENT_BYTES_MAX} at most", text.len());
            return Reading::nothing(ParseFault::whole("too_large", message));
        }
        let mut faults = match scan::scan(text) {
            Ok(faults) => faults,
            Err(fault) => return Reading::nothing(fault),
        };
        let read: Result<Self, _> = serde_json::from_str(text);
        match read {
            Ok(document) if document.millrace != FORMAT => {
                Reading::nothing(other_format(document.millrace))
            }
            Ok(mut document) => {
                document.normalize();
                Reading { document: Some(document), faults }
            }
            Err(fault) => {
                // A document of a later version may have what this one does not know: say that
                // first.
                if let Ok(Format { millrace }) = serde_json::from_str(text)
                    && millrace != FORMAT
                {
                    return Reading::nothing(other_format(millrace));
                }
                let mut value: Value = match serde_json::from_str(text) {
                    Ok(value) => value,
                    Err(fault) => return Reading::nothing(no_json(&fault)),
                };
                let mut shape = located(text, shape::mend(&mut value));
                if shape.is_empty() && faults.is_empty() {
                    shape.push(no_json(&fault));
                }
                faults.append(&mut shape);
                let mut document: Option<Self> = serde_json::from_value(value).ok();
                if let Some(document) = &mut document {
                    document.normalize();
                }
                Reading { document, faults }
            }
        }
    }

    /// Reads a document from bytes.
    ///
    /// # Errors
    /// As [`Document::parse`], and bytes that are no UTF-8.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Self, ParseFault> {
        let text = std::str::from_utf8(bytes).map_err(|fault| {
            let message = format!("no UTF-8 from byte {} on", fault.valid_up_to());
            ParseFault::whole("not_json", message)
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
}

fn other_format(format: u32) -> ParseFault {
    let message = format!("format {format} is not known to this version, which reads {FORMAT}");
    ParseFault::new("format", Place::default().key("millrace"), message)
}

fn no_json(fault: &serde_json::Error) -> ParseFault {
    ParseFault::whole("not_json", words::of(fault)).at((fault.line(), fault.column()))
}

/// The same faults with their lines. What is missing is told where it would stand.
fn located(text: &str, faults: Vec<ParseFault>) -> Vec<ParseFault> {
    let around = |path: &str| match path.rfind(['.', '[']) {
        Some(end) => path.get(..end).unwrap_or_default().to_owned(),
        None => String::new(),
    };
    let paths: Vec<String> = faults.iter().map(|fault| fault.place.to_string()).collect();
    let wanted: HashSet<String> = paths
        .iter()
        .flat_map(|path| [path.clone(), around(path)])
        .filter(|path| !path.is_empty())
        .collect();
    let found = scan::positions(text, &wanted);
    let position = |path: &String| found.get(path).or_else(|| found.get(&around(path)));
    let located =
        |(fault, path): (ParseFault, &String)| fault.at(position(path).copied().unwrap_or((1, 1)));
    faults.into_iter().zip(&paths).map(located).collect()
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
