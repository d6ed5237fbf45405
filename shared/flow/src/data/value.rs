//! Data from and to the values that samples carry.
//!
//! **Invariants**: a scalar passes exactly both ways, NaN bit by bit.

use super::Data;
use millrace_model::{Value, ValueRef};

impl Data {
    /// A sample's value. Structured values are read; one that is no JSON, which no entrance lets
    /// in, is given as its text.
    #[must_use]
    pub fn from_value(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Bool(value) => Self::Bool(value),
            ValueRef::Int(value) => Self::Int(value),
            ValueRef::UInt(value) => Self::from(value),
            ValueRef::Float(value) => Self::Float(value),
            ValueRef::Text(text) => Self::text(text),
            ValueRef::Json(text) => Self::from_json_text(text).unwrap_or_else(|_| Self::text(text)),
        }
    }

    /// The value, borrowed, of anything but lists, objects and what is missing.
    #[must_use]
    pub fn as_value(&self) -> Option<ValueRef<'_>> {
        Some(match self {
            Self::Null => ValueRef::Null,
            Self::Bool(value) => ValueRef::Bool(*value),
            Self::Int(value) => ValueRef::Int(*value),
            Self::UInt(value) => ValueRef::UInt(*value),
            Self::Float(value) => ValueRef::Float(*value),
            Self::Text(text) => ValueRef::Text(text),
            Self::Missing | Self::List(_) | Self::Map(_) => return None,
        })
    }

    /// The value that a sample would carry; `None` if it is missing.
    #[must_use]
    pub fn to_value(&self) -> Option<Value> {
        Some(match self {
            Self::Missing => return None,
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) => Value::Int(*value),
            Self::UInt(value) => Value::UInt(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Text(text) => Value::Text((**text).into()),
            Self::List(_) | Self::Map(_) => Value::Json(self.to_json_text().into()),
        })
    }
}

impl From<ValueRef<'_>> for Data {
    fn from(value: ValueRef<'_>) -> Self {
        Self::from_value(value)
    }
}

impl From<&Value> for Data {
    fn from(value: &Value) -> Self {
        Self::from_value(value.as_ref())
    }
}
