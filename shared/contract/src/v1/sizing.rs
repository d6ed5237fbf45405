//! Sizing: the stored plan against the live load, and measuring what this machine costs.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The plan that the box compares its load with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StoredPlan {
    /// The plan, as docs/operate/sizing.md describes it.
    #[schema(value_type = Object)]
    pub plan: Value,
    /// When it was stored.
    pub at: String,
    /// Who stored it.
    pub by: String,
}

/// Stores a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPlan {
    /// The plan, as docs/operate/sizing.md describes it.
    #[schema(value_type = Object)]
    pub plan: Value,
}

/// The stored plan beside the load of the last minute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanComparison {
    /// The plan's name.
    pub plan: String,
    /// Seconds that the rates are taken over; less than 60 shortly after a start.
    pub seconds: f64,
    /// What is compared.
    pub items: Vec<PlanItem>,
}

/// One thing that is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanItem {
    /// Its name: `values_per_s`, `runs_per_s`, `devices`, `topics`.
    pub name: String,
    /// For people: "values per second".
    pub what: String,
    /// What the plan says.
    pub planned: f64,
    /// What it is now; absent until there are two looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<f64>,
    /// Seconds that it has been above the plan without a break.
    pub over_s: f64,
    /// Whether that is long enough for an issue.
    pub exceeded: bool,
}

/// A measurement of what this machine costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Calibration {
    /// How it stands.
    pub state: CalibrationState,
    /// What it does now, or why it ended so.
    pub text: String,
    /// The share that is done, 0 to 1.
    pub done: f64,
    /// Seconds that are left.
    pub left_s: f64,
}

/// How a measurement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationState {
    /// None was started since the box was.
    Idle,
    /// It measures.
    Running,
    /// It is done and the profile is kept.
    Done,
    /// Somebody cancelled it.
    Cancelled,
    /// It stopped because the plant's own values began to wait.
    Yielded,
    /// It could not measure.
    Failed,
}
