//! A plan: what a plant sends, what is done with it, and the machine that it is meant for.
//!
//! Plans are documents: whatever serde reads (the command line TOML and JSON, the API JSON). All
//! numbers are `f64`, so that a form or a file with `-5` or `nan` is read and then refused with a
//! sentence instead of a type error.
//!
//! **Invariants**
//! - An unknown field is refused: a misspelled one would else be a silent default.
//! - A plan is only computed with after [`Plan::check`] has found nothing.

mod check;
#[cfg(test)]
mod tests;

pub use check::{
    FRACTION_MIN, GROUPS_MAX, INTERVAL_MS_MIN, NAME_CHARS_MAX, RATE_PER_S_MIN, RUNS_PER_S_MAX,
    TAGS_MAX, VALUES_PER_S_MAX,
};

use crate::problem::Problem;
use millrace_model::Retention;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the plan's form that this crate reads.
pub const PLAN_FORMAT: u32 = 1;

/// What a plant asks of a box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of the form, [`PLAN_FORMAT`].
    pub format: u32,
    /// What it is called, on the worksheet and in issues.
    pub name: String,
    /// Groups of devices that are alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceGroup>,
    /// Groups of pipelines that are alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pipelines: Vec<PipelineGroup>,
    /// Groups of live subscribers: programs and pages that are sent values as they come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subscribers: Vec<SubscriberGroup>,
    /// Groups of OPC UA items.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opcua: Vec<OpcUaGroup>,
    /// Groups of routes to other systems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RouteGroup>,
    /// The machine; without one only the smallest that fits is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// Settings that differ from their default, by name: `"admission.workspace_rate_per_s" = 60000`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, f64>,
}

/// Devices that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceGroup {
    /// What they are called.
    pub name: String,
    /// How many there are.
    pub count: f64,
    /// Topics of each.
    pub tags: f64,
    /// Milliseconds between two values of one topic.
    pub interval_ms: f64,
    /// Values that a device hands to the network at once, one message each. A device that sends
    /// each value alone has 1, a gateway that sends 20 messages in one go has 20.
    #[serde(default = "one")]
    pub at_once: f64,
    /// What a value is.
    #[serde(default)]
    pub payload: Payload,
    /// Bytes of a value that is text or structured; numbers and bools need none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_bytes: Option<f64>,
    /// How long their history is kept.
    #[serde(default)]
    pub retention: Retention,
}

/// What a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payload {
    /// A number.
    #[default]
    Number,
    /// True or false.
    Bool,
    /// Text.
    Text,
    /// An object or list, stored as one value.
    Structured,
}

impl Payload {
    /// Whether the plan has to say how long a value is.
    #[must_use]
    pub fn has_length(self) -> bool {
        matches!(self, Self::Text | Self::Structured)
    }
}

/// Pipelines that are alike. One that neither computes nor waits passes values through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipelineGroup {
    /// What they are called.
    pub name: String,
    /// How many there are.
    pub count: f64,
    /// Runs per second of each.
    pub runs_per_s: f64,
    /// Milliseconds that a run's scripts compute.
    #[serde(default)]
    pub script_ms: f64,
    /// Milliseconds that a run waits for a timer, an answer or a device.
    #[serde(default)]
    pub waiting_ms: f64,
    /// Whether runs go one at a time, in the order of arrival.
    #[serde(default)]
    pub in_order: bool,
    /// Where the value that starts a run is counted.
    #[serde(default)]
    pub trigger: Trigger,
    /// Values that a run publishes.
    #[serde(default = "one")]
    pub publishes: f64,
    /// How much of each run is kept.
    #[serde(default)]
    pub history: Detail,
    /// Its lane.
    #[serde(default)]
    pub priority: Priority,
    /// How long the history of what it publishes is kept.
    #[serde(default)]
    pub retention: Retention,
}

