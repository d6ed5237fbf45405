//! Who is connected: takeover, limits, keep alive, revocation.

use millrace_model::ClientNumber;

use super::device::{connect5, connect5_with, inbox, publish5};
use super::*;
use crate::sweep::sweep;
use crate::{ConnectRefusal, DisconnectReason};

fn client_number(stand: &Stand, id: &str) -> ClientNumber {
    let connections = stand.broker.connections();
    connections.iter().find(|connection| connection.client_id == id).unwrap().client
}

#[tokio::test]
async fn announces_what_it_offers() {
    let stand = stand_with(|config| config.keep_alive_max = Some(Duration::from_secs(60))).await;
    let mut device = stand.socket().await;
    device.send(&connect5("", "press", b"secret")).await;
    let (_, body) = device.packet().await;
    let has = |property: &[u8]| body.windows(property.len()).any(|window| window == property);
    assert_eq!(body[..2], [0, 0], "no session present, success");
    assert!(has(&[0x11, 0, 0, 0, 0]), "session expiry 0");
    assert!(has(&[0x21, 0x03, 0xe8]), "receive maximum 1,000");
    assert!(has(&[0x24, 1]), "maximum QoS 1");
    assert!(has(&[0x25, 0]), "no retain");
    assert!(has(&[0x27, 0, 0x40, 0, 0]), "4 MiB");
    assert!(has(&[0x22, 0, 32]), "aliases");
    assert!(has(&[0x28, 1, 0x29, 0, 0x2a, 0]), "wildcards, no ids, no shared");
    assert!(has(&[0x13, 0, 60]), "server keep alive");
    assert!(has(b"auto-"), "assigned client identifier");
}

#[tokio::test]
async fn unnamed_clients_do_not_meet() {
    let stand = stand().await;
    let mut first = stand.socket().await;
    first.send(&connect5("", "press", b"secret")).await;
    first.packet().await;
    let mut second = stand.socket().await;
    second.send(&connect5("", "press", b"secret")).await;
    second.packet().await;
    first.ping().await;
    second.ping().await;
}

#[tokio::test]
async fn the_same_client_takes_over_and_another_does_not() {
    let stand = stand().await;
    let mut old = stand.device("press").await;
    let mut stranger = stand.socket().await;
    stranger.send(&connect5("press", "other", b"secret")).await;
    stranger.packet().await;
    old.ping().await;

    let mut new = stand.device("press").await;
    old.expect_disconnect(0x8e).await;
    new.ping().await;
    stranger.ping().await;
    assert_eq!(stand.broker.stats().takeovers, 1);
}

#[tokio::test]
async fn a_stale_connections_end_leaves_the_new_session() {
    let stand = stand().await;
    let mut all = Vec::new();
    for _ in 0..30 {
        let mut device = stand.socket().await;
        device.send(&connect5("press", "press", b"secret")).await;
        all.push(device);
    }
    let mut last = all.pop().unwrap();
    last.packet().await;
    // Which of them signed in last is the operating system's affair: ask for the holder.
    stand
        .until("one session left", |stand| {
            let stats = stand.broker.stats();
            stats.signed_in == 30 && stats.connected == 1
        })
        .await;
    drop(all);
    drop(last);
    let mut device = stand.device("press").await;
    assert_eq!(device.subscribe("mr/v1/main/press/#", 0).await, [0]);
    stand.until("the stale ones gone", |stand| stand.broker.stats().unauthenticated == 0).await;
    assert_eq!(stand.broker.stats().connected, 1);
    stand.fanout.publish_plain("mr/v1/main/press/t", "1".into(), None, 0);
    assert_eq!(device.packet().await.0, 0x30);
}

#[tokio::test]
async fn refuses_the_client_above_the_maximum_and_keeps_the_rest() {
    let stand = stand_with(|config| config.clients_max = 2).await;
    let mut first = stand.device("a").await;
    let mut second = stand.device("b").await;
    let mut third = stand.socket().await;
    third.send(&connect5("c", "c", b"secret")).await;
    assert_eq!(third.packet().await.1[1], 0x97);
    third.expect_end().await;
    let mut old = stand.socket().await;
    old.send(&device::connect4("d", "d", b"secret")).await;
    assert_eq!(old.packet().await, (0x20, vec![0, 3]));
    first.ping().await;
    second.ping().await;
    assert_eq!(stand.broker.stats().connected, 2);
    // A takeover needs no further place.
    let mut again = stand.device("a").await;
    again.ping().await;
    drop(second);
    stand.until("a place is free", |stand| stand.broker.stats().connected == 1).await;
    stand.device("c").await.ping().await;
}

