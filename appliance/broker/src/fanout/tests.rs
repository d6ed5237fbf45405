//! The tree of subscriptions against a plain oracle, and the cache.

use std::cell::Cell;
use std::task::Waker;

use proptest::prelude::*;

use super::*;

fn filter(text: &str) -> Filter {
    Filter::new(text).unwrap()
}

fn received(subscriber: &Subscriber) -> Vec<(String, u8)> {
    let mut all = Vec::new();
    subscriber.drain(Waker::noop(), |delivery| {
        all.push((delivery.topic.to_string(), delivery.qos));
        true
    });
    all
}

fn level() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a".to_owned()),
        Just("b".to_owned()),
        Just(String::new()),
        Just("$s".to_owned()),
    ]
}

fn filter_text() -> impl Strategy<Value = String> {
    let any_level = prop_oneof![3 => level(), 2 => Just("+".to_owned())];
    (proptest::collection::vec(any_level, 1..4), any::<bool>())
        .prop_map(|(levels, all)| levels.join("/") + if all { "/#" } else { "" })
        .prop_filter("filters are not empty", |text| !text.is_empty())
}

proptest! {
    #[test]
    fn the_tree_matches_as_the_filters_do(
        actions in proptest::collection::vec((0usize..3, filter_text(), 0u8..2, any::<bool>()), 1..30),
        topics in proptest::collection::vec(proptest::collection::vec(level(), 1..5), 1..8),
    ) {
        let fanout = Fanout::new("mr/v1");
        let subscribers = [fanout.subscriber(100), fanout.subscriber(100), fanout.subscriber(100)];
        let mut oracle: Vec<(usize, Filter, u8)> = Vec::new();
        for (who, text, qos, adds) in actions {
            let filter = filter(&text);
            let known = oracle.iter().position(|(other, known, _)| *other == who && *known == filter);
            if let Some(place) = known {
                oracle.swap_remove(place);
            }
            if adds {
                fanout.subscribe(&subscribers[who], &filter, qos);
                oracle.push((who, filter, qos));
            } else {
                prop_assert_eq!(fanout.unsubscribe(&subscribers[who], &filter), known.is_some());
            }
        }
        prop_assert_eq!(fanout.is_watched(), !oracle.is_empty());
        for (tag, topic) in topics.iter().enumerate() {
            let topic = topic.join("/");
            if topic.is_empty() {
                continue;
            }
            let tag = TagId(u32::try_from(tag).unwrap());
            // Twice: once into the cache, once out of it.
            for _ in 0..2 {
                fanout.publish_sample(tag, &|| topic.clone(), &Bytes::new, 1);
                for (who, subscriber) in subscribers.iter().enumerate() {
                    let expected = oracle
                        .iter()
                        .filter(|(other, filter, _)| *other == who && filter.matches(&topic))
                        .map(|(_, _, qos)| *qos)
                        .max();
                    let got = received(subscriber);
                    prop_assert_eq!(got, expected.map(|qos| (topic.clone(), qos)).into_iter().collect::<Vec<_>>());
                }
            }
        }
    }
}

#[test]
fn wildcards_do_not_reach_what_is_reserved() {
    let fanout = Fanout::new("mr/v1");
    let check = |text: &str, topic: &str, expected: bool| {
        let subscriber = fanout.subscriber(10);
        fanout.subscribe(&subscriber, &filter(text), 0);
        fanout.publish_plain(topic, Bytes::new(), None, 0);
        assert_eq!(!received(&subscriber).is_empty(), expected, "{text} on {topic}");
        fanout.remove_all(&subscriber, [&filter(text)]);
    };
    check("mr/v1/main/#", "mr/v1/main/_verdict/c", false);
    check("mr/v1/main/+/c", "mr/v1/main/_verdict/c", false);
    check("mr/v1/#", "mr/v1/main/_verdict/c", false);
    check("#", "mr/v1/main/_verdict/c", false);
    check("+/+/+/_verdict/c", "mr/v1/main/_verdict/c", true);
    check("mr/v1/main/_verdict/#", "mr/v1/main/_verdict/c", true);
    check("mr/v1/main/_verdict/+", "mr/v1/main/_verdict/c", true);
    check("mr/v1/main/#", "mr/v1/main/a/_b", true);
    check("other/v1/main/#", "other/v1/main/_x", true);
}

#[test]
fn nothing_is_built_for_nobody() {
    let fanout = Fanout::new("mr/v1");
    let built = Cell::new(0);
    let topic = || {
        built.set(built.get() + 1);
        "mr/v1/main/a".to_owned()
    };
    let payload = || {
        built.set(built.get() + 100);
        Bytes::new()
    };
    fanout.publish_sample(TagId(1), &topic, &payload, 0);
    assert_eq!(built.get(), 0, "nobody subscribes to anything");

    let subscriber = fanout.subscriber(10);
    fanout.subscribe(&subscriber, &filter("mr/v1/main/b"), 0);
    fanout.publish_sample(TagId(1), &topic, &payload, 0);
    fanout.publish_sample(TagId(1), &topic, &payload, 0);
    assert_eq!(built.get(), 1, "the topic once for the cache, no payload");

    fanout.subscribe(&subscriber, &filter("mr/v1/main/a"), 0);
    fanout.publish_sample(TagId(1), &topic, &payload, 0);
    fanout.publish_sample(TagId(1), &topic, &payload, 0);
    assert_eq!(built.get(), 202, "a new subscription makes the cache anew");
    assert_eq!(received(&subscriber).len(), 2);
}

#[test]
fn a_queue_is_bounded_in_bytes_too() {
    let totals = Arc::new(Totals::default());
    let subscriber = Subscriber::new(1, 1_000, 10_000, totals);
    for _ in 0..100 {
        subscriber.push(Delivery {
            topic: "t".into(),
            payload: Bytes::from(vec![0; 1_000]),
            qos: 0,
            correlation: None,
        });
    }
    assert_eq!(subscriber.dropped(), 91);
    assert_eq!(received(&subscriber).len(), 9);
}

#[test]
fn a_verdict_subscription_does_not_make_samples_be_looked_up() {
    let fanout = Fanout::new("mr/v1");
    let subscriber = fanout.subscriber(10);
    let verdicts = filter("mr/v1/main/_verdict/press-4/#");
    fanout.subscribe(&subscriber, &verdicts, 1);
    assert!(!fanout.is_watched());
    fanout.publish_plain("mr/v1/main/_verdict/press-4/a", Bytes::from_static(b"x"), None, 1);
    assert_eq!(received(&subscriber).len(), 1, "and the verdict comes all the same");
    // Deeper in a path the name is a level like any other.
    let deep = filter("mr/v1/main/press-4/_verdict");
    fanout.subscribe(&subscriber, &deep, 1);
    assert!(fanout.is_watched());
    fanout.unsubscribe(&subscriber, &deep);
    fanout.unsubscribe(&subscriber, &verdicts);
    assert!(!fanout.is_watched());
}
