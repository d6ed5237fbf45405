//! `http.request` against servers that behave well and badly.

use crate::testing::server::{answer, http, http_on, serve};
use crate::testing::{Bench, json};
use millrace_model::Timestamp;
use millrace_supervisor::TestClock;
use serde_json::{Value, json as j};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

fn url(port: u16, path: &str) -> String {
    format!("http://127.0.0.1:{port}{path}")
}

#[tokio::test]
async fn asks_and_reads_the_answer() {
    let server = http(|_| {
        answer(
            "201 Created",
            "Content-Type: application/json\r\nX-A: 1\r\nX-A: 2\r\n",
            r#"{"id":9007199254740993}"#,
        )
    })
    .await;
    let bench = Bench::new();
    let fields = j!({
        "url": url(server.port, "/orders?x=1"), "method": "POST",
        "query": {"n": 5, "list": ["a b", "c&d"], "none": null},
        "headers": {"X-Line": "4", "X-Key": {"secret": "s1"}},
        "body": {"count": 3}, "bearer": {"secret": "s2"},
    });
    let done = json(&bench.run("http.request", fields, j!({})).await.unwrap());
    assert_eq!(done["status"], 201);
    assert_eq!(done["body"], j!({"id": 9_007_199_254_740_993_i64}));
    assert_eq!(done["headers"]["x-a"], "1, 2");
    let request = server.notes.lock().remove(0);
    assert!(
        request.head.starts_with("POST /orders?x=1&list=a+b&list=c%26d&n=5 HTTP/1.1\r\n"),
        "{}",
        request.head
    );
    let head = request.head.to_ascii_lowercase();
    for line in [
        "x-line: 4",
        "x-key: value-of-s1",
        "authorization: bearer value-of-s2",
        "content-type: application/json",
        "idempotency-key: 7-42-3",
        "x-millrace-hops: 1",
        &format!("host: 127.0.0.1:{}", server.port),
    ] {
        assert!(head.contains(line), "{line}\n{head}");
    }
    assert_eq!(request.body, r#"{"count":3}"#);
    let target = bench.pool.targets().remove(0);
    assert_eq!((target.ok, target.failed), (1, 0));
    assert_eq!(bench.pool.held_bytes(), 0, "nothing stays held");
}

#[tokio::test]
async fn reuses_its_connection_and_survives_its_end() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    // Each connection answers two requests and closes without a word.
    let server = serve(move |mut stream: TcpStream, _: crate::testing::Notes<()>| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move {
            let mut buffer = [0; 4_096];
            for _ in 0..2 {
                if stream.read(&mut buffer).await.ok()? == 0 {
                    return None;
                }
                stream.write_all(&answer("200 OK", "", "x")).await.ok()?;
            }
            None
        }
    })
    .await;
    let bench = Bench::new();
    for _ in 0..6 {
        bench.run("http.request", j!({"url": url(server.port, "/")}), j!({})).await.unwrap();
        // The end of the connection reaches us, or not yet: both must go well.
        tokio::task::yield_now().await;
    }
    assert!(connections.load(Ordering::Relaxed) < 6, "some requests shared a connection");
}

#[tokio::test]
async fn a_status_is_a_fault_that_passes_or_lasts() {
    let server = http(|line| {
        let status = line.split(['/', ' ']).nth(2).unwrap().to_owned();
        answer(&format!("{status} Because"), "", "details")
    })
    .await;
    let bench = Bench::new();
    for (status, passes) in [
        (400, false),
        (404, false),
        (408, true),
        (425, true),
        (429, true),
        (500, true),
        (503, true),
    ] {
        let fields = j!({"url": url(server.port, &format!("/{status}"))});
        let fault = bench.run("http.request", fields, j!({})).await.unwrap_err();
        assert_eq!((fault.code, fault.is_transient), ("status", passes), "{status}");
        assert!(fault.message.contains("details"), "{fault}");
        let fields = j!({"url": url(server.port, &format!("/{status}")), "fail_on_status": false});
        let done = json(&bench.run("http.request", fields, j!({})).await.unwrap());
        assert_eq!(done["status"], status);
    }
    assert!(bench.issues.list().is_empty(), "a target that answers is reachable");
}

