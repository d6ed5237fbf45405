//! What a reader has to know to judge the figures.

use super::cpu::cpu;
use super::disk::run_bytes;
use super::memory::memory;
use crate::plan::{Plan, Trigger};
use crate::profile::{CostKey, Profile};
use millrace_model::Retention;

pub(super) fn notes(plan: &Plan, profile: &Profile) -> Vec<String> {
    let mut notes = Vec::new();
    let band = profile.cost(CostKey::ErrorBand).unwrap_or(0.0) * 100.0;
    notes.push(format!(
        "Estimated with the profile '{}' ({}, measured {}): {}. It adds measured costs up and is no \
         measurement itself; CPU may differ by {band:.0} % either way.",
        profile.name, profile.title, profile.measured, profile.machine
    ));
    let own_version = env!("CARGO_PKG_VERSION");
    if profile.product == "millrace" && profile.product_version != own_version {
        notes.push(format!(
            "The profile was measured with millrace {} and this is {own_version}: measure again \
             with `millrace calibrate`.",
            profile.product_version
        ));
    }
    for item in cpu(plan, profile).items.iter().filter(|item| item.cores.is_none()) {
        notes.push(format!("'{}' is not in the total: {}", item.name, item.text));
    }
    for item in memory(plan, profile).items.iter().filter(|item| item.mb.is_none()) {
        notes.push(format!("Memory of '{}' is not in the total: not measured.", item.name));
    }
    if profile.cost(CostKey::StoredNumberBytes).is_none() {
        let why = profile.source_of(CostKey::StoredNumberBytes);
        notes.push(format!("Disk space of history is not estimated: {why}"));
    }
    for group in plan.pipelines.iter().filter(|group| run_bytes(group, profile).is_none()) {
        notes.push(format!(
            "The history of runs of '{}' is not estimated: its detail was not measured.",
            group.name
        ));
    }
    if plan.pipelines.is_empty() {
        notes.push("The plan has no pipelines: only devices' values are counted.".to_owned());
    }
    if plan.devices.is_empty() && plan.opcua.is_empty() {
        notes.push("The plan has no devices: only what starts runs is counted.".to_owned());
    }
    if plan.pipelines.iter().any(|group| group.trigger == Trigger::Separate) {
        notes.push(
            "Values that start runs are counted with the runs, on top of the devices'; where they \
             are among the devices' values, say so with trigger = \"device\"."
                .to_owned(),
        );
    }
    let keeps = plan.devices.iter().any(|group| group.retention == Retention::Keep)
        || plan.pipelines.iter().any(|group| group.retention == Retention::Keep);
    if keeps {
        notes.push("History of the class keep has no age; a year of it is counted.".to_owned());
    }
    match &plan.machine {
        None => notes.push(
            "The plan names no machine: fit and room to grow are not judged, only the smallest \
             machine is looked for."
                .to_owned(),
        ),
        Some(machine) if machine.iops.is_none() => notes.push(
            "The plan does not say how many write operations the disk does: they are not judged."
                .to_owned(),
        ),
        Some(_) => {}
    }
    notes.extend(profile.not_covered.iter().map(|text| format!("Not measured: {text}")));
    notes
}
