//! Values: what a sample carries, exactly as the device sent it.
//!
//! Numbers keep their form: `32` is an integer, `32.0` a float, and both come back as they went
//! in. Integers hold all 64 bits, signed or unsigned. A float may be NaN or infinite when an
//! entrance other than JSON brings it (JSON has no such literals); it is then kept bit by bit.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What kind of value a sample carries; the number is its code in records and parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Kind {
    /// No value (JSON `null`).
    Null = 0,
    /// True or false.
    Bool = 1,
    /// A signed 64-bit integer.
    Int = 2,
    /// An unsigned integer above `i64::MAX`; smaller ones are [`Kind::Int`].
    UInt = 3,
    /// An IEEE 754 double.
    Float = 4,
    /// UTF-8 text.
    Text = 5,
    /// A structured value: JSON text, as received.
    Json = 6,
}

impl Kind {
    /// The kind with this code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Null,
            1 => Self::Bool,
            2 => Self::Int,
            3 => Self::UInt,
            4 => Self::Float,
            5 => Self::Text,
            6 => Self::Json,
            _ => return None,
        })
    }

    /// The name used in the API and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::UInt => "uint",
            Self::Float => "float",
            Self::Text => "text",
            Self::Json => "json",
        }
    }

    /// Whether the value is held in 64 bits beside its kind, with no text.
    #[must_use]
    pub fn is_scalar(self) -> bool {
        !matches!(self, Self::Text | Self::Json)
    }
}

/// A value that borrows its text.
#[derive(Clone, Copy, Debug)]
pub enum ValueRef<'a> {
    /// No value.
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
    Text(&'a str),
    /// JSON text.
    Json(&'a str),
}

/// A value that owns its text.
#[derive(Clone, Debug)]
pub enum Value {
    /// No value.
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
    Text(Box<str>),
    /// JSON text.
    Json(Box<str>),
}

impl<'a> ValueRef<'a> {
    /// The kind.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Bool,
            Self::Int(_) => Kind::Int,
            Self::UInt(_) => Kind::UInt,
            Self::Float(_) => Kind::Float,
            Self::Text(_) => Kind::Text,
            Self::Json(_) => Kind::Json,
        }
    }

    /// The 64 bits of a scalar value; 0 for null, text and JSON.
    #[must_use]
    pub fn bits(self) -> u64 {
        match self {
            Self::Null | Self::Text(_) | Self::Json(_) => 0,
            Self::Bool(value) => u64::from(value),
            Self::Int(value) => value.cast_unsigned(),
            Self::UInt(value) => value,
            Self::Float(value) => value.to_bits(),
        }
    }

    /// The text of a text or JSON value.
    #[must_use]
    pub fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) | Self::Json(text) => Some(text),
            _ => None,
        }
    }

    /// Builds a value from its kind, bits and text, as records and parts hold them.
    #[must_use]
    pub fn from_parts(kind: Kind, bits: u64, text: &'a str) -> Self {
        match kind {
            Kind::Null => Self::Null,
            Kind::Bool => Self::Bool(bits != 0),
            Kind::Int => Self::Int(bits.cast_signed()),
            Kind::UInt => Self::UInt(bits),
            Kind::Float => Self::Float(f64::from_bits(bits)),
            Kind::Text => Self::Text(text),
            Kind::Json => Self::Json(text),
        }
    }

    /// The value as a double for charts: numbers and bools; `None` for the rest.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a chart's pixel needs no more than a double")]
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Self::Bool(value) => Some(f64::from(u8::from(value))),
            Self::Int(value) => Some(value as f64),
            Self::UInt(value) => Some(value as f64),
            Self::Float(value) => Some(value),
            _ => None,
        }
    }

    /// An owning copy.
    #[must_use]
    pub fn to_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::UInt(value) => Value::UInt(value),
            Self::Float(value) => Value::Float(value),
            Self::Text(text) => Value::Text(text.into()),
            Self::Json(text) => Value::Json(text.into()),
        }
    }

    /// Appends the value as JSON; NaN and infinities, which JSON cannot write, as the strings
    /// `"NaN"`, `"Infinity"` and `"-Infinity"`.
    pub fn write_json(self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Text(text) => crate::json::write_string(text, out),
            Self::Float(value) if !value.is_finite() => {
                out.push('"');
                out.push_str(non_finite(value));
                out.push('"');
            }
            other => {
                use fmt::Write as _;
                // Writing to a String cannot fail.
                let _infallible = write!(out, "{other}");
            }
        }
    }
}

fn non_finite(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

/// The text form used in CSV and on the terminal: numbers as the shortest text that reads back
/// to the same value, floats always with a point or exponent, text and JSON as they are.
impl fmt::Display for ValueRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str(""),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::UInt(value) => write!(f, "{value}"),
            Self::Float(value) if !value.is_finite() => f.write_str(non_finite(*value)),
            // `{:?}` keeps `32.0` a float and writes the shortest exact digits.
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Text(text) | Self::Json(text) => f.write_str(text),
        }
    }
}

impl Value {
    /// A borrowing view.
    #[must_use]
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Null => ValueRef::Null,
            Self::Bool(value) => ValueRef::Bool(*value),
            Self::Int(value) => ValueRef::Int(*value),
            Self::UInt(value) => ValueRef::UInt(*value),
            Self::Float(value) => ValueRef::Float(*value),
            Self::Text(text) => ValueRef::Text(text),
            Self::Json(text) => ValueRef::Json(text),
        }
    }
}

/// Bit by bit: NaN equals the same NaN, `-0.0` differs from `0.0`, `32` from `32.0`.
impl PartialEq for ValueRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.bits() == other.bits() && self.text() == other.text()
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}
