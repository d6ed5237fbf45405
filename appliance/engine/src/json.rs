//! Between [`Data`] and JSON.
//!
//! What is missing becomes null inside of lists and is left out of objects, as `JSON.stringify`
//! does. Numbers that JSON has no literal for (NaN, infinities) become their names as text.
//!
//! **Invariants**: integers pass exactly; writing bounds nothing, as the data is bounded.

use millrace_flow::{Data, Map};
use millrace_model::ValueRef;
use serde_json::Value;
use std::sync::Arc;

/// The datum of a JSON value.
#[must_use]
pub fn data_of(value: &Value) -> Data {
    match value {
        Value::Null => Data::Null,
        Value::Bool(value) => Data::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(int), _, _) => Data::Int(int),
            (None, Some(uint), _) => Data::UInt(uint),
            (None, None, float) => Data::Float(float.unwrap_or(f64::NAN)),
        },
        Value::String(text) => Data::Text(text.as_str().into()),
        Value::Array(items) => Data::List(items.iter().map(data_of).collect()),
        Value::Object(members) => {
            let mut map = Map::new();
            for (name, member) in members {
                map.set(name.as_str(), data_of(member));
            }
            Data::Map(Arc::new(map))
        }
    }
}

/// The JSON value of a datum; [`Data::Missing`] becomes null.
#[must_use]
pub fn value_of(data: &Data) -> Value {
    match data {
        Data::Missing | Data::Null => Value::Null,
        Data::Bool(value) => Value::Bool(*value),
        Data::Int(value) => Value::from(*value),
        Data::UInt(value) => Value::from(*value),
        Data::Float(value) => match serde_json::Number::from_f64(*value) {
            Some(number) => Value::Number(number),
            None => Value::String(non_finite(*value).to_owned()),
        },
        Data::Text(text) => Value::String(text.to_string()),
        Data::List(items) => Value::Array(items.iter().map(value_of).collect()),
        Data::Map(map) => Value::Object(
            map.iter()
                .filter(|(_, member)| **member != Data::Missing)
                .map(|(name, member)| (name.to_string(), value_of(member)))
                .collect(),
        ),
    }
}

/// Appends a datum as JSON.
pub fn write(data: &Data, out: &mut String) {
    match data {
        Data::Missing | Data::Null => out.push_str("null"),
        Data::Bool(value) => ValueRef::Bool(*value).write_json(out),
        Data::Int(value) => ValueRef::Int(*value).write_json(out),
        Data::UInt(value) => ValueRef::UInt(*value).write_json(out),
        Data::Float(value) => ValueRef::Float(*value).write_json(out),
        Data::Text(text) => ValueRef::Text(text).write_json(out),
        Data::List(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Data::Map(map) => {
            out.push('{');
            let members = map.iter().filter(|(_, member)| **member != Data::Missing);
            for (place, (name, member)) in members.enumerate() {
                if place > 0 {
                    out.push(',');
                }
                millrace_model::json::write_string(name, out);
                out.push(':');
                write(member, out);
            }
            out.push('}');
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
