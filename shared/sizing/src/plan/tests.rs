//! Bad plans are refused with sentences.

use super::{Plan, SubscriberGroup};

fn refused(change: impl FnOnce(&mut Plan), at: &str, sentence: &str) {
    let mut plan = Plan::example();
    change(&mut plan);
    let problems = plan.check();
    let found = problems.iter().any(|one| one.at == at && one.sentence.contains(sentence));
    assert!(found, "no '{sentence}' at {at} in {problems:?}");
}

#[test]
fn the_example_is_good_and_comes_back_from_json() {
    let plan = Plan::example();
    assert_eq!(plan.check(), []);
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(Plan::from_json(&text).unwrap(), plan);
}

#[test]
fn refuses_numbers_that_cannot_be() {
    refused(|plan| plan.devices[0].interval_ms = 0.0, "devices[0].interval_ms", "It is zero");
    refused(|plan| plan.devices[0].count = -3.0, "devices[0].count", "negative; give at least 1");
    refused(|plan| plan.devices[0].count = 1.5, "devices[0].count", "not a whole number");
    refused(|plan| plan.devices[0].tags = f64::NAN, "devices[0].tags", "not a number");
    refused(|plan| plan.pipelines[0].runs_per_s = 0.0, "pipelines[0].runs_per_s", "It is zero");
    refused(|plan| plan.pipelines[0].runs_per_s = -0.1, "pipelines[0].runs_per_s", "negative");
    refused(|plan| plan.pipelines[0].script_ms = -1.0, "pipelines[0].script_ms", "give 0, or");
    refused(|plan| plan.pipelines[1].waiting_ms = 1e9, "pipelines[1].waiting_ms", "at most");
    refused(|plan| plan.machine.as_mut().unwrap().cores = 0.0, "machine.cores", "It is zero");
    refused(
        |plan| {
            let settings = &mut plan.settings;
            settings.insert("x".into(), f64::INFINITY);
        },
        "settings.\"x\"",
        "not a number",
    );
}

#[test]
fn refuses_numbers_that_are_as_good_as_nothing_or_everything_and_says_so_in_few_digits() {
    let told = |change: fn(&mut Plan)| {
        let mut plan = Plan::example();
        change(&mut plan);
        let problems = plan.check();
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems[0].sentence.clone()
    };
    assert_eq!(
        told(|plan| plan.devices[0].interval_ms = 1e-300),
        "1e-300 is less than can be estimated; give at least 0.001."
    );
    assert_eq!(
        told(|plan| plan.pipelines[0].script_ms = 5e-324),
        "5e-324 is less than can be estimated; give 0, or 0.000001 or more."
    );
    let most = told(|plan| plan.pipelines[0].runs_per_s = f64::MAX);
    assert!(most.len() < 100 && most.contains("e308 is more than"), "{most}");
    let negative = told(|plan| plan.machine.as_mut().unwrap().memory_gb = -1e300);
    assert!(negative.len() < 100 && negative.starts_with("-1e300 is negative"), "{negative}");
    let mut plan = Plan::example();
    plan.pipelines[0].runs_per_s = super::RATE_PER_S_MIN;
    plan.pipelines[0].script_ms = super::FRACTION_MIN;
    assert_eq!(plan.check(), [], "the limits themselves can be computed with");
}

#[test]
fn refuses_ten_million_topics_with_what_to_do() {
    refused(
        |plan| plan.devices[0].count = 400_000.0,
        "devices",
        "10000310 topics; at most 5000000",
    );
    // A load that no machine was ever measured with.
    refused(|plan| plan.devices[0].interval_ms = 0.5, "devices", "values per second");
}

#[test]
fn refuses_what_is_not_said() {
    refused(|plan| plan.name.clear(), "name", "no name");
    refused(|plan| plan.devices[0].name = "a\u{7}".into(), "devices[0].name", "control");
    refused(|plan| plan.pipelines[0].name = "x".repeat(201), "pipelines[0].name", "longer");
    let text = |plan: &mut Plan| plan.devices[0].payload = super::Payload::Text;
    refused(text, "devices[0].payload_bytes", "Say how many bytes");
    refused(
        |plan| plan.devices[0].payload_bytes = Some(3.0),
        "devices[0].payload_bytes",
        "no length",
    );
    refused(
        |plan| {
            plan.devices.clear();
            plan.pipelines.clear();
        },
        "plan",
        "nothing to estimate",
    );
    refused(|plan| plan.format = 2, "format", "has format 2; this version reads 1");
}

#[test]
fn refuses_more_groups_than_a_worksheet_shows() {
    let group = SubscriberGroup { name: "x".into(), count: 1.0, values_per_s: 1.0 };
    refused(|plan| plan.subscribers = vec![group; 201], "subscribers", "too many");
}

#[test]
fn refuses_json_that_says_something_unknown() {
    let text = serde_json::to_string(&Plan::example()).unwrap().replace("\"tags\"", "\"tag\"");
    let problems = Plan::from_json(&text).unwrap_err();
    assert!(problems[0].sentence.contains("unknown field `tag`"), "{problems:?}");
}
