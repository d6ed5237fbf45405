//! From the socket to the journal and back: PUBACKs and verdicts.

use super::device::{inbox, publish4, publish5, publish5_with, text};
use super::*;

fn puback(packet_id: u16) -> Vec<u8> {
    let [high, low] = packet_id.to_be_bytes();
    vec![0x40, 2, high, low]
}

#[tokio::test]
async fn acknowledges_only_after_the_commit_in_order_and_in_one_write() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    let topic = inbox("press", "t");
    let three: Vec<u8> = [11, 22, 33].iter().flat_map(|&id| publish5(&topic, id, b"1")).collect();

    device.send(&three).await;
    stand.until("three offered", |stand| stand.plant.offered() == 3).await;
    // Answered in its place: nothing was acknowledged before it.
    device.ping().await;
    assert_eq!(stand.plant.state.lock().submits, 1, "one submit a read");
    assert_eq!(stand.plant.state.lock().begins, 1, "one clock a read");

    stand.plant.commit();
    assert_eq!(device.one_read().await, [puback(11), puback(22), puback(33)].concat());
}

#[tokio::test]
async fn acknowledges_the_durable_front_and_no_more() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    device.send(&publish5(&inbox("press", "t"), 1, b"1")).await;
    device.ping().await;
    device.send(&publish5(&inbox("press", "t"), 2, b"2")).await;
    device.ping().await;

    stand.plant.commit_to(1);
    assert_eq!(device.packet().await, (0x40, vec![0, 1]));
    device.ping().await;
    stand.plant.commit_to(2);
    assert_eq!(device.packet().await, (0x40, vec![0, 2]));
}

#[tokio::test]
async fn stores_qos_0_without_an_answer() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    device.send(&publish5(&inbox("press", "t"), 0, b"1")).await;
    device.ping().await;
    assert_eq!(stand.plant.offered(), 1);
    stand.plant.commit();
    device.ping().await;
}

#[tokio::test]
async fn answers_refusals_after_the_commit_with_code_and_reason() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    let mut check_number = 0u16;
    for (topic, payload, code, words) in [
        (inbox("press", "t"), "refuse", 0x97, "over its rate limit"),
        (inbox("press", "t"), "bad", 0x99, "not \"JSON\""),
        (inbox("press", "t"), "none", 0x97, "2 of 2 refused"),
        (inbox("press", "t"), "batch", 0x00, "1 of 3 refused"),
        (inbox("other", "t"), "1", 0x87, "another client's"),
        ("mr/v1/main/press/t".into(), "1", 0x87, "only stored values"),
        ("mr/v1/main/_verdict/press".into(), "1", 0x87, "verdicts"),
        ("mr/v1/main/_x".into(), "1", 0x90, "reserved"),
        ("factory/line".into(), "1", 0x83, "not built"),
        ("$SYS/x".into(), "1", 0x83, "not built"),
        ("t".repeat(1_025), "1", 0x90, "longer than 1024"),
    ] {
        check_number += 1;
        device.send(&publish5(&topic, check_number, payload.as_bytes())).await;
        // Refusals wait for the journal like values.
        device.ping().await;
        stand.plant.commit();
        let (header, body) = device.packet().await;
        assert_eq!(header, 0x40);
        assert_eq!(body[..3], [0, check_number as u8, code], "{topic}");
        let said = String::from_utf8_lossy(&body[3..]);
        assert!(said.contains(words), "{topic}: {said}");
    }
    assert_eq!(stand.plant.state.lock().refused.len(), 7, "the broker's own are recorded too");
}

#[tokio::test]
async fn keeps_the_reason_string_back_where_it_is_not_wanted() {
    let stand = stand().await;
    stand.plant.state.lock().is_prompt = true;
    for properties in [&[0x17, 0][..], &[0x27, 0, 0, 0, 40][..]] {
        let mut device = stand.socket().await;
        let connect = device::connect5_with(b"x", "press", b"secret", 0, properties);
        device.send(&connect).await;
        device.packet().await;
        device.send(&publish5(&inbox("press", "t"), 5, b"refuse")).await;
        assert_eq!(device.packet().await, (0x40, vec![0, 5, 0x97]));
    }
}