#[tokio::test]
async fn refuses_the_box_by_address_by_name_and_by_redirect() {
    // Given a server on loopback that sends everybody to itself under another name
    let server = http(|line| match line.contains("/go/") {
        true => {
            let port = line.split(['/', ' ']).nth(3).unwrap().to_owned();
            answer("302 Found", &format!("Location: http://localhost:{port}/secret\r\n"), "")
        }
        false => answer("200 OK", "", "never"),
    })
    .await;
    let port = server.port;
    let closed = Bench::with(&[]);
    for host in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "0.0.0.0",
        "127.1",
        "2130706433",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
    ] {
        let fields = j!({"url": format!("http://{host}:{port}/")});
        let fault = closed.run("http.request", fields, j!({})).await.unwrap_err();
        assert_eq!((fault.code, fault.is_transient), ("refused", false), "{host}: {fault}");
    }
    assert!(server.notes.lock().is_empty(), "nobody was asked");
    // When one name is allowed, a redirect to the other is still refused.
    let open = Bench::with(&["127.0.0.1"]);
    let fields = j!({"url": url(port, &format!("/go/{port}")), "redirects_max": 5});
    let fault = open.run("http.request", fields, j!({})).await.unwrap_err();
    assert_eq!(fault.code, "refused", "{fault}");
    assert_eq!(server.notes.lock().len(), 1);
    for bad in
        ["ftp://127.0.0.1/", "http://user:pw@127.0.0.1/", "file:///etc/passwd", "x", "http://"]
    {
        let fault = open.run("http.request", j!({"url": bad}), j!({})).await.unwrap_err();
        assert_eq!(fault.code, "bad_input", "{bad}: {fault}");
    }
}

#[tokio::test]
async fn follows_few_redirects_and_takes_no_credentials_along() {
    let other = http(|_| answer("200 OK", "", "there")).await;
    let there = other.port;
    let server = http(move |line| {
        if line.contains("/loop") {
            return answer("301 Moved", "Location: /loop\r\n", "");
        }
        answer("302 Found", &format!("Location: http://127.0.0.1:{there}/x\r\n"), "")
    })
    .await;
    let bench = Bench::new();
    let fields = j!({
        "url": url(server.port, "/"), "method": "POST", "body": "b", "redirects_max": 3,
        "headers": {"X-Key": {"secret": "s1"}, "X-Plain": "p"}, "user": "u", "password": {"secret": "s2"},
    });
    let done = json(&bench.run("http.request", fields, j!({})).await.unwrap());
    assert_eq!(done["body"], "there");
    let first = server.notes.lock().remove(0).head.to_ascii_lowercase();
    assert!(first.contains("authorization: basic") && first.contains("x-key"), "{first}");
    let second = other.notes.lock().remove(0);
    let head = second.head.to_ascii_lowercase();
    assert!(head.starts_with("get /x") && second.body.is_empty(), "{head}");
    assert!(!head.contains("authorization") && !head.contains("x-key"), "{head}");
    assert!(head.contains("x-plain: p"), "{head}");
    let fields = j!({"url": url(server.port, "/loop"), "redirects_max": 3});
    let fault = bench.run("http.request", fields, j!({})).await.unwrap_err();
    assert_eq!((fault.code, fault.is_transient), ("redirect", false), "{fault}");
    // Not followed unless asked for: the answer is the redirect itself.
    let done = bench.run("http.request", j!({"url": url(server.port, "/")}), j!({})).await.unwrap();
    assert_eq!(json(&done)["status"], 302);
}

#[tokio::test]
async fn bounds_the_answer_whatever_the_server_does() {
    let server = serve(|mut stream: TcpStream, _: crate::testing::Notes<()>| async move {
        let mut buffer = [0; 4_096];
        let count = stream.read(&mut buffer).await.ok()?;
        let request = String::from_utf8_lossy(&buffer[..count]).into_owned();
        if request.contains("/endless") {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.ok()?;
            loop {
                stream.write_all(&[b'x'; 65_536]).await.ok()?;
            }
        }
        if request.contains("/head") {
            stream.write_all(b"HTTP/1.1 200 OK\r\n").await.ok()?;
            loop {
                stream.write_all(&[b'x'; 65_536]).await.ok()?;
            }
        }
        if request.contains("/slow") {
            std::future::pending::<()>().await;
        }
        if request.contains("/half") {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf").await.ok()?;
            return None;
        }
        stream.write_all(b"\x00\xffSSH-2.0 hello\r\n\r\n").await.ok()
    })
    .await;
    let bench = Bench::new();
    let run = async |path: &str| {
        let fields = j!({"url": url(server.port, path), "answer_size_bytes_max": 100_000});
        let time = Duration::from_millis(400);
        bench.run_within("http.request", fields, j!({}), time).await.unwrap_err()
    };
    let fault = run("/endless").await;
    assert_eq!((fault.code, fault.is_transient), ("limit", false), "{fault}");
    for (path, code) in [
        ("/head", "bad_answer"),
        ("/half", "bad_answer"),
        ("/garbage", "bad_answer"),
        ("/slow", "timeout"),
    ] {
        let fault = run(path).await;
        assert_eq!((fault.code, fault.is_transient), (code, true), "{path}: {fault}");
    }
    assert_eq!(bench.pool.held_bytes(), 0);
}

