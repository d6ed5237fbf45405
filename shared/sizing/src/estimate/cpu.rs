//! Busy cores by item.
//!
//! A group of devices costs a send (`message_us`) and its values (`value_us`), a group of pipelines
//! its runs. What it costs to wake up and commit grows with the arrivals only until they are gathered
//! (`wakes_per_s_max`); it belongs to nobody and has a row of its own.

use crate::plan::{DeviceGroup, PipelineGroup, Plan};
use crate::profile::{CostKey, Profile};
use serde::{Deserialize, Serialize};

/// Busy cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// A row for each group, in the order of the plan.
    pub items: Vec<CpuItem>,
    /// All that was measured, added up.
    pub busy_cores: f64,
    /// The least that it may be, by the profile's error band.
    pub least: f64,
    /// The most.
    pub most: f64,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuItem {
    /// What kind of thing it is.
    pub part: CpuPart,
    /// The group's name.
    pub name: String,
    /// How many a second.
    pub per_s: f64,
    /// CPU of each; `None` = the profile has no figure.
    pub us_each: Option<f64>,
    /// Busy cores; `None` = the profile has no figure.
    pub cores: Option<f64>,
    /// What one of them is, or why there is no figure.
    pub text: String,
}

/// The kinds of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CpuPart {
    /// Waking up and committing, shared by all.
    Wakes,
    /// A group of devices.
    Devices,
    /// A group of pipelines.
    Pipelines,
    /// A group of live subscribers.
    Subscribers,
    /// A group of OPC UA items.
    OpcUa,
    /// A group of routes.
    Routes,
}

/// Figures that are there; the profile's check makes sure of the value's.
fn or_0(profile: &Profile, key: CostKey) -> f64 {
    profile.cost(key).unwrap_or(0.0)
}

/// Arrivals that have to be woken up for and committed, per second.
pub(crate) fn wakes_per_s(plan: &Plan, profile: &Profile) -> f64 {
    let devices: f64 = plan.devices.iter().map(DeviceGroup::messages_per_s).sum();
    let per_run = or_0(profile, CostKey::RunWakes);
    let runs = |group: &PipelineGroup| group.separate_per_s() + group.total_runs_per_s() * per_run;
    devices + plan.pipelines.iter().map(runs).sum::<f64>()
}

/// CPU of one value of the group; `None` when its payload was not measured.
fn device_us(group: &DeviceGroup, profile: &Profile) -> Option<f64> {
    let payload = match group.payload.has_length() {
        true => profile.cost(CostKey::PayloadByteUs)? * group.length(),
        false => 0.0,
    };
    let value = or_0(profile, CostKey::ValueUs);
    Some(or_0(profile, CostKey::MessageUs) / group.at_once + value + payload)
}

/// CPU of one run of the group; `None` when one of its parts was not measured.
fn run_us(group: &PipelineGroup, profile: &Profile) -> Option<f64> {
    let mut us = profile.cost(CostKey::RunUs)?;
    us += profile.cost(CostKey::PublishUs)? * group.publishes;
    if group.separate_per_s() > 0.0 {
        us += or_0(profile, CostKey::MessageUs) + or_0(profile, CostKey::ValueUs);
    }
    if group.in_order {
        us += profile.cost(CostKey::InOrderUs)?;
    }
    if group.script_ms > 0.0 {
        us += group.script_ms * 1000.0 * profile.cost(CostKey::ScriptFactor)?;
    }
    if group.waiting_ms > 0.0 {
        us += profile.cost(CostKey::WaitingUs)?;
    }
    Some(us)
}

/// What a run of the group is, in a few words.
fn class(group: &PipelineGroup) -> String {
    let mut words = Vec::new();
    if group.script_ms > 0.0 {
        words.push(format!("{} ms of script", group.script_ms));
    }
    if group.waiting_ms > 0.0 {
        words.push(format!("waits {} ms", group.waiting_ms));
    }
    if words.is_empty() {
        words.push("pass-through".to_owned());
    }
    if group.in_order {
        words.push("in order".to_owned());
    }
    words.join(", ")
}

fn item(part: CpuPart, name: &str, per_s: f64, us_each: Option<f64>, text: String) -> CpuItem {
    let cores = us_each.map(|us| per_s * us / 1e6);
    CpuItem { part, name: name.to_owned(), per_s, us_each, cores, text }
}

/// A row whose cost is one figure of the profile; without it, the profile says why.
fn by_key(part: CpuPart, name: &str, per_s: f64, key: CostKey, profile: &Profile) -> CpuItem {
    let us = profile.cost(key);
    let text = match us {
        Some(_) => key.meaning().to_owned(),
        None => profile.source_of(key).to_owned(),
    };
    item(part, name, per_s, us, text)
}

pub(super) fn cpu(plan: &Plan, profile: &Profile) -> Cpu {
    let mut items = Vec::new();
    for group in &plan.devices {
        let us = device_us(group, profile);
        let text = match us {
            Some(_) => "values of devices".to_owned(),
            None => profile.source_of(CostKey::PayloadByteUs).to_owned(),
        };
        items.push(item(CpuPart::Devices, &group.name, group.values_per_s(), us, text));
    }
    for group in &plan.pipelines {
        let us = run_us(group, profile);
        let text = match us {
            Some(_) => format!("runs, {}", class(group)),
            None => format!("runs, {}: a part of them was not measured", class(group)),
        };
        items.push(item(CpuPart::Pipelines, &group.name, group.total_runs_per_s(), us, text));
    }
    for group in &plan.subscribers {
        let (per_s, key) = (group.deliveries_per_s(), CostKey::DeliveryUs);
        items.push(by_key(CpuPart::Subscribers, &group.name, per_s, key, profile));
    }
    for group in &plan.opcua {
        let (per_s, key) = (group.updates_per_s(), CostKey::OpcUaUpdateUs);
        items.push(by_key(CpuPart::OpcUa, &group.name, per_s, key, profile));
    }
    for group in &plan.routes {
        let (per_s, key) = (group.total_per_s(), CostKey::RouteUs);
        items.push(by_key(CpuPart::Routes, &group.name, per_s, key, profile));
    }
    let wake_us = or_0(profile, CostKey::WakeUs);
    if wake_us > 0.0 {
        let most = or_0(profile, CostKey::WakesPerSMax);
        let gathered = wakes_per_s(plan, profile).min(most);
        let text = format!("arrivals to wake up for and commit, at most {most} a second");
        let name = "Waking up and committing";
        items.push(item(CpuPart::Wakes, name, gathered, Some(wake_us), text));
    }
    let busy_cores = items.iter().filter_map(|item| item.cores).sum::<f64>();
    let band = or_0(profile, CostKey::ErrorBand);
    Cpu {
        items,
        busy_cores,
        least: busy_cores * (1.0 - band).max(0.0),
        most: busy_cores * (1.0 + band),
    }
}
