//! A profile from measurements: what a calibration has observed, turned into costs.
//!
//! Each observation is the median of several rounds of one load alone on an otherwise idle private
//! box. The costs are solved for in the order in which they depend on one another; what a calibration
//! does not measure (memory, disk, network, limits) is taken over from the profile that it starts from,
//! and says so.
//!
//! **Invariants**
//! - A cost is never negative: noise below nothing is taken as nothing.
//! - Observations that contradict one another give a sentence, not a profile.

pub mod lab;

use crate::problem::Problem;
use crate::profile::{Cost, CostKey, Profile};
use serde::{Deserialize, Serialize};

/// The loads, in the order in which they are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Values that come alone, at the rate from which on arrivals are gathered.
    Alone,
    /// The same, three times as many.
    AloneFast,
    /// Values that come many at once.
    Bunched,
    /// Each value starts a pass-through run.
    PassThrough,
    /// The same, in order.
    InOrder,
    /// Each value starts a run that waits 20 ms.
    Waiting,
    /// Each value starts a run that computes in a script.
    Script,
}

impl Load {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Alone,
        Self::AloneFast,
        Self::Bunched,
        Self::PassThrough,
        Self::InOrder,
        Self::Waiting,
        Self::Script,
    ];

    /// For people.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Alone => "values that come alone",
            Self::AloneFast => "three times as many",
            Self::Bunched => "values that come together",
            Self::PassThrough => "pass-through runs",
            Self::InOrder => "runs in order",
            Self::Waiting => "runs that wait",
            Self::Script => "runs with a script",
        }
    }
}

/// One load, measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Which.
    pub load: Load,
    /// Values per second that were stored for devices.
    pub values_per_s: f64,
    /// Values that a device sent at once.
    pub at_once: f64,
    /// Busy cores of the box.
    pub busy_cores: f64,
    /// Of them, cores that scripts took by the product's own account.
    pub script_cores: f64,
}

/// Where and when it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The machine, in a line.
    pub machine: String,
    /// The day, `2026-11-30`.
    pub measured: String,
    /// The product's version.
    pub version: String,
    /// How long it was measured, for the sources.
    pub method: String,
}

/// The costs of ingest, in us; arrivals per second from which on they are gathered.
struct Ingest {
    wake: f64,
    wakes_max: f64,
    message: f64,
    value: f64,
}

impl Ingest {
    /// Busy cores beside runs.
    fn cores(&self, values_per_s: f64, at_once: f64, more_wakes: f64) -> f64 {
        let sends = values_per_s / at_once;
        let wakes = (sends + more_wakes).min(self.wakes_max);
        (wakes * self.wake + sends * self.message + values_per_s * self.value) / 1e6
    }
}

