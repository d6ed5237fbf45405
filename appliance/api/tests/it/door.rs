//! The door: hosts, origins, sizes, methods, broken requests, the end.

use crate::http::{Request, exchange};
use crate::server::Server;
use millrace_api::Settings;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

async fn status_of_host(server: &Server, host: &str) -> u16 {
    Request::get("/health/live").header("Host", host).send(server.address).await.status
}

#[tokio::test]
async fn answers_only_to_its_own_names() {
    let mut settings = Settings::loopback();
    settings.hosts = vec!["press-hall".to_owned(), "192.0.2.10".to_owned()];
    let server = Server::start_with(settings).await;
    for own in [
        "localhost",
        "LOCALHOST:8080",
        "127.0.0.1:1",
        "[::1]:8080",
        "press-hall",
        "press-hall.:8080",
        "192.0.2.10",
    ] {
        assert_eq!(status_of_host(&server, own).await, 200, "{own}");
    }
    for foreign in ["evil.example", "localhost.evil.example", "192.0.2.11", "user@localhost", "::1"]
    {
        let answer = Request::get("/health/live").header("Host", foreign);
        let answer = answer.send(server.address).await;
        assert!([400, 403].contains(&answer.status), "{foreign}: {}", answer.status);
    }
    Request::get("/health/live")
        .header("Host", "evil.example")
        .send(server.address)
        .await
        .expect_error(403, "host_not_allowed", None);
    let twice = Request::get("/health/live").header("Host", "localhost").header("Host", "x");
    assert!([400, 403].contains(&twice.send(server.address).await.status));
    let without = exchange(server.address, b"GET / HTTP/1.0\r\n\r\n").await;
    without.expect_error(403, "host_not_allowed", None);
}

#[tokio::test]
async fn takes_its_own_origin_and_configured_ones_only() {
    let mut settings = Settings::loopback();
    settings.origins = vec!["tauri://localhost".to_owned()];
    let server = Server::start_with(settings).await;
    let own = format!("http://{}", server.address);
    let other_port = format!("http://127.0.0.1:{}", server.address.port() ^ 1);
    let check = async |origin: &str, status: u16| {
        for target in ["/api/v1/version", "/api/v1/live"] {
            let request = Request::get(target).header("Origin", origin).send(server.address).await;
            // Without the upgrade headers a live request that is let in is answered 400.
            let expected = if status == 200 && target.ends_with("live") { 400 } else { status };
            assert_eq!(request.status, expected, "{origin} {target}: {}", request.text());
        }
    };
    check(&own, 200).await;
    check("tauri://localhost", 200).await;
    check(&own.replace("http", "https"), 403).await;
    check(&other_port, 403).await;
    check("http://evil.example", 403).await;
    check("null", 403).await;
    check("", 403).await;
}

#[tokio::test]
async fn every_answer_has_the_security_headers() {
    let server = Server::start().await;
    for target in ["/", "/api/v1/version", "/nothing", "/api/v1/clients"] {
        let answer = Request::get(target).send(server.address).await;
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{target}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{target}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{target}");
        assert!(answer.header("access-control-allow-origin").is_none(), "{target}");
    }
}

#[tokio::test]
async fn tells_unknown_addresses_and_methods() {
    let server = Server::start().await;
    server.get("admin", "/api/v1/nothing").await.expect_error(404, "not_found", None);
    let answer = Request::new("DELETE", "/api/v1/people").token("admin").send(server.address).await;
    let answer = answer.expect_error(405, "method_not_allowed", None);
    assert_eq!(answer.header("allow"), Some("GET, POST"));
}

#[tokio::test]
async fn refuses_bodies_that_are_too_large_or_of_another_kind() {
    let server = Server::start().await;
    let large = format!(r#"{{"name":"{}"}}"#, "x".repeat(1024 * 1024));
    let answer = server.post("admin", "/api/v1/clients", &large).await;
    answer.expect_error(413, "too_large", None);
    let text = Request::new("POST", "/api/v1/clients").token("admin").body("text/plain", b"{}");
    text.send(server.address).await.expect_error(415, "unsupported_media_type", None);
    let post = async |body: &str| server.post("admin", "/api/v1/clients", body).await;
    post("{").await.expect_error(400, "bad_request", None);
    post(r#"{"name":"a"} x"#).await.expect_error(400, "bad_request", None);
    post(r#"{"name":"a","publish":["a",7]}"#).await.expect_error(
        422,
        "invalid",
        Some("publish[1]"),
    );
    post(r#"{"name":"a","secret":"x"}"#).await.expect_error(422, "invalid", Some("secret"));
    let deep = format!(r#"{{"name":{}}}"#, "[".repeat(100_000));
    assert!([400, 422].contains(&post(&deep).await.status));
}

#[tokio::test]
async fn survives_garbage_and_oversized_heads() {
    let server = Server::start().await;
    let many: String = (0..100).map(|at| format!("X-{at}: 1\r\n")).collect();
    let long = "x".repeat(64 * 1024);
    for (bytes, statuses) in [
        ("\0\x01\x02garbage\r\n\r\n".to_owned(), vec![400]),
        (format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"), vec![431]),
        (format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"), vec![414, 431]),
        (format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}\r\n\r\n"), vec![431]),
    ] {
        let answer = exchange(server.address, bytes.as_bytes()).await;
        assert!(statuses.contains(&answer.status), "{}", answer.status);
    }
    Request::get("/health/live").send(server.address).await.expect(200);
}

#[tokio::test]
async fn stops_with_idle_connections_open() {
    let server = Server::start().await;
    let mut idle = TcpStream::connect(server.address).await.unwrap();
    Request::get("/health/live").send(server.address).await.expect(200);
    tokio::time::timeout(Duration::from_secs(3), server.stop()).await.expect("stops at once");
    let mut rest = Vec::new();
    assert_eq!(idle.read_to_end(&mut rest).await.unwrap_or(0), 0);
}
