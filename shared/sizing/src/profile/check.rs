//! Whether a profile can be computed with.

use super::{Cost, CostKey, Profile};
use crate::problem::Problem;

/// No cost in any unit is larger.
const COST_MAX: f64 = 1e12;

impl Profile {
    /// All faults of the profile, none when it can be computed with.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut say = |at: String, sentence: &str| problems.push(Problem::new(at, sentence));
        for (at, text) in [
            ("name", &self.name),
            ("title", &self.title),
            ("product", &self.product),
            ("machine", &self.machine),
            ("measured", &self.measured),
            ("source", &self.source),
        ] {
            if text.trim().is_empty() {
                say(format!("profile.{at}"), "It is empty; a figure without a source is none.");
            }
        }
        for key in CostKey::ALL {
            let at = format!("profile.costs.{}", key.name());
            match self.costs.get(&key) {
                None => say(at, "It is missing; write null with a reason if nobody measured it."),
                Some(cost) if cost.source.trim().is_empty() => {
                    say(at, "It has no source.");
                }
                Some(Cost { value: Some(value), .. }) if !is_cost(*value) => {
                    say(at, "It is not a number from 0 up that can be computed with.");
                }
                Some(_) => {}
            }
        }
        if self.cost(CostKey::ValueUs).is_none() {
            let at = "profile.costs.value_us".to_owned();
            say(at, "Without the cost of a value nothing can be estimated.");
        }
        let rising = self.sizes.is_sorted_by(|a, b| a.logical_cores < b.logical_cores);
        let good = |size: &super::Size| {
            is_cost(size.logical_cores) && size.logical_cores > 0.0 && is_cost(size.memory_gb)
        };
        if self.sizes.is_empty() || !rising || !self.sizes.iter().all(good) {
            say("profile.sizes".to_owned(), "Give machines with rising numbers of cores.");
        }
        for (number, limit) in self.limits.iter().enumerate() {
            if !is_cost(limit.default) || limit.setting.is_empty() {
                say(format!("profile.limits[{number}]"), "It has no name or no good default.");
            }
        }
        problems
    }
}

fn is_cost(value: f64) -> bool {
    value.is_finite() && (0.0..=COST_MAX).contains(&value)
}