#[tokio::test]
async fn sends_verdicts_to_the_response_topic_with_correlation() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    assert_eq!(device.subscribe("mr/v1/main/_verdict/press/#", 1).await, [1]);
    let response = [&[0x08][..], &text("mr/v1/main/_verdict/press/a"), &[0x09], &text("id-9")];
    let response = response.concat();
    for (payload, verdict) in [
        ("1", r#"{"stored":true,"seq":1}"#),
        (
            "refuse",
            r#"{"stored":false,"reason":"rate_limited","message":"this client is over its rate limit"}"#,
        ),
        (
            "batch",
            r#"{"stored":2,"refused":1,"elements":[{"path":"a","stored":true,"seq":3},{"path":"b","stored":false,"reason":"rate_limited","message":"this client is over its rate limit"},{"stored":true,"seq":4}]}"#,
        ),
    ] {
        device.send(&publish5_with(&inbox("press", "t"), 0, &response, payload.as_bytes())).await;
        device.ping().await;
        stand.plant.commit();
        let (header, body) = device.packet().await;
        assert_eq!(header, 0x32);
        let expected_topic = text("mr/v1/main/_verdict/press/a");
        let (topic, rest) = body.split_at(expected_topic.len());
        assert_eq!(topic, expected_topic);
        let properties = [&[7, 0x09][..], &text("id-9")].concat();
        assert_eq!(rest[2..2 + properties.len()], properties);
        assert_eq!(String::from_utf8_lossy(&rest[2 + properties.len()..]), verdict);
    }
}

#[tokio::test]
async fn refuses_response_topics_that_are_not_the_clients() {
    let stand = stand().await;
    stand.plant.state.lock().is_prompt = true;
    let mut device = stand.device("press").await;
    for (topic, code) in [
        ("mr/v1/main/_verdict/other", 0x90),
        ("mr/v1/main/_verdict/pressure", 0x90),
        ("mr/v1/other/press/t", 0x90),
        ("answers/here", 0x90),
        ("mr/v1/main/_verdict/press", 0),
        ("mr/v1/main/press/answers", 0),
    ] {
        let response = [&[0x08][..], &text(topic)].concat();
        device.send(&publish5_with(&inbox("press", "t"), 3, &response, b"1")).await;
        let (_, body) = device.packet().await;
        assert_eq!(body.get(2).copied().unwrap_or(0), code, "{topic}");
    }
}

#[tokio::test]
async fn a_verdict_outside_of_the_own_topic_reaches_nobody_else() {
    let stand = stand().await;
    stand.plant.state.lock().is_prompt = true;
    let mut device = stand.device("press").await;
    let mut other = stand.device("all").await;
    assert_eq!(other.subscribe("mr/v1/main/#", 1).await, [1]);
    assert_eq!(device.subscribe("mr/v1/main/press/#", 0).await, [0]);
    let response = [&[0x08][..], &text("mr/v1/main/press/value")].concat();
    device.send(&publish5_with(&inbox("press", "t"), 0, &response, b"1")).await;
    assert_eq!(device.packet().await.0, 0x30);
    // The own verdict topic is not seen through a wildcard either.
    let response = [&[0x08][..], &text("mr/v1/main/_verdict/press")].concat();
    device.send(&publish5_with(&inbox("press", "t"), 1, &response, b"1")).await;
    assert_eq!(device.packet().await.0, 0x40);
    other.ping().await;
}

