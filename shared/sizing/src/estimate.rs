//! What a plan takes of a machine: CPU by item, memory, disk, network, limits, and room to grow.
//!
//! Each part adds up what the profile's figures say; `cpu` is the heart. What the profile has no
//! figure for has a row all the same, with no number and the profile's reason, and is named in
//! [`Estimate::notes`].
//!
//! **Invariants**
//! - Every number in it is finite.
//! - It says which profile it was made with.

mod checks;
mod cpu;
mod disk;
mod fit;
mod memory;
mod network;
mod notes;
#[cfg(test)]
mod tests;

pub(crate) use checks::SLOT_OVERHEAD_MS;
pub use checks::{Check, State};
pub use cpu::{Cpu, CpuItem, CpuPart};
pub(crate) use disk::days;
pub use disk::{Disk, HistoryRow};
pub use fit::{CLOSE, Fit, Verdict, percent_below};
pub use memory::{Memory, MemoryItem};
pub use network::Network;

use crate::plan::Plan;
use crate::problem::Problem;
use crate::profile::Profile;
use serde::{Deserialize, Serialize};

/// What a plan takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The plan's name.
    pub plan: String,
    /// Which figures were used.
    pub profile: UsedProfile,
    /// The load in totals.
    pub load: Load,
    /// Busy cores.
    pub cpu: Cpu,
    /// How it fits the plan's machine; `None` without one.
    pub fit: Option<Fit>,
    /// The smallest machine of the profile that fits with room; `None` when none does.
    pub smallest: Option<crate::profile::Size>,
    /// Memory.
    pub memory: Memory,
    /// Disk.
    pub disk: Disk,
    /// Network.
    pub network: Network,
    /// Each limit and default of the product.
    pub checks: Vec<Check>,
    /// What a reader has to know to judge the figures, a sentence each.
    pub notes: Vec<String>,
}

/// The figures that were used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsedProfile {
    /// Its short name.
    pub name: String,
    /// What was measured.
    pub title: String,
    /// On which machine.
    pub machine: String,
    /// When.
    pub measured: String,
    /// Where it is published or how it was taken.
    pub source: String,
}

/// The load in totals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Devices that are connected.
    pub devices: f64,
    /// Topics, derived ones included.
    pub tags: f64,
    /// Values per second that devices send.
    pub device_values_per_s: f64,
    /// Values per second that are stored, derived ones included.
    pub stored_values_per_s: f64,
    /// Runs per second.
    pub runs_per_s: f64,
    /// Live deliveries per second.
    pub deliveries_per_s: f64,
}

/// Estimates a plan with a profile's figures.
///
/// # Errors
/// A sentence for each fault of the plan, the profile, or a setting that the product has not.
pub fn estimate(plan: &Plan, profile: &Profile) -> Result<Estimate, Vec<Problem>> {
    let mut problems = plan.check();
    problems.extend(profile.check());
    problems.extend(checks::unknown_settings(plan, profile));
    if !problems.is_empty() {
        return Err(problems);
    }
    let cpu = cpu::cpu(plan, profile);
    let memory = memory::memory(plan, profile);
    let disk = disk::disk(plan, profile);
    Ok(Estimate {
        plan: plan.name.clone(),
        profile: UsedProfile {
            name: profile.name.clone(),
            title: profile.title.clone(),
            machine: profile.machine.clone(),
            measured: profile.measured.clone(),
            source: profile.source.clone(),
        },
        load: Load {
            devices: plan.device_count(),
            tags: plan.tags(),
            device_values_per_s: plan.device_values_per_s(),
            stored_values_per_s: plan.stored_values_per_s(),
            runs_per_s: plan.runs_per_s(),
            deliveries_per_s: plan.subscribers.iter().map(|group| group.deliveries_per_s()).sum(),
        },
        fit: plan.machine.as_ref().map(|machine| fit::fit(machine, &cpu, &memory, &disk, profile)),
        smallest: fit::smallest(&cpu, &memory, profile),
        network: network::network(plan, profile),
        checks: checks::checks(plan, profile),
        notes: notes::notes(plan, profile),
        cpu,
        memory,
        disk,
    })
}
