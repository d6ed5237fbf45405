//! Splits text at its `{{ expressions }}`.
//!
//! **Invariants**: braces inside of an expression's strings and objects do not end it.

/// A piece of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// As it stands.
    Text(String),
    /// The source between the braces.
    Expression(String),
}

/// Splits a text.
///
/// # Errors
/// An expression that is not closed.
pub fn split(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        if !before.is_empty() {
            parts.push(Part::Text(before.into()));
        }
        let Some(end) = end_of_expression(after) else {
            return Err(format!("`{{{{{after}` is not closed; end the expression with `}}}}`"));
        };
        let (source, closed) = after.split_at_checked(end).unwrap_or((after, ""));
        parts.push(Part::Expression(source.into()));
        rest = closed.strip_prefix("}}").unwrap_or(closed);
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.into()));
    }
    Ok(parts)
}

/// Where the `}}` stands that closes the expression at the front.
fn end_of_expression(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut quote: Option<char> = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, found)) = chars.next() {
        match (quote, found) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(open), found) if open == found => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(found),
            (None, '{') => depth += 1,
            (None, '}') if depth > 0 => depth -= 1,
            (None, '}') if chars.peek().is_some_and(|(_, next)| *next == '}') => return Some(at),
            (None, _) => {}
        }
    }
    None
}
