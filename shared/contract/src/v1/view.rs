//! What a person looks at again: views of trends.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A view of trends under a name; it is its person's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrendView {
    /// Its name.
    pub name: String,
    /// The topics, by path.
    pub topics: Vec<String>,
    /// The length of the window in seconds.
    pub seconds: f64,
}

/// What is kept under the name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTrendView {
    /// The topics, by path, 1 to 32.
    pub topics: Vec<String>,
    /// The length of the window in seconds, above 0.
    pub seconds: f64,
}
