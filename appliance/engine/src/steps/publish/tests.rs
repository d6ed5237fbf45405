//! Tests of `uns.publish` and `uns.publish_batch`.

use crate::services::Publish;
use crate::step::StepFault;
use crate::steps::testing::{FakeContext, START, data};
use millrace_flow::Data;
use millrace_model::{Quality, Timestamp};
use serde_json::json;

#[test]
fn publishes_the_own_value_exactly_and_passes_its_input_on() {
    let mut run = FakeContext::new();
    let step = run.step("uns.publish", json!({"path": "derived/{{ $item.path }}"}));
    let input = run.value("press/t", Data::UInt(u64::MAX));
    assert_eq!(run.out(&step, input.clone()), (0, input));
    // Without a time and a quality of its own, the run gives it the trigger's.
    let (path, value) = ("derived/press/t".into(), Data::UInt(u64::MAX));
    assert_eq!(run.published, [Publish { path, value, time: None, quality: None }]);
}

#[test]
fn a_value_has_the_time_and_quality_of_its_input() {
    let mut run = FakeContext::new();
    let step = run.step("uns.publish", json!({"path": "hourly"}));
    run.value("tag", Data::Int(1));
    let end = Timestamp(START - 60_000_000_000);
    run.out(&step, data(json!({"value": 5, "time": end.to_rfc3339(), "quality": "bad"})));
    run.out(&step, data(json!({"value": 5, "time": "early shift", "quality": ["?"]})));
    let stamps: Vec<_> = run.published.iter().map(|value| (value.time, value.quality)).collect();
    let nothing = (None, None);
    assert_eq!(stamps, [(Some(end), Some(Quality::BAD)), nothing], "words are no time");
    let batch = run.step("uns.publish_batch", json!({"values": {"mean": "{{ $item.mean }}"}}));
    run.out(&batch, data(json!({"value": 5, "mean": 5, "time": end.to_rfc3339()})));
    assert_eq!(run.published[2].time, Some(end), "what is made of a window has the window's time");
}

#[test]
fn time_and_quality_can_be_given() {
    let mut run = FakeContext::new();
    let fields = json!({"path": "a", "time": "{{ $item.at }}", "quality": "uncertain"});
    let step = run.step("uns.publish", fields);
    let at = START / 1_000_000;
    run.out(&step, data(json!({"value": 1, "at": at})));
    assert_eq!(run.published[0].time, Some(Timestamp(START)));
    assert_eq!(run.published[0].quality, Some(Quality::UNCERTAIN));
    let fault = run.fault(&step, data(json!({"value": 1, "at": "yesterday"})));
    assert!(fault.message.contains("`time` must be a time"), "{}", fault.message);
}

#[test]
fn refuses_what_is_missing_and_passes_refusals_on() {
    let mut run = FakeContext::new();
    let step = run.step("uns.publish", json!({"path": "a", "value": "{{ $item.nothing }}"}));
    let fault = run.fault(&step, data(json!({})));
    assert_eq!(fault.message, "there is no value to publish on `a`");
    run.refusal = Some(StepFault::lasting("refused", "too fast"));
    let fault = run.fault(&step, data(json!({"nothing": 1})));
    assert_eq!(fault.code, "refused");
}

#[test]
fn a_batch_takes_lists_and_objects() {
    let mut run = FakeContext::new();
    let step = run.step("uns.publish_batch", json!({"prefix": "line-1/"}));
    let list = json!([{"path": "a", "value": 1, "quality": "bad"}, {"path": "b", "value": null}]);
    run.out(&step, data(list));
    run.out(&step, data(json!({"c": 3})));
    let paths: Vec<_> = run.published.iter().map(|value| value.path.as_str()).collect();
    assert_eq!(paths, ["line-1/a", "line-1/b", "line-1/c"]);
    assert_eq!(run.published[0].quality, Some(Quality::BAD));
    assert_eq!(run.published[1].value, Data::Null, "null is a value");
}

#[test]
fn a_batch_with_one_bad_item_publishes_nothing() {
    let mut run = FakeContext::new();
    let step = run.step("uns.publish_batch", json!({}));
    for (values, why) in [
        (json!([{"path": "a", "value": 1}, {"value": 2}]), "has no `path`"),
        (json!([{"path": "a"}]), "no value to publish on `a`"),
        (json!("x"), "must be a list or an object"),
        (json!(vec![json!({"path": "a", "value": 1}); 10_001]), "at most 10000"),
    ] {
        let fault = run.fault(&step, data(values));
        assert!(fault.message.contains(why), "{}", fault.message);
    }
    assert!(run.published.is_empty(), "all or none");
    let _passed = run.out(&step, data(json!([])));
    assert!(run.published.is_empty(), "an empty batch is no fault");
}