/// Where the value that starts a run is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// With the run, on top of the devices' values: never too small, and as the published method
    /// counts.
    #[default]
    Separate,
    /// Among the values of the groups of devices: nothing is counted twice.
    Device,
    /// There is none: a schedule, a call or a person starts it.
    Timer,
}

/// How much of a run is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// How it ended.
    Minimal,
    /// Also each step's status and time.
    #[default]
    Standard,
    /// Also each step's data.
    Full,
}

/// The lane of a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Before the others.
    High,
    /// The usual one.
    #[default]
    Normal,
    /// When the others have nothing.
    Low,
}

/// Live subscribers that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubscriberGroup {
    /// What they are called.
    pub name: String,
    /// How many there are.
    pub count: f64,
    /// Values per second that each is sent.
    pub values_per_s: f64,
}

/// OPC UA items that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpcUaGroup {
    /// What they are called.
    pub name: String,
    /// How many there are.
    pub items: f64,
    /// Milliseconds between two updates of one.
    pub interval_ms: f64,
}

/// Routes that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteGroup {
    /// What they are called.
    pub name: String,
    /// How many there are.
    pub count: f64,
    /// Values per second that each passes on.
    pub values_per_s: f64,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What it is called.
    pub name: String,
    /// Physical cores.
    pub cores: f64,
    /// Whether each core runs two hardware threads.
    pub hyper_threads: bool,
    /// Memory that the appliance may use.
    pub memory_gb: f64,
    /// Disk for its data.
    pub disk_gb: f64,
    /// Write operations per second that the disk does; unknown = not judged, and said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
}

fn one() -> f64 {
    1.0
}

impl Plan {
    /// Reads a plan from JSON and checks it.
    ///
    /// # Errors
    /// A sentence for each fault.
    pub fn from_json(text: &str) -> Result<Self, Vec<Problem>> {
        let plan: Self = serde_json::from_str(text)
            .map_err(|error| vec![Problem::new("plan", format!("It cannot be read: {error}."))])?;
        let problems = plan.check();
        if problems.is_empty() { Ok(plan) } else { Err(problems) }
    }

    /// A plan with nothing in it but its name, to build on.
    #[must_use]
    pub fn empty(name: &str) -> Self {
        Self {
            format: PLAN_FORMAT,
            name: name.to_owned(),
            devices: Vec::new(),
            pipelines: Vec::new(),
            subscribers: Vec::new(),
            opcua: Vec::new(),
            routes: Vec::new(),
            machine: None,
            settings: BTreeMap::new(),
        }
    }

    /// The published worked example: 400 devices of 25 tags each, every one once a second, 300
    /// pass-through pipelines and 10 of 20 ms script once a second each, on 4 vCPU.
    #[must_use]
    pub fn example() -> Self {
        let pipelines = |name: &str, count: f64, script_ms: f64| PipelineGroup {
            name: name.to_owned(),
            count,
            runs_per_s: 1.0,
            script_ms,
            waiting_ms: 0.0,
            in_order: false,
            trigger: Trigger::Separate,
            publishes: 1.0,
            history: Detail::Standard,
            priority: Priority::Normal,
            retention: Retention::Days1,
        };
        Self {
            devices: vec![DeviceGroup {
                name: "Devices".to_owned(),
                count: 400.0,
                tags: 25.0,
                interval_ms: 1000.0,
                at_once: 1.0,
                payload: Payload::Number,
                payload_bytes: None,
                retention: Retention::Days1,
            }],
            pipelines: vec![
                pipelines("Pass-through", 300.0, 0.0),
                pipelines("20 ms of script", 10.0, 20.0),
            ],
            machine: Some(Machine {
                name: "4 vCPU".to_owned(),
                cores: 2.0,
                hyper_threads: true,
                memory_gb: 8.0,
                disk_gb: 100.0,
                iops: Some(10_000.0),
            }),
            ..Self::empty("Worked example")
        }
    }

