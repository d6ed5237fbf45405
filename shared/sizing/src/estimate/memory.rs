//! Memory by what it is for.

use crate::plan::Plan;
use crate::profile::{CostKey, Profile};
use serde::{Deserialize, Serialize};

/// Memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// A row for each use.
    pub items: Vec<MemoryItem>,
    /// All that was measured, added up.
    pub total_mb: f64,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryItem {
    /// What for.
    pub name: String,
    /// How much; `None` = the profile has no figure.
    pub mb: Option<f64>,
}

/// Runs that wait at once.
pub(crate) fn parked(plan: &Plan) -> f64 {
    plan.pipelines.iter().map(|group| group.total_runs_per_s() * group.waiting_ms / 1000.0).sum()
}

pub(super) fn memory(plan: &Plan, profile: &Profile) -> Memory {
    let cost = |key| profile.cost(key);
    let kb = |count: f64, key| cost(key).map(|kb| count * kb / 1000.0);
    let capped = |mb: Option<f64>, most: Option<f64>| match (mb, most) {
        (Some(mb), Some(most)) => Some(mb.min(most)),
        (mb, _) => mb,
    };
    let subscribers = plan.subscribers.iter().map(|group| group.count).sum::<f64>();
    let pipelines = plan.pipelines.iter().map(|group| group.count).sum::<f64>();
    let scripted = plan.pipelines.iter().filter(|group| group.script_ms > 0.0);
    let scripts = scripted.map(|group| group.count).sum::<f64>();
    let waiting = parked(plan);
    let rate = kb(plan.stored_values_per_s(), CostKey::MemoryRateKb);
    let warm = kb(scripts, CostKey::MemoryScriptKb);
    let parked = match waiting > 0.0 {
        true => kb(waiting, CostKey::MemoryParkedKb),
        false => Some(0.0),
    };
    let rows = [
        ("The box itself", cost(CostKey::MemoryBaseMb)),
        ("Values on their way to the disk", capped(rate, cost(CostKey::MemoryRateMaxMb))),
        ("Topics", kb(plan.tags(), CostKey::MemoryTagKb)),
        ("Connections", kb(plan.device_count() + subscribers, CostKey::MemoryClientKb)),
        ("Deployed pipelines", kb(pipelines, CostKey::MemoryPipelineKb)),
        ("Warm scripts", capped(warm, cost(CostKey::MemoryScriptMaxMb))),
        ("Runs that wait", parked),
    ];
    let items: Vec<MemoryItem> =
        rows.into_iter().map(|(name, mb)| MemoryItem { name: name.to_owned(), mb }).collect();
    let total_mb = items.iter().filter_map(|item| item.mb).sum();
    Memory { items, total_mb }
}
