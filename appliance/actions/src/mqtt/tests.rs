//! `mqtt.publish` and sources against a broker that behaves well and badly, and against mosquitto
//! where there is one.

use super::sources::{Ending, Receiver, SourceKey, SourceSpec, Sources};
use crate::limits::{MQTT_WAITING_MAX, SOURCE_PENDING_MAX};
use crate::testing::broker::{broker, message};
use crate::testing::{Bench, Notes, eventually, json};
use millrace_engine::step::{BoxFuture, StepFault};
use millrace_flow::{Data, document};
use parking_lot::Mutex;
use rumqttc::mqttbytes::QoS;
use rumqttc::mqttbytes::v4::Packet;
use serde_json::{Value, json as j};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

fn fields(port: u16, more: Value) -> Value {
    let mut fields =
        j!({"url": format!("mqtt://127.0.0.1:{port}"), "topic": "plant/a", "value": 5});
    for (name, value) in more.as_object().unwrap() {
        fields[name] = value.clone();
    }
    fields
}

fn payloads(notes: &Notes<Packet>) -> Vec<(u8, String)> {
    let notes = notes.lock();
    let publishes = notes.iter().filter_map(|packet| match packet {
        Packet::Publish(publish) => {
            Some((publish.qos as u8, String::from_utf8_lossy(&publish.payload).into()))
        }
        _ => None,
    });
    publishes.collect()
}

fn count(notes: &Notes<Packet>, is_it: impl Fn(&Packet) -> bool) -> usize {
    notes.lock().iter().filter(|packet| is_it(packet)).count()
}

#[tokio::test]
async fn publishes_over_one_connection_and_waits_for_the_acknowledgement() {
    let (server, manner) = broker().await;
    let bench = Bench::new();
    for qos in [0, 1, 2] {
        let more = j!({"qos": qos, "user": "u", "password": {"secret": "s1"}, "value": {"q": qos}});
        let done =
            bench.run("mqtt.publish", fields(server.port, more), j!({"in": 1})).await.unwrap();
        assert_eq!(json(&done), j!({"in": 1}), "the input passes on");
    }
    eventually("all arrived", || payloads(&server.notes).len() == 3).await;
    assert_eq!(payloads(&server.notes)[2], (2, "{\"q\":2}".to_owned()));
    assert_eq!(count(&server.notes, |packet| matches!(packet, Packet::Connect(_))), 1);
    match server.notes.lock().first().unwrap() {
        Packet::Connect(connect) => {
            let login = connect.login.as_ref().unwrap();
            assert_eq!((login.username.as_str(), login.password.as_str()), ("u", "value-of-s1"));
            assert!(connect.clean_session && connect.client_id.len() <= 23);
        }
        other => panic!("{other:?}"),
    }
    // Without an acknowledgement it is not done.
    manner.is_silent.store(true, Ordering::Relaxed);
    let more = j!({"user": "u", "password": {"secret": "s1"}});
    let time = Duration::from_millis(200);
    let fault = bench
        .run_within("mqtt.publish", fields(server.port, more), j!({}), time)
        .await
        .unwrap_err();
    assert_eq!((fault.code, fault.is_transient), ("timeout", true), "{fault}");
}

#[tokio::test]
async fn sends_again_what_a_broken_connection_left_open() {
    let (server, manner) = broker().await;
    let bench = Bench::new();
    manner.closes_after.store(1, Ordering::Relaxed);
    bench.run("mqtt.publish", fields(server.port, j!({"value": "again"})), j!({})).await.unwrap();
    assert_eq!(payloads(&server.notes), [(1, "again".to_owned()), (1, "again".to_owned())]);
    assert_eq!(count(&server.notes, |packet| matches!(packet, Packet::Connect(_))), 2);
}

#[tokio::test]
async fn a_broker_that_is_down_costs_time_and_no_memory() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let bench = Bench::new();
    let time = Duration::from_millis(300);
    let publish = |_| {
        let more = j!({"value": "x".repeat(10_000)});
        bench.run_within("mqtt.publish", fields(port, more), j!({}), time)
    };
    let all = futures_util::future::join_all((0..MQTT_WAITING_MAX + 100).map(publish)).await;
    let codes: Vec<_> = all.iter().map(|result| result.as_ref().unwrap_err().code).collect();
    let limited = codes.iter().filter(|code| **code == "limit").count();
    // Those whose time is over before the first attempt cannot know more than that.
    let waited = ["unreachable", "timeout"];
    let waited = codes.iter().filter(|code| waited.contains(code)).count();
    assert_eq!((limited, waited), (100, MQTT_WAITING_MAX));
    assert!(codes.contains(&"unreachable"), "most are told why");
    assert!(bench.issues.is_open(&format!("target-unreachable:mqtt 127.0.0.1:{port}")));
    assert_eq!(bench.pool.held_bytes(), 0, "who goes takes the message along");
}