#[tokio::test]
async fn tells_old_clients_by_verdict_what_a_puback_cannot() {
    let stand = stand().await;
    stand.plant.state.lock().is_prompt = true;
    let mut watcher = stand.device("press").await;
    watcher.subscribe("mr/v1/main/_verdict/press", 0).await;
    let mut device = stand.socket().await;
    device.send(&device::connect4("second", "press", b"secret")).await;
    device.packet().await;
    device.send(&publish4(&inbox("press", "a\"b"), 9, b"refuse")).await;
    assert_eq!(device.packet().await, (0x40, vec![0, 9]));
    let (_, body) = watcher.packet().await;
    let said = String::from_utf8_lossy(&body).into_owned();
    let topic =
        r#"{"topic":"mr/v1/main/_ingress/press/a\"b","stored":false,"reason":"rate_limited""#;
    assert!(said.contains(topic), "{said}");
    // Retained publishes of 3.1.1 are decided, not cut off.
    let retained = [vec![0x33], publish4(&inbox("press", "t"), 10, b"1")[1..].to_vec()].concat();
    device.send(&retained).await;
    assert_eq!(device.packet().await, (0x40, vec![0, 10]));
    assert!(String::from_utf8_lossy(&watcher.packet().await.1).contains("not_supported"));
}

#[tokio::test]
async fn stops_reading_while_the_journal_is_full_and_goes_on_afterwards() {
    let stand = stand().await;
    stand.plant.state.lock().is_full = true;
    let mut device = stand.device("press").await;
    device.send(&publish5(&inbox("press", "t"), 1, b"1")).await;
    stand.until("the first offered", |stand| stand.plant.offered() == 1).await;
    device.send(&publish5(&inbox("press", "t"), 2, b"2")).await;
    let mut other = stand.device("other").await;
    other.ping().await;
    assert_eq!(stand.plant.offered(), 1, "the second is not read");

    stand.plant.make_room();
    stand.until("both offered", |stand| stand.plant.offered() == 2).await;
    stand.plant.commit();
    assert_eq!(device.packet().await, (0x40, vec![0, 1]));
    stand.plant.commit();
    assert_eq!(device.packet().await, (0x40, vec![0, 2]));
}

#[tokio::test]
async fn stops_reading_an_old_client_at_the_receive_maximum() {
    let stand = stand_with(|config| config.receive_maximum = 10).await;
    let mut device = stand.old_device("press").await;
    for id in 1..=10 {
        device.send(&publish4(&inbox("press", "t"), id, b"1")).await;
    }
    stand.until("ten offered", |stand| stand.plant.offered() == 10).await;
    device.send(&publish4(&inbox("press", "t"), 11, b"1")).await;
    stand.device("other").await.ping().await;
    assert_eq!(stand.plant.offered(), 10);
    stand.plant.commit();
    for id in 1..=10 {
        assert_eq!(device.packet().await, (0x40, vec![0, id]));
    }
    stand.until("the eleventh offered", |stand| stand.plant.offered() == 11).await;
    stand.plant.commit();
    assert_eq!(device.packet().await, (0x40, vec![0, 11]));
}

#[tokio::test]
async fn disconnects_a_client_over_the_receive_maximum() {
    let stand = stand_with(|config| config.receive_maximum = 10).await;
    let mut device = stand.device("press").await;
    let eleven: Vec<u8> =
        (1..=11).flat_map(|id| publish5(&inbox("press", "t"), id, b"1")).collect();
    device.send(&eleven).await;
    device.expect_disconnect(0x93).await;
    // What came before it is stored all the same.
    assert_eq!(stand.plant.state.lock().submits, 1);
    assert_eq!(stand.plant.offered(), 10);
}

