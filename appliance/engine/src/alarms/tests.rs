//! Issues: how the engine's own come and go, and which runs the box's issues start.

use crate::Config;
use crate::engine::{AskFault, Asking};
use crate::testing::{Plant, next_deed, noted, wires};
use millrace_flow::Data;
use millrace_supervisor::{Issue, Severity};
use serde_json::{Value as Json, json};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
/// A little longer than an issue stays without a new event.
const QUIET: Duration = Duration::from_secs(601);

fn watcher(fields: &Json) -> Json {
    json!({
        "steps": {
            "seen": { "kind": "issue", "fields": fields },
            "note": { "kind": "test.note" }
        },
        "wires": wires(&["seen > note"])
    })
}

fn raise(plant: &Plant, key: &str, severity: Severity) {
    let text = |text: &str| text.to_owned();
    let (what, effect, remedy) = (text("w"), text("e"), text("r"));
    plant.issues.raise(Issue { key: key.to_owned(), severity, what, effect, remedy });
}

/// Lets the engine look at the issues; what the runs that they started were told.
fn look(plant: &mut Plant) -> Vec<(bool, String)> {
    plant.advance(SECOND);
    plant.settle();
    let told = |(_, data): (String, Data)| {
        let severity = data.get("severity").as_text().unwrap().to_owned();
        (data.get("raised") == &Data::Bool(true), severity)
    };
    noted().into_iter().map(told).collect()
}

/// Value on `in/#`, then these steps one after the other.
fn on_value(settings: &Json, steps: &[(&str, Json)]) -> Json {
    let mut all = json!({
        "start": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } }
    });
    let mut list = Vec::new();
    let mut before = "start";
    for (name, step) in steps {
        all[name] = step.clone();
        list.push(format!("{before} > {name}"));
        before = name;
    }
    let list: Vec<&str> = list.iter().map(String::as_str).collect();
    json!({ "settings": settings, "steps": all, "wires": wires(&list) })
}

fn severity_of(plant: &Plant, key: &str) -> Option<Severity> {
    let list = plant.issues.list();
    list.into_iter().find(|issue| issue.key == key).map(|issue| issue.severity)
}

#[test]
fn an_issue_that_becomes_worse_starts_what_waits_for_that() {
    let mut plant = Plant::new();
    plant.deploy(1, watcher(&json!({ "on": "both", "severity_min": "critical" })));
    assert!(look(&mut plant).is_empty());
    raise(&plant, "disk-low", Severity::Warning);
    assert!(look(&mut plant).is_empty(), "not bad enough");
    raise(&plant, "disk-low", Severity::Critical);
    assert_eq!(look(&mut plant), [(true, "critical".to_owned())]);
    raise(&plant, "disk-low", Severity::Critical);
    assert!(look(&mut plant).is_empty(), "it was that bad before");
    raise(&plant, "disk-low", Severity::Warning);
    assert_eq!(look(&mut plant), [(false, "warning".to_owned())], "it fell below");
    plant.issues.clear("disk-low");
    assert!(look(&mut plant).is_empty(), "it was below already");
}

#[test]
fn an_issue_that_comes_and_goes_between_two_looks_starts_its_runs() {
    let mut plant = Plant::new();
    plant.deploy(1, watcher(&json!({ "on": "both" })));
    assert!(look(&mut plant).is_empty());
    raise(&plant, "disk-low", Severity::Warning);
    plant.issues.clear("disk-low");
    let told = look(&mut plant);
    assert_eq!(told, [(true, "warning".to_owned()), (false, "warning".to_owned())]);
}

#[test]
fn a_run_for_an_issue_that_the_journal_does_not_take_is_asked_for_again() {
    let mut plant = Plant::new();
    plant.deploy(1, watcher(&json!({})));
    assert!(look(&mut plant).is_empty());
    plant.set_full(true);
    raise(&plant, "disk-low", Severity::Critical);
    assert!(look(&mut plant).is_empty());
    assert!(look(&mut plant).is_empty());
    plant.set_full(false);
    assert_eq!(look(&mut plant), [(true, "critical".to_owned())], "once");
    assert!(look(&mut plant).is_empty());
}

#[test]
fn runs_that_wait_for_the_journal_are_limited_and_go_with_their_pipeline() {
    let mut plant = Plant::new();
    plant.deploy(1, watcher(&json!({})));
    assert!(look(&mut plant).is_empty());
    plant.set_full(true);
    for _ in 0..3 {
        for _ in 0..400 {
            raise(&plant, "flaps", Severity::Warning);
            plant.issues.clear("flaps");
        }
        assert!(look(&mut plant).is_empty());
    }
    assert_eq!(plant.engine.core.alarms.lock().wishes.len(), super::WISHES_MAX);
    plant.undeploy(1);
    assert!(plant.engine.core.alarms.lock().wishes.is_empty());
}

