//! What an object with `value` says: the value, its time, its quality.
//!
//! **Invariants**: a key that is not known is never passed over silently.

use crate::shape::json::{Fault, Scan, Token};
use crate::shape::number::{self, NumberError};
use crate::shape::text::Raw;
use crate::shape::{Sent, when};
use millrace_model::limits::VALUE_TEXT_BYTES_MAX;
use millrace_model::{Quality, Reason, Refusal, Timestamp, ValueRef};

/// The members of an object that have a meaning here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Members<'a> {
    pub(super) value: Option<Token<'a>>,
    pub(super) values: Option<Token<'a>>,
    pub(super) path: Option<Token<'a>>,
    timestamp: Option<Token<'a>>,
    quality: Option<Token<'a>>,
    has_others: bool,
}

/// Time and quality that a batch gives to the elements that have none of their own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Defaults {
    source_time: Option<Timestamp>,
    quality: Option<Quality>,
}

impl Defaults {
    pub(super) fn applied_to(self, value: ValueRef<'_>) -> Sent<'_> {
        Sent { value, source_time: self.source_time, quality: self.quality }
    }
}

impl<'a> Members<'a> {
    /// The members of an object whose text has been checked.
    pub(super) fn of(object: &'a str, keys: &mut Vec<u64>) -> Self {
        let mut members = Self::default();
        keys.clear();
        let _checked = Scan::new(object, keys).whole(&mut |key, token| {
            if let Some(key) = key {
                members.put(key, token);
            }
        });
        members
    }

    pub(super) fn put(&mut self, key: Raw<'_>, token: Token<'a>) {
        let place = if key.is("value") {
            &mut self.value
        } else if key.is("timestamp") {
            &mut self.timestamp
        } else if key.is("quality") {
            &mut self.quality
        } else if key.is("values") {
            &mut self.values
        } else if key.is("path") {
            &mut self.path
        } else {
            self.has_others = true;
            return;
        };
        *place = Some(token);
    }

    /// What the object says as a whole payload: `path` has no meaning there.
    pub(super) fn sent<'b>(
        &self,
        defaults: Defaults,
        text: &'b mut String,
    ) -> Result<Sent<'b>, Fault>
    where
        'a: 'b,
    {
        if self.path.is_some() {
            return Err(unknown_key());
        }
        self.element(defaults, text)
    }

    /// What the object says as an element of a batch.
    pub(super) fn element<'b>(
        &self,
        defaults: Defaults,
        text: &'b mut String,
    ) -> Result<Sent<'b>, Fault>
    where
        'a: 'b,
    {
        let Some(token) = self.value else {
            return Err(Fault::payload(NOT_AN_ELEMENT, 0));
        };
        if self.has_others || self.values.is_some() {
            return Err(unknown_key());
        }
        let own = self.defaults(text)?;
        Ok(Sent {
            value: value(token, text)?,
            source_time: own.source_time.or(defaults.source_time),
            quality: own.quality.or(defaults.quality),
        })
    }

    /// The time and quality beside `values`.
    pub(super) fn batch_defaults(&self, text: &mut String) -> Result<Defaults, Fault> {
        if self.has_others || self.path.is_some() {
            return Err(unknown_key());
        }
        self.defaults(text)
    }

    fn defaults(&self, text: &mut String) -> Result<Defaults, Fault> {
        text.clear();
        let source_time = match self.timestamp {
            None | Some(Token::Null) => None,
            Some(Token::Number(number)) => Some(when::from_number(number).ok_or(TIME_FAULT)?),
            Some(Token::Text(raw)) => {
                Some(Timestamp::from_rfc3339(raw.plain(text)).ok_or(TIME_FAULT)?)
            }
            Some(_) => return Err(TIME_FAULT),
        };
        text.clear();
        let quality = match self.quality {
            None | Some(Token::Null) => None,
            Some(Token::Number(number)) => {
                let code = match number::read(number.as_bytes()) {
                    Ok(ValueRef::Int(code)) => u32::try_from(code).ok(),
                    _ => None,
                };
                Some(Quality(code.ok_or(QUALITY_FAULT)?))
            }
            Some(Token::Text(raw)) => {
                Some(Quality::from_text(raw.plain(text)).ok_or(QUALITY_FAULT)?)
            }
            Some(_) => return Err(QUALITY_FAULT),
        };
        Ok(Defaults { source_time, quality })
    }
}

/// The value that a token is.
pub(super) fn value<'b, 'a: 'b>(
    token: Token<'a>,
    text: &'b mut String,
) -> Result<ValueRef<'b>, Fault> {
    let value = match token {
        Token::Null => ValueRef::Null,
        Token::Bool(value) => ValueRef::Bool(value),
        Token::Number(number) => number::read(number.as_bytes()).map_err(|error| match error {
            NumberError::Range => Fault::plain(Reason::NumberOutOfRange),
            NumberError::Grammar => Fault::payload("a number that JSON does not know", 0),
        })?,
        Token::Text(raw) => {
            text.clear();
            ValueRef::Text(raw.plain(text))
        }
        Token::Object(json) | Token::Array(json) => ValueRef::Json(json),
    };
    if value.text().is_some_and(|text| text.len() > VALUE_TEXT_BYTES_MAX) {
        return Err(Fault::new(Reason::TooLarge, "a text has at most 1048576 bytes", 0));
    }
    Ok(value)
}

const NOT_AN_ELEMENT: &str =
    "an element of a batch is an object with `value`; send a list as {\"value\": [..]}";

/// The refusal of an array's element that is no object.
pub(super) fn not_an_element() -> Refusal {
    Refusal::with(Reason::PayloadInvalid, NOT_AN_ELEMENT)
}

fn unknown_key() -> Fault {
    Fault::payload(
        "beside `value` only `timestamp` and `quality` are known (in a list also `path`)",
        0,
    )
}

const TIME_FAULT: Fault = Fault::plain(Reason::TimeInvalid);
const QUALITY_FAULT: Fault = Fault::plain(Reason::QualityInvalid);