/// A profile with the costs that the observations give.
///
/// # Errors
/// When an observation is missing, not a number, or contradicts the others.
pub fn profile(
    observations: &[Observation],
    base: &Profile,
    about: &About,
) -> Result<Profile, Vec<Problem>> {
    let problem = |sentence: String| vec![Problem::new("calibration", sentence)];
    let found = |load: Load| {
        let found = observations.iter().find(|one| one.load == load).copied();
        let found = found.ok_or_else(|| problem(format!("{:?} was not measured.", load)))?;
        let numbers = [found.values_per_s, found.at_once, found.busy_cores];
        let good = numbers.iter().all(|number| number.is_finite() && *number > 0.0);
        match good && found.script_cores.is_finite() && found.script_cores >= 0.0 {
            true => Ok(found),
            false => Err(problem(format!("What was measured of {load:?} is no number."))),
        }
    };
    let ingest = ingest(found(Load::Alone)?, found(Load::AloneFast)?, found(Load::Bunched)?, base)
        .map_err(problem)?;
    let cost = |key| base.cost(key).unwrap_or(0.0);
    let per_run = cost(CostKey::RunWakes);
    // CPU of a run beside its trigger and what it publishes.
    let run_us = |one: Observation| {
        let beside = ingest.cores(one.values_per_s, one.at_once, one.values_per_s * per_run);
        (one.busy_cores - one.script_cores - beside) * 1e6 / one.values_per_s - ingest.value
    };
    let pass = run_us(found(Load::PassThrough)?).max(0.0);
    let in_order = (run_us(found(Load::InOrder)?) - pass).max(0.0);
    let waiting = (run_us(found(Load::Waiting)?) - pass).max(0.0);
    let script = found(Load::Script)?;
    if script.script_cores <= 0.0 {
        return Err(problem("No script was executed while scripts were measured.".to_owned()));
    }
    let beside = (run_us(script) - pass).max(0.0) * script.values_per_s / 1e6;
    let factor = (script.script_cores + beside) / script.script_cores;
    let measured = [
        (CostKey::WakeUs, ingest.wake),
        (CostKey::MessageUs, ingest.message),
        (CostKey::ValueUs, ingest.value),
        (CostKey::PublishUs, ingest.value),
        (CostKey::RunUs, pass),
        (CostKey::InOrderUs, in_order),
        (CostKey::WaitingUs, waiting),
        (CostKey::ScriptFactor, factor),
    ];
    Ok(with(base, about, &measured))
}

/// Solves for the costs of ingest.
fn ingest(
    alone: Observation,
    fast: Observation,
    bunched: Observation,
    base: &Profile,
) -> Result<Ingest, String> {
    let wakes_max = base.cost(CostKey::WakesPerSMax).unwrap_or(0.0);
    let more = fast.values_per_s - alone.values_per_s.max(wakes_max);
    if more <= 0.0 {
        return Err("The faster load was not faster: the machine was too busy to measure.".into());
    }
    // Above `wakes_max` only the message and its value grow.
    let slow_cores = alone.busy_cores * alone.values_per_s.max(wakes_max) / alone.values_per_s;
    let one = (fast.busy_cores - slow_cores) * 1e6 / more;
    if one <= 0.0 {
        return Err("More values took no more CPU: the machine was too busy to measure.".into());
    }
    let wake = ((slow_cores * 1e6 - alone.values_per_s.max(wakes_max) * one) / wakes_max).max(0.0);
    let sends = bunched.values_per_s / bunched.at_once;
    let rest = bunched.busy_cores * 1e6 - sends.min(wakes_max) * wake - sends * one;
    let value = (rest / (bunched.values_per_s - sends)).clamp(0.0, one);
    Ok(Ingest { wake, wakes_max, message: one - value, value })
}

/// The base with what was measured in its place.
fn with(base: &Profile, about: &About, measured: &[(CostKey, f64)]) -> Profile {
    let mut profile = base.clone();
    profile.name = "box".to_owned();
    profile.title = format!("Millrace {} on this machine, by `millrace calibrate`", about.version);
    profile.product = "millrace".to_owned();
    profile.product_version.clone_from(&about.version);
    profile.machine.clone_from(&about.machine);
    profile.measured.clone_from(&about.measured);
    profile.source = about.method.clone();
    for (key, cost) in &mut profile.costs {
        cost.source = format!("Not calibrated, taken from '{}': {}", base.name, cost.source);
        if let Some((_, value)) = measured.iter().find(|(measured, _)| measured == key) {
            // Three digits after the point are finer than any measurement.
            let value = (value * 1000.0).round() / 1000.0;
            let source = format!("Measured here on {}: {}", about.measured, about.method);
            *cost = Cost { value: Some(value), source };
        }
    }
    profile
}

#[cfg(test)]
mod tests {
    use super::{About, Load, Observation, profile};
    use crate::plan::{PipelineGroup, Plan, Trigger};
    use crate::profile::{CostKey, Profile};

    fn about() -> About {
        About {
            machine: "a test".into(),
            measured: "2026-11-30".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            method: "three rounds".into(),
        }
    }

