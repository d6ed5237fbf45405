//! A look at JSON text as text, for what the reader behind it does not tell: nesting, keys that
//! stand twice (a merge in git easily makes one), whole numbers that would lose digits, and the
//! line of each key.
//!
//! What is no JSON is left to the reader behind it.
//!
//! **Invariants**: one pass; memory in proportion to the text.

use super::place::Place;
use super::{DOCUMENT_DEPTH_MAX, ParseFault};
use crate::validate::FAULTS_MAX;
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

/// An object or list that is open.
#[derive(Default)]
struct Open<'a> {
    /// Keys seen; only objects have some.
    keys: HashSet<&'a str>,
    /// The key of what comes next.
    key: Option<&'a str>,
    items: usize,
    is_object: bool,
    /// Whether a text that comes next is a key, or any value the next item.
    is_awaiting: bool,
}

/// What a walk comes by.
enum Found<'a> {
    /// A key or the beginning of an item.
    Place,
    /// A key that was there before.
    Twice,
    /// A number.
    Number(&'a str),
    /// More nesting than is read.
    TooDeep,
}

/// Line and column of a byte, from 1.
pub(super) type Position = (usize, usize);

/// Looks the text over.
///
/// # Errors
/// Nesting that no reader should be given.
pub(super) fn scan(text: &str) -> Result<Vec<ParseFault>, ParseFault> {
    let mut faults = Vec::new();
    let mut too_deep = None;
    walk(text, |found, open, position| {
        let (code, message) = match found {
            Found::Place => return ControlFlow::Continue(()),
            Found::Twice => ("duplicate_key", "the key stands twice".to_owned()),
            Found::Number(digits) if !loses_digits(digits) => return ControlFlow::Continue(()),
            Found::Number(digits) => {
                ("inexact_number", format!("{digits} is too large to be held exactly"))
            }
            Found::TooDeep => {
                let message = format!("nested more than {DOCUMENT_DEPTH_MAX} deep");
                too_deep = Some(ParseFault::new("too_deep", place(open), message).at(position));
                return ControlFlow::Break(());
            }
        };
        faults.push(ParseFault::new(code, place(open), message).at(position));
        if faults.len() > FAULTS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    too_deep.map_or(Ok(faults), Err)
}

/// Where these places begin; the first of a key that stands twice.
pub(super) fn positions(text: &str, wanted: &HashSet<String>) -> BTreeMap<String, Position> {
    let mut found_at = BTreeMap::new();
    walk(text, |found, open, position| {
        if matches!(found, Found::Place) {
            let name = place(open).to_string();
            if wanted.contains(&name) {
                found_at.entry(name).or_insert(position);
            }
        }
        let is_done = found_at.len() == wanted.len();
        if is_done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found_at
}

fn walk<'a>(
    text: &'a str,
    mut visit: impl FnMut(Found<'a>, &[Open<'a>], Position) -> ControlFlow<()>,
) {
    let bytes = text.as_bytes();
    let mut open: Vec<Open<'a>> = Vec::new();
    let (mut at, mut line, mut line_start) = (0, 1, 0);
    let mut see = |found, open: &[Open<'a>], position| visit(found, open, position).is_break();
    while let Some(&byte) = bytes.get(at) {
        let position = (line, at - line_start + 1);
        let begins_value =
            !matches!(byte, b'}' | b']' | b',' | b':') && !byte.is_ascii_whitespace();
        if begins_value && let Some(list) = open.last_mut().filter(|open| !open.is_object) {
            let is_next = std::mem::take(&mut list.is_awaiting);
            if is_next && see(Found::Place, &open, position) {
                return;
            }
        }
        match byte {
            b'{' | b'[' => {
                if open.len() >= DOCUMENT_DEPTH_MAX {
                    see(Found::TooDeep, &open, position);
                    return;
                }
                let is_object = byte == b'{';
                open.push(Open { is_object, is_awaiting: true, ..Open::default() });
            }
            b'}' | b']' => drop(open.pop()),
            b',' => {
                if let Some(open) = open.last_mut() {
                    open.is_awaiting = true;
                    open.items += 1;
                }
            }
            b'"' => {
                let end = string_end(bytes, at);
                let key = text.get(at + 1..end).unwrap_or_default();
                at = end;
                if let Some(innermost) = open.last_mut().filter(|open| open.is_awaiting) {
                    innermost.is_awaiting = false;
                    innermost.key = Some(key);
                    let found =
                        if innermost.keys.insert(key) { Found::Place } else { Found::Twice };
                    if see(found, &open, position) {
                        return;
                    }
                }
            }
            b'-' | b'0'..=b'9' => {
                let end = number_end(bytes, at);
                let digits = text.get(at..end).unwrap_or_default();
                if see(Found::Number(digits), &open, position) {
                    return;
                }
                at = end - 1;
            }
            b'\n' => (line, line_start) = (line + 1, at + 1),
            _ => {}
        }
        at += 1;
    }
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

fn place(open: &[Open<'_>]) -> Place {
    let mut place = Place::default();
    for open in open {
        match (open.is_object, open.key) {
            (false, _) => place.push_item(open.items),
            (true, Some(key)) => place.push_key(key),
            (true, None) => {}
        }
    }
    place
}
