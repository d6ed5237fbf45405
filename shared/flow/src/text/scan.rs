//! A first look at JSON text, for what the reader behind it does not refuse: nesting, keys that
//! stand twice (a merge in git easily makes one), and whole numbers that would lose digits.
//!
//! What is no JSON is left to the reader behind it.
//!
//! **Invariants**: one pass; memory in proportion to the text.

use super::{DOCUMENT_DEPTH_MAX, ParseFault};
use crate::expression::position;
use std::collections::HashSet;

/// An object or list that is open.
#[derive(Default)]
struct Open<'a> {
    /// Keys seen; only objects have some.
    keys: HashSet<&'a str>,
    /// The key or place of what comes next.
    key: Option<&'a str>,
    items: usize,
    is_object: bool,
    /// Whether a text that comes next is a key.
    awaits_key: bool,
}

/// Looks the text over.
pub(super) fn scan(text: &str) -> Result<(), ParseFault> {
    let bytes = text.as_bytes();
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => {
                if open.len() >= DOCUMENT_DEPTH_MAX {
                    let message = format!("nested more than {DOCUMENT_DEPTH_MAX} deep");
                    return Err(fault(text, at, &open, message));
                }
                let is_object = byte == b'{';
                open.push(Open { is_object, awaits_key: is_object, ..Open::default() });
            }
            b'}' | b']' => drop(open.pop()),
            b',' => {
                if let Some(open) = open.last_mut() {
                    open.awaits_key = open.is_object;
                    open.items += 1;
                }
            }
            b'"' => {
                let end = string_end(bytes, at);
                let key = text.get(at + 1..end).unwrap_or_default();
                at = end;
                if let Some(innermost) = open.last_mut().filter(|open| open.awaits_key) {
                    innermost.awaits_key = false;
                    innermost.key = Some(key);
                    if !innermost.keys.insert(key) {
                        return Err(fault(text, at, &open, "the key stands twice".into()));
                    }
                }
            }
            b'-' | b'0'..=b'9' => {
                let end = number_end(bytes, at);
                let digits = text.get(at..end).unwrap_or_default();
                if loses_digits(digits) {
                    let message = format!("{digits} is too large to be held exactly");
                    return Err(fault(text, at, &open, message));
                }
                at = end - 1;
            }
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

/// Where the string that begins at `start` has its closing quote, or the end.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => return at,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let rest = bytes.get(start + 1..).unwrap_or_default();
    start + 1 + rest.iter().take_while(|byte| is_part(byte)).count()
}

fn loses_digits(digits: &str) -> bool {
    let is_whole = !digits.contains(['.', 'e', 'E']);
    is_whole
        && digits.len() > 18
        && digits.parse::<i64>().is_err()
        && digits.parse::<u64>().is_err()
}

fn fault(text: &str, at: usize, open: &[Open<'_>], message: String) -> ParseFault {
    let mut path = String::new();
    for open in open {
        match (open.is_object, open.key) {
            (false, _) => path.push_str(&format!("[{}]", open.items)),
            (true, Some(key)) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            (true, None) => {}
        }
    }
    if path.is_empty() {
        path.push('.');
    }
    let (line, _) = position(text, at);
    let line_start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let line = usize::try_from(line).unwrap_or(usize::MAX);
    ParseFault { path, line, column: at - line_start + 1, message }
}