#[tokio::test]
async fn reads_packets_that_come_byte_by_byte() {
    let stand = stand().await;
    stand.plant.state.lock().is_prompt = true;
    let mut device = stand.socket().await;
    let mut bytes = device::connect5("press", "press", b"secret");
    bytes.extend(publish5(&inbox("press", "t"), 1, b"1"));
    bytes.extend(publish5(&inbox("press", "t"), 2, b"2"));
    for byte in bytes {
        device.send(&[byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(device.packet().await.0, 0x20);
    assert_eq!(device.packet().await, (0x40, vec![0, 1]));
    assert_eq!(device.packet().await, (0x40, vec![0, 2]));
}

#[tokio::test]
async fn reads_two_packets_cut_at_every_place() {
    let stand = stand().await;
    stand.plant.state.lock().is_prompt = true;
    let mut device = stand.device("press").await;
    let bytes =
        [publish5(&inbox("press", "t"), 1, b"one"), publish5(&inbox("press", "t"), 2, b"two")];
    let bytes = bytes.concat();
    for cut in 0..=bytes.len() {
        let (front, back) = bytes.split_at(cut);
        let before = stand.broker.stats().bytes_in;
        device.send(front).await;
        if !front.is_empty() {
            // Until the front is read, so that the two parts are two reads.
            stand.until("front read", |stand| stand.broker.stats().bytes_in > before).await;
        }
        device.send(back).await;
        assert_eq!(device.packet().await, (0x40, vec![0, 1]), "cut at {cut}");
        assert_eq!(device.packet().await, (0x40, vec![0, 2]), "cut at {cut}");
    }
    let state = stand.plant.state.lock();
    assert!(state.offered.chunks(2).all(|two| two[0].1 == b"one" && two[1].1 == b"two"));
}

#[tokio::test]
async fn takes_a_payload_of_2_mib_and_refuses_one_over_the_maximum_unread() {
    let stand = stand().await;
    stand.plant.state.lock().is_prompt = true;
    let mut device = stand.device("press").await;
    device.send(&publish5(&inbox("press", "t"), 1, &vec![b'7'; 2_097_152])).await;
    assert_eq!(device.packet().await, (0x40, vec![0, 1]));
    assert_eq!(
        stand.broker.shared().unfinished_bytes.load(std::sync::atomic::Ordering::Relaxed),
        0
    );
    // The header alone: the body never comes.
    device.send(&[0x32, 0xff, 0xff, 0xff, 0x7f]).await;
    device.expect_disconnect(0x95).await;
}

#[tokio::test]
async fn stores_what_a_client_sent_before_it_vanished() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    device.send(&publish5(&inbox("press", "t"), 1, b"1")).await;
    // A reset instead of a farewell.
    socket_reset(device.stream);
    stand.until("offered", |stand| stand.plant.state.lock().submits == 1).await;
    stand.plant.commit();
    stand.until("gone", |stand| stand.broker.stats().connected == 0).await;
}

fn socket_reset(stream: tokio::net::TcpStream) {
    stream.set_zero_linger().unwrap();
    drop(stream);
}

#[tokio::test]
async fn acknowledges_a_client_that_closed_its_sending_side() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    device.send(&publish5(&inbox("press", "t"), 1, b"1")).await;
    tokio::io::AsyncWriteExt::shutdown(&mut device.stream).await.unwrap();
    stand.until("offered", |stand| stand.plant.offered() == 1).await;
    stand.plant.commit();
    assert_eq!(device.packet().await, (0x40, vec![0, 1]));
    device.expect_end().await;
}

#[tokio::test]
async fn resolves_topic_aliases() {
    let stand = stand().await;
    stand.plant.state.lock().is_prompt = true;
    let mut device = stand.device("press").await;
    let alias = [0x23, 0, 32];
    device.send(&publish5_with(&inbox("press", "t"), 1, &alias, b"1")).await;
    device.send(&publish5_with("", 2, &alias, b"2")).await;
    device.send(&publish5_with(&inbox("press", "u"), 3, &alias, b"3")).await;
    device.send(&publish5_with("", 4, &alias, b"4")).await;
    for id in 1..=4 {
        assert_eq!(device.packet().await, (0x40, vec![0, id]));
    }
    let topics: Vec<String> =
        stand.plant.state.lock().offered.iter().map(|(topic, _)| topic.clone()).collect();
    assert_eq!(topics, ["t", "t", "u", "u"].map(|path| inbox("press", path)));
}

#[tokio::test]
async fn answers_bursts_in_order() {
    let stand = stand().await;
    stand.plant.state.lock().is_prompt = true;
    let mut device = stand.device("press").await;
    let burst: Vec<u8> =
        (1..=900).flat_map(|id| publish5(&inbox("press", "t"), id, b"42.7")).collect();
    for _ in 0..3 {
        device.send(&burst).await;
        for id in 1..=900u16 {
            assert_eq!(device.packet().await, (0x40, id.to_be_bytes().to_vec()));
        }
    }
    assert_eq!(stand.broker.stats().publishes, 2_700);
}
