//! What each load and each mix sends and runs.
//!
//! 100 devices of 10 topics; each part of a mix has as many topics as its rate is of the devices'
//! values, spread over ten pipelines.
//!
//! **Invariants**
//! - The parts of a mix share no topic.
//! - A mix is not one of the loads, and no part alone is either.

use millrace_sizing::Plan;
use millrace_sizing::calibration::Load;
use millrace_sizing::plan::{DeviceGroup, Payload, PipelineGroup, Trigger};
use serde_json::Value;

use crate::scenario::bench::runs;
use crate::scenario::flows::{self, Class};
use crate::scenario::row::Row;

pub(super) const DEVICES: usize = 100;
pub(super) const TAGS: u32 = 10;
const TOPICS: u32 = DEVICES as u32 * TAGS;
/// Pipelines that share a part.
const PIPELINES: u32 = 10;
/// The loop of the script that the profile is made of: some 20 ms.
const TURNS: u64 = 400_000;
const WAIT_MS: f64 = 20.0;
/// Runs at both ends of the window may fall out of it.
const MISSING_MAX: f64 = 0.03;

/// A load, or a mix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mix {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    pub(super) values_per_s: f64,
    /// Values of a device in one socket write.
    pub(super) at_once: u16,
    parts: &'static [Part],
}

/// Runs of one class.
#[derive(Clone, Copy, Debug)]
struct Part {
    class: Class,
    runs_per_s: f64,
    turns: u64,
}

const fn part(class: Class, runs_per_s: f64) -> Part {
    Part { class, runs_per_s, turns: 0 }
}

const fn script(runs_per_s: f64, turns: u64) -> Part {
    Part { class: Class::Script, runs_per_s, turns }
}

const fn mix(
    name: &'static str,
    text: &'static str,
    values_per_s: f64,
    at_once: u16,
    parts: &'static [Part],
) -> Mix {
    Mix { name, text, values_per_s, at_once, parts }
}

/// What a profile is made of, as `millrace calibrate` measures it.
pub(super) const LOADS: [(Load, Mix); 7] = [
    (Load::Alone, mix("alone", "5,000 values/s alone", 5_000.0, 1, &[])),
    (Load::AloneFast, mix("alone-fast", "15,000 values/s alone", 15_000.0, 1, &[])),
    (Load::Bunched, mix("bunched", "40,000 values/s in twenties", 40_000.0, 20, &[])),
    (
        Load::PassThrough,
        mix("pass", "4,000 pass-through", 4_000.0, 1, &[part(Class::PassThrough, 4_000.0)]),
    ),
    (
        Load::InOrder,
        mix("in-order", "4,000 in order", 4_000.0, 1, &[part(Class::InOrder, 4_000.0)]),
    ),
    (Load::Waiting, mix("waits", "4,000 that wait", 4_000.0, 1, &[part(Class::Waits, 4_000.0)])),
    (Load::Script, mix("script", "20 scripts", 20.0, 1, &[script(20.0, TURNS)])),
];

/// What is estimated.
pub(super) const MIXES: [Mix; 8] = [
    mix(
        "small",
        "500 values/s, 50 pass-through, 2 scripts of 20 ms",
        500.0,
        1,
        &[part(Class::PassThrough, 50.0), script(2.0, TURNS)],
    ),
    mix(
        "plant",
        "10,000 values/s, 300 pass-through, 10 scripts of 20 ms",
        10_000.0,
        1,
        &[part(Class::PassThrough, 300.0), script(10.0, TURNS)],
    ),
    mix(
        "ingest",
        "15,000 values/s, 1,500 pass-through",
        15_000.0,
        1,
        &[part(Class::PassThrough, 1_500.0)],
    ),
    mix(
        "runs",
        "6,000 values/s, 3,000 pass-through, 1,200 in order",
        6_000.0,
        1,
        &[part(Class::PassThrough, 3_000.0), part(Class::InOrder, 1_200.0)],
    ),
    mix(
        "scripts",
        "3,000 values/s, 60 scripts of 5 ms, 10 of 20 ms",
        3_000.0,
        1,
        &[script(60.0, TURNS / 4), script(10.0, TURNS)],
    ),
    mix(
        "gateways",
        "40,000 values/s in twenties, 1,000 pass-through, 5 scripts of 20 ms",
        40_000.0,
        20,
        &[part(Class::PassThrough, 1_000.0), script(5.0, TURNS)],
    ),
    mix(
        "waiting",
        "3,000 values/s, 1,000 that wait, 500 pass-through",
        3_000.0,
        1,
        &[part(Class::Waits, 1_000.0), part(Class::PassThrough, 500.0)],
    ),
    mix(
        "all",
        "8,000 values/s, 2,000 pass-through, 500 in order, 200 that wait, 8 scripts of 20 ms",
        8_000.0,
        1,
        &[
            part(Class::PassThrough, 2_000.0),
            part(Class::InOrder, 500.0),
            part(Class::Waits, 200.0),
            script(8.0, TURNS),
        ],
    ),
];

