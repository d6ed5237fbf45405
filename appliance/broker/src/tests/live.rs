//! Live delivery over the socket: subscriptions, QoS, slow subscribers.

use bytes::Bytes;
use millrace_model::{Filter, TagId};

use super::device::{connect5_with, packet, text};
use super::*;

fn publish(stand: &Stand, tag: u32, path: &str, payload: &'static str) {
    let topic = format!("mr/v1/main/{path}");
    stand.fanout.publish_sample(
        TagId(tag),
        &|| topic.clone(),
        &|| Bytes::from_static(payload.as_bytes()),
        1,
    );
}

#[tokio::test]
async fn delivers_at_the_lower_qos_of_sample_and_subscription() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    assert_eq!(device.subscribe("mr/v1/main/press/+", 0).await, [0]);
    publish(&stand, 1, "press/t", "1");
    let expected = [text("mr/v1/main/press/t"), vec![0], b"1".to_vec()].concat();
    assert_eq!(device.packet().await, (0x30, expected));

    assert_eq!(device.subscribe("mr/v1/main/press/+", 1).await, [1]);
    publish(&stand, 1, "press/t", "2");
    let expected = [text("mr/v1/main/press/t"), vec![0, 1, 0], b"2".to_vec()].concat();
    assert_eq!(device.packet().await, (0x32, expected));
    let topic = || "mr/v1/main/press/t".to_owned();
    stand.fanout.publish_sample(TagId(1), &topic, &|| Bytes::from_static(b"3"), 0);
    assert_eq!(device.packet().await.0, 0x30);
}

#[tokio::test]
async fn delivers_once_for_overlapping_subscriptions() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    device.subscribe("mr/v1/main/press/#", 0).await;
    device.subscribe("mr/v1/main/press/t", 1).await;
    publish(&stand, 1, "press/t", "1");
    assert_eq!(device.packet().await.0, 0x32, "once, at the highest QoS");
    device.ping().await;
}

#[tokio::test]
async fn delivers_nothing_after_the_unsubscribe() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    device.subscribe("mr/v1/main/press/#", 0).await;
    assert!(stand.fanout.is_watched());
    device.send(&packet(0xa2, &[&[0, 9, 0][..], &text("mr/v1/main/press/#")].concat())).await;
    assert_eq!(device.packet().await, (0xb0, vec![0, 9, 0, 0]));
    publish(&stand, 1, "press/t", "1");
    device.ping().await;
    assert!(!stand.fanout.is_watched());
}

#[tokio::test]
async fn the_end_of_a_connection_ends_its_subscriptions() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    device.subscribe("mr/v1/main/press/#", 0).await;
    drop(device);
    stand.until("unsubscribed", |stand| !stand.fanout.is_watched()).await;
}

#[tokio::test]
async fn takes_acknowledgements_in_any_order_and_keeps_to_the_receive_maximum() {
    let stand = stand().await;
    let mut device = stand.socket().await;
    device.send(&connect5_with(b"x", "press", b"secret", 0, &[0x21, 0, 3])).await;
    device.packet().await;
    device.subscribe("mr/v1/main/press/#", 1).await;
    for payload in ["1", "2", "3", "4", "5"] {
        publish(&stand, 1, "press/t", payload);
    }
    let mut ids = Vec::new();
    for _ in 0..3 {
        let (header, body) = device.packet().await;
        assert_eq!(header, 0x32);
        ids.push([body[20], body[21]]);
    }
    // The fourth waits for a place.
    device.ping().await;
    for [high, low] in ids.into_iter().rev() {
        device.send(&[0x40, 2, high, low]).await;
    }
    assert!(device.packet().await.1.ends_with(b"4"));
    assert!(device.packet().await.1.ends_with(b"5"));
}

#[tokio::test]
async fn a_slow_subscriber_loses_the_oldest_and_it_is_counted() {
    let stand = stand_with(|config| config.subscriber_queue_max = 10).await;
    let mut device = stand.socket().await;
    // One in flight, never acknowledged: the queue cannot empty.
    device.send(&connect5_with(b"x", "press", b"secret", 0, &[0x21, 0, 1])).await;
    device.packet().await;
    device.subscribe("mr/v1/main/press/#", 1).await;
    publish(&stand, 1, "press/t", "first");
    let (_, body) = device.packet().await;
    for _ in 0..20 {
        publish(&stand, 1, "press/t", "old");
    }
    for _ in 0..10 {
        publish(&stand, 1, "press/t", "new");
    }
    assert_eq!(stand.broker.stats().dropped, 20);
    assert_eq!(stand.broker.stats().slow, 1);
    assert_eq!(stand.broker.connections()[0].dropped, 20);
    assert_eq!(stand.broker.connections()[0].queued, 10);
    device.send(&[0x40, 2, body[20], body[21]]).await;
    assert!(device.packet().await.1.ends_with(b"new"));
}

#[tokio::test]
async fn a_message_larger_than_the_client_takes_is_dropped_and_counted() {
    let stand = stand().await;
    let mut device = stand.socket().await;
    device.send(&connect5_with(b"x", "press", b"secret", 0, &[0x27, 0, 0, 0, 40])).await;
    device.packet().await;
    device.subscribe("mr/v1/main/press/#", 1).await;
    publish(&stand, 1, "press/t", "far too long for that client");
    publish(&stand, 1, "press/t", "short");
    assert!(device.packet().await.1.ends_with(b"short"));
    assert_eq!(stand.broker.stats().dropped, 1);
}

#[tokio::test]
async fn delivers_more_than_the_output_holds() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    device.subscribe("mr/v1/main/press/#", 0).await;
    let large = Bytes::from(vec![b'x'; 100_000]);
    for _ in 0..40 {
        let topic = || "mr/v1/main/press/t".to_owned();
        stand.fanout.publish_sample(TagId(1), &topic, &|| large.clone(), 0);
    }
    for _ in 0..40 {
        assert!(device.packet().await.1.len() > 100_000);
    }
    assert_eq!(stand.broker.stats().dropped, 0);
}

#[tokio::test]
async fn holds_to_the_maximum_of_subscriptions() {
    let stand = stand_with(|config| config.subscriptions_max = 2).await;
    let mut device = stand.device("press").await;
    assert_eq!(device.subscribe("mr/v1/main/press/a", 0).await, [0]);
    assert_eq!(device.subscribe("mr/v1/main/press/b", 0).await, [0]);
    assert_eq!(device.subscribe("mr/v1/main/press/c", 0).await, [0x97]);
    assert_eq!(device.subscribe("mr/v1/main/press/a", 1).await, [1]);
    assert_eq!(stand.broker.connections()[0].subscriptions, 2);
}

#[tokio::test]
async fn delivers_within_the_process() {
    let fanout = Fanout::new("mr/v1");
    let filters = vec![Filter::new("mr/v1/main/#").unwrap()];
    let mut local = fanout.subscribe_local(filters, 2);
    for number in ["1", "2", "3"] {
        let payload = || Bytes::from_static(number.as_bytes());
        fanout.publish_sample(TagId(1), &|| "mr/v1/main/press/t".into(), &payload, 1);
    }
    assert_eq!(local.recv().await, ("mr/v1/main/press/t".into(), Bytes::from_static(b"2")));
    assert_eq!(local.recv().await, ("mr/v1/main/press/t".into(), Bytes::from_static(b"3")));
    assert_eq!(local.dropped(), 1);
    drop(local);
    assert!(!fanout.is_watched());
}
