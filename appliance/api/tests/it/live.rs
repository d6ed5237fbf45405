//! Live values over a WebSocket.

use crate::server::Server;
use futures_util::{SinkExt as _, StreamExt as _};
use millrace_api::Settings;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Longest wait for a frame.
const WAIT: Duration = Duration::from_secs(5);

struct Live(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Live {
    async fn connect(server: &Server, token: Option<&str>) -> Self {
        let address = format!("ws://{}/api/v1/live", server.address);
        let mut request = address.into_client_request().unwrap();
        if let Some(token) = token {
            let value = format!("Bearer {token}").parse().unwrap();
            request.headers_mut().insert("authorization", value);
        }
        Self(connect_async(request).await.unwrap().0)
    }

    /// Connected, signed in, and subscribed.
    async fn subscribed(server: &Server, token: &str, filter: &str) -> Self {
        let mut live = Self::connect(server, Some(token)).await;
        assert_eq!(live.next().await, json!({"type": "authenticated"}));
        live.say(json!({"type": "subscribe", "workspace": "main", "filters": [filter]})).await;
        assert_eq!(live.next().await, json!({"type": "subscribed", "filters": [filter]}));
        live
    }

    async fn say(&mut self, frame: Value) {
        self.0.send(Message::text(frame.to_string())).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let frame = tokio::time::timeout(WAIT, self.0.next()).await.expect("a frame in time");
        match frame.expect("the connection is open").unwrap() {
            Message::Text(text) => serde_json::from_str(&text).unwrap(),
            Message::Close(close) => json!({"closed": u16::from(close.unwrap().code)}),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_browser_signs_in_with_its_first_frame() {
    let server = Server::start().await;
    let mut live = Live::connect(&server, None).await;
    live.say(json!({"type": "authenticate", "token": "viewer"})).await;
    assert_eq!(live.next().await, json!({"type": "authenticated"}));
    live.say(json!({"type": "subscribe", "workspace": "main", "filters": ["hall/+"]})).await;
    assert_eq!(live.next().await["type"], "subscribed");
    server.backend.publish("hall/humidity", r#"{"value": 18446744073709551615}"#);
    let frame = live.next().await;
    assert_eq!(frame["topic"], "mr/v1/main/hall/humidity");
    assert_eq!(frame["payload"].to_string(), r#"{"value":18446744073709551615}"#);
    server.backend.publish("press-4/temperature", "1");
    server.backend.publish("hall/humidity", "not json");
    let frame = live.next().await;
    assert_eq!(frame["payload_base64"], "bm90IGpzb24=", "what does not match does not come");
    assert!(frame.get("payload").is_none());
    live.say(json!({"type": "unsubscribe"})).await;
    assert_eq!(live.next().await, json!({"type": "unsubscribed"}));
    assert!(server.backend.sinks.lock().is_empty(), "the guard is gone");
}

#[tokio::test]
async fn nothing_but_a_good_token_opens_it() {
    let server = Server::start().await;
    for frame in [
        json!({"type": "authenticate", "token": "wrong"}),
        json!({"type": "authenticate", "token": "x".repeat(2_000)}),
        json!({"type": "subscribe", "workspace": "main", "filters": ["#"]}),
        json!("garbage"),
    ] {
        let mut live = Live::connect(&server, None).await;
        live.say(frame).await;
        assert_eq!(live.next().await["error"]["code"], "unauthorized");
        assert_eq!(live.next().await, json!({"closed": 1008}));
    }
    assert!(server.backend.sinks.lock().is_empty());
}

#[tokio::test]
async fn a_client_subscribes_only_to_what_its_filters_cover() {
    let server = Server::start().await;
    let mut live = Live::subscribed(&server, "device", "press-4/+").await;
    let ask = |workspace: &str, filters: Value| json!({"type": "subscribe", "workspace": workspace, "filters": filters});
    live.say(ask("main", json!(["press-4/temperature", "#"]))).await;
    let error = live.next().await;
    assert_eq!(error["error"]["code"], "forbidden");
    assert_eq!(error["error"]["field"], "filters[1]");
    live.say(ask("lab", json!(["press-4/#"]))).await;
    assert_eq!(live.next().await["error"]["code"], "not_found");
    live.say(ask("main", json!([]))).await;
    assert_eq!(live.next().await["error"]["field"], "filters");
    live.say(ask("main", json!(["a/#/b"]))).await;
    assert_eq!(live.next().await["error"]["field"], "filters[0]");
    live.say(json!({"type": "dance"})).await;
    assert_eq!(live.next().await["error"]["code"], "bad_request");
    server.backend.publish("press-4/temperature", "1");
    assert_eq!(live.next().await["type"], "message", "the subscription before still stands");
}

#[tokio::test]
async fn a_slow_reader_loses_the_oldest_and_is_told_how_many() {
    let mut settings = Settings::loopback();
    settings.live_queue_messages = 10;
    let server = Server::start_with(settings).await;
    let mut live = Live::subscribed(&server, "viewer", "#").await;
    // The socket's task has no chance to take any in between: nothing here waits.
    (0..1_000).for_each(|at| server.backend.publish("hall/humidity", &at.to_string()));
    let mut told = 0;
    let mut got = Vec::new();
    while got.last() != Some(&999) {
        let frame = live.next().await;
        match frame["type"].as_str().unwrap() {
            "dropped" => told = frame["total"].as_u64().unwrap(),
            "message" => got.push(frame["payload"].as_u64().unwrap()),
            other => panic!("{other}"),
        }
    }
    assert_eq!(told + got.len() as u64, 1_000, "each message came or was counted");
    assert!(told >= 900, "{told}");
    assert!(got.is_sorted());
    assert!(got.ends_with(&[990, 991, 992, 993, 994, 995, 996, 997, 998, 999]));
}

#[tokio::test]
async fn a_closed_queue_cuts_the_reader_off() {
    let server = Server::start().await;
    let mut live = Live::subscribed(&server, "device", "press-4/#").await;
    server.backend.sinks.lock().iter().for_each(|(_, sink)| sink.close());
    assert_eq!(live.next().await, json!({"closed": 1001}));
}

#[tokio::test]
async fn large_and_binary_frames_end_the_connection() {
    let server = Server::start().await;
    let mut live = Live::subscribed(&server, "viewer", "#").await;
    live.0.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    assert_eq!(live.next().await, json!({"closed": 1003}));
    let mut live = Live::subscribed(&server, "viewer", "#").await;
    live.0.send(Message::text("x".repeat(70_000))).await.unwrap();
    let end = tokio::time::timeout(WAIT, live.0.next()).await.expect("an end in time");
    assert!(!matches!(end, Some(Ok(Message::Text(_)))), "{end:?}");
}

#[tokio::test]
async fn a_foreign_page_cannot_connect() {
    let server = Server::start().await;
    let address = format!("ws://{}/api/v1/live", server.address);
    let mut request = address.into_client_request().unwrap();
    request.headers_mut().insert("origin", "http://evil.example".parse().unwrap());
    let error = connect_async(request).await.unwrap_err();
    assert!(error.to_string().contains("403"), "{error}");
}
