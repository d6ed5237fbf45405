//! Plans of documents, and what is refused.

use super::*;
use crate::testing::NoScripts;
use serde_json::json;

fn plan(document: &serde_json::Value) -> Result<Plan, Vec<String>> {
    let document: Document = serde_json::from_value(document.clone()).unwrap();
    let (registry, states) = (crate::testing::registry(), States::default());
    let config = Config::new(1);
    let planner =
        Planner { registry: &registry, host: &NoScripts, states: &states, config: &config };
    let identity = Identity { number: 1, workspace: 1, revision: 1, name: "p".into() };
    planner
        .plan(&identity, &document)
        .map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

#[test]
fn steps_and_wires_become_numbers() {
    let plan = plan(&json!({
        "millrace": 1, "name": "p",
        "steps": {
            "t": { "kind": "uns.subscribe", "fields": { "filters": ["a/#"] } },
            "x": { "kind": "test.pass", "on_error": { "go_to": "z" } },
            "z": { "kind": "test.pass" }
        },
        "wires": [{ "from": "t", "to": "x" }]
    }))
    .unwrap();
    assert_eq!((plan.steps.len(), plan.triggers.len()), (3, 1));
    let number = |id| plan.step_number(id).unwrap();
    assert_eq!(&*plan.step(number("t")).unwrap().ports[0], &[number("x")]);
    assert_eq!(plan.step(number("x")).unwrap().on_fault, OnFault::GoTo(number("z")));
    assert!(plan.reach.can(number("t"), number("z")), "along the jump");
    assert!(!plan.reach.can(number("z"), number("t")));
    assert!(!plan.is_pinned && !plan.keeps_outputs && plan.unit.is_none());
}

#[test]
fn what_cannot_run_is_refused_with_the_step_named() {
    let with = |steps: serde_json::Value, wires: serde_json::Value| {
        plan(&json!({ "millrace": 1, "name": "p", "steps": steps, "wires": wires }))
            .unwrap_err()
            .join("\n")
    };
    let manual = json!({ "kind": "manual" });
    let pass = json!({ "kind": "test.pass" });
    for (steps, wires, reason) in [
        (json!({ "t": manual, "u": { "kind": "no.such" } }), json!([]), "step `u`: the kind"),
        (json!({ "t": manual }), json!([{ "from": "t", "to": "q" }]), "leads to `q`"),
        (json!({ "t": manual }), json!([{ "from": "q", "to": "t" }]), "no such step"),
        (
            json!({ "t": manual, "p": pass }),
            json!([{ "from": "t", "port": "no", "to": "p" }]),
            "no port `no`",
        ),
        (
            json!({ "t": manual, "a": pass, "b": pass }),
            json!([{ "from": "a", "to": "b" }, { "from": "b", "to": "a" }]),
            "cycle",
        ),
        (json!({ "p": pass }), json!([]), "no trigger"),
        (
            json!({ "t": manual, "p": { "kind": "test.pass", "on_error": { "go_to": "q" } } }),
            json!([]),
            "goes to the step `q`",
        ),
        (
            json!({ "t": { "kind": "uns.subscribe", "fields": { "filters": ["a/#/b"] } } }),
            json!([]),
            "step `t`, field `filters`",
        ),
        (
            json!({ "t": { "kind": "schedule", "fields": { "cron": "61 * * * *" } } }),
            json!([]),
            "step `t`, field `cron`",
        ),
    ] {
        let faults = with(steps, wires);
        assert!(faults.contains(reason), "{faults}");
    }
}

#[test]
fn a_thousand_steps_are_taken_and_no_more() {
    let with = |count: usize| {
        let mut steps = serde_json::Map::new();
        steps.insert("t".into(), json!({ "kind": "manual" }));
        for place in 1..count {
            steps.insert(format!("s{place}"), json!({ "kind": "test.pass" }));
        }
        plan(&json!({ "millrace": 1, "name": "p", "steps": steps }))
    };
    assert!(with(STEPS_MAX).is_ok());
    assert!(with(STEPS_MAX + 1).unwrap_err()[0].contains("more than 1000 steps"));
}
