//! Samples: last values, raw history, ranges for charts.
//!
//! A value is JSON as the device sent it: 64-bit integers are exact JSON integers, `32.0` stays
//! a float, NaN and infinities are the strings `"NaN"`, `"Infinity"`, `"-Infinity"` with kind
//! `float`. Readers that parse JSON numbers as doubles must read `value` as text to be exact.

use crate::v1::tag::Kind;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// One sample.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Sample {
    /// When it was measured, nanoseconds.
    pub source_time: String,
    /// When the appliance took it in.
    pub receive_time: String,
    /// OPC UA status code; 0 is good.
    pub quality: u32,
    /// The kind of the value.
    pub kind: Kind,
    /// The value.
    #[schema(value_type = Value)]
    pub value: Box<RawValue>,
}

/// One page of a tag's samples.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SamplePage {
    /// The samples in the order of source time.
    pub items: Vec<Sample>,
    /// Pass it as `after` to get the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// A damaged or missing part may have held more: see the issues. Absent = no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

/// The last value of one tag.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LastValue {
    /// The tag's path below the workspace.
    pub path: String,
    /// The tag's unit; empty = none given.
    pub unit: String,
    /// The sample; absent = the tag exists but has no value in history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
}

/// A tag's values in a time range, condensed for a chart.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Range {
    /// Start of the range, included.
    pub from: String,
    /// End of the range, not included.
    pub to: String,
    /// One entry per interval that has samples, in time order.
    pub buckets: Vec<Bucket>,
    /// A damaged or missing part may have held more: see the issues. Absent = no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

/// One interval of a range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Bucket {
    /// Start of the interval.
    pub start: String,
    /// Samples in it, numbers or not.
    pub count: u64,
    /// Its smallest number; absent when the interval has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Its largest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Its first number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<f64>,
    /// Its last number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<f64>,
    /// Mean of its numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
}