    /// What a box with exactly the costs of `profile` would be seen to do.
    fn observed(profile: &Profile) -> Vec<Observation> {
        let rates = [5_000.0, 15_000.0, 40_000.0, 4_000.0, 4_000.0, 4_000.0, 40.0];
        let all = Load::ALL.into_iter().zip(rates).map(|(load, per_s)| {
            let mut plan = Plan::example();
            plan.pipelines.truncate(1);
            plan.devices[0].count = per_s;
            plan.devices[0].tags = 1.0;
            let at_once = if load == Load::Bunched { 20.0 } else { 1.0 };
            plan.devices[0].at_once = at_once;
            let script_ms = if load == Load::Script { 5.0 } else { 0.0 };
            plan.pipelines[0] = PipelineGroup {
                count: 1.0,
                runs_per_s: per_s,
                trigger: Trigger::Device,
                in_order: load == Load::InOrder,
                waiting_ms: if load == Load::Waiting { 20.0 } else { 0.0 },
                script_ms,
                ..plan.pipelines[0].clone()
            };
            if load < Load::PassThrough {
                plan.pipelines.clear();
            }
            let busy_cores = crate::estimate(&plan, profile).unwrap().cpu.busy_cores;
            let script_cores = per_s * script_ms / 1000.0;
            Observation { load, values_per_s: per_s, at_once, busy_cores, script_cores }
        });
        all.collect()
    }

    #[test]
    fn finds_the_costs_that_the_observations_were_made_with() {
        let base = Profile::named("millrace").unwrap();
        let mut truth = base.clone();
        for (key, value) in [
            (CostKey::WakeUs, 21.0),
            (CostKey::MessageUs, 14.5),
            (CostKey::ValueUs, 0.75),
            (CostKey::PublishUs, 0.75),
            (CostKey::RunUs, 13.0),
            (CostKey::InOrderUs, 2.0),
            (CostKey::WaitingUs, 11.0),
            (CostKey::ScriptFactor, 1.04),
        ] {
            truth.costs.get_mut(&key).unwrap().value = Some(value);
        }
        let found = profile(&observed(&truth), &base, &about()).unwrap();
        for key in CostKey::ALL {
            let (found, truth) = (found.cost(key), truth.cost(key));
            let off = found.zip(truth).map_or(0.0, |(a, b)| (a - b).abs());
            assert!(off < 0.002, "{}: {found:?} is not {truth:?}", key.name());
        }
        assert_eq!((found.name.as_str(), found.check()), ("box", vec![]));
        assert!(found.source_of(CostKey::RunUs).contains("Measured here"));
        assert!(found.source_of(CostKey::MemoryTagKb).contains("taken from 'millrace'"));
    }

    #[test]
    fn refuses_what_contradicts_itself() {
        let base = Profile::named("millrace").unwrap();
        let good = observed(&base);
        let refused = |all: &[Observation], sentence: &str| {
            let problems = profile(all, &base, &about()).unwrap_err();
            assert!(problems[0].sentence.contains(sentence), "{problems:?}");
        };
        refused(&good[1..], "Alone was not measured");
        let mut bad = good.clone();
        bad[1].values_per_s = 4_000.0;
        refused(&bad, "not faster");
        let mut bad = good.clone();
        bad[1].busy_cores = bad[0].busy_cores / 2.0;
        refused(&bad, "no more CPU");
        let mut bad = good.clone();
        bad[3].busy_cores = f64::NAN;
        refused(&bad, "no number");
        let mut bad = good;
        bad[6].script_cores = 0.0;
        refused(&bad, "No script");
    }

    #[test]
    fn noise_below_nothing_is_nothing() {
        let base = Profile::named("millrace").unwrap();
        let mut noisy = observed(&base);
        noisy[4].busy_cores *= 0.9;
        let found = profile(&noisy, &base, &about()).unwrap();
        assert_eq!(found.cost(CostKey::InOrderUs), Some(0.0));
    }
}
