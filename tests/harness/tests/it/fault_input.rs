//! Goal: whatever a stranger or a broken device sends, the process lives, its memory stays
//! bounded, it says what was wrong, and everybody else goes on.
//! Method: bytes by hand on many sockets of the real process, and a good device beside them.

use millrace_harness::appliance::Credentials;
use millrace_harness::{Appliance, Device, Live, mqtt, wait};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

const MIB: u64 = 1 << 20;

/// An appliance, a client that may do everything, and its good device.
struct Stand {
    appliance: Appliance,
    client: Credentials,
    device: Device,
}

fn stand(settings: &[&str]) -> anyhow::Result<Stand> {
    let appliance = Appliance::start(settings)?;
    let client =
        appliance.client("press", &["--publish", "#", "--subscribe", "#", "--rate", "0"])?;
    let device = Device::connect(appliance.mqtt()?, &client, "good")?;
    Ok(Stand { appliance, client, device })
}

impl Stand {
    fn inbox(&self, path: &str) -> String {
        format!("mr/v1/main/_ingress/{}/{path}", self.client.id)
    }

    /// The device that was there before works, a new one signs in, and the ledger adds up.
    fn check_alive(&mut self) -> anyhow::Result<()> {
        let topic = self.inbox("alive");
        let answer = self.device.publish(&topic, "1")?;
        assert_eq!(answer.reason, 0, "{}", answer.text);
        let mut second = Device::connect(self.appliance.mqtt()?, &self.client, "second")?;
        assert_eq!(second.publish(&topic, "2")?.reason, 0);
        assert!(self.appliance.lives());
        let ledger = self.appliance.ledger()?;
        assert_eq!(ledger["balanced"], true, "{ledger}");
        Ok(())
    }
}

/// Bytes that are the same in each run (xorshift).
struct Noise(u64);

impl Noise {
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut next = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 32) as u8
        };
        (0..count).map(|_| next()).collect()
    }
}

#[test]
fn noise_on_two_hundred_connections_hurts_nobody_else() -> anyhow::Result<()> {
    let mut stand = stand(&[])?;
    stand.check_alive()?;
    let before = stand.appliance.memory_bytes()?;
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let mut sockets = Vec::new();
    for number in 0..200 {
        // Every second one signs in before it loses its mind.
        let mut socket = match number % 2 {
            0 => Device::open(stand.appliance.mqtt()?)?,
            _ => Device::connect(stand.appliance.mqtt()?, &stand.client, &number.to_string())?,
        };
        // The broker may have closed it half way: that is its right.
        let _sent = socket.send(&noise.bytes(20_000));
        sockets.push(socket);
    }
    stand.check_alive()?;
    let grown = stand.appliance.memory_bytes()?.saturating_sub(before);
    assert!(grown < 64 * MIB, "{} MiB more", grown / MIB);
    drop(sockets);
    stand.check_alive()
}

#[test]
fn fifty_thousand_user_properties_are_refused_unread() -> anyhow::Result<()> {
    let mut stand = stand(&[])?;
    let properties = [0x26, 0, 0, 0, 0].repeat(50_000);
    let connect = mqtt::connect_with(5, "d", &stand.client, &properties);
    let mut device = Device::open(stand.appliance.mqtt()?)?;
    let _sent = device.send(&connect);
    assert!(device.receive().is_err(), "closed without a word");
    stand.check_alive()
}

#[test]
fn twenty_huge_announcements_are_refused_by_their_head() -> anyhow::Result<()> {
    let mut stand = stand(&[])?;
    stand.check_alive()?;
    let before = stand.appliance.memory_bytes()?;
    for number in 0..20 {
        let mut stranger = Device::open(stand.appliance.mqtt()?)?;
        stranger.send(&[0x10, 0xff, 0xff, 0xff, 0x7f])?;
        assert!(stranger.is_closed());
        let id = number.to_string();
        let mut device = Device::connect(stand.appliance.mqtt()?, &stand.client, &id)?;
        device.send(&[0x32, 0xff, 0xff, 0xff, 0x7f])?;
        // Nothing of its 268 MB has come, and still the answer is there: packet too large.
        let last = device.receive()?;
        assert_eq!((last.first, last.body.first()), (0xe0, Some(&0x95)), "{last:02x?}");
        assert!(device.is_closed());
    }
    let grown = stand.appliance.memory_bytes()?.saturating_sub(before);
    assert!(grown < 32 * MIB, "{} MiB more", grown / MIB);
    stand.check_alive()
}

