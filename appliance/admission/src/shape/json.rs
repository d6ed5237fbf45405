//! A scanner of JSON text that checks everything and builds nothing (RFC 8259).
//!
//! It walks the text once and gives the members of the outermost object or array to a closure as
//! [`Token`]s, which point into the text. Keys that stand twice are found by their hashes, which
//! are kept for the open objects only.
//!
//! **Invariants**: a token is only given out for text that has been checked; recursion ends at
//! [`JSON_DEPTH_MAX`] containers inside one another.

use crate::shape::number::{self, NumberError};
use crate::shape::text::Raw;
use millrace_model::limits::JSON_DEPTH_MAX;
use millrace_model::{Reason, Refusal};

/// Why a payload is refused, without allocating until someone must be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    reason: Reason,
    /// Empty = the reason's own sentence.
    detail: &'static str,
    at: usize,
}

impl Fault {
    pub(super) const fn plain(reason: Reason) -> Self {
        Self { reason, detail: "", at: 0 }
    }

    pub(super) fn new(reason: Reason, detail: &'static str, at: usize) -> Self {
        Self { reason, detail, at }
    }

    pub(super) fn payload(detail: &'static str, at: usize) -> Self {
        Self::new(Reason::PayloadInvalid, detail, at)
    }

    pub(super) fn into_refusal(self) -> Refusal {
        if self.detail.is_empty() {
            return Refusal::plain(self.reason);
        }
        if self.at == 0 {
            return Refusal::with(self.reason, self.detail);
        }
        Refusal::with(self.reason, format!("{} (at byte {})", self.detail, self.at))
    }
}

/// A checked piece of JSON.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token<'a> {
    Null,
    Bool(bool),
    /// The number as it was written; its grammar is checked, its range is not.
    Number(&'a str),
    Text(Raw<'a>),
    /// From `{` to `}`.
    Object(&'a str),
    /// From `[` to `]`.
    Array(&'a str),
}

/// Called with the key (objects) or without one (arrays) and the token.
pub(super) type Each<'a, 'f> = dyn FnMut(Option<Raw<'a>>, Token<'a>) + 'f;

/// The scanner.
pub(super) struct Scan<'a, 'k> {
    text: &'a str,
    at: usize,
    keys: &'k mut Vec<u64>,
}

impl<'a, 'k> Scan<'a, 'k> {
    pub(super) fn new(text: &'a str, keys: &'k mut Vec<u64>) -> Self {
        Self { text, at: 0, keys }
    }

    /// Checks the whole text; `each` gets the members of the outermost container.
    pub(super) fn whole(&mut self, each: &mut Each<'a, '_>) -> Result<Token<'a>, Fault> {
        self.skip_space();
        if self.at == self.text.len() {
            return Err(Fault::payload("the payload is empty", 0));
        }
        let token = self.value(0, each)?;
        self.skip_space();
        if self.at != self.text.len() {
            return Err(Fault::payload("something follows the value", self.at));
        }
        Ok(token)
    }

    fn value(&mut self, depth: usize, each: &mut Each<'a, '_>) -> Result<Token<'a>, Fault> {
        let start = self.at;
        match self.peek() {
            Some(b'{') => {
                self.container(depth, each, Self::members)?;
                Ok(Token::Object(self.since(start)))
            }
            Some(b'[') => {
                self.container(depth, each, Self::items)?;
                Ok(Token::Array(self.since(start)))
            }
            Some(b'"') => {
                let (raw, end) = Raw::scan(self.text, start + 1)?;
                self.at = end;
                Ok(Token::Text(raw))
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Token::Bool(true)),
            Some(b'f') => self.word("false", Token::Bool(false)),
            Some(b'n') => self.word("null", Token::Null),
            Some(b'N' | b'I') => Err(not_a_number(start)),
            Some(_) => Err(Fault::payload("not JSON; a text stands in quotes", start)),
            None => Err(Fault::payload("the payload ends too early", start)),
        }
    }

    fn container(
        &mut self,
        depth: usize,
        each: &mut Each<'a, '_>,
        inside: fn(&mut Self, usize, &mut Each<'a, '_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if depth >= JSON_DEPTH_MAX {
            return Err(Fault::payload("nested deeper than 32 levels", self.at));
        }
        self.at += 1;
        self.skip_space();
        inside(self, depth + 1, each)
    }

    fn members(&mut self, depth: usize, each: &mut Each<'a, '_>) -> Result<(), Fault> {
        let start = self.at;
        let own_keys = self.keys.len();
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            if !self.take(b'"') {
                return Err(Fault::payload("a key in quotes is missing", self.at));
            }
            let (key, end) = Raw::scan(self.text, self.at)?;
            self.at = end;
            self.keys.push(key.hash());
            self.skip_space();
            if !self.take(b':') {
                return Err(Fault::payload("a colon is missing", self.at));
            }
            self.skip_space();
            let token = self.value(depth, &mut |_, _| {})?;
            each(Some(key), token);
            self.skip_space();
            if self.take(b'}') {
                break;
            }
            self.comma()?;
        }
        let keys = self.keys.get_mut(own_keys..).unwrap_or_default();
        if has_twice(keys) {
            return Err(Fault::payload("a key stands twice in the object", start));
        }
        self.keys.truncate(own_keys);
        Ok(())
    }

    fn items(&mut self, depth: usize, each: &mut Each<'a, '_>) -> Result<(), Fault> {
        if self.take(b']') {
            return Ok(());
        }
        loop {
            let token = self.value(depth, &mut |_, _| {})?;
            each(None, token);
            self.skip_space();
            if self.take(b']') {
                return Ok(());
            }
            self.comma()?;
        }
    }

    fn comma(&mut self) -> Result<(), Fault> {
        if !self.take(b',') {
            return Err(Fault::payload("a comma or closing bracket is missing", self.at));
        }
        self.skip_space();
        Ok(())
    }

    fn number(&mut self) -> Result<Token<'a>, Fault> {
        let start = self.at;
        while let Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') = self.peek() {
            self.at += 1;
        }
        let text = self.since(start);
        if text == "-" && self.peek() == Some(b'I') {
            return Err(not_a_number(start));
        }
        match number::read(text.as_bytes()) {
            Err(NumberError::Grammar) => {
                Err(Fault::payload("a number that JSON does not know", start))
            }
            // Inside a structured value the text is kept, so that its range does not matter.
            Ok(_) | Err(NumberError::Range) => Ok(Token::Number(text)),
        }
    }

    fn word(&mut self, word: &'static str, token: Token<'a>) -> Result<Token<'a>, Fault> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(Fault::payload("not JSON; a text stands in quotes", self.at));
        }
        self.at += word.len();
        Ok(token)
    }

    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }
}

fn not_a_number(at: usize) -> Fault {
    Fault::payload("NaN and infinities are not JSON; send null with a bad quality", at)
}

/// Beyond this many keys sorting is cheaper than comparing each with each.
const KEYS_COMPARED_MAX: usize = 8;

fn has_twice(keys: &mut [u64]) -> bool {
    if keys.len() <= KEYS_COMPARED_MAX {
        let mut rest = &*keys;
        while let Some((first, next)) = rest.split_first() {
            if next.contains(first) {
                return true;
            }
            rest = next;
        }
        return false;
    }
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair.first() == pair.last())
}
