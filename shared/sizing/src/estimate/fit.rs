//! Whether the load fits a machine, and how much it may grow.

use super::cpu::Cpu;
use super::disk::Disk;
use super::memory::Memory;
use crate::plan::Machine;
use crate::profile::{CostKey, Profile, Size};
use serde::{Deserialize, Serialize};

/// From this share of the line on, the load is close to it: the next machine is the better choice.
pub const CLOSE: f64 = 0.9;
/// Room to grow is told in steps of this many percent, rounded down.
const GROWTH_STEP: f64 = 5.0;

/// How the load fits the plan's machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The machine's name.
    pub machine: String,
    /// Its logical cores (vCPU).
    pub logical_cores: f64,
    /// Cores under the line that the total should stay under.
    pub line_cores: f64,
    /// The total as a share of that line.
    pub share_of_line: f64,
    /// The judgement about CPU.
    pub cpu: Verdict,
    /// About memory.
    pub memory: Verdict,
    /// About disk space; `None` when it is not known how much is needed.
    pub disk: Option<Verdict>,
    /// About write operations; `None` when the plan does not say what the disk does, or the profile
    /// not what is needed.
    pub iops: Option<Verdict>,
    /// The share by which all of the load may grow up to the line: 0.887 = by 88.7 %; negative when
    /// it is over the line.
    pub growth: f64,
    /// The same in words.
    pub text: String,
}

/// A judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It fits.
    Fits,
    /// It fits, but hardly.
    Close,
    /// It does not fit.
    Over,
}

impl Verdict {
    /// The judgement about a need and what there is.
    #[must_use]
    pub fn of(need: f64, have: f64) -> Self {
        match need {
            need if need > have => Self::Over,
            need if need >= have * CLOSE => Self::Close,
            _ => Self::Fits,
        }
    }

    /// `fits`, `close`, `over`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Close => "close",
            Self::Over => "over",
        }
    }
}

/// A growth of 0.887 as "85": percent, rounded down so that nobody plans on the last of it.
#[must_use]
pub fn percent_below(growth: f64) -> f64 {
    (growth * 100.0 / GROWTH_STEP).floor() * GROWTH_STEP
}

fn line(profile: &Profile) -> f64 {
    profile.cost(CostKey::CpuLine).unwrap_or(1.0)
}

pub(super) fn fit(
    machine: &Machine,
    cpu: &Cpu,
    memory: &Memory,
    disk: &Disk,
    profile: &Profile,
) -> Fit {
    let logical_cores = machine.logical_cores();
    let line_cores = logical_cores * line(profile);
    let busy = cpu.busy_cores;
    let share_of_line = busy / line_cores;
    // A load that costs nothing by this profile may grow without end; no number says that.
    let growth = if busy > 0.0 { line_cores / busy - 1.0 } else { 0.0 };
    let verdict = Verdict::of(busy, line_cores);
    let text = match verdict {
        Verdict::Fits => format!(
            "{busy:.2} of {line_cores} cores under the line: it fits, and the load may grow by \
             about {:.0} %.",
            percent_below(growth)
        ),
        Verdict::Close => format!(
            "{busy:.2} of {line_cores} cores under the line: close to it; take the next larger \
             machine."
        ),
        Verdict::Over => {
            format!("{busy:.2} cores are over the line of {line_cores}: this machine is too small.")
        }
    };
    Fit {
        machine: machine.name.clone(),
        logical_cores,
        line_cores,
        share_of_line,
        cpu: verdict,
        memory: Verdict::of(memory.total_mb, machine.memory_gb * 1000.0),
        disk: disk.total_bytes.map(|bytes| Verdict::of(bytes, machine.disk_gb * 1e9)),
        iops: machine.iops.zip(disk.writes_per_s).map(|(have, need)| Verdict::of(need, have)),
        growth,
        text,
    }
}

pub(super) fn smallest(cpu: &Cpu, memory: &Memory, profile: &Profile) -> Option<Size> {
    let fits = |size: &&Size| {
        let line = size.logical_cores * line(profile);
        Verdict::of(cpu.busy_cores, line) == Verdict::Fits
            && Verdict::of(memory.total_mb, size.memory_gb * 1000.0) == Verdict::Fits
    };
    profile.sizes.iter().find(fits).cloned()
}