#[tokio::test]
async fn refusals_last_and_garbage_is_told() {
    let (server, manner) = broker().await;
    let bench = Bench::new();
    manner.refuses.store(true, Ordering::Relaxed);
    let more = j!({"user": "u", "password": {"secret": "s1"}});
    let fault = bench.run("mqtt.publish", fields(server.port, more), j!({})).await.unwrap_err();
    assert_eq!((fault.code, fault.is_transient), ("answer", false), "{fault}");
    assert!(!fault.message.contains("value-of"), "{fault}");
    let closed = Bench::with(&[]);
    let fault = closed.run("mqtt.publish", fields(server.port, j!({})), j!({})).await.unwrap_err();
    assert_eq!((fault.code, fault.is_transient), ("refused", false), "{fault}");
    for topic in ["", "a/#", "+"] {
        let more = j!({"topic": topic});
        let fault = bench.run("mqtt.publish", fields(server.port, more), j!({})).await.unwrap_err();
        assert_eq!(fault.code, "bad_input", "{fault}");
    }
    let http = crate::testing::server::serve(
        |mut stream: tokio::net::TcpStream, _: Notes<()>| async move {
            tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad\r\n\r\n")
                .await
                .ok()?;
            std::future::pending().await
        },
    )
    .await;
    let time = Duration::from_millis(300);
    let fault = bench
        .run_within("mqtt.publish", fields(http.port, j!({})), j!({}), time)
        .await
        .unwrap_err();
    assert!(fault.is_transient && ["bad_answer", "timeout"].contains(&fault.code), "{fault}");
    for url in ["http://x", "mqtt://", "mqtt://u:p@h", "mqtt://h:99999", "mqtt://h/x"] {
        let fields = j!({"url": url, "topic": "a"});
        assert!(bench.compile("mqtt.publish", fields).is_err(), "{url}");
    }
    let stub = bench.stub(
        "mqtt.publish",
        fields(server.port, j!({"password": {"secret": "s1"}, "user": "u"})),
        j!({}),
    );
    assert_eq!(
        (&stub["topic"], &stub["value"], &stub["password"]),
        (&j!("plant/a"), &j!(5), &j!("<secret s1>"))
    );
}

/// Takes messages as a test wants.
#[derive(Default)]
struct Taker {
    taken: Mutex<Vec<Value>>,
    /// A message is durable when it has got one of these.
    durable: Option<Semaphore>,
    fails: AtomicBool,
    calls: AtomicUsize,
}

struct Shared(Arc<Taker>);

impl Receiver for Shared {
    fn receive(&self, _: &SourceKey, trigger: Data) -> BoxFuture<Result<(), StepFault>> {
        let taker = Arc::clone(&self.0);
        taker.calls.fetch_add(1, Ordering::Relaxed);
        taker.taken.lock().push(json(&trigger));
        Box::pin(async move {
            if taker.fails.load(Ordering::Relaxed) {
                return Err(StepFault::passing("limit", "full"));
            }
            if let Some(durable) = &taker.durable {
                durable.acquire().await.unwrap().forget();
            }
            Ok(())
        })
    }
    fn secret(&self, _: u16, name: &str) -> Option<Arc<str>> {
        (name == "s1").then(|| "value-of-s1".into())
    }
}

fn spec(port: u16, more: Value) -> SourceSpec {
    let mut fields = j!({"url": format!("mqtt://127.0.0.1:{port}"), "filters": ["plant/#"]});
    for (name, value) in more.as_object().unwrap() {
        fields[name] = value.clone();
    }
    let step: document::Step =
        serde_json::from_value(j!({"kind": "mqtt.subscribe", "fields": fields})).unwrap();
    SourceSpec::read("p", "s", &step).unwrap()
}

fn key() -> SourceKey {
    SourceKey { workspace: 1, pipeline: 7, step: "s".to_owned() }
}

fn sources(bench: &Bench, taker: &Arc<Taker>) -> Sources {
    Sources::new(Arc::clone(&bench.pool), Arc::new(Shared(Arc::clone(taker))))
}

fn outbox(count: u16, qos: QoS) -> Vec<rumqttc::mqttbytes::v4::Publish> {
    (1..=count).map(|id| message(id, qos, "plant/a", &format!("{{\"n\":{id}}}"))).collect()
}

