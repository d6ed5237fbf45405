//! Payload shapes: what a device's bytes mean, told without a tree and without allocating.
//!
//! | payload | meaning |
//! |---|---|
//! | `42.7`, `true`, `"text"`, `null` | one value |
//! | `{"value": v}` with optional `timestamp`, `quality` | one value; `v` may be structured |
//! | any other object, an array that does not begin with an object | one structured value, kept byte for byte from its first to its last bracket |
//! | `{"values": {"path": v or {"value": ..}}}` with optional `timestamp`, `quality` for all | a batch; paths lie below the topic's own path |
//! | `[{"value": .., "path": ..}, ..]` | a batch; `path` (below the topic's own path) is optional, so that one topic can send several times |
//!
//! Choices where the shapes leave room, each so that nothing is dropped or altered silently:
//! - An object with `value` (or an object `values`) and a key that is not known is refused.
//! - The same key twice in one object, at any depth, is refused.
//! - `timestamp` and `quality` may be `null`, which says the same as leaving them out.
//! - Text without quotes is refused: `NaN`, `ON` and `1,5` would otherwise become texts unnoticed.
//! - An element of an array batch needs `value`; a list of other objects goes into `{"value": [..]}`.
//!
//! One way in the life of a value: after permission and rate, before schema and time window.
//!
//! **Invariants**: no panic on any bytes; no recursion deeper than [`JSON_DEPTH_MAX`]; a batch is
//! checked to its last byte before its first element is given out.

mod element;
mod json;
mod number;
mod text;
mod when;

use crate::shape::element::{Defaults, Members};
use crate::shape::json::{Fault, Scan, Token};
use millrace_model::limits::BATCH_ELEMENTS_MAX;
use millrace_model::{Quality, Reason, Refusal, Timestamp, ValueRef};

/// Working memory that a parser keeps for the next payload.
const KEPT_BYTES_MAX: usize = 16 * 1024;

/// One value as it was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent<'a> {
    /// The value.
    pub value: ValueRef<'a>,
    /// The time that the device gave.
    pub source_time: Option<Timestamp>,
    /// The quality that the device gave.
    pub quality: Option<Quality>,
}

impl<'a> Sent<'a> {
    fn bare(value: ValueRef<'a>) -> Self {
        Self { value, source_time: None, quality: None }
    }
}

