//! A limit of the product: its setting, its default, and what of a plan is held against it.

use serde::{Deserialize, Serialize};

/// A limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The setting's name.
    pub setting: String,
    /// What it limits.
    pub what: String,
    /// What of a plan is held against it.
    pub measure: Measure,
    /// Its default; 0 = no limit.
    pub default: f64,
    /// Its unit, empty for a count.
    pub unit: String,
    /// What happens at the limit.
    pub at_limit: String,
}

/// What of a plan is held against a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Values per second of the busiest device.
    ClientRate,
    /// Values per second of all devices.
    WorkspaceRate,
    /// Devices and live subscribers.
    Clients,
    /// Topics of the device with the most.
    ClientTags,
    /// All topics.
    Tags,
    /// Bytes of the longest value.
    PayloadBytes,
    /// Messages that the busiest subscriber misses in a second.
    SubscriberSecond,
    /// Runs at once in the fullest lane, computing and waiting.
    LaneSlots,
    /// Runs that wait.
    Parked,
    /// MiB of runs that wait.
    ParkedMib,
    /// Bytes of the runs of a minute.
    QueueMinute,
    /// MiB of the runs of a minute.
    QueueMinuteMib,
    /// CPU of the longest script.
    ScriptMs,
    /// MiB of the history of runs.
    RunHistoryMib,
    /// MiB that the journal takes in a minute.
    JournalMinuteMib,
    /// MiB a year of topics that are kept without an age.
    KeepYearMib,
}
