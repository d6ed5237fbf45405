//! Data: what flows between the steps of a pipeline.
//!
//! Like JSON, but integers hold all 64 bits and a float may be NaN or infinite; a clone is a
//! pointer. What is missing is [`Data::Missing`], as `undefined` is in scripts: it is told apart
//! from null and never written out. `json` and `value` convert, `lookup` follows paths as
//! JavaScript does, `place` holds the two rules about a step's input and output.
//!
//! **Invariants**: an integer that fits `i64` is [`Data::Int`]; what is read from text is at most
//! [`DEPTH_MAX`] deep, and so is what scripts give.

mod js;
mod json;
mod lookup;
mod map;
pub mod place;
mod value;

pub use json::{JsonFault, Loss};
pub use lookup::LookupFault;
pub use map::Map;

use std::sync::Arc;

/// Deepest nesting of data.
pub const DEPTH_MAX: usize = 64;

/// One datum. Cheap to clone.
///
/// Equality is that of Rust: `Int(1)` differs from `Float(1.0)`, NaN from itself. Steps compare by
/// [`Data::is_same`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Data {
    /// Nothing is there: JavaScript's `undefined`.
    #[default]
    Missing,
    /// JSON's null.
    Null,
    /// True or false.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer above `i64::MAX`.
    UInt(u64),
    /// A double.
    Float(f64),
    /// Text.
    Text(Arc<str>),
    /// A list.
    List(Arc<[Data]>),
    /// Named fields, in the order in which they were set.
    Map(Arc<Map>),
}

impl Data {
    /// Text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// Whether nothing is there.
    #[must_use]
    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// Whether nothing is there, or null.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        matches!(self, Self::Missing | Self::Null)
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The list, if it is one.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Data]> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    /// The fields, if it has some.
    #[must_use]
    pub fn as_map(&self) -> Option<&Map> {
        if let Self::Map(map) = self { Some(map) } else { None }
    }

    /// The truth value, if it is a bool. ([`Data::is_true`] is for anything.)
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The number, if it is one, as the nearest double.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is promised")]
    pub const fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::UInt(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, if it is a whole one that fits; floats that are whole too.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::Int(value) => Some(value),
            // -2^63 is exact as a double, 2^63 is the first that does not fit.
            Self::Float(value)
                if value.fract() == 0.0
                    && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0)
                        .contains(&value) =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "whole and within range")]
                Some(value as i64)
            }
            _ => None,
        }
    }

    /// The number, if it is a whole one that is not negative and fits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::UInt(value) => Some(*value),
            other => other.as_i64().and_then(|value| value.try_into().ok()),
        }
    }

    /// The word for its type in messages.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Missing => "undefined",
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::UInt(_) | Self::Float(_) => "number",
            Self::Text(_) => "text",
            Self::List(_) => "list",
            Self::Map(_) => "object",
        }
    }

    /// About how many bytes it takes in memory, what is shared counted each time.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        /// The two counts of an `Arc`.
        const ARC: usize = 2 * size_of::<usize>();
        size_of::<Self>()
            + match self {
                Self::Text(text) => ARC + text.len(),
                Self::List(list) => ARC + list.iter().map(Self::size_bytes).sum::<usize>(),
                Self::Map(map) => {
                    let fields =
                        map.iter().map(|(name, data)| 3 * ARC + name.len() + data.size_bytes());
                    ARC + size_of::<Map>() + fields.sum::<usize>()
                }
                _ => 0,
            }
    }

    /// How deeply it is nested: 0 for a scalar, 1 for an empty list.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Self::List(list) => 1 + list.iter().map(Self::depth).max().unwrap_or(0),
            Self::Map(map) => 1 + map.iter().map(|(_, data)| data.depth()).max().unwrap_or(0),
            _ => 0,
        }
    }
}

/// Appends formatted text.
fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    use std::fmt::Write as _;
    // Writing to a String cannot fail.
    let _infallible = out.write_fmt(text);
}

impl From<bool> for Data {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Data {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Data {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or(Self::UInt(value), Self::Int)
    }
}

impl From<f64> for Data {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Data {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Data {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<Vec<Data>> for Data {
    fn from(list: Vec<Data>) -> Self {
        Self::List(list.into())
    }
}

impl From<Map> for Data {
    fn from(map: Map) -> Self {
        Self::Map(Arc::new(map))
    }
}

impl FromIterator<Data> for Data {
    fn from_iter<I: IntoIterator<Item = Data>>(items: I) -> Self {
        Self::List(items.into_iter().collect())
    }
}

#[cfg(test)]
mod tests;