    /// Values per second that devices and OPC UA items send.
    #[must_use]
    pub fn device_values_per_s(&self) -> f64 {
        let opcua = self.opcua.iter().map(|group| group.updates_per_s()).sum::<f64>();
        self.devices.iter().map(DeviceGroup::values_per_s).sum::<f64>() + opcua
    }

    /// Values per second that come in: the devices', and those that start runs and are counted with
    /// them.
    #[must_use]
    pub fn incoming_values_per_s(&self) -> f64 {
        let separate = self.pipelines.iter().filter(|group| group.trigger == Trigger::Separate);
        self.device_values_per_s() + separate.map(PipelineGroup::total_runs_per_s).sum::<f64>()
    }

    /// Values per second that are stored: what comes in and what pipelines publish.
    #[must_use]
    pub fn stored_values_per_s(&self) -> f64 {
        let published = self.pipelines.iter().map(PipelineGroup::published_per_s).sum::<f64>();
        self.incoming_values_per_s() + published
    }

    /// Runs per second of all pipelines.
    #[must_use]
    pub fn runs_per_s(&self) -> f64 {
        self.pipelines.iter().map(PipelineGroup::total_runs_per_s).sum()
    }

    /// All topics that devices, OPC UA items and pipelines have: a pipeline publishes at least one.
    #[must_use]
    pub fn tags(&self) -> f64 {
        let devices = self.devices.iter().map(|group| group.count * group.tags).sum::<f64>();
        let opcua = self.opcua.iter().map(|group| group.items).sum::<f64>();
        let derived = self.pipelines.iter().map(|group| group.count * group.publishes).sum::<f64>();
        devices + opcua + derived
    }

    /// Devices that are connected over MQTT.
    #[must_use]
    pub fn device_count(&self) -> f64 {
        self.devices.iter().map(|group| group.count).sum()
    }
}

impl DeviceGroup {
    /// Values per second of the group.
    #[must_use]
    pub fn values_per_s(&self) -> f64 {
        self.count * self.tags * 1000.0 / self.interval_ms
    }

    /// How often per second the group hands something to the network.
    #[must_use]
    pub fn messages_per_s(&self) -> f64 {
        self.values_per_s() / self.at_once
    }

    /// Bytes of a value that is not a number or a bool.
    #[must_use]
    pub fn length(&self) -> f64 {
        if self.payload.has_length() { self.payload_bytes.unwrap_or(0.0) } else { 0.0 }
    }
}

impl PipelineGroup {
    /// Runs per second of the group.
    #[must_use]
    pub fn total_runs_per_s(&self) -> f64 {
        self.count * self.runs_per_s
    }

    /// Values per second that the group publishes.
    #[must_use]
    pub fn published_per_s(&self) -> f64 {
        self.total_runs_per_s() * self.publishes
    }

    /// Runs per second whose trigger is counted with them.
    #[must_use]
    pub fn separate_per_s(&self) -> f64 {
        if self.trigger == Trigger::Separate { self.total_runs_per_s() } else { 0.0 }
    }

    /// Runs per second that the history keeps: one successful run per second and pipeline.
    #[must_use]
    pub fn kept_runs_per_s(&self) -> f64 {
        self.count * self.runs_per_s.min(1.0)
    }
}

impl SubscriberGroup {
    /// Deliveries per second of the group.
    #[must_use]
    pub fn deliveries_per_s(&self) -> f64 {
        self.count * self.values_per_s
    }
}

impl OpcUaGroup {
    /// Updates per second of the group.
    #[must_use]
    pub fn updates_per_s(&self) -> f64 {
        self.items * 1000.0 / self.interval_ms
    }
}

impl RouteGroup {
    /// Values per second that the group passes on.
    #[must_use]
    pub fn total_per_s(&self) -> f64 {
        self.count * self.values_per_s
    }
}

impl Machine {
    /// Logical cores (vCPU): what the operating system counts.
    #[must_use]
    pub fn logical_cores(&self) -> f64 {
        self.cores * if self.hyper_threads { 2.0 } else { 1.0 }
    }
}
