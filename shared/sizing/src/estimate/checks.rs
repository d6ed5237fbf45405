//! Each limit and default of the product against what the plan needs of it.

use super::fit::CLOSE;
use super::{disk, memory};
use crate::plan::{Payload, PipelineGroup, Plan, Priority};
use crate::problem::Problem;
use crate::profile::{CostKey, Limit, Measure, Profile};
use millrace_model::Retention;
use serde::{Deserialize, Serialize};

/// A MiB in bytes.
pub(crate) const MIB: f64 = 1_048_576.0;
/// Milliseconds that a run holds its slot beyond what it computes and waits: the published runs that
/// wait 20 ms held theirs for about 22 ms.
pub(crate) const SLOT_OVERHEAD_MS: f64 = 2.0;

/// One limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The setting's name.
    pub setting: String,
    /// What it limits.
    pub what: String,
    /// Its unit, empty for a count.
    pub unit: String,
    /// What the plan needs of it; `None` = the profile has no figure.
    pub needed: Option<f64>,
    /// What it is set to: by the plan, or the default; 0 = no limit.
    pub limit: f64,
    /// Whether the plan sets it.
    pub is_set: bool,
    /// The judgement.
    pub state: State,
    /// The judgement as a sentence, with what to do.
    pub sentence: String,
}

/// The judgement about a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// There is room.
    Good,
    /// At least nine tenths of it are needed.
    Near,
    /// All of it or more is needed: it has to be raised.
    Reached,
    /// The profile has no figure.
    Unknown,
}

impl State {
    /// `good`, `near`, `raise`, `unknown`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Near => "near",
            Self::Reached => "raise",
            Self::Unknown => "unknown",
        }
    }
}

/// The plan's settings that the product has not.
pub(super) fn unknown_settings(plan: &Plan, profile: &Profile) -> Vec<Problem> {
    let unknown = plan.settings.keys().filter(|name| profile.limit(name).is_none());
    unknown
        .map(|name| {
            let known: Vec<&str> =
                profile.limits.iter().map(|limit| limit.setting.as_str()).collect();
            let sentence = format!(
                "The profile '{}' knows no such setting; it knows {}.",
                profile.name,
                known.join(", ")
            );
            Problem::new(format!("settings.\"{name}\""), sentence)
        })
        .collect()
}

pub(super) fn checks(plan: &Plan, profile: &Profile) -> Vec<Check> {
    profile.limits.iter().map(|limit| check(limit, plan, profile)).collect()
}

fn check(limit: &Limit, plan: &Plan, profile: &Profile) -> Check {
    let needed = needed(limit.measure, plan, profile);
    let set = plan.settings.get(&limit.setting).copied();
    let most = set.unwrap_or(limit.default);
    let state = match needed {
        None => State::Unknown,
        Some(_) if most == 0.0 => State::Good,
        Some(0.0) => State::Good,
        Some(needed) if needed >= most => State::Reached,
        Some(needed) if needed >= most * CLOSE => State::Near,
        Some(_) => State::Good,
    };
    let (what, setting, unit) = (&limit.what, &limit.setting, &limit.unit);
    let sentence = match (state, needed) {
        (State::Reached, Some(needed)) => format!(
            "{}: the plan needs {needed:.0} {unit} and {setting} is {most:.0}: raise it. {}",
            capital(what),
            limit.at_limit
        ),
        (State::Near, Some(needed)) => format!(
            "{}: the plan needs {needed:.0} {unit} of the {most:.0} of {setting}: raise it before \
             the plant grows.",
            capital(what)
        ),
        (_, Some(_)) if most == 0.0 => format!("{setting} is off."),
        (_, Some(needed)) => format!("{needed:.0} of {most:.0} {unit}."),
        (_, None) => "The profile has no figure for it.".to_owned(),
    };
    Check {
        setting: setting.clone(),
        what: what.clone(),
        unit: unit.clone(),
        needed,
        limit: most,
        is_set: set.is_some(),
        state,
        sentence: sentence.replace("  ", " "),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn greatest(all: impl Iterator<Item = f64>) -> f64 {
    all.fold(0.0, f64::max)
}

/// Runs at once in the fullest lane: the rate by how long each holds its slot.
fn lane_slots(plan: &Plan) -> f64 {
    let held = |group: &PipelineGroup| {
        let ms = group.script_ms + group.waiting_ms + SLOT_OVERHEAD_MS;
        group.total_runs_per_s() * ms / 1000.0
    };
    let lane = |priority| {
        plan.pipelines.iter().filter(|group| group.priority == priority).map(held).sum::<f64>()
    };
    greatest([Priority::High, Priority::Normal, Priority::Low].into_iter().map(lane))
}

/// What a plan needs of a limit; `None` when the profile has no figure for it.
pub(crate) fn needed(measure: Measure, plan: &Plan, profile: &Profile) -> Option<f64> {
    let cost = |key| profile.cost(key);
    let minute = |key| cost(key).map(|bytes| plan.runs_per_s() * 60.0 * bytes);
    let devices = &plan.devices;
    Some(match measure {
        Measure::ClientRate => {
            greatest(devices.iter().map(|group| group.values_per_s() / group.count))
        }
        Measure::WorkspaceRate => plan.device_values_per_s(),
        Measure::Clients => {
            plan.device_count() + plan.subscribers.iter().map(|group| group.count).sum::<f64>()
        }
        Measure::ClientTags => greatest(devices.iter().map(|group| group.tags)),
        Measure::Tags => plan.tags(),
        Measure::PayloadBytes => greatest(devices.iter().map(|group| match group.payload {
            Payload::Number | Payload::Bool => 0.0,
            Payload::Text | Payload::Structured => group.length(),
        })),
        Measure::SubscriberSecond => {
            greatest(plan.subscribers.iter().map(|group| group.values_per_s))
        }
        Measure::LaneSlots => lane_slots(plan),
        Measure::Parked => memory::parked(plan),
        Measure::ParkedMib => match memory::parked(plan) {
            0.0 => 0.0,
            parked => parked * cost(CostKey::MemoryParkedKb)? * 1000.0 / MIB,
        },
        Measure::QueueMinute | Measure::QueueMinuteMib if plan.runs_per_s() == 0.0 => 0.0,
        Measure::QueueMinute => minute(CostKey::QueuedRunBytes)?,
        Measure::QueueMinuteMib => minute(CostKey::QueuedRunBytes)? / MIB,
        Measure::ScriptMs => greatest(plan.pipelines.iter().map(|group| group.script_ms)),
        Measure::RunHistoryMib => {
            let days = cost(CostKey::RunHistoryHours)? / 24.0;
            disk::run_bytes_per_day(plan, profile)? * days / MIB
        }
        Measure::JournalMinuteMib => {
            let commits = disk::commits_per_s(plan, profile)? * cost(CostKey::CommitBytes)?;
            let values = plan.stored_values_per_s() * cost(CostKey::WrittenValueBytes)?;
            (commits + values) * 60.0 / MIB
        }
        Measure::KeepYearMib => {
            let rows = disk::history(plan, profile);
            let kept = rows.into_iter().find(|row| row.retention == Retention::Keep);
            match kept {
                Some(row) => row.bytes_kept? / MIB,
                None => 0.0,
            }
        }
    })
}
