//! The pipelines that the lab deploys: the reference's classes as documents of ours.
//!
//! **Invariants**
//! - Each derived value is its source's number on the twin topic, `twin/<path>`, so that a
//!   subscriber and a read-back can tell where it came from.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::http::{Http, encode};

/// Derived values lie below this.
pub(crate) const TWIN: &str = "twin/";

/// A class of pipeline (the reference's names in our words).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub(crate) enum Class {
    /// Trigger, set one field, publish.
    PassThrough,
    /// Trigger, about 20 ms of arithmetic in a script, publish.
    Script,
    /// Trigger, wait 20 ms, publish.
    Waits,
    /// As pass-through, one at a time in the order of arrival.
    InOrder,
}

impl Class {
    /// Its key in results.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::PassThrough => "pass_through",
            Self::Script => "script",
            Self::Waits => "waits",
            Self::InOrder => "in_order",
        }
    }

    /// Its name in pipelines' names.
    pub(crate) fn slug(self) -> &'static str {
        match self {
            Self::PassThrough => "pass-through",
            Self::Script => "script",
            Self::Waits => "waits",
            Self::InOrder => "in-order",
        }
    }

    /// Runs a second to begin a climb at.
    pub(crate) fn first_rate(self) -> f64 {
        match self {
            Self::PassThrough | Self::Waits | Self::InOrder => 2_000.0,
            Self::Script => 20.0,
        }
    }
}

/// The document of a pipeline of this class on these tags. `turns` is the length of the script's
/// loop.
pub(crate) fn document(class: Class, name: &str, filters: &[String], turns: u64) -> Value {
    let middle = match class {
        Class::PassThrough | Class::InOrder => {
            json!({ "kind": "set", "fields": { "fields": { "line": "L1" } } })
        }
        Class::Script => {
            let source = format!(
                "let x = 1;\n\
                 for (let i = 0; i < {turns}; i++) x = x * 1.0000001 + (i & 3) - 1.5;\n\
                 return {{ value: $item.value, sum: x }};"
            );
            json!({ "kind": "javascript", "fields": { "code": source } })
        }
        Class::Waits => json!({ "kind": "wait", "fields": { "for_ms": 20 } }),
    };
    let order = if class == Class::InOrder { "in_order" } else { "parallel" };
    json!({
        "millrace": 1,
        "name": name,
        "settings": { "order": order },
        "steps": {
            "in": { "kind": "uns.subscribe", "fields": { "filters": filters } },
            "middle": middle,
            "out": {
                "kind": "uns.publish",
                "fields": { "path": format!("{TWIN}{{{{ $trigger.path }}}}"), "value": "{{ $item.value }}" }
            }
        },
        "wires": [
            { "from": "in", "port": "out", "to": "middle" },
            { "from": "middle", "port": "out", "to": "out" }
        ]
    })
}

/// Stores a document and deploys it, by the calls that the designer makes.
pub(crate) fn deploy(http: &mut Http, document: &Value) -> Result<()> {
    let name = document.get("name").and_then(Value::as_str).context("a document has a name")?;
    let at = format!("/api/v1/workspaces/main/pipelines/{}", encode(name));
    http.put_json(&at, &json!({ "document": document, "note": "lab" }))
        .with_context(|| format!("store the pipeline {name}"))?;
    http.post_json(&format!("{at}/deploy"), &json!({}))
        .with_context(|| format!("deploy the pipeline {name}"))?;
    Ok(())
}

/// Deploys `pipelines` documents of a class that share `devices` evenly; gives their names.
pub(crate) fn deploy_shared(
    http: &mut Http,
    class: Class,
    pipelines: u32,
    devices: u32,
    turns: u64,
) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for number in 0..pipelines {
        let name = format!("lab-{}-{number:02}", class.slug());
        let own = (0..devices).filter(|device| device % pipelines == number);
        let filters: Vec<String> = own.map(|device| format!("lab/d{device:04}/+")).collect();
        deploy(http, &document(class, &name, &filters, turns))?;
        names.push(name);
    }
    Ok(names)
}

/// Takes a pipeline out of service.
pub(crate) fn undeploy(http: &mut Http, name: &str) -> Result<()> {
    let at = format!("/api/v1/workspaces/main/pipelines/{}/undeploy", encode(name));
    http.post_json(&at, &json!({})).with_context(|| format!("undeploy the pipeline {name}"))?;
    Ok(())
}

/// What a deployed pipeline does, as its page shows it.
pub(crate) fn activity(http: &mut Http, name: &str) -> Result<Value> {
    let at = format!("/api/v1/workspaces/main/pipelines/{}", encode(name));
    let pipeline = http.get_json(&at).with_context(|| format!("look at the pipeline {name}"))?;
    let activity = pipeline.get("activity").filter(|activity| !activity.is_null()).cloned();
    activity.with_context(|| format!("find what the pipeline {name} does"))
}

/// A count of an activity; zero when it is not there.
pub(crate) fn count(activity: &Value, name: &str) -> u64 {
    activity.get(name).and_then(Value::as_u64).unwrap_or(0)
}

/// Runs that have begun or could: in the queue, computing, or waiting outside.
pub(crate) fn unfinished(http: &mut Http) -> Result<f64> {
    const PLACES: [&str; 3] = [
        "millrace_engine_queue_pending",
        "millrace_engine_queue_running",
        "millrace_engine_parked_runs",
    ];
    let answer = http.get("/metrics").context("read the metrics")?;
    let text = String::from_utf8_lossy(&answer.body);
    Ok(PLACES.iter().map(|name| sum(&text, name)).sum())
}

/// Sum of a metric over all its labels.
pub(crate) fn metric(http: &mut Http, name: &str) -> Result<f64> {
    let answer = http.get("/metrics").context("read the metrics")?;
    Ok(sum(&String::from_utf8_lossy(&answer.body), name))
}

/// Runs taken from the queue by now, and those of them that had waited a second at most.
pub(crate) fn queue_waits(http: &mut Http) -> Result<(f64, f64)> {
    const NAME: &str = "millrace_engine_queue_wait_seconds";
    let answer = http.get("/metrics").context("read the metrics")?;
    let text = String::from_utf8_lossy(&answer.body);
    Ok((sum(&text, &format!("{NAME}_count")), within(&text, NAME)))
}

/// The bucket of a second, over all other labels.
fn within(text: &str, name: &str) -> f64 {
    let bucket = format!("{name}_bucket{{");
    text.lines()
        .filter(|line| line.starts_with(&bucket) && line.contains("le=\"1\""))
        .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
        .sum()
}

fn sum(text: &str, name: &str) -> f64 {
    text.lines()
        .filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' '])))
        .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_a_metric_over_its_labels_and_no_longer_name() {
        let text = "# HELP a b\na{x=\"1\"} 2\na{x=\"2\"} 0.5\nab 7\na_total 9\n";
        assert_eq!(sum(text, "a"), 2.5);
    }

    #[test]
    fn adds_the_bucket_of_a_second_up() {
        let text = "w_bucket{priority=\"high\",le=\"1\"} 3\nw_bucket{priority=\"low\",le=\"1\"} 4\n\
                    w_bucket{priority=\"low\",le=\"10\"} 9\n";
        assert_eq!(within(text, "w"), 7.0);
    }

    #[test]
    fn a_document_names_its_twin_by_the_triggers_path() {
        let filters = ["lab/d0001/+".to_owned()];
        let document = document(Class::PassThrough, "p", &filters, 0);
        let path = document.pointer("/steps/out/fields/path").and_then(Value::as_str);
        assert_eq!(path, Some("twin/{{ $trigger.path }}"));
    }
}
