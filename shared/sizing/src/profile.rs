//! A cost profile: what each thing costs on one machine, where each figure comes from, and the
//! limits and defaults of the product that was measured.
//!
//! Two come with the crate: `reference`, a published measurement of another product, and
//! `millrace`, the lab's own. Others are files, such as the one that a calibration writes.
//!
//! **Invariants**
//! - Every key of [`CostKey`] is there; a cost that nobody measured is `null` with a sentence, never
//!   zero.
//! - A profile of another format is refused.

mod builtin;
mod check;
mod key;
mod limit;
#[cfg(test)]
mod tests;

pub use key::CostKey;
pub use limit::{Limit, Measure};

use crate::problem::Problem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the profile's form that this crate reads and writes.
pub const PROFILE_FORMAT: u32 = 1;
/// Names of the profiles that come with the crate.
pub const BUILTIN: [&str; 2] = ["millrace", "reference"];

/// A cost profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Version of the form, [`PROFILE_FORMAT`].
    pub format: u32,
    /// Its short name.
    pub name: String,
    /// What was measured, in a line.
    pub title: String,
    /// The product that was measured: `millrace` or another.
    pub product: String,
    /// Its version.
    pub product_version: String,
    /// The machine that it was measured on.
    pub machine: String,
    /// The day, `2026-11-30`.
    pub measured: String,
    /// Where the figures are published or how they were taken.
    pub source: String,
    /// What each thing costs.
    pub costs: BTreeMap<CostKey, Cost>,
    /// Machines, smallest first, among which the smallest that fits is looked for.
    pub sizes: Vec<Size>,
    /// The product's limits and defaults.
    pub limits: Vec<Limit>,
    /// What was not measured, a sentence each.
    pub not_covered: Vec<String>,
}

/// A figure and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The figure; `None` = nobody measured it.
    pub value: Option<f64>,
    /// Where it comes from, or why there is none.
    pub source: String,
}

/// A machine that there is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// What it is called.
    pub name: String,
    /// Logical cores (vCPU).
    pub logical_cores: f64,
    /// Its memory.
    pub memory_gb: f64,
}

impl Profile {
    /// A figure, if it was measured.
    #[must_use]
    pub fn cost(&self, key: CostKey) -> Option<f64> {
        self.costs.get(&key).and_then(|cost| cost.value)
    }

    /// Where a figure comes from.
    #[must_use]
    pub fn source_of(&self, key: CostKey) -> &str {
        self.costs.get(&key).map_or("", |cost| &cost.source)
    }

    /// The limit with this setting's name.
    #[must_use]
    pub fn limit(&self, setting: &str) -> Option<&Limit> {
        self.limits.iter().find(|limit| limit.setting == setting)
    }

    /// One of [`BUILTIN`].
    ///
    /// # Errors
    /// When there is none of that name; the sentence says which there are.
    pub fn named(name: &str) -> Result<Self, Vec<Problem>> {
        match builtin::text(name) {
            Some(text) => Self::from_json(text),
            None => Err(vec![Problem::new(
                "profile",
                format!("There is no profile '{name}'; there are {}.", BUILTIN.join(" and ")),
            )]),
        }
    }

    /// Reads a profile from JSON and checks it.
    ///
    /// # Errors
    /// A sentence for each fault.
    pub fn from_json(text: &str) -> Result<Self, Vec<Problem>> {
        let fault = |error: serde_json::Error| {
            vec![Problem::new("profile", format!("It cannot be read: {error}."))]
        };
        // The format first: another version's fields would else be called unknown.
        let format: Format = serde_json::from_str(text).map_err(fault)?;
        if format.format != PROFILE_FORMAT {
            return Err(vec![Problem::new(
                "profile.format",
                format!(
                    "The profile has format {}; this version reads {PROFILE_FORMAT}. Measure \
                     again with `millrace calibrate`, or use the version that wrote it.",
                    format.format
                ),
            )]);
        }
        let profile: Self = serde_json::from_str(text).map_err(fault)?;
        let problems = profile.check();
        if problems.is_empty() { Ok(profile) } else { Err(problems) }
    }

    /// Writes it as JSON that [`Profile::from_json`] reads.
    #[must_use]
    pub fn to_json(&self) -> String {
        // A map of names to finite numbers always has a JSON form.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// The one field that every version has.
#[derive(Deserialize)]
struct Format {
    format: u32,
}