/// Takes what a payload holds.
pub trait Sink {
    /// The payload is this one value.
    fn one(&mut self, sent: Sent<'_>);
    /// The payload is a batch of so many elements; [`Self::element`] is called for each.
    fn batch(&mut self, element_count: usize);
    /// One element: its path below the topic's own (`None` = the topic itself), and its value or
    /// why it is refused.
    fn element(&mut self, path: Option<&str>, sent: Result<Sent<'_>, Refusal>);
}

/// Reads payloads; keeps its working memory from one to the next.
#[derive(Debug, Default)]
pub struct Parser {
    /// Where a text with escapes is written plainly.
    text: String,
    /// Where an element's path with escapes is written plainly.
    path: String,
    /// Hashes of the keys of the objects that are open.
    keys: Vec<u64>,
}

impl Parser {
    /// A parser without working memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads `{"value": <number>}` and a bare number: nearly all that a plant sends.
    /// `None` says nothing about the payload but that [`Self::parse`] must look at it.
    #[must_use]
    pub fn quick(payload: &[u8]) -> Option<ValueRef<'static>> {
        let number = match payload.strip_prefix(b"{\"value\":") {
            Some(rest) => rest.strip_prefix(b" ").unwrap_or(rest).strip_suffix(b"}")?,
            None => payload,
        };
        number::read(number).ok()
    }

    /// Reads any payload and gives what it holds to `sink`.
    ///
    /// # Errors
    /// Why the payload as a whole is refused; `sink` was not called then.
    pub fn parse(&mut self, payload: &[u8], sink: &mut dyn Sink) -> Result<(), Refusal> {
        if let Some(value) = Self::quick(payload) {
            sink.one(Sent::bare(value));
            return Ok(());
        }
        let parsed = self.parse_fully(payload, sink);
        self.trim();
        parsed.map_err(Fault::into_refusal)
    }

    /// Gives back what one large payload took: there is a parser for every connection.
    fn trim(&mut self) {
        for buffer in [&mut self.text, &mut self.path] {
            if buffer.capacity() > KEPT_BYTES_MAX {
                *buffer = String::new();
            }
        }
        if self.keys.capacity() > KEPT_BYTES_MAX / size_of::<u64>() {
            self.keys = Vec::new();
        }
    }

    fn parse_fully(&mut self, payload: &[u8], sink: &mut dyn Sink) -> Result<(), Fault> {
        let text = std::str::from_utf8(payload)
            .map_err(|error| Fault::payload("the payload is not UTF-8", error.valid_up_to()))?;
        self.keys.clear();
        let mut members = Members::default();
        let mut scan = Scan::new(text, &mut self.keys);
        let mut first_is_object = None;
        let mut count = 0;
        let token = scan.whole(&mut |key, token| match key {
            Some(key) => members.put(key, token),
            None => {
                first_is_object.get_or_insert(matches!(token, Token::Object(_)));
                count += 1;
            }
        })?;
        match token {
            Token::Array(array) if first_is_object == Some(true) => {
                check_count(count)?;
                self.elements(array, count, sink);
                Ok(())
            }
            Token::Object(_) if members.value.is_some() => {
                sink.one(members.sent(Defaults::default(), &mut self.text)?);
                Ok(())
            }
            Token::Object(_) if let Some(Token::Object(values)) = members.values => {
                self.values(values, &members, sink)
            }
            whole => {
                sink.one(Sent::bare(element::value(whole, &mut self.text)?));
                Ok(())
            }
        }
    }

    /// The elements of an array batch, whose text has been checked.
    fn elements(&mut self, array: &str, count: usize, sink: &mut dyn Sink) {
        sink.batch(count);
        let Self { text, path, keys } = self;
        keys.clear();
        let mut inner_keys = Vec::new();
        let mut scan = Scan::new(array, keys);
        // The text was checked as a whole: it cannot fail here.
        let _checked = scan.whole(&mut |_, token| {
            let Token::Object(object) = token else {
                sink.element(None, Err(element::not_an_element()));
                return;
            };
            let members = Members::of(object, &mut inner_keys);
            path.clear();
            let place = match members.path {
                None | Some(Token::Null) => Ok(None),
                Some(Token::Text(raw)) => Ok(Some(raw.plain(path))),
                Some(_) => Err(Refusal::with(Reason::TopicInvalid, "`path` is a text")),
            };
            match place {
                Ok(place) => {
                    let sent = members.element(Defaults::default(), text);
                    sink.element(place, sent.map_err(Fault::into_refusal));
                }
                Err(refusal) => sink.element(None, Err(refusal)),
            }
        });
    }

    /// The elements of a `values` object, whose text has been checked.
    fn values(
        &mut self,
        values: &str,
        outer: &Members<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), Fault> {
        let defaults = outer.batch_defaults(&mut self.text)?;
        let Self { text, path, keys } = self;
        let mut count = 0;
        keys.clear();
        Scan::new(values, keys).whole(&mut |_, _| count += 1)?;
        check_count(count)?;
        sink.batch(count);
        keys.clear();
        let mut inner_keys = Vec::new();
        let mut scan = Scan::new(values, keys);
        let _checked = scan.whole(&mut |key, token| {
            let Some(key) = key else { return };
            path.clear();
            let place = key.plain(path);
            let sent = match token {
                Token::Object(object) => {
                    let members = Members::of(object, &mut inner_keys);
                    if members.value.is_some() {
                        members.element(defaults, text)
                    } else {
                        element::value(token, text).map(|value| defaults.applied_to(value))
                    }
                }
                other => element::value(other, text).map(|value| defaults.applied_to(value)),
            };
            sink.element(Some(place), sent.map_err(Fault::into_refusal));
        });
        Ok(())
    }
}

fn check_count(count: usize) -> Result<(), Fault> {
    if count > BATCH_ELEMENTS_MAX {
        return Err(Fault::new(Reason::TooLarge, "a batch has at most 10000 elements", 0));
    }
    if count == 0 {
        return Err(Fault::payload("the batch is empty", 0));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
