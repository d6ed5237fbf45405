//! Secrets and variables of a workspace.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// A secret; its value is never shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Secret {
    /// Its name: what a step's field says as `{"secret": "<name>"}`.
    pub name: String,
    /// When it was set.
    pub at: String,
    /// Who set it.
    pub by: String,
}

/// Sets a secret.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSecret {
    /// Its value.
    pub value: String,
}

/// A variable: what pipelines remember by name.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    #[schema(value_type = Value)]
    pub value: Box<RawValue>,
}

/// Sets a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewVariable {
    /// Its value: any JSON.
    pub value: Value,
}