#[test]
fn a_client_over_the_receive_maximum_goes_and_what_it_sent_before_stays() -> anyhow::Result<()> {
    let mut stand = stand(&["broker.receive_maximum = 5", "journal.commit_interval_ms = 50"])?;
    let mut greedy = Device::connect(stand.appliance.mqtt()?, &stand.client, "greedy")?;
    let topic = stand.inbox("greedy");
    let burst: Vec<u8> = (1..=40).flat_map(|id| mqtt::publish(&topic, b"1", id)).collect();
    greedy.send(&burst)?;
    let mut acknowledged = 0;
    let last = loop {
        let packet = greedy.receive()?;
        match packet.first {
            0x40 => acknowledged += 1,
            _ => break packet,
        }
    };
    assert_eq!((last.first, last.body.first()), (0xe0, Some(&0x93)), "{last:02x?}");
    assert!(greedy.is_closed());
    stand.check_alive()?;
    wait::until("its values to be stored", || {
        let ledger = stand.appliance.ledger().ok()?;
        (ledger["in_flight"] == 0).then_some(())
    })?;
    let stored = stand.appliance.values("main/greedy")?.len();
    assert!((5..40).contains(&stored) && stored >= acknowledged, "{stored} stored");
    Ok(())
}

#[test]
fn five_hundred_half_open_sockets_keep_no_client_out() -> anyhow::Result<()> {
    let mut stand = stand(&[])?;
    let connect = mqtt::connect(5, "slow", &stand.client);
    let mut sockets = Vec::new();
    for number in 0..500 {
        let mut socket = Device::open(stand.appliance.mqtt()?)?;
        // Nothing at all, or a CONNECT that never ends.
        if number % 2 == 0 {
            socket.send(&connect[..connect.len() - 1])?;
        }
        sockets.push(socket);
    }
    stand.check_alive()?;
    // One that goes on after all is taken.
    sockets[498].send(&connect[connect.len() - 1..])?;
    assert_eq!(sockets[498].receive()?.first, 0x20);
    Ok(())
}

#[test]
fn a_flood_of_half_connects_pushes_out_its_own_oldest() -> anyhow::Result<()> {
    let mut stand = stand(&[])?;
    let connect = mqtt::connect(5, "flood", &stand.client);
    let mut sockets = Vec::new();
    for _ in 0..1_200 {
        let mut socket = Device::open(stand.appliance.mqtt()?)?;
        socket.send(&connect[..10])?;
        sockets.push(socket);
    }
    // Only 1,000 may wait: the oldest has gone, the newest is still listened to.
    assert!(sockets[0].receive().is_err());
    stand.check_alive()?;
    let last = sockets.last_mut().expect("there are some");
    last.send(&connect[10..])?;
    assert_eq!(last.receive()?.first, 0x20);
    Ok(())
}

#[test]
fn a_low_limit_of_open_files_is_raised_for_the_clients() -> anyhow::Result<()> {
    let mut appliance = Appliance::prepare(&[])?;
    appliance.limit_open_files(200);
    appliance.start_again()?;
    let client = appliance.client("press", &["--publish", "#"])?;
    let topic = format!("mr/v1/main/_ingress/{}/t", client.id);
    let mut devices = Vec::new();
    for number in 0..300 {
        devices.push(Device::connect(appliance.mqtt()?, &client, &number.to_string())?);
    }
    for device in &mut devices {
        assert_eq!(device.publish(&topic, "1")?.reason, 0);
    }
    Ok(())
}

#[test]
fn an_old_client_learns_of_a_refusal_on_its_verdict_topic() -> anyhow::Result<()> {
    let stand = stand(&[])?;
    let mut old = Device::connect_v311(stand.appliance.mqtt()?, &stand.client, "old")?;
    let verdicts = format!("mr/v1/main/_verdict/{}", stand.client.id);
    assert_eq!(old.subscribe(&verdicts, 0)?, 0);
    let topic = stand.inbox("t");
    old.send(&mqtt::publish_v311(&topic, b"{\"value\":1e400}", 7))?;
    let answer = old.answer()?;
    assert_eq!((answer.packet_id, answer.reason), (7, 0), "3.1.1 has no reason code");
    let (from, payload) = old.delivery()?;
    assert_eq!(from, verdicts);
    let verdict: Value = serde_json::from_slice(&payload)?;
    assert_eq!(verdict["stored"], false, "{verdict}");
    assert_eq!(verdict["topic"], topic, "{verdict}");
    assert_eq!(verdict["reason"], "number_out_of_range", "{verdict}");
    assert!(verdict["message"].as_str().is_some_and(|text| text.len() > 10), "{verdict}");
    Ok(())
}

