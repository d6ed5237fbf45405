//! Rates of pipelines, from two looks at their counters.
//!
//! **Invariants**
//! - A counter that went back is that of a new start, and gives no rate.

use millrace_contract::v1;
use std::collections::HashMap;

/// What a pipeline does a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rate {
    /// Runs that end.
    pub(super) runs: f64,
    /// Percent of a core.
    pub(super) cpu_percent: f64,
}

/// The counters as they were, by pipeline.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    before: HashMap<String, (f64, u64, u64)>,
}

impl Counters {
    /// Takes the counters of a moment; gives the rates since the last one.
    pub(super) fn look(&mut self, at_s: f64, pipelines: &[v1::Pipeline]) -> HashMap<String, Rate> {
        let mut rates = HashMap::new();
        let mut now = HashMap::new();
        for pipeline in pipelines {
            let Some(activity) = &pipeline.activity else { continue };
            let counted = (at_s, activity.ended, activity.cpu_us);
            now.insert(pipeline.name.clone(), counted);
            let Some((then, ended, cpu_us)) = self.before.get(&pipeline.name).copied() else {
                continue;
            };
            let seconds = at_s - then;
            let more = (activity.ended.checked_sub(ended), activity.cpu_us.checked_sub(cpu_us));
            if let (Some(runs), Some(cpu)) = more
                && seconds > 0.0
            {
                let runs = runs as f64 / seconds;
                // Microseconds a second are ten-thousandths of a percent.
                let cpu_percent = cpu as f64 / seconds / 10_000.0;
                rates.insert(pipeline.name.clone(), Rate { runs, cpu_percent });
            }
        }
        self.before = now;
        rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline(ended: u64, cpu_us: u64) -> v1::Pipeline {
        let text = format!(
            r#"{{"number": 1, "workspace": "main", "name": "p", "description": "",
                "latest": {{"revision": 1, "at": "", "author": ""}},
                "activity": {{"ended": {ended}, "cpu_us": {cpu_us}}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn two_looks_give_a_rate_and_a_new_start_gives_none() {
        let mut counters = Counters::default();
        assert!(counters.look(10.0, &[pipeline(100, 5_000)]).is_empty());
        let rates = counters.look(15.0, &[pipeline(150, 55_000)]);
        assert_eq!(rates["p"], Rate { runs: 10.0, cpu_percent: 1.0 });
        assert!(counters.look(20.0, &[pipeline(3, 100)]).is_empty());
        assert!(counters.look(20.0, &[pipeline(3, 100)]).is_empty(), "no time has passed");
    }
}