#[test]
fn pipelines_that_start_one_another_over_issues_are_stopped() {
    let echo = |of: &str| {
        json!({
            "steps": {
                "go": { "kind": "manual" },
                "seen": { "kind": "issue", "fields": { "keys": [format!("pipeline:{of}:x")] } },
                "note": { "kind": "test.note" },
                "raise": { "kind": "issue.raise", "fields": { "key": "x", "what": "w" } },
                "clear": { "kind": "issue.clear", "fields": { "key": "x" } }
            },
            "wires": wires(&["go > note", "seen > note", "note > raise", "raise > clear"])
        })
    };
    let mut plant = Plant::new();
    plant.deploy(1, echo("p2"));
    plant.deploy(2, echo("p1"));
    assert!(look(&mut plant).is_empty());
    plant.run(2, &json!({}));
    for _ in 0..30 {
        plant.advance(SECOND);
        plant.settle();
    }
    assert_eq!(noted().len(), 8, "the first and seven more");
    let issue = plant.issues.list().remove(0);
    assert_eq!(issue.key, "pipeline-loop:2");
    assert!(issue.what.contains("through 8 pipelines"), "{}", issue.what);
    plant.advance(QUIET);
    assert!(!plant.issues.is_open("pipeline-loop:2"), "cleared when it is over");
}

#[test]
fn the_text_of_a_loop_tells_the_limit_that_is_set() {
    let mut config = Config::new(1);
    config.hops_max = 3;
    let mut plant = Plant::with(config);
    let publish = json!({ "kind": "uns.publish", "fields": { "path": "in/again" } });
    plant.deploy(1, on_value(&json!({}), &[("publish", publish)]));
    plant.device("in/a", 1);
    plant.settle();
    assert_eq!(plant.ints("in/again").len(), 3);
    plant.advance(SECOND);
    let issue = plant.issues.list().remove(0);
    assert!(issue.what.contains("through 3 pipelines"), "{}", issue.what);
    let asking = Asking {
        pipeline: 1,
        trigger: Some("start".into()),
        input: Data::Null,
        is_manual: false,
        hops: 3,
    };
    assert_eq!(plant.engine.ask(&asking).unwrap_err(), AskFault::Loop(3));
}

#[test]
fn undeploying_clears_what_the_pipeline_raised() {
    let raising = json!({ "kind": "issue.raise", "fields": { "key": "hot", "what": "w" } });
    let mut plant = Plant::new();
    plant.deploy(
        1,
        on_value(&json!({}), &[("do", json!({ "kind": "test.do" })), ("raise", raising)]),
    );
    plant.device("in/a", 1);
    plant.settle();
    raise(&plant, "pipeline:p10:hot", Severity::Warning);
    assert!(plant.issues.is_open("pipeline:p1:hot"));
    plant.undeploy(1);
    assert!(!plant.issues.is_open("pipeline:p1:hot"));
    assert!(plant.issues.is_open("pipeline:p10:hot"), "another's");
    // One that is being executed while its pipeline is undeployed.
    let raising = json!({ "kind": "issue.raise", "fields": { "key": "hot", "what": "w" } });
    plant.deploy(
        1,
        on_value(&json!({}), &[("do", json!({ "kind": "test.do" })), ("raise", raising)]),
    );
    let engine = plant.engine.clone();
    next_deed(move || assert!(engine.undeploy(1)));
    plant.device("in/a", 2);
    plant.settle();
    assert!(!plant.issues.is_open("pipeline:p1:hot"), "nobody would clear it");
}

#[test]
fn shed_runs_are_an_issue_until_none_was_shed_for_ten_minutes() {
    let mut config = Config::new(1);
    config.queue_bytes_max = 100 * 256;
    let mut plant = Plant::with(config);
    plant.deploy(1, on_value(&json!({}), &[("note", json!({ "kind": "test.note" }))]));
    for value in 0..150 {
        plant.device("in/a", value);
    }
    plant.settle();
    plant.advance(SECOND);
    let issue = plant.issues.list().remove(0);
    assert_eq!(issue.key, "runs-shed:1");
    assert!(issue.what.contains("55 runs of the pipeline `p1` were shed"), "{}", issue.what);
    plant.advance(QUIET);
    assert!(!plant.issues.is_open("runs-shed:1"));
}

#[test]
fn a_script_at_its_limit_is_critical_after_ten_kills_and_clears() {
    let script = json!({ "kind": "javascript", "fields": { "code": "return kill;" } });
    let mut plant = Plant::new();
    plant.deploy(1, on_value(&json!({}), &[("script", script)]));
    for kill in 1..=10 {
        plant.device("in/a", kill);
        plant.settle();
        plant.advance(SECOND);
        let expected = if kill < 10 { Severity::Warning } else { Severity::Critical };
        assert_eq!(severity_of(&plant, "script-at-limit:1"), Some(expected), "kill {kill}");
        // The pause after it.
        plant.advance(Duration::from_secs(60));
    }
    plant.advance(QUIET);
    assert_eq!(severity_of(&plant, "script-at-limit:1"), None);
}

#[test]
fn undeploying_clears_the_engines_own_issues_of_a_pipeline() {
    let script = json!({ "kind": "javascript", "fields": { "code": "return kill;" } });
    let mut plant = Plant::new();
    plant.deploy(1, on_value(&json!({}), &[("script", script)]));
    plant.device("in/a", 1);
    plant.settle();
    plant.advance(SECOND);
    assert!(plant.issues.is_open("script-at-limit:1"));
    plant.undeploy(1);
    assert!(plant.issues.list().is_empty());
}