#[test]
fn a_verdict_comes_to_the_response_topic_with_its_correlation() -> anyhow::Result<()> {
    let mut stand = stand(&[])?;
    let response = format!("mr/v1/main/_verdict/{}/ask", stand.client.id);
    assert_eq!(stand.device.subscribe(&response, 0)?, 0);
    let topic = stand.inbox("t");
    for (payload, correlation, is_stored) in
        [(&b"42.5"[..], &b"order 1"[..], true), (b"{\"value\":", b"\x00\xff", false)]
    {
        let properties =
            [mqtt::property(0x08, response.as_bytes()), mqtt::property(0x09, correlation)].concat();
        stand.device.send(&mqtt::publish_with(&topic, payload, 9, &properties))?;
        let answer = stand.device.answer()?;
        assert_eq!(answer.reason == 0, is_stored, "{}", answer.text);
        let delivery = stand.device.whole_delivery()?;
        assert_eq!(delivery.topic, response);
        let expected = mqtt::property(0x09, correlation);
        let has = delivery.properties.windows(expected.len()).any(|part| part == expected);
        assert!(has, "{:02x?}", delivery.properties);
        let verdict: Value = serde_json::from_slice(&delivery.payload)?;
        assert_eq!(verdict["stored"], is_stored, "{verdict}");
    }
    Ok(())
}

#[test]
fn a_slow_subscriber_loses_the_oldest_and_it_is_counted() -> anyhow::Result<()> {
    let mut stand = stand(&["broker.subscriber_queue = 10"])?;
    // It takes one message at a time, and acknowledges none until everything is published.
    let connect = mqtt::connect_with(5, "slow", &stand.client, &[0x21, 0, 1]);
    let mut slow = Device::connect_with(stand.appliance.mqtt()?, &connect)?;
    assert_eq!(slow.subscribe("mr/v1/main/t", 1)?, 1);
    let topic = stand.inbox("t");
    for number in 0..100 {
        assert_eq!(stand.device.publish(&topic, &number.to_string())?.reason, 0);
    }
    let mut got = Vec::new();
    while got.last() != Some(&99) {
        let value: Value = serde_json::from_slice(&slow.delivery()?.1)?;
        got.push(value["value"].as_u64().expect("a number"));
    }
    assert!(got.is_sorted() && got.len() < 100, "{got:?}");
    assert_eq!(got[got.len() - 10..], (90..100).collect::<Vec<_>>(), "the newest come");
    let dropped = stand.appliance.metric("millrace_mqtt_dropped_messages_total")?;
    assert_eq!(dropped, (100 - got.len()) as f64, "{got:?}");
    // History has them all.
    assert_eq!(stand.appliance.values("main/t")?.len(), 100);
    Ok(())
}

#[test]
fn a_page_sees_values_live_over_its_web_socket() -> anyhow::Result<()> {
    let mut stand = stand(&[])?;
    let address = stand.appliance.http_address()?;
    let mut live = Live::connect(address, &stand.appliance.local_token()?)?;
    assert_eq!(live.frame()?, json!({"type": "authenticated"}));
    live.say(&json!({"type": "subscribe", "workspace": "main", "filters": ["hall/+"]}))?;
    assert_eq!(live.frame()?["type"], "subscribed");
    for (path, value) in [("office/t", "1"), ("hall/t", "18446744073709551615")] {
        let topic = stand.inbox(path);
        assert_eq!(stand.device.publish(&topic, value)?.reason, 0);
    }
    let frame = live.frame()?;
    assert_eq!(frame["topic"], "mr/v1/main/hall/t", "{frame}");
    assert_eq!(frame["payload"]["value"].as_u64(), Some(u64::MAX), "{frame}");
    // Without a good token there is nothing to see.
    let error = Live::connect(address, "guess").expect_err("no such token");
    assert!(error.to_string().contains(" 401 "), "{error}");
    Ok(())
}

#[test]
fn a_bearer_token_is_a_password_for_mqtt_until_its_client_is_revoked() -> anyhow::Result<()> {
    let stand = stand(&[])?;
    let token = stand.appliance.access_token(&stand.client)?;
    let with_token = Credentials { id: stand.client.id.clone(), secret: token };
    let mut device = Device::connect(stand.appliance.mqtt()?, &with_token, "d")?;
    assert_eq!(device.publish(&stand.inbox("t"), "1")?.reason, 0);
    // It is this client's token and nobody else's.
    let other = stand.appliance.client("other", &["--publish", "#"])?;
    let stolen = Credentials { id: other.id, secret: with_token.secret.clone() };
    assert!(Device::connect(stand.appliance.mqtt()?, &stolen, "d").is_err());
    stand.appliance.cli(&["client", "revoke", &stand.client.id])?;
    let refused = Device::connect(stand.appliance.mqtt()?, &with_token, "d");
    let refused = refused.expect_err("revoked").to_string();
    assert!(refused.contains("CONNACK"), "{refused}");
    Ok(())
}

#[test]
fn a_foreign_host_name_is_refused() -> anyhow::Result<()> {
    let mut stand = stand(&[])?;
    for (host, status) in [("evil.example", "403"), ("localhost", "200")] {
        let mut stream = TcpStream::connect(stand.appliance.http_address()?)?;
        let request =
            format!("GET /health/live HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{host}: {answer}");
    }
    stand.check_alive()
}
