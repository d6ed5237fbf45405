//! Single values: the last refusals of a topic, and a value that a person publishes.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A value that was refused since the appliance started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusedValue {
    /// When.
    pub at: String,
    /// Who sent it: a client's id; absent = the box itself (pipelines, test values).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The reason's name, as in verdicts: `out_of_range`.
    pub reason: String,
    /// The reason as a sentence with the facts.
    pub message: String,
    /// The beginning of what was sent, as text; of an element of a batch its value.
    pub payload: String,
    /// How long it was, in bytes.
    pub payload_bytes: u64,
    /// Whether `payload` is not all of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// A value to publish: what a device would send.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TestValue {
    /// The payload: `42.7`, `"open"`, `{"value": 42.7, "quality": "bad"}`.
    pub payload: String,
}

/// What became of it, once that is durable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TestVerdict {
    /// Values that are stored.
    pub stored: u64,
    /// Values that are refused.
    pub refused: u64,
    /// The name of the first refusal's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
