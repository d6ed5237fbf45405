//! Disk: what stays there, and what is written.

use crate::plan::{Detail, DeviceGroup, PipelineGroup, Plan};
use crate::profile::{CostKey, Profile};
use millrace_model::Retention;
use serde::{Deserialize, Serialize};

const SECONDS_A_DAY: f64 = 86_400.0;

/// Disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disk {
    /// History by retention class; only classes that the plan uses.
    pub history: Vec<HistoryRow>,
    /// History that a day brings; `None` = a part was not measured.
    pub bytes_per_day: Option<f64>,
    /// History of runs that a day brings.
    pub run_bytes_per_day: Option<f64>,
    /// History of runs that is kept.
    pub run_bytes_kept: Option<f64>,
    /// All that stays on the disk; history without an age is taken as one year of it.
    pub total_bytes: Option<f64>,
    /// Write operations per second; `None` = a part was not measured.
    pub writes_per_s: Option<f64>,
    /// Bytes written per second; `None` = a part was not measured.
    pub written_bytes_per_s: Option<f64>,
}

/// History of one retention class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryRow {
    /// The class.
    pub retention: Retention,
    /// Values that a day brings.
    pub values_per_day: f64,
    /// Bytes that a day brings; `None` = not measured.
    pub bytes_per_day: Option<f64>,
    /// Days that it is kept; a year where there is no age.
    pub days: f64,
    /// Bytes that are kept; `None` = not measured.
    pub bytes_kept: Option<f64>,
}

/// Days that a class keeps; a year for the one without an age.
pub(crate) fn days(retention: Retention) -> f64 {
    match retention {
        Retention::Days1 => 1.0,
        Retention::Days7 => 7.0,
        Retention::Days14 => 14.0,
        Retention::Days32 => 32.0,
        Retention::Keep => 365.0,
    }
}

/// Bytes of history for one value of the group.
fn stored_bytes(group: &DeviceGroup, profile: &Profile) -> Option<f64> {
    let number = profile.cost(CostKey::StoredNumberBytes)?;
    match group.payload.has_length() {
        true => Some(number + group.length() * profile.cost(CostKey::StoredTextShare)?),
        false => Some(number),
    }
}

/// Bytes per second that come to a class's history, and values.
fn class_per_s(plan: &Plan, profile: &Profile, class: Retention) -> (f64, Option<f64>) {
    let mut values = 0.0;
    let mut bytes = Some(0.0);
    let mut add = |per_s: f64, each: Option<f64>| {
        values += per_s;
        bytes = bytes.zip(each).map(|(sum, each)| sum + per_s * each);
    };
    for group in plan.devices.iter().filter(|group| group.retention == class) {
        add(group.values_per_s(), stored_bytes(group, profile));
    }
    let number = profile.cost(CostKey::StoredNumberBytes);
    for group in plan.pipelines.iter().filter(|group| group.retention == class) {
        add(group.separate_per_s() + group.published_per_s(), number);
    }
    // OPC UA items have no class of their own yet: the box's default.
    if class == Retention::default() {
        for group in &plan.opcua {
            add(group.updates_per_s(), number);
        }
    }
    (values, bytes)
}

pub(crate) fn run_bytes(group: &PipelineGroup, profile: &Profile) -> Option<f64> {
    profile.cost(match group.history {
        Detail::Minimal => CostKey::RunMinimalBytes,
        Detail::Standard => CostKey::RunStandardBytes,
        Detail::Full => CostKey::RunFullBytes,
    })
}

fn sum(all: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    all.sum()
}

/// Bytes of the history of runs that a day brings.
pub(crate) fn run_bytes_per_day(plan: &Plan, profile: &Profile) -> Option<f64> {
    let each = |group: &PipelineGroup| {
        run_bytes(group, profile).map(|bytes| group.kept_runs_per_s() * SECONDS_A_DAY * bytes)
    };
    sum(plan.pipelines.iter().map(each))
}

/// History by class; only classes that get values.
pub(crate) fn history(plan: &Plan, profile: &Profile) -> Vec<HistoryRow> {
    let row = |retention| {
        let (values, bytes) = class_per_s(plan, profile, retention);
        let bytes_per_day = bytes.map(|bytes| bytes * SECONDS_A_DAY);
        let days = days(retention);
        HistoryRow {
            retention,
            values_per_day: values * SECONDS_A_DAY,
            bytes_per_day,
            days,
            bytes_kept: bytes_per_day.map(|bytes| bytes * days),
        }
    };
    Retention::ALL.into_iter().map(row).filter(|row| row.values_per_day > 0.0).collect()
}

/// Commits per second.
pub(crate) fn commits_per_s(plan: &Plan, profile: &Profile) -> Option<f64> {
    let most = profile.cost(CostKey::CommitsPerSMax)?;
    Some(super::cpu::wakes_per_s(plan, profile).min(most))
}

/// Per second: commits, stored values and runs by what each takes.
fn per_s(plan: &Plan, profile: &Profile, keys: [CostKey; 3]) -> Option<f64> {
    let [commit, value, run] = keys;
    let mut total = commits_per_s(plan, profile)? * profile.cost(commit)?;
    total += plan.stored_values_per_s() * profile.cost(value)?;
    if plan.runs_per_s() > 0.0 {
        total += plan.runs_per_s() * profile.cost(run)?;
    }
    Some(total)
}

pub(super) fn disk(plan: &Plan, profile: &Profile) -> Disk {
    let history = history(plan, profile);
    let bytes_per_day = sum(history.iter().map(|row| row.bytes_per_day));
    let kept = sum(history.iter().map(|row| row.bytes_kept));
    let run_bytes_per_day = run_bytes_per_day(plan, profile);
    let run_days = profile.cost(CostKey::RunHistoryHours).map(|hours| hours / 24.0);
    let run_bytes_kept = run_bytes_per_day.zip(run_days).map(|(bytes, days)| bytes * days);
    let writes = [CostKey::CommitWrites, CostKey::WritesPerValue, CostKey::WritesPerRun];
    let bytes = [CostKey::CommitBytes, CostKey::WrittenValueBytes, CostKey::WrittenRunBytes];
    Disk {
        bytes_per_day,
        run_bytes_per_day,
        run_bytes_kept,
        total_bytes: kept.zip(run_bytes_kept).map(|(history, runs)| history + runs),
        writes_per_s: per_s(plan, profile, writes),
        written_bytes_per_s: per_s(plan, profile, bytes),
        history,
    }
}
