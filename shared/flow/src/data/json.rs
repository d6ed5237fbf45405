//! Data from and to JSON: text and `serde_json::Value`.
//!
//! Whole numbers keep 64 bits both ways; floats come back bit by bit. JSON has no NaN, no infinity
//! and nothing for what is missing: NaN and infinities become null; missing fields are left out,
//! missing items become null. [`Data::json_loss`] tells beforehand.
//!
//! **Invariants**: what is written is JSON; no text panics, however deep.

use super::{DEPTH_MAX, Data, Map, push};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::{Number, Value};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// Why text is no data.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JsonFault {
    /// It is not JSON.
    #[error("not JSON: {message} (line {line}, column {column})")]
    Syntax {
        /// What is wrong.
        message: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1, in bytes.
        column: usize,
    },
    /// It is nested too deeply.
    #[error("nested more than {DEPTH_MAX} deep")]
    TooDeep,
}

/// What JSON cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// NaN or an infinity.
    NotFinite,
    /// A missing item or field.
    Missing,
}

impl Data {
    /// Reads JSON text.
    ///
    /// # Errors
    /// It is no JSON, or too deep.
    pub fn from_json_text(text: &str) -> Result<Self, JsonFault> {
        Self::checked(serde_json::from_str(text))
    }

    /// Reads JSON bytes.
    ///
    /// # Errors
    /// They are no JSON, or too deep.
    pub fn from_json_bytes(bytes: &[u8]) -> Result<Self, JsonFault> {
        Self::checked(serde_json::from_slice(bytes))
    }

    fn checked(read: Result<Self, serde_json::Error>) -> Result<Self, JsonFault> {
        match read {
            Ok(data) if data.depth() > DEPTH_MAX => Err(JsonFault::TooDeep),
            Ok(data) => Ok(data),
            Err(fault) => {
                let message = fault.to_string();
                if message.starts_with("recursion limit") {
                    return Err(JsonFault::TooDeep);
                }
                let message = message.split(" at line ").next().unwrap_or_default().to_owned();
                Err(JsonFault::Syntax { message, line: fault.line(), column: fault.column() })
            }
        }
    }

    /// Writes JSON text.
    #[must_use]
    pub fn to_json_text(&self) -> String {
        let mut text = String::new();
        self.write_json(&mut text);
        text
    }

    /// Writes JSON text with line breaks, indented by two spaces.
    #[must_use]
    pub fn to_json_text_pretty(&self) -> String {
        // Writing data to memory cannot fail: names are text, and nothing else can be refused.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Appends JSON text.
    pub fn write_json(&self, out: &mut String) {
        match self {
            Self::Missing | Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Int(value) => push(out, format_args!("{value}")),
            Self::UInt(value) => push(out, format_args!("{value}")),
            // Rust's debug form is the shortest that reads back, always with a point or exponent.
            Self::Float(value) if value.is_finite() => push(out, format_args!("{value:?}")),
            Self::Float(_) => out.push_str("null"),
            Self::Text(text) => write_text(text, out),
            Self::List(list) => {
                out.push('[');
                for (at, item) in list.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write_json(out);
                }
                out.push(']');
            }
            Self::Map(map) => {
                out.push('{');
                let mut is_first = true;
                for (name, data) in map.iter().filter(|(_, data)| !data.is_missing()) {
                    if !std::mem::take(&mut is_first) {
                        out.push(',');
                    }
                    write_text(name, out);
                    out.push(':');
                    data.write_json(out);
                }
                out.push('}');
            }
        }
    }

    /// The same as a JSON tree.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Missing | Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) => Value::from(*value),
            Self::UInt(value) => Value::from(*value),
            Self::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
            Self::Text(text) => Value::String((**text).to_owned()),
            Self::List(list) => Value::Array(list.iter().map(Self::to_json).collect()),
            Self::Map(map) => {
                let there = map.iter().filter(|(_, data)| !data.is_missing());
                Value::Object(
                    there.map(|(name, data)| ((**name).to_owned(), data.to_json())).collect(),
                )
            }
        }
    }

    /// What writing it as JSON would lose, if anything.
    #[must_use]
    pub fn json_loss(&self) -> Option<Loss> {
        match self {
            Self::Missing => Some(Loss::Missing),
            Self::Float(value) if !value.is_finite() => Some(Loss::NotFinite),
            Self::List(list) => list.iter().find_map(Self::json_loss),
            Self::Map(map) => map.iter().find_map(|(_, data)| data.json_loss()),
            _ => None,
        }
    }
}

/// Appends a JSON string; most texts have nothing to escape and are copied whole.
fn write_text(text: &str, out: &mut String) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        millrace_model::json::write_string(text, out);
    }
}

impl From<&Value> for Data {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(value), _) => Self::Int(value),
                (None, Some(value)) => Self::UInt(value),
                (None, None) => number.as_f64().map_or(Self::Null, Self::Float),
            },
            Value::String(text) => Self::text(text),
            Value::Array(list) => list.iter().map(Self::from).collect(),
            Value::Object(map) => {
                let fields = map.iter().map(|(name, value)| (name.as_str(), Self::from(value)));
                fields.collect::<Map>().into()
            }
        }
    }
}

impl From<Value> for Data {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing | Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::UInt(value) => serializer.serialize_u64(*value),
            Self::Float(value) if value.is_finite() => serializer.serialize_f64(*value),
            Self::Float(_) => serializer.serialize_unit(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(list) => {
                let mut items = serializer.serialize_seq(Some(list.len()))?;
                for item in list.iter() {
                    items.serialize_element(item)?;
                }
                items.end()
            }
            Self::Map(map) => map.serialize(serializer),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        for (name, data) in self.iter().filter(|(_, data)| !data.is_missing()) {
            fields.serialize_entry(&**name, data)?;
        }
        fields.end()
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DataVisitor)
    }
}

struct DataVisitor;

impl<'de> Visitor<'de> for DataVisitor {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }
    fn visit_unit<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }
    fn visit_none<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        Data::deserialize(deserializer)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Data, E> {
        Ok(Data::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Data, E> {
        Ok(Data::Int(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Data, E> {
        Ok(Data::from(value))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Data, E> {
        Ok(Data::Float(value))
    }
    fn visit_str<E>(self, text: &str) -> Result<Data, E> {
        Ok(Data::text(text))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Data, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Data>()? {
            list.push(item);
        }
        Ok(list.into())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Data, A::Error> {
        let mut map = Map::new();
        while let Some((name, data)) = fields.next_entry::<Arc<str>, Data>()? {
            map.set(name, data);
        }
        Ok(map.into())
    }
}
