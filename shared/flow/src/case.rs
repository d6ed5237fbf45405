//! Test cases: stored with the pipeline, run without the plant.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// One case: triggers in, expected effects out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it shows.
    pub name: String,
    /// What was known before: last values by path, variables by name.
    #[serde(default, skip_serializing_if = "Given::is_empty")]
    pub given: Given,
    /// The triggers, in order.
    pub when: Vec<When>,
    /// What must have happened after all of them, in order.
    pub then: Vec<Expected>,
}

/// What was known before the first trigger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Given {
    /// Last values by tag path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub last: BTreeMap<String, Value>,
    /// Variables by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, Value>,
    /// What stubbed outside steps answer, by step id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, Value>,
    /// Outside steps that are not reached, each time they are tried, by step id: the reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub faults: BTreeMap<String, String>,
}

impl Given {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One trigger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The trigger step's id.
    pub trigger: String,
    /// Milliseconds after the case's start, on the case's own clock.
    #[serde(default)]
    pub at_ms: u64,
    /// Fields of `$trigger` (a value trigger: `path`, `value`, and if wanted `time`, `quality`).
    #[serde(default)]
    pub with: Value,
}

/// One expected effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Expected {
    /// A value is published on this path.
    Publish {
        /// The tag's path.
        path: String,
        /// Its value.
        value: Value,
    },
    /// An outside step is called with these fields (those named are compared).
    Call {
        /// The step's id.
        step: String,
        /// Some of its evaluated fields.
        #[serde(default)]
        with: BTreeMap<String, Value>,
    },
    /// A variable has this value at the end.
    Variable {
        /// Its name.
        name: String,
        /// Its value.
        value: Value,
    },
    /// An issue is raised (true) or cleared (false).
    Issue {
        /// Its key.
        key: String,
        /// Raised or cleared.
        raised: bool,
    },
    /// The run of the n-th trigger (0 first) fails, with this text in its reason.
    Fails {
        /// Which.
        run: usize,
        /// A part of the reason.
        reason: String,
    },
    /// Nothing else is published or called than what stands before this.
    NothingElse,
}