#[tokio::test]
async fn a_target_that_is_down_for_an_hour_is_told_takes_no_memory_and_comes_back() {
    let clock = Arc::new(TestClock::new(Timestamp(0)));
    let bench = Bench::on_clock(&["127.0.0.1"], Arc::clone(&clock) as _);
    // Given an address that is taken and does not listen
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = socket.local_addr().unwrap().port();
    let fields = j!({"url": url(port, "/"), "method": "POST", "body": "x".repeat(10_000)});
    let key = format!("target-unreachable:http 127.0.0.1:{port}");
    // When it is called for an hour
    for minute in 0..60 {
        for _ in 0..3 {
            let fault = bench.run("http.request", fields.clone(), j!({})).await.unwrap_err();
            assert_eq!((fault.code, fault.is_transient), ("unreachable", true), "{fault}");
        }
        clock.advance(Duration::from_secs(60));
        bench.pool.tick();
        assert!(bench.issues.is_open(&key), "minute {minute}");
        assert_eq!((bench.pool.held_bytes(), bench.pool.targets().len()), (0, 1));
    }
    // Then the issue says since when, and each call is counted
    let issue = bench.issues.list().remove(0);
    assert!(issue.what.contains(&Timestamp(0).to_rfc3339()), "{}", issue.what);
    assert_eq!(bench.pool.targets().remove(0).failed, 180);
    // And the first answer ends it
    let server = http_on(socket.listen(16).unwrap(), |_| answer("200 OK", "", "back"));
    let done = json(&bench.run("http.request", fields, j!({})).await.unwrap());
    assert_eq!((done["status"].clone(), server.notes.lock().len()), (j!(200), 1));
    assert!(bench.issues.list().is_empty());
    assert_eq!(bench.pool.targets().remove(0).unreachable_since, None);
}

#[tokio::test]
async fn refuses_smuggled_headers_and_never_shows_secrets() {
    let server = http(|_| answer("500 No", "", "you sent value-of-s1")).await;
    let bench = Bench::new();
    for headers in [j!({"X-A": "1\r\nX-B: 2"}), j!({"X-A": "a\0b"})] {
        let fields = j!({"url": url(server.port, "/"), "headers": headers});
        let fault = bench.run("http.request", fields, j!({})).await.unwrap_err();
        assert_eq!(fault.code, "bad_input", "{fault}");
    }
    for name in ["Host", "Content-Length", "Transfer-Encoding", "bad name", "a:b"] {
        let fields = j!({"url": "http://x/", "headers": {name: "1"}});
        assert!(bench.compile("http.request", fields).is_err(), "{name}");
    }
    let fields = j!({"url": url(server.port, "/?k=1"), "bearer": {"secret": "s1"}});
    let fault = bench.run("http.request", fields, j!({})).await.unwrap_err();
    assert!(
        fault.message.contains("<secret s1>") && !fault.message.contains("value-of"),
        "{fault}"
    );
    let target = bench.pool.targets().remove(0);
    assert!(!target.last_error.unwrap().contains("value-of"));
    let fields = j!({"url": url(server.port, "/"), "bearer": {"secret": "unknown"}});
    let fault = bench.run("http.request", fields, j!({})).await.unwrap_err();
    assert_eq!(fault.code, "secret", "{fault}");
    // Data that looks like a secret is data.
    let fields = j!({"url": url(server.port, "/"), "method": "POST", "body": {"secret": "s1"}, "fail_on_status": false});
    bench.run("http.request", fields, j!({})).await.unwrap();
    assert_eq!(server.notes.lock().last().unwrap().body, r#"{"secret":"s1"}"#);
}

#[tokio::test]
async fn a_rehearsal_records_the_fields_and_asks_nobody() {
    let server = http(|_| answer("200 OK", "", "")).await;
    let bench = Bench::new();
    let fields = j!({
        "url": url(server.port, "/"), "method": "PUT", "headers": {"A": "1", "B": {"secret": "s1"}},
        "body": [1, 2], "bearer": {"secret": "s2"},
    });
    let stub: Value = bench.stub("http.request", fields, j!({}));
    assert_eq!(stub["url"], url(server.port, "/"));
    assert_eq!(stub["method"], "PUT");
    assert_eq!(stub["body"], j!([1, 2]));
    assert_eq!(stub["headers"], j!({"A": "1", "B": "<secret s1>"}));
    assert_eq!(stub["bearer"], "<secret s2>");
    assert!(server.notes.lock().is_empty());
    assert!(bench.pool.targets().is_empty());
}
