//! Between [`Data`] and JSON, as flow does it, in the engine's words.
//!
//! **Invariants**: none of its own.

use millrace_flow::Data;
use serde_json::Value;

/// The datum of a JSON value.
#[must_use]
pub fn data_of(value: &Value) -> Data {
    Data::from(value)
}

/// The JSON value of a datum; what is missing becomes null.
#[must_use]
pub fn value_of(data: &Data) -> Value {
    data.to_json()
}

/// Appends a datum as JSON.
pub fn write(data: &Data, out: &mut String) {
    data.write_json(out);
}
