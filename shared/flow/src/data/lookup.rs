//! Following a plain path, with JavaScript's meaning.
//!
//! What is not there is missing; asking missing or null for something is a fault, as `undefined.x`
//! is a `TypeError`. Lists and texts have `length`; a text's items are its UTF-16 units.
//!
//! **Invariants**: allocates only for `length`-less oddities (an index into an object or text).

use super::Data;
use crate::expression::Key;
use thiserror::Error;

/// A key was asked of nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cannot read property '{key}' of {of}")]
pub struct LookupFault {
    /// The key.
    pub key: String,
    /// `undefined` or `null`.
    pub of: &'static str,
}

static MISSING: Data = Data::Missing;

impl Data {
    /// What lies at the end of the keys.
    ///
    /// # Errors
    /// One of the keys but the first place is asked of missing or null.
    pub fn follow(&self, keys: &[Key]) -> Result<Self, LookupFault> {
        let mut at = self;
        let mut rest = keys;
        while let Some((key, after)) = rest.split_first() {
            rest = after;
            at = match (at, key) {
                (Self::Map(map), Key::Name(name)) => map.get(name).unwrap_or(&MISSING),
                (Self::List(list), Key::Index(index)) => list.get(*index).unwrap_or(&MISSING),
                (Self::Missing | Self::Null, _) => {
                    let key = match key {
                        Key::Name(name) => (**name).to_owned(),
                        Key::Index(index) => index.to_string(),
                    };
                    return Err(LookupFault { key, of: at.type_name() });
                }
                (odd, key) => return odd.odd_key(key).follow(rest),
            };
        }
        Ok(at.clone())
    }

    /// One field by name, missing if it is not there or this is no object.
    #[must_use]
    pub fn get(&self, name: &str) -> &Self {
        match self {
            Self::Map(map) => map.get(name).unwrap_or(&MISSING),
            _ => &MISSING,
        }
    }

    fn odd_key(&self, key: &Key) -> Self {
        let length = |count: usize| i64::try_from(count).map_or(Self::Missing, Self::Int);
        match (self, key) {
            (Self::Map(map), Key::Index(index)) => {
                map.get(&index.to_string()).cloned().unwrap_or_default()
            }
            (Self::List(list), Key::Name(name)) if &**name == "length" => length(list.len()),
            (Self::List(list), Key::Name(name)) => {
                name_as_index(name).and_then(|index| list.get(index)).cloned().unwrap_or_default()
            }
            (Self::Text(text), Key::Name(name)) if &**name == "length" => {
                length(text.encode_utf16().count())
            }
            (Self::Text(text), Key::Index(index)) => unit(text, *index),
            (Self::Text(text), Key::Name(name)) => {
                name_as_index(name).map_or(Self::Missing, |index| unit(text, index))
            }
            _ => Self::Missing,
        }
    }
}

/// `"0"`, `"12"`: the names that are indexes too.
fn name_as_index(name: &str) -> Option<usize> {
    let index: usize = name.parse().ok()?;
    (index.to_string() == name).then_some(index)
}

/// One UTF-16 unit as text. Half of a pair cannot be held and becomes U+FFFD, as it would on the
/// way out of a script.
fn unit(text: &str, index: usize) -> Data {
    match text.encode_utf16().nth(index) {
        Some(unit) => String::from_utf16_lossy(&[unit]).into(),
        None => Data::Missing,
    }
}
