//! Expressions in text: `{{ ... }}`, split into literal text and JavaScript sources.
//!
//! An expression ends at the first `}}` outside of its own brackets, strings, template literals,
//! regular expressions and comments. A text that is one whole expression keeps the type of its
//! value; with other text around it, values are joined as JavaScript's template literals do.
//! [`simple`] recognizes sources that need no script engine: plain paths and literals. All else is
//! script. To write `{{` itself: `{{ "{{" }}`.
//!
//! **Invariants**: no input panics; work and nesting are bounded; positions are in the text that
//! was given (byte offset, line and column from 1, columns in characters).

mod lexer;
mod path;
mod references;

pub use path::{Key, Path, Root, Simple, simple};
pub use references::{Mention, mentions, rename_step, rename_step_in_text};

pub(crate) use lexer::{Lexer, Token, TokenKind};

use thiserror::Error;

/// Longest text of one field with expressions, in bytes.
pub const TEXT_BYTES_MAX: usize = 1024 * 1024;
/// Most expressions in one text.
pub const EXPRESSIONS_MAX: usize = 1_000;
/// Deepest nesting of brackets and template literals in an expression.
pub const NESTING_MAX: usize = 256;

/// A text, split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Split<'a> {
    /// No expression in it.
    Literal(&'a str),
    /// Nothing but one expression.
    Whole(Source<'a>),
    /// Text and expressions, in order.
    Template(Vec<Part<'a>>),
}

/// A part of a text with expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text as it is; never empty.
    Literal(&'a str),
    /// An expression.
    Expression(Source<'a>),
}

/// The source of an expression, without its braces and the space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source<'a> {
    /// The JavaScript.
    pub text: &'a str,
    /// Where it begins in the field's text, in bytes.
    pub at: usize,
    /// Its line there, from 1.
    pub line: u32,
    /// Its column there, from 1, in characters.
    pub column: u32,
}

/// Why a text cannot be split.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ExpressionFault {
    /// Where, in bytes.
    pub at: usize,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl ExpressionFault {
    fn new(text: &str, at: usize, message: impl Into<String>) -> Self {
        let (line, column) = position(text, at);
        Self { at, line, column, message: message.into() }
    }
}

/// Whether a text has an expression in it (or the beginning of one).
#[must_use]
pub fn has_expression(text: &str) -> bool {
    text.contains("{{")
}

/// Splits a text.
///
/// # Errors
/// The first expression that is empty or not closed, a bracket without its partner, or a limit.
pub fn split(text: &str) -> Result<Split<'_>, ExpressionFault> {
    if text.len() > TEXT_BYTES_MAX {
        let message = format!("the text is longer than {TEXT_BYTES_MAX} bytes");
        return Err(ExpressionFault { at: 0, line: 1, column: 1, message });
    }
    let mut parts = Vec::new();
    let mut place = Place { at: 0, line: 1, column: 1 };
    let mut rest = 0;
    while let Some((literal, open)) = next_open(text, rest) {
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        let (source, end) = expression(text, open, &mut place)?;
        if parts.len() > 2 * EXPRESSIONS_MAX {
            let message = format!("more than {EXPRESSIONS_MAX} expressions in one text");
            return Err(ExpressionFault::new(text, open, message));
        }
        parts.push(Part::Expression(source));
        rest = end;
    }
    let tail = text.get(rest..).unwrap_or_default();
    Ok(match (parts.as_slice(), tail) {
        ([], _) => Split::Literal(text),
        ([Part::Expression(source)], "") => Split::Whole(*source),
        _ => {
            if !tail.is_empty() {
                parts.push(Part::Literal(tail));
            }
            Split::Template(parts)
        }
    })
}

/// The text with `x` in place of each expression; itself if it cannot be split. What must hold of
/// the literal parts can be asked of it.
#[must_use]
pub fn outline(text: &str) -> String {
    match split(text) {
        Ok(Split::Whole(_)) => "x".to_owned(),
        Ok(Split::Template(parts)) => parts
            .into_iter()
            .map(|part| match part {
                Part::Literal(literal) => literal,
                Part::Expression(_) => "x",
            })
            .collect(),
        Ok(Split::Literal(_)) | Err(_) => text.to_owned(),
    }
}

/// The text before the next `{{` from `from` on, and where that lies.
fn next_open(text: &str, from: usize) -> Option<(&str, usize)> {
    let rest = text.get(from..)?;
    let at = rest.find("{{")?;
    Some((rest.get(..at)?, from + at))
}

/// The expression whose `{{` lies at `open`, and where the text goes on behind it.
fn expression<'a>(
    text: &'a str,
    open: usize,
    place: &mut Place,
) -> Result<(Source<'a>, usize), ExpressionFault> {
    let begin = open + 2;
    let mut lexer = Lexer::new(text, begin);
    let end = loop {
        match lexer.next().map_err(|fault| ExpressionFault::new(text, fault.at, fault.message))? {
            None => {
                return Err(ExpressionFault::new(text, open, "`{{` has no `}}` that closes it"));
            }
            Some(Token { kind: TokenKind::Unopened(b'}'), start, .. }) => {
                if text.get(start..).is_some_and(|rest| rest.starts_with("}}")) {
                    break start;
                }
                return Err(ExpressionFault::new(text, start, "`}` closes nothing; `}}` ends"));
            }
            Some(Token { kind: TokenKind::Unopened(_), start, .. }) => {
                return Err(ExpressionFault::new(
                    text,
                    start,
                    "a bracket closes what never opened",
                ));
            }
            Some(_) => {}
        }
    };
    let inner = text.get(begin..end).unwrap_or_default();
    let source = inner.trim();
    if source.is_empty() {
        return Err(ExpressionFault::new(text, open, "the expression is empty"));
    }
    let at = begin + (inner.len() - inner.trim_start().len());
    place.advance(text, at);
    Ok((Source { text: source, at, line: place.line, column: place.column }, end + 2))
}

/// A place in a text. Goes on from the last one, so that many places cost one walk.
struct Place {
    at: usize,
    line: u32,
    column: u32,
}

impl Place {
    fn advance(&mut self, text: &str, to: usize) {
        for character in text.get(self.at..to).unwrap_or_default().chars() {
            self.column = self.column.saturating_add(1);
            if character == '\n' {
                self.line = self.line.saturating_add(1);
                self.column = 1;
            }
        }
        self.at = to;
    }
}

/// Line and column of a byte, from 1.
pub(crate) fn position(text: &str, at: usize) -> (u32, u32) {
    let mut place = Place { at: 0, line: 1, column: 1 };
    place.advance(text, at);
    (place.line, place.column)
}

#[cfg(test)]
mod tests;
