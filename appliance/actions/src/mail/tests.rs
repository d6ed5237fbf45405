//! `mail` against servers on loopback.

use crate::testing::server::{serve, smtp};
use crate::testing::{Bench, Notes};
use serde_json::{Value, json as j};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn fields(port: u16, more: Value) -> Value {
    let mut fields = j!({
        "host": "127.0.0.1", "port": port, "tls": "off", "from": "Press 4 <press@plant.example>",
        "to": ["anna@plant.example"], "subject": "Oil", "text": "Level 12 %",
    });
    for (name, value) in more.as_object().unwrap() {
        fields[name] = value.clone();
    }
    fields
}

#[tokio::test]
async fn sends_to_all_and_shows_hidden_copies_to_nobody() {
    let server = smtp("").await;
    let bench = Bench::new();
    let more = j!({
        "to": ["anna@plant.example", "Bert <bert@plant.example>"], "cc": ["cc@plant.example"],
        "bcc": ["hidden@plant.example"], "reply_to": "shift@plant.example",
        "subject": "a\r\nBcc: evil@x.example\r\n\r\nbody", "text": "one\r\n.\r\nQUIT\r\ntwo",
    });
    let input = j!({"value": 5});
    let done = bench.run("mail", fields(server.port, more), input.clone()).await.unwrap();
    assert_eq!(crate::testing::json(&done), input, "the input passes on");
    let lines = server.notes.lock().clone();
    let recipients: Vec<_> = lines.iter().filter(|line| line.starts_with("RCPT")).collect();
    assert_eq!(recipients.len(), 4, "{lines:?}");
    assert!(recipients.iter().any(|line| line.contains("hidden@")));
    assert_eq!(lines.iter().filter(|line| *line == "QUIT").count(), 1, "{lines:?}");
    let data = lines.iter().position(|line| line == "DATA").unwrap();
    let mail = &lines[data + 1..];
    assert!(
        !mail.iter().any(|line| line.contains("hidden@") || line.starts_with("Bcc")),
        "{mail:?}"
    );
    assert!(mail.iter().any(|line| line.starts_with("Message-ID: <7-42-3@")), "{mail:?}");
}

#[tokio::test]
async fn answers_of_the_server_pass_or_last() {
    let server = smtp("").await;
    let bench = Bench::new();
    let full = bench.run("mail", fields(server.port, j!({"to": ["full@x.example"]})), j!({})).await;
    let fault = full.unwrap_err();
    assert_eq!((fault.code, fault.is_transient), ("answer", true), "{fault}");
    let nobody =
        bench.run("mail", fields(server.port, j!({"to": ["nobody@x.example"]})), j!({})).await;
    let fault = nobody.unwrap_err();
    assert_eq!((fault.code, fault.is_transient), ("answer", false), "{fault}");
    assert!(fault.message.contains("no such user"), "{fault}");
    for to in [
        j!([]),
        j!(["a@b.example\r\nRCPT TO:<c@d.example>"]),
        j!(vec!["a@b.example"; 101]),
        j!([5]),
    ] {
        let fault =
            bench.run("mail", fields(server.port, j!({"to": to})), j!({})).await.unwrap_err();
        assert!(["bad_input", "limit"].contains(&fault.code), "{fault}");
    }
}

#[tokio::test]
async fn a_password_needs_tls() {
    let server = smtp("250-AUTH PLAIN LOGIN\r\n").await;
    let bench = Bench::new();
    let login = j!({"user": "u", "password": {"secret": "s1"}});
    let error = bench.compile("mail", fields(server.port, login.clone())).err().unwrap();
    assert!(error.contains("without TLS"), "{error}");
    // A server that does not offer TLS gets neither the password nor the mail.
    let mut secured = fields(server.port, login);
    secured["tls"] = j!("starttls");
    let fault = bench.run("mail", secured, j!({})).await.unwrap_err();
    assert!(fault.message.contains("STARTTLS"), "{fault}");
    let lines = server.notes.lock().clone();
    assert!(
        !lines.iter().any(|line| line.starts_with("AUTH") || line.starts_with("MAIL")),
        "{lines:?}"
    );
}

#[tokio::test]
async fn ends_with_servers_that_do_not_behave() {
    let server = serve(|mut stream: TcpStream, _: Notes<()>| async move {
        let mut first = [0; 1];
        // Says nothing until the first byte, which never comes: or talks without end.
        if stream.peer_addr().ok()?.port() % 2 == 0 {
            stream.read_exact(&mut first).await.ok()?;
        }
        loop {
            stream.write_all(&[b'2'; 4_096]).await.ok()?;
        }
    })
    .await;
    let bench = Bench::new();
    for _ in 0..4 {
        let time = Duration::from_millis(200);
        let fault =
            bench.run_within("mail", fields(server.port, j!({})), j!({}), time).await.unwrap_err();
        assert!(
            fault.is_transient && ["unreachable", "bad_answer", "timeout"].contains(&fault.code),
            "{fault}"
        );
    }
    let closed = Bench::with(&[]);
    let fault = closed.run("mail", fields(server.port, j!({})), j!({})).await.unwrap_err();
    assert_eq!(fault.code, "refused", "{fault}");
    assert_eq!(bench.pool.held_bytes(), 0);
}

#[tokio::test]
async fn a_rehearsal_sends_nothing() {
    let server = smtp("").await;
    let stub = Bench::new().stub("mail", fields(server.port, j!({})), j!({}));
    assert_eq!((&stub["to"], &stub["subject"]), (&j!(["anna@plant.example"]), &j!("Oil")));
    assert!(server.notes.lock().is_empty());
}
