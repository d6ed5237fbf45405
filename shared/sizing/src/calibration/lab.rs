//! Observations out of the lab's result sets: `lab peers` for ingest, `lab pipelines` for runs.
//!
//! **Invariants**
//! - Rows that the lab itself calls invalid are left out; a load without a valid row is a fault.

use super::{About, Load, Observation};
use crate::problem::Problem;
use serde_json::Value;

/// Values that each of the clients of the load `bunched` has under way at once.
const BUNCHED_AT_ONCE: f64 = 20.0;

/// What a profile is made from, and where it was measured.
///
/// # Errors
/// When a result set is missing, or has no valid row of a load.
pub fn observations(results: &[Value]) -> Result<(Vec<Observation>, About), Vec<Problem>> {
    let of = |scenario: &str| {
        let found = results.iter().find(|result| text(result, "scenario") == scenario);
        found.ok_or_else(|| {
            vec![Problem::new("lab", format!("There is no result set of `lab {scenario}`."))]
        })
    };
    let (peers, pipelines) = (of("peers")?, of("pipelines")?);
    let mut all = Vec::new();
    let mut problems = Vec::new();
    for load in Load::ALL {
        let (name, found) = match load {
            Load::Alone => ("quiet", ingest(peers, "quiet", load, 1.0)),
            Load::AloneFast => ("plant", ingest(peers, "plant", load, 1.0)),
            Load::Bunched => ("bunched", ingest(peers, "bunched", load, BUNCHED_AT_ONCE)),
            Load::PassThrough => ("pass_through", runs(pipelines, "pass_through", load)),
            Load::InOrder => ("in_order", runs(pipelines, "in_order", load)),
            Load::Waiting => ("waits", runs(pipelines, "waits", load)),
            Load::Script => ("script", runs(pipelines, "script", load)),
        };
        match found {
            Some(found) => all.push(found),
            None => problems.push(Problem::new("lab", format!("`{name}` has no valid row."))),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let machine = peers.get("machine").unwrap_or(&Value::Null);
    let version = peers.get("build").map_or("", |build| text(build, "version"));
    let day = text(peers, "date").split('T').next().unwrap_or_default();
    let about = About {
        machine: format!(
            "{} with {} logical cores, server and load pinned apart",
            text(machine, "cpu"),
            number(machine, "cores").unwrap_or(0.0)
        ),
        measured: day.to_owned(),
        version: version.trim_start_matches("millrace ").to_owned(),
        method: "perf/lab, result sets peers and pipelines, medians of valid rows".to_owned(),
    };
    Ok((all, about))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, key: &str) -> Option<f64> {
    value.get(key).and_then(Value::as_f64)
}

/// The row in the middle, by busy cores, of the appliance's valid rows of a load.
fn ingest(peers: &Value, name: &str, load: Load, at_once: f64) -> Option<Observation> {
    let rows = peers.get(name)?.get("rows")?.as_array()?;
    let valid = rows.iter().filter(|row| {
        text(row, "server") == "appliance" && row.get("invalid").is_none_or(Value::is_null)
    });
    let read = |row: &Value| Some((number(row, "server_cpu_share")?, number(row, "stored_per_s")?));
    let mut found: Vec<(f64, f64)> = valid.filter_map(read).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (busy_cores, values_per_s) = found.get(found.len() / 2).copied()?;
    Some(Observation { load, values_per_s, at_once, busy_cores, script_cores: 0.0 })
}

fn runs(pipelines: &Value, name: &str, load: Load) -> Option<Observation> {
    let class = pipelines.get(name)?;
    let (per_s, us) = (number(class, "runs_per_s")?, number(class, "cpu_us_per_run")?);
    let script = number(class, "script_us_per_run").unwrap_or(0.0);
    Some(Observation {
        load,
        values_per_s: per_s,
        at_once: 1.0,
        busy_cores: per_s * us / 1e6,
        script_cores: per_s * script / 1e6,
    })
}

#[cfg(test)]
mod tests {
    use super::observations;
    use crate::calibration::profile;
    use crate::profile::{CostKey, Profile};
    use serde_json::{Value, json};

    fn row(per_s: f64, cores: f64, invalid: Value) -> Value {
        json!({ "server": "appliance", "stored_per_s": per_s, "server_cpu_share": cores,
                "invalid": invalid })
    }

    fn results() -> [Value; 2] {
        let floor = json!({ "server": "floor", "stored_per_s": 5_000, "server_cpu_share": 0.9 });
        let peers = json!({
            "scenario": "peers", "date": "2026-11-30T19:39:04Z",
            "machine": { "cpu": "AMD EPYC", "cores": 2 }, "build": { "version": "millrace 0.1.0" },
            "quiet": { "rows": [row(5_000.0, 0.21, Value::Null), floor,
                                row(5_000.0, 0.9, json!("the generator was late"))] },
            "plant": { "rows": [row(20_000.0, 0.385, Value::Null)] },
            "bunched": { "rows": [row(150_000.0, 0.37, Value::Null)] },
        });
        let class = |us: f64| {
            json!({ "runs_per_s": 8_000, "cpu_us_per_run": us,
                                      "script_us_per_run": null })
        };
        let pipelines = json!({
            "scenario": "pipelines", "pass_through": class(40.0), "in_order": class(39.0),
            "waits": class(48.7),
            "script": { "runs_per_s": 20, "cpu_us_per_run": 21_700, "script_us_per_run": 21_437 },
        });
        [peers, pipelines]
    }

    #[test]
    fn the_labs_results_become_a_profile() {
        let (all, about) = observations(&results()).unwrap();
        let base = Profile::named("millrace").unwrap();
        let made = profile(&all, &base, &about).unwrap();
        let near = |key, value: f64| {
            let found = made.cost(key).unwrap();
            assert!((found - value).abs() < 0.05 * value.max(1.0), "{key:?}: {found}");
        };
        // By hand: 0.175 cores for 15,000 more values, the rest of 0.21 for 5,000 arrivals.
        near(CostKey::WakeUs, 30.3);
        let (message, value) = (made.cost(CostKey::MessageUs), made.cost(CostKey::ValueUs));
        assert!((message.unwrap() + value.unwrap() - 11.667).abs() < 0.01);
        near(CostKey::WaitingUs, 8.7);
        near(CostKey::InOrderUs, 0.0);
        near(CostKey::ScriptFactor, 1.0);
        assert_eq!(
            (made.measured.as_str(), made.product_version.as_str()),
            ("2026-11-30", "0.1.0")
        );
        assert!(made.machine.contains("AMD EPYC with 2 logical cores"), "{}", made.machine);
    }

    #[test]
    fn what_has_no_valid_row_is_told() {
        let [peers, mut pipelines] = results();
        pipelines["script"]["cpu_us_per_run"] = Value::Null;
        let problems = observations(&[peers.clone(), pipelines]).unwrap_err();
        assert!(problems[0].sentence.contains("`script` has no valid row"), "{problems:?}");
        let problems = observations(&[peers]).unwrap_err();
        assert!(problems[0].sentence.contains("`lab pipelines`"), "{problems:?}");
    }
}