impl Mix {
    /// Topics of a part.
    fn topics(&self, part: &Part) -> u32 {
        (part.runs_per_s / self.values_per_s * f64::from(TOPICS)).round().max(1.0) as u32
    }

    /// Runs per second of so many topics.
    fn runs_per_s(&self, topics: u32) -> f64 {
        self.values_per_s * f64::from(topics) / f64::from(TOPICS)
    }

    fn all_topics(&self) -> u32 {
        self.parts.iter().map(|part| self.topics(part)).sum()
    }

    /// The share of the values that start a run.
    pub(super) fn share(&self) -> f64 {
        f64::from(self.all_topics()) / f64::from(TOPICS)
    }

    /// The share of the runs that have a script.
    pub(super) fn script_share(&self) -> f64 {
        let scripts = self.parts.iter().filter(|part| part.class == Class::Script);
        let topics: u32 = scripts.map(|part| self.topics(part)).sum();
        f64::from(topics) / f64::from(self.all_topics().max(1))
    }

    /// Turns of the longest script.
    pub(super) fn turns(&self) -> u64 {
        self.parts.iter().map(|part| part.turns).max().unwrap_or(0)
    }

    /// Runs that did not come in a row, beyond those at its ends.
    pub(super) fn missing(&self, row: &Row) -> u64 {
        let due = row.report.window_offered as f64 * self.share() * (1.0 - MISSING_MAX);
        (due - 1.0 - runs(row)).max(0.0) as u64
    }

    /// The pipelines' documents.
    pub(super) fn documents(&self) -> Vec<Value> {
        let mut documents = Vec::new();
        let mut next = 0;
        for (number, part) in self.parts.iter().enumerate() {
            let first = next;
            next += self.topics(part);
            for pipeline in 0..PIPELINES {
                let own = (first..next).filter(|topic| topic % PIPELINES == pipeline);
                let filters: Vec<String> = own.map(topic).collect();
                if !filters.is_empty() {
                    let name = format!("mix-{}-{number}-{pipeline}", self.name);
                    documents.push(flows::document(part.class, &name, &filters, part.turns));
                }
            }
        }
        documents
    }

    /// What a planner would write down, a turn of a script's loop taking so long.
    pub(super) fn plan(&self, turn_ms: f64) -> Plan {
        let mut plan = Plan::example();
        plan.machine = None;
        plan.devices = vec![DeviceGroup {
            name: "Devices".to_owned(),
            count: DEVICES as f64,
            tags: f64::from(TAGS),
            interval_ms: 1_000.0 * f64::from(TOPICS) / self.values_per_s,
            at_once: f64::from(self.at_once),
            payload: Payload::Number,
            ..plan.devices.swap_remove(0)
        }];
        let like = plan.pipelines.swap_remove(0);
        let groups = self.parts.iter().enumerate().map(|(number, part)| PipelineGroup {
            name: format!("{} {number}", part.class.slug()),
            count: 1.0,
            runs_per_s: self.runs_per_s(self.topics(part)),
            script_ms: part.turns as f64 * turn_ms,
            waiting_ms: if part.class == Class::Waits { WAIT_MS } else { 0.0 },
            in_order: part.class == Class::InOrder,
            trigger: Trigger::Device,
            ..like.clone()
        });
        plan.pipelines = groups.collect();
        plan
    }
}

/// The name of a topic.
fn topic(number: u32) -> String {
    format!("lab/d{:04}/t{}", number % DEVICES as u32, number / DEVICES as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn filters(mix: &Mix) -> Vec<String> {
        let documents = mix.documents();
        let lists = documents.iter().filter_map(|document| {
            document.pointer("/steps/in/fields/filters")?.as_array().cloned()
        });
        lists.flatten().filter_map(|filter| filter.as_str().map(str::to_owned)).collect()
    }

    #[test]
    fn parts_share_no_topic_and_fit() {
        for mix in LOADS.iter().map(|(_, mix)| mix).chain(&MIXES) {
            let all = filters(mix);
            let different: HashSet<&String> = all.iter().collect();
            assert_eq!(different.len(), all.len(), "{}", mix.name);
            assert!(all.len() as u32 <= TOPICS, "{}: {}", mix.name, all.len());
        }
    }

    #[test]
    fn a_plan_says_what_is_deployed() {
        let mix = &MIXES[7];
        let plan = mix.plan(20.0 / TURNS as f64);
        assert_eq!(plan.check(), vec![]);
        assert!((plan.device_values_per_s() - 8_000.0).abs() < 1e-6);
        assert!((plan.runs_per_s() - 8_000.0 * mix.share()).abs() < 1e-6);
        let script = plan.pipelines.last().map(|group| (group.script_ms, group.runs_per_s));
        assert_eq!(script, Some((20.0, 8.0)));
    }

    #[test]
    fn a_part_has_the_topics_of_its_rate() {
        let runs = |mix: &Mix| filters(mix).len() as f64 * mix.values_per_s / f64::from(TOPICS);
        assert_eq!(runs(&MIXES[3]), 4_200.0);
        assert_eq!(runs(&LOADS[6].1), 20.0);
    }
}