#[tokio::test]
async fn acknowledges_only_what_is_durable_and_in_order() {
    let (server, manner) = broker().await;
    *manner.outbox.lock() = outbox(10, QoS::AtLeastOnce);
    let bench = Bench::new();
    let taker = Arc::new(Taker { durable: Some(Semaphore::new(0)), ..Taker::default() });
    let sources = sources(&bench, &taker);
    sources
        .start(key(), spec(server.port, j!({"user": "u", "password": {"secret": "s1"}})))
        .unwrap();
    eventually("all handed over", || taker.taken.lock().len() == 10).await;
    let is_ack = |packet: &Packet| matches!(packet, Packet::PubAck(_));
    assert_eq!(count(&server.notes, is_ack), 0, "none is durable yet");
    taker.durable.as_ref().unwrap().add_permits(4);
    eventually("four acknowledged", || count(&server.notes, is_ack) == 4).await;
    taker.durable.as_ref().unwrap().add_permits(6);
    eventually("all acknowledged", || manner.outbox.lock().is_empty()).await;
    let acks: Vec<u16> = server
        .notes
        .lock()
        .iter()
        .filter_map(|packet| match packet {
            Packet::PubAck(ack) => Some(ack.pkid),
            _ => None,
        })
        .collect();
    assert_eq!(acks, (1..=10).collect::<Vec<_>>());
    let first = taker.taken.lock()[0].clone();
    assert_eq!(
        first,
        j!({"topic": "plant/a", "payload": {"n": 1}, "json": {"n": 1}, "qos": 1, "retain": false})
    );
    let state = sources.list().remove(0);
    assert!(
        state.is_connected && state.taken == 10 && state.last_message_at.is_some(),
        "{state:?}"
    );
    match server.notes.lock().first().unwrap() {
        Packet::Connect(connect) => {
            assert!(!connect.clean_session);
            assert_eq!(
                (connect.client_id.as_str(), connect.login.as_ref().unwrap().password.as_str()),
                ("millrace-p-s", "value-of-s1")
            );
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn reads_no_more_than_can_be_made_durable() {
    let (server, manner) = broker().await;
    *manner.outbox.lock() = outbox(1_000, QoS::AtLeastOnce);
    let bench = Bench::new();
    let taker = Arc::new(Taker { durable: Some(Semaphore::new(0)), ..Taker::default() });
    let sources = sources(&bench, &taker);
    sources.start(key(), spec(server.port, j!({}))).unwrap();
    eventually("it is full", || taker.taken.lock().len() >= SOURCE_PENDING_MAX).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(taker.taken.lock().len(), SOURCE_PENDING_MAX);
    taker.durable.as_ref().unwrap().add_permits(2_000);
    eventually("all taken", || manner.outbox.lock().is_empty()).await;
    assert_eq!(taker.taken.lock().len(), 1_000);
}

#[tokio::test]
async fn what_cannot_be_taken_comes_again() {
    let (server, manner) = broker().await;
    *manner.outbox.lock() = outbox(3, QoS::AtLeastOnce);
    let bench = Bench::new();
    let taker = Arc::new(Taker { fails: AtomicBool::new(true), ..Taker::default() });
    let sources = sources(&bench, &taker);
    sources.start(key(), spec(server.port, j!({}))).unwrap();
    eventually("it was tried", || taker.calls.load(Ordering::Relaxed) > 0).await;
    assert_eq!(count(&server.notes, |packet| matches!(packet, Packet::PubAck(_))), 0);
    taker.fails.store(false, Ordering::Relaxed);
    eventually("all taken in the end", || manner.outbox.lock().is_empty()).await;
    let numbers: Vec<_> =
        taker.taken.lock().iter().map(|taken| taken["json"]["n"].clone()).collect();
    assert!(numbers.ends_with(&[j!(1), j!(2), j!(3)]), "{numbers:?}");
}

#[tokio::test]
async fn takes_qos_2_once_and_counts_what_is_unreadable() {
    let (server, manner) = broker().await;
    *manner.outbox.lock() = vec![
        message(1, QoS::ExactlyOnce, "plant/a", "1"),
        message(1, QoS::ExactlyOnce, "plant/a", "1"),
        message(2, QoS::ExactlyOnce, "plant/a", "no json"),
        message(0, QoS::AtMostOnce, "plant/a", "2"),
    ];
    let bench = Bench::new();
    let taker = Arc::new(Taker::default());
    let sources = sources(&bench, &taker);
    sources.start(key(), spec(server.port, j!({"qos": 2, "payload": "json"}))).unwrap();
    let is_complete = |packet: &Packet| matches!(packet, Packet::PubComp(_));
    eventually("both completed", || count(&server.notes, is_complete) >= 2).await;
    eventually("the rest came", || taker.taken.lock().len() >= 2).await;
    assert_eq!(sources.list()[0].unreadable, 1);
}

#[tokio::test]
async fn stopping_keeps_or_forgets_the_session() {
    let (server, _) = broker().await;
    let bench = Bench::new();
    let taker = Arc::new(Taker::default());
    let sources = sources(&bench, &taker);
    let connects = || -> Vec<bool> {
        server
            .notes
            .lock()
            .iter()
            .filter_map(|packet| match packet {
                Packet::Connect(connect) => Some(connect.clean_session),
                _ => None,
            })
            .collect()
    };
    let subscribed = |times| {
        let notes = Arc::clone(&server.notes);
        eventually("subscribed", move || {
            count(&notes, |p| matches!(p, Packet::Subscribe(_))) == times
        })
    };
    sources.start(key(), spec(server.port, j!({}))).unwrap();
    subscribed(1).await;
    // The same settings run on; others take over the session and give up the old filters.
    sources.start(key(), spec(server.port, j!({}))).unwrap();
    sources.start(key(), spec(server.port, j!({"filters": ["other/#"]}))).unwrap();
    subscribed(2).await;
    assert_eq!(connects(), [false, false]);
    assert_eq!(
        count(
            &server.notes,
            |packet| matches!(packet, Packet::Unsubscribe(u) if u.topics == ["plant/#"])
        ),
        1
    );
    sources.stop(&key(), Ending::Forget);
    eventually("forgotten", || connects() == [false, false, true]).await;
    assert!(sources.list().is_empty());
    let mut bad =
        j!({"kind": "mqtt.subscribe", "fields": {"url": "mqtt://h", "filters": ["a/#/b"]}});
    let read =
        |value: &Value| SourceSpec::read("p", "s", &serde_json::from_value(value.clone()).unwrap());
    assert_eq!(read(&bad).unwrap_err().0, "filters");
    bad["fields"]["filters"] = j!([]);
    assert_eq!(read(&bad).unwrap_err().0, "filters");
    bad["fields"] = j!({"url": "http://h", "filters": ["a"]});
    assert_eq!(read(&bad).unwrap_err().0, "url");
}

/// A mosquitto of the test's own.
struct Mosquitto(Child);

impl Mosquitto {
    fn start(port: u16, dir: &std::path::Path) -> Option<Self> {
        let config = dir.join("mosquitto.conf");
        let text = format!("listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\n");
        std::io::Write::write_all(&mut std::fs::File::create(&config).ok()?, text.as_bytes())
            .ok()?;
        let program = ["/usr/sbin/mosquitto", "mosquitto"].into_iter();
        let mut started = program.filter_map(|program| {
            Command::new(program)
                .arg("-c")
                .arg(&config)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .ok()
        });
        started.next().map(Self)
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        if let Err(error) = self.0.kill().and_then(|()| self.0.wait().map(drop)) {
            eprintln!("mosquitto was not stopped: {error}");
        }
    }
}

#[tokio::test]
async fn speaks_with_mosquitto_and_outlives_its_restart() {
    let dir = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let Some(mosquitto) = Mosquitto::start(port, dir.path()) else {
        return eprintln!("SKIPPED: no mosquitto on this machine");
    };
    let bench = Bench::new();
    let taker = Arc::new(Taker::default());
    let sources = sources(&bench, &taker);
    sources.start(key(), spec(port, j!({"qos": 2}))).unwrap();
    eventually("subscribed", || sources.list()[0].is_connected).await;
    for qos in [0, 1, 2] {
        bench
            .run("mqtt.publish", fields(port, j!({"qos": qos, "value": qos})), j!({}))
            .await
            .unwrap();
    }
    eventually("all three came", || taker.taken.lock().len() == 3).await;
    let qos: Vec<_> = taker.taken.lock().iter().map(|taken| taken["qos"].clone()).collect();
    assert_eq!(qos, [j!(0), j!(1), j!(2)]);
    drop(mosquitto);
    let _again = Mosquitto::start(port, dir.path()).unwrap();
    bench.run("mqtt.publish", fields(port, j!({"value": "back"})), j!({})).await.unwrap();
    eventually("subscribed again", || sources.list()[0].is_connected).await;
    bench.run("mqtt.publish", fields(port, j!({"value": "again"})), j!({})).await.unwrap();
    eventually("it came", || taker.taken.lock().iter().any(|taken| taken["payload"] == "again"))
        .await;
}