#[tokio::test]
async fn idle_sockets_keep_nobody_out() {
    let stand = stand_with(|config| config.unauthenticated_max = 400).await;
    let mut idle = Vec::new();
    for _ in 0..500 {
        idle.push(stand.socket().await);
    }
    stand.device("press").await.ping().await;
    // The oldest were pushed out, the newest wait on.
    idle.first_mut().unwrap().expect_end().await;
    stand.until("pushed out", |stand| stand.broker.stats().unauthenticated <= 400).await;
}

#[tokio::test]
async fn cuts_who_sends_no_connect_in_time() {
    let stand = stand().await;
    let mut silent = stand.socket().await;
    let mut slow = stand.socket().await;
    slow.send(&[0x10]).await;
    stand.until("both there", |stand| stand.broker.stats().unauthenticated == 2).await;
    let mut device = stand.device("press").await;
    sweep(stand.broker.shared(), 11);
    stand.device("other").await.ping().await;
    assert_eq!(stand.broker.stats().unauthenticated, 2, "10 s are not over");
    sweep(stand.broker.shared(), 12);
    silent.expect_end().await;
    slow.expect_end().await;
    device.ping().await;
    let refused = stand.broker.latest_refused_connects();
    assert!(refused.iter().all(|refused| refused.reason == ConnectRefusal::TooLate));
    assert_eq!(refused.len(), 2);
}

#[tokio::test]
async fn cuts_a_silent_client_after_one_and_a_half_keep_alives_and_not_before() {
    let stand = stand().await;
    let mut device = stand.socket().await;
    device.send(&connect5_with(b"x", "press", b"secret", 20, &[])).await;
    device.packet().await;
    sweep(stand.broker.shared(), 31);
    device.ping().await;
    // The ping counts as of second 31; half a packet does not count.
    sweep(stand.broker.shared(), 50);
    device.send(&publish5(&inbox("press", "t"), 1, b"1")[..5]).await;
    stand.device("other").await.ping().await;
    sweep(stand.broker.shared(), 61);
    stand.device("other").await.ping().await;
    assert_eq!(stand.broker.stats().keep_alive_timeouts, 0);
    sweep(stand.broker.shared(), 62);
    device.expect_disconnect(0x8d).await;
    assert_eq!(stand.broker.stats().keep_alive_timeouts, 1);
}

#[tokio::test]
async fn does_not_cut_a_client_that_it_does_not_read() {
    let stand = stand().await;
    stand.plant.state.lock().is_full = true;
    let mut device = stand.socket().await;
    device.send(&connect5_with(b"x", "press", b"secret", 20, &[])).await;
    device.packet().await;
    device.send(&publish5(&inbox("press", "t"), 1, b"1")).await;
    stand.until("held", |stand| stand.plant.offered() == 1).await;
    stand.device("other").await.ping().await;
    sweep(stand.broker.shared(), 500);
    stand.plant.state.lock().is_prompt = true;
    stand.plant.make_room();
    assert_eq!(device.packet().await, (0x40, vec![0, 1]));
    sweep(stand.broker.shared(), 520);
    device.ping().await;
}

#[tokio::test]
async fn a_revoked_client_is_cut_off_on_all_its_connections() {
    let stand = stand().await;
    let mut first = stand.device("press").await;
    let mut second = stand.socket().await;
    second.send(&connect5("two", "press", b"secret")).await;
    second.packet().await;
    let mut other = stand.device("other").await;
    let number = client_number(&stand, "press");
    stand.broker.disconnect_client(number, DisconnectReason::Administrative);
    first.expect_disconnect(0x87).await;
    second.expect_disconnect(0x87).await;
    other.ping().await;
    // Although the two have not closed their side yet.
    assert_eq!(stand.broker.stats().connected, 1);
    assert_eq!(stand.broker.connections().len(), 1);
}

#[tokio::test]
async fn a_revocation_during_the_sign_in_is_not_missed() {
    let stand = stand().await;
    stand.plant.state.lock().revoke_during_sign_in = true;
    let mut device = stand.socket().await;
    device.send(&connect5("x", "press", b"secret")).await;
    assert_eq!(device.packet().await.1[1], 0x87);
    device.expect_end().await;
    stand.until("gone", |stand| stand.broker.stats().connected == 0).await;
}

#[tokio::test]
async fn remembers_refused_connects_for_people() {
    let stand = stand().await;
    for _ in 0..120 {
        let mut device = stand.socket().await;
        device.send(&connect5("x", &"u".repeat(300), b"wrong")).await;
        device.packet().await;
    }
    let refused = stand.broker.latest_refused_connects();
    assert_eq!(refused.len(), 100);
    assert_eq!(refused[0].reason, ConnectRefusal::BadCredentials);
    assert_eq!(refused[0].user.as_ref().unwrap().len(), 64);
}
